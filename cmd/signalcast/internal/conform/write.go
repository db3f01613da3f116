package conform

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"
)

// writeChecks returns the checks that require a key. A check may depend on the result of an earlier check.
func writeChecks() []check {
	return []check{
		{
			id: "key.owner", title: "a key reads the record of its owner, and the answer is not cached",
			source: "openapi: getOwnFieldRecord", key: true, run: keyOwner,
		},
		{
			id: "key.limit", title: "RateLimit-Policy states 60 requests in 60 seconds for a key",
			source: "openapi: info, Limits", key: true, run: keyLimit,
		},
		{
			id: "call.refused", title: "the error for an invalid call names the first invalid member",
			source: "openapi: fileSignal; docs/protocol/errors.md#fields", key: true, run: callRefused,
		},
		{
			id: "call.filed", title: "a call is stored as it was sent",
			source: "openapi: fileSignal, getSignal", key: true, run: callFiled,
		},
		{
			id: "call.locked", title: "a second call on a market is refused",
			source: "docs/concepts.md#lock; openapi: fileSignal", key: true, run: callLocked,
		},
		{
			id: "call.repeated", title: "a repetition with the same Idempotency-Key returns the first result",
			source: "openapi: fileSignal", key: true, run: callRepeated,
		},
		{
			id: "call.events", title: "events are added to the history and do not change the call",
			source: "docs/protocol/events.md#signal-events; openapi: appendSignalEvent", key: true, run: callEvents,
		},
		{
			id: "call.owner", title: "only the owner of a call can add events",
			source: "openapi: appendSignalEvent", key: true, run: callOwner,
		},
		{
			id: "key.weak", title: "weak public keys are refused",
			source: "openapi: challengeSigner; proto/testvectors", key: true, run: weakKeys,
		},
		{
			id: "call.protocol", title: "a NO call with the price of YES is converted, filed and attested",
			source: "docs/scores.md#the-scoring-price; openapi: createPrediction", key: true, admin: true, run: callProtocol,
		},
	}
}

// keyOwner reads the record of the owner of the key and stores the owner's handle for later checks. Caches must not store the
// response.
func keyOwner(ctx context.Context, r *run) {
	a := r.send(ctx, request{method: http.MethodGet, host: hub, path: "/api/network/field-record/me", key: true})
	if !r.status(a, http.StatusOK) {
		return
	}
	if handle := text(a.value, "handle"); r.expect(handleForm.MatchString(handle), a, "a handle", describe(handle)) {
		r.state.handle = handle
	}
	control := a.header.Get("Cache-Control")
	r.expect(strings.Contains(control, "no-store"), a, "Cache-Control: no-store", "Cache-Control: "+control)
}

// policyForm matches the header RateLimit-Policy: the number of requests and the length of the window in seconds.
var policyForm = regexp.MustCompile(`q=(\d+);w=(\d+)`)

// keyLimit checks the limit of the key in the header RateLimit-Policy. It skips the check if the server does not send the
// header.
func keyLimit(ctx context.Context, r *run) {
	a := r.send(ctx, request{method: http.MethodGet, host: hub, path: "/api/network/field-record/me", key: true})
	policy := a.header.Get("RateLimit-Policy")
	m := policyForm.FindStringSubmatch(policy)
	if m == nil {
		r.skip("the server does not send RateLimit-Policy")
		return
	}
	r.expect(m[1] == "60" && m[2] == "60", a, "60 in 60 seconds", policy)
}

// callRequest returns a request that files a call with the key. pairs are the names and values of the body.
func callRequest(pairs ...any) request {
	return request{method: http.MethodPost, host: hub, path: "/api/predictions", key: true, body: object(pairs...)}
}

