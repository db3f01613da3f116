package conform

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/signalcast/signalcast/cmd/signalcast/internal/record"
)

// resolveChecks returns the checks that require the key and the admin secret.
func resolveChecks() []check {
	return []check{
		{
			id: "resolve.dispute", title: "a disputed market accepts no call and no outcome",
			source: "docs/protocol/errors.md#resolution; openapi: disputeMarket", key: true, admin: true, run: resolveDispute,
		},
		{
			id: "resolve.once", title: "an outcome is claimed once",
			source: "docs/concepts.md#resolution; openapi: finalizeMarket", key: true, admin: true, run: resolveOnce,
		},
		{
			id: "resolve.score", title: "calls on a resolved market are scored by the formula",
			source: "docs/scores.md#the-formula", key: true, admin: true, run: resolveScore,
		},
		{
			id: "resolve.closed", title: "a resolved market accepts no call",
			source: "docs/protocol/errors.md#calls", key: true, admin: true, run: resolveClosed,
		},
	}
}

// secondCall describes the call that the run files through the route under /api/protocol/v1.
type secondCall struct{ market, signal string }

// adminPost sends a POST request with the admin secret. pairs are the names and values of the body.
func (r *run) adminPost(ctx context.Context, path string, pairs ...any) *answer {
	return r.send(ctx, request{method: http.MethodPost, host: hub, path: path, admin: true, body: object(pairs...)})
}

// finalize claims verdict as the outcome of a market. If the server accepts the claim, finalize removes the market from the
// open markets of the run.
func (r *run) finalize(ctx context.Context, market, verdict string) *answer {
	a := r.adminPost(ctx, "/api/resolution/finalize", "marketId", market, "verdict", verdict, "reason", "conformance kit")
	if a.err == nil && a.status == http.StatusOK {
		r.state.open = slices.DeleteFunc(r.state.open, func(id string) bool { return id == market })
	}
	return a
}

// resolveDispute creates a market and disputes it. The server must then refuse a call on the market and a claim of its outcome.
// At the end, resolveDispute clears the dispute.
func resolveDispute(ctx context.Context, r *run) {
	market := r.createMarket(ctx, 5000)
	if market == "" {
		return
	}
	a := r.adminPost(ctx, "/api/resolution/dispute", "marketId", market, "reason", "conformance kit")
	if !r.status(a, http.StatusOK) {
		return
	}
	r.state.disputed = market
	o := r.poll(ctx, "/api/resolution/outcome?market="+market,
		func(a *answer) bool { return at(a.value, "outcome.disputed") == true })
	r.same(o, "outcome.disputed", true)
	r.same(o, "outcome.outcome", nil)
	c := r.send(ctx, callRequest("marketId", market, "direction", "YES", "priceAtPrediction", 5000))
	if r.refused(c, http.StatusConflict, "market_closed") {
		r.same(c, "reason", "provisional")
	}
	r.refused(r.finalize(ctx, market, "YES"), http.StatusConflict, "market_disputed")
	r.status(r.adminPost(ctx, "/api/resolution/dispute", "marketId", market, "disputed", false), http.StatusOK)
	o = r.poll(ctx, "/api/resolution/outcome?market="+market,
		func(a *answer) bool { return at(a.value, "outcome.disputed") != true })
	r.expect(at(o.value, "outcome.disputed") != true, o, "no dispute", describe(at(o.value, "outcome")))
}

// resolveOnce claims the outcome of a market that the run created. The server must refuse invalid claims, and every later claim.
func resolveOnce(ctx context.Context, r *run) {
	market := r.state.market
	if market == "" || r.Market != "" { // the run resolves only markets that it created
		if market = r.createMarket(ctx, 5000); market == "" {
			return
		}
	} else {
		r.state.claimed = true
	}
	bad := r.finalize(ctx, market, "PERHAPS")
	r.refused(bad, http.StatusBadRequest, "invalid_verdict")
	foreign := r.finalize(ctx, "701122", "YES")
	r.refused(foreign, http.StatusBadRequest, "invalid_market_id")
	a := r.finalize(ctx, market, "NO")
	if !r.status(a, http.StatusOK) {
		return
	}
	r.same(a, "outcome.outcome", "NO")
	r.same(a, "outcome.resolver", "manual")
	for _, verdict := range []string{"NO", "YES", "INVALID"} {
		again := r.finalize(ctx, market, verdict)
		if r.refused(again, http.StatusConflict, "already_resolved") {
			r.same(again, "outcome.outcome", "NO")
		}
	}
	forced := r.adminPost(ctx, "/api/admin/resolve-signals", "marketId", market, "outcome", "YES")
	r.refused(forced, http.StatusConflict, "already_resolved")
	o := r.poll(ctx, "/api/resolution/outcome?market="+market, func(a *answer) bool { return at(a.value, "outcome") != nil })
	r.same(o, "outcome.outcome", "NO")
	r.same(o, "outcome.disputed", false)
	m := r.poll(ctx, "/api/m/"+market, func(a *answer) bool { return at(a.value, "resolved") == true })
	r.same(m, "resolved", true)
	r.same(m, "resolutionValue", "NO")
}

// resolveScore checks the results of the two calls that the run filed. The first call must be won. resolveScore resolves the
// market of the second call as INVALID, so this call must be void.
func resolveScore(ctx context.Context, r *run) {
	done := func(a *answer) bool { return at(a.value, "status") != "pending" }
	if r.state.claimed {
		a := r.poll(ctx, "/api/signals/"+r.state.signal, done)
		want := record.ScoreOf("won", r.state.filed.price)
		r.same(a, "status", "won")
		r.expect(at(a.value, "score") == float64(want), a, fmt.Sprintf("score %d: won at %d", want, r.state.filed.price),
			"score "+describe(at(a.value, "score")))
		r.same(a, "outcome", "NO")
		r.expect(at(a.value, "resolvedAt") != nil, a, "resolvedAt", "null")
		r.result(a, r.poll(ctx, "/api/signals/"+r.state.signal+"/events", resolvedEvent))
	}
	if r.state.second.signal == "" {
		return
	}
	if !r.status(r.finalize(ctx, r.state.second.market, "INVALID"), http.StatusOK) {
		return
	}
	a := r.poll(ctx, "/api/signals/"+r.state.second.signal, done)
	r.same(a, "status", "void")
	r.same(a, "score", float64(0))
	r.same(a, "outcome", nil)
	r.result(a, r.poll(ctx, "/api/signals/"+r.state.second.signal+"/events", resolvedEvent))
}

// resolvedEvent reports whether the history of a call contains an event of type resolved.
func resolvedEvent(a *answer) bool {
	for _, e := range list(a.value, "events") {
		if text(e, "type") == "resolved" {
			return true
		}
	}
	return false
}

// resolveClosed tries to file a call on a resolved market. The server must refuse the call.
func resolveClosed(ctx context.Context, r *run) {
	market := r.state.disputed // a market without calls
	if market == "" {
		if market = r.createMarket(ctx, 5000); market == "" {
			return
		}
	}
	if !r.status(r.finalize(ctx, market, "YES"), http.StatusOK) {
		return
	}
	a := r.send(ctx, callRequest("marketId", market, "direction", "YES", "priceAtPrediction", 5000))
	if r.refused(a, http.StatusConflict, "market_closed") {
		r.same(a, "reason", "settled")
	}
}
