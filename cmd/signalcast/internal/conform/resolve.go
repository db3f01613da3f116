package conform

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/signalcast/signalcast/cmd/signalcast/internal/record"
)

// resolving are the checks that need the key and the admin secret.
func resolving() []check {
	return []check{
		{id: "resolve.dispute", title: "a disputed market takes no call and no outcome", source: "specification, Market resolution; contract 4.3.2, 4.3.5", key: true, admin: true, run: resolveDispute},
		{id: "resolve.once", title: "an outcome is claimed once", source: "specification, Market resolution; contract 4.3.4", key: true, admin: true, run: resolveOnce},
		{id: "resolve.score", title: "calls of a claimed market are scored by the formula", source: "specification, States; contract 4.2.1-4.2.3", key: true, admin: true, run: resolveScore},
		{id: "resolve.closed", title: "a settled market takes no call", source: "specification, States; contract 4.3.2", key: true, admin: true, run: resolveClosed},
	}
}

// second is another call of the run.
type second struct{ market, signal string }

// decide sends an act of the admin on a market.
func (r *run) decide(ctx context.Context, path string, pairs ...any) *answer {
	return r.send(ctx, request{method: http.MethodPost, host: hub, path: path, admin: true, body: object(pairs...)})
}

func (r *run) finalize(ctx context.Context, market, verdict string) *answer {
	a := r.decide(ctx, "/api/resolution/finalize", "marketId", market, "verdict", verdict, "reason", "conformance kit")
	if a.err == nil && a.status == http.StatusOK {
		r.own.open = slices.DeleteFunc(r.own.open, func(id string) bool { return id == market })
	}
	return a
}

func resolveDispute(ctx context.Context, r *run) {
	market := r.native(ctx, 5000)
	if market == "" {
		return
	}
	a := r.decide(ctx, "/api/resolution/dispute", "marketId", market, "reason", "conformance kit")
	if !r.status(a, http.StatusOK) {
		return
	}
	r.own.disputed = market
	o := r.later(ctx, "/api/resolution/outcome?market="+market, func(a *answer) bool { return at(a.value, "outcome.disputed") == true })
	r.same(o, "outcome.disputed", true)
	r.same(o, "outcome.outcome", nil)
	c := r.send(ctx, calling("marketId", market, "direction", "YES", "priceAtPrediction", 5000))
	if r.refused(c, http.StatusConflict, "market_closed") {
		r.same(c, "reason", "provisional")
	}
	r.refused(r.finalize(ctx, market, "YES"), http.StatusConflict, "market_disputed")
	r.status(r.decide(ctx, "/api/resolution/dispute", "marketId", market, "disputed", false), http.StatusOK)
	o = r.later(ctx, "/api/resolution/outcome?market="+market, func(a *answer) bool { return at(a.value, "outcome.disputed") != true })
	r.due(at(o.value, "outcome.disputed") != true, o, "no dispute any more", say(at(o.value, "outcome")))
}

// resolveOnce claims an outcome, and then the same and the other.
func resolveOnce(ctx context.Context, r *run) {
	market := r.own.market
	if market == "" || r.Market != "" { // the run resolves only markets that it made
		if market = r.native(ctx, 5000); market == "" {
			return
		}
	} else {
		r.own.claimed = true
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
	forced := r.decide(ctx, "/api/admin/resolve-signals", "marketId", market, "outcome", "YES")
	r.refused(forced, http.StatusConflict, "already_resolved")
	o := r.later(ctx, "/api/resolution/outcome?market="+market, func(a *answer) bool { return at(a.value, "outcome") != nil })
	r.same(o, "outcome.outcome", "NO")
	r.same(o, "outcome.disputed", false)
	m := r.later(ctx, "/api/m/"+market, func(a *answer) bool { return at(a.value, "resolved") == true })
	r.same(m, "resolved", true)
	r.same(m, "resolutionValue", "NO")
}

// resolveScore reads the run's calls when their markets are claimed: one won, one void.
func resolveScore(ctx context.Context, r *run) {
	done := func(a *answer) bool { return at(a.value, "status") != "pending" }
	if r.own.claimed {
		a := r.later(ctx, "/api/signals/"+r.own.signal, done)
		want := record.ScoreOf("won", r.own.filed.price)
		r.same(a, "status", "won")
		r.due(at(a.value, "score") == float64(want), a, fmt.Sprintf("score %d: won at %d", want, r.own.filed.price), "score "+say(at(a.value, "score")))
		r.same(a, "outcome", "NO")
		r.due(at(a.value, "resolvedAt") != nil, a, "resolvedAt", "null")
		r.result(a, r.later(ctx, "/api/signals/"+r.own.signal+"/events", resolvedEvent))
	}
	if r.own.second.signal == "" {
		return
	}
	if !r.status(r.finalize(ctx, r.own.second.market, "INVALID"), http.StatusOK) {
		return
	}
	a := r.later(ctx, "/api/signals/"+r.own.second.signal, done)
	r.same(a, "status", "void")
	r.same(a, "score", float64(0))
	r.same(a, "outcome", nil)
	r.result(a, r.later(ctx, "/api/signals/"+r.own.second.signal+"/events", resolvedEvent))
}

func resolvedEvent(a *answer) bool {
	for _, e := range list(a.value, "events") {
		if text(e, "type") == "resolved" {
			return true
		}
	}
	return false
}

func resolveClosed(ctx context.Context, r *run) {
	market := r.own.disputed // no call is on it
	if market == "" {
		if market = r.native(ctx, 5000); market == "" {
			return
		}
	}
	if !r.status(r.finalize(ctx, market, "YES"), http.StatusOK) {
		return
	}
	a := r.send(ctx, calling("marketId", market, "direction", "YES", "priceAtPrediction", 5000))
	if r.refused(a, http.StatusConflict, "market_closed") {
		r.same(a, "reason", "settled")
	}
}