// callRefused sends invalid calls. The error of the server must name the first invalid member.
func callRefused(ctx context.Context, r *run) {
	const m = "native-zzzzzzzzzzzzzzzz" // a valid id of a market that does not exist
	good := func(more ...any) []any {
		return append([]any{"marketId", m, "direction", "YES", "priceAtPrediction", 5000}, more...)
	}
	for _, c := range []struct {
		pairs []any
		code  string
		field string
	}{
		{[]any{"direction", "YES", "priceAtPrediction", 5000}, "missing_market_id", "marketId"},
		{[]any{"marketId", "no id", "direction", "YES", "priceAtPrediction", 5000}, "invalid_market_id", "marketId"},
		{[]any{"marketId", m, "priceAtPrediction", 5000}, "missing_direction", "direction"},
		{[]any{"marketId", m, "direction", "MAYBE"}, "invalid_direction", "direction"},
		{[]any{"marketId", m, "direction", "YES"}, "missing_price_at_prediction", "priceAtPrediction"},
		{[]any{"marketId", m, "direction", "YES", "priceAtPrediction", 10001}, "invalid_price_at_prediction", "priceAtPrediction"},
		{[]any{"marketId", m, "direction", "YES", "priceAtPrediction", 50.5}, "invalid_price_at_prediction", "priceAtPrediction"},
		{good("confidence", 101), "invalid_confidence", "confidence"},
		{good("textTake", strings.Repeat("x", 501)), "invalid_text_take", "textTake"},
	} {
		a := r.send(ctx, callRequest(c.pairs...))
		if r.refused(a, http.StatusBadRequest, c.code) {
			r.same(a, "field", c.field)
		}
	}
	q := callRequest()
	q.body = "[]"
	r.refused(r.send(ctx, q), http.StatusBadRequest, "invalid_body")
	plain := callRequest(good()...).with("Content-Type", "text/plain")
	r.refused(r.send(ctx, plain), http.StatusUnsupportedMediaType, "unsupported_media_type")
	q.body = object(good("textTake", strings.Repeat("x", 65<<10))...)
	r.refused(r.send(ctx, q), http.StatusRequestEntityTooLarge, "payload_too_large")
}

// createMarket creates a native market with the initial YES price yesBps and returns its id. It returns "" and adds a finding
// if that fails.
func (r *run) createMarket(ctx context.Context, yesBps int) string {
	r.state.pendingQuestion = "Will the conformance kit's coin " + rand.Text()[:8] + " show heads?"
	a := r.send(ctx, request{method: http.MethodPost, host: hub, path: "/api/admin/markets", admin: true, body: object(
		"question", r.state.pendingQuestion, "lane", "OTHER", "initialYesBps", yesBps,
		"cutoffAt", r.now().AddDate(0, 1, 0).UTC().Format("2006-01-02T15:04:05.000Z"))})
	id := text(a.value, "marketId")
	if a.err == nil {
		r.state.pendingQuestion = ""
	}
	valid := strings.HasPrefix(id, "native-") && marketForm.MatchString(id)
	if !r.status(a, http.StatusCreated) || !r.expect(valid, a, "a marketId native-…", describe(id)) {
		return ""
	}
	r.state.open = append(r.state.open, id)
	return id
}

// initialYes is the initial YES price, in bps, of the market that the run creates for its call. The call is a NO call, at the
// price 10000 - initialYes.
const initialYes = 3100

// filed is the request with which callFiled filed the call of the run.
type filed struct {
	body  string
	key   string // idempotency key
	price int    // stated price in bps
}

// callTarget returns the market for the call of the run and the price of NO on it, in bps. It creates the market unless one
// is configured. If there is no market or no price, it returns "".
func (r *run) callTarget(ctx context.Context) (market string, price int) {
	if r.Market == "" && r.Admin == "" {
		r.skip("needs a market for the call: --market, or --admin-secret to create one")
		return "", 0
	}
	if r.Market == "" {
		return r.createMarket(ctx, initialYes), 10000 - initialYes
	}
	a := r.get(ctx, hub, "/api/m/"+r.Market)
	yes, ok := integer(a.value, "yesBps")
	if !r.status(a, http.StatusOK) || !ok {
		r.skip("the market of --market has no current price")
		return "", 0
	}
	return r.Market, 10000 - yes
}

// callFiled files the call of the run and checks that the server returns the call as it was sent.
func callFiled(ctx context.Context, r *run) {
	market, price := r.callTarget(ctx)
	if market == "" {
		return
	}
	d := filed{key: "conform-" + rand.Text(), price: price}
	d.body = object("marketId", market, "direction", "NO", "priceAtPrediction", price,
		"confidence", 60, "textTake", "A call of the conformance kit.")
	q := callRequest().with("Idempotency-Key", d.key)
	q.body = d.body
	a := r.send(ctx, q)
	r.state.callPending = a.err != nil
	if text(a.value, "error") == "already_predicted" {
		r.skip("the owner of the key already has a call on the market: set another market with --market")
		return
	}
	id := text(a.value, "id")
	valid := at(a.value, "ok") == true && uuidForm.MatchString(id)
	if !r.status(a, http.StatusOK) || !r.expect(valid, a, "ok: true with the id of the call", describe(a.value)) {
		return
	}
	r.state.market, r.state.signal, r.state.filed = market, id, d
	s := r.poll(ctx, "/api/signals/"+id, func(a *answer) bool { return a.status == http.StatusOK })
	if !r.status(s, http.StatusOK) {
		return
	}
	r.same(s, "id", id)
	r.same(s, "marketId", market)
	r.same(s, "direction", "NO")
	r.same(s, "priceAtPrediction", float64(price))
	r.same(s, "confidence", float64(60))
	r.same(s, "textTake", "A call of the conformance kit.")
	r.same(s, "status", "pending")
	r.same(s, "source", "web")
	made, ok := timeAt(s.value, "createdAt")
	r.expect(ok && r.now().Sub(made).Abs() < 10*time.Minute, s, "createdAt is now", describe(at(s.value, "createdAt")))
}

// filedBefore reports whether the run has filed a call. If not, it skips the current check.
func (r *run) filedBefore() bool {
	if r.state.signal == "" {
		r.skip("no call was filed")
	}
	return r.state.signal != ""
}

// callLocked tries to file a second call on the same market. The server must refuse it and must not change the first call.
func callLocked(ctx context.Context, r *run) {
	if !r.filedBefore() {
		return
	}
	for _, side := range []string{"YES", "NO"} {
		a := r.send(ctx, callRequest("marketId", r.state.market, "direction", side, "priceAtPrediction", 5000))
		if r.refused(a, http.StatusConflict, "already_predicted") {
			r.same(a, "id", r.state.signal)
		}
	}
	a := r.reread(ctx, hub, "/api/signals/"+r.state.signal)
	r.same(a, "direction", "NO")
	r.same(a, "priceAtPrediction", float64(r.state.filed.price))
}

// callRepeated sends the same call again with its idempotency key. The server must return the stored call. A different call with
// the same key must be refused.
func callRepeated(ctx context.Context, r *run) {
	if !r.filedBefore() {
		return
	}
	q := callRequest().with("Idempotency-Key", r.state.filed.key)
	q.body = r.state.filed.body
	a := r.send(ctx, q)
	if r.status(a, http.StatusOK) {
		r.same(a, "id", r.state.signal)
	}
	q.body = object("marketId", r.state.market, "direction", "YES", "priceAtPrediction", 1)
	r.refused(r.send(ctx, q), http.StatusConflict, "idempotency_key_reused")
}

// callEvents adds valid and invalid events to the call of the run and checks that the call does not change.
func callEvents(ctx context.Context, r *run) {
	if !r.filedBefore() {
		return
	}
	path := "/api/signals/" + r.state.signal + "/events"
	before := r.reread(ctx, hub, "/api/signals/"+r.state.signal)
	add := func(body string) *answer {
		return r.send(ctx, request{method: http.MethodPost, host: hub, path: path, key: true, body: body})
	}
	for _, body := range []string{
		`{"type":"note","payload":{"text":"A note of the conformance kit."}}`,
		`{"type":"confidence","payload":{"confidence":61}}`, `{"type":"reaffirm"}`,
	} {
		a := add(body)
		if r.status(a, http.StatusCreated) {
			r.same(a, "event.actor", "owner")
			r.same(a, "event.type", text(decode([]byte(body)), "type"))
		}
	}
	for body, code := range map[string]string{
		`{"type":"resolved","payload":{}}`: "invalid_type", `{"type":"shout"}`: "invalid_type", `{"type":"note"}`: "invalid_payload",
		`{"type":"confidence","payload":{"confidence":0}}`:                      "invalid_payload",
		`{"type":"note","payload":{"text":"` + strings.Repeat("x", 501) + `"}}`: "invalid_payload",
	} {
		r.refused(add(body), http.StatusBadRequest, code)
	}
	a := r.poll(ctx, path, func(a *answer) bool { return len(list(a.value, "events")) >= 3 })
	var last time.Time
	types := ""
	for _, e := range list(a.value, "events") {
		made, _ := timeAt(e, "createdAt")
		r.expect(!made.Before(last), a, "events, the oldest first", text(e, "createdAt"))
		last, types = made, types+text(e, "type")+" "
	}
	r.expect(types == "note confidence reaffirm ", a, "note, confidence and reaffirm", types)
	after := r.reread(ctx, hub, "/api/signals/"+r.state.signal)
	for _, member := range []string{"status", "score", "direction", "priceAtPrediction", "confidence", "textTake"} {
		r.same(after, member, at(before.value, member))
	}
}

// callOwner tries to add an event to a call of another operator, which the server must refuse.
func callOwner(ctx context.Context, r *run) {
	for _, h := range r.handles(ctx, 5) {
		if h == r.state.handle || r.state.handle == "" {
			continue
		}
		id := text(r.get(ctx, hub, "/api/operator/"+h).value, "recentCalls.0.signalId")
		if !uuidForm.MatchString(id) {
			continue
		}
		a := r.send(ctx, request{
			method: http.MethodPost, host: hub, path: "/api/signals/" + id + "/events", key: true, body: `{"type":"reaffirm"}`,
		})
		r.refused(a, http.StatusForbidden, "forbidden")
		return
	}
	r.skip("no other operator has a call")
}

// callProtocol files a NO call through the route under /api/protocol/v1 and states the price of YES. The server must store the
// price of NO, and the hub must attest the call.
func callProtocol(ctx context.Context, r *run) {
	market := r.createMarket(ctx, 3000)
	if market == "" {
		return
	}
	a := r.send(ctx, request{
		method: http.MethodPost, host: hub, path: protocolBase + "/predictions", key: true,
		body: object("marketId", market, "position", "NO", "priceBps", 3000),
	})
	id := text(a.value, "id")
	if !r.status(a, http.StatusOK) || !r.expect(uuidForm.MatchString(id), a, "the id of the call", describe(id)) {
		return
	}
	r.state.second = secondCall{market, id}
	uri := text(a.value, "uri")
	r.expect(strings.HasPrefix(uri, "denpa:") && strings.HasSuffix(uri, "/signal/"+id), a, "uri denpa:<denpaId>/signal/"+id,
		describe(uri))
	s := r.poll(ctx, "/api/signals/"+id, func(a *answer) bool { return a.status == http.StatusOK })
	r.same(s, "source", "api")
	r.same(s, "priceAtPrediction", float64(7000))
	if message := text(a.value, "messageId"); r.expect(messageForm.MatchString(message), a, "messageId is msg_ and 64 hex digits",
		describe(message)) {
		r.state.messages = append(r.state.messages, message)
		stored := r.get(ctx, hub, protocolBase+"/messages/"+message)
		if r.status(stored, http.StatusOK) {
			r.same(stored, "message.type", "prediction.create")
			r.same(stored, "message.payload.signalId", id)
			r.same(stored, "message.payload.credential", "operator_key")
			got, _ := integer(stored.value, "message.payload.priceAtPrediction")
			r.expect(got == 7000, stored, "payload.priceAtPrediction is 7000", fmt.Sprint(got))
		}
	}
}

var messageForm = regexp.MustCompile(`^msg_[0-9a-f]{64}$`)
