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

// writing are the checks that need a key. Each builds on the ones before it.
func writing() []check {
	return []check{
		{id: "key.owner", title: "a key reads its owner's record, which must not be cached", source: "specification, Federation; contract 4.7.3", key: true, run: keyOwner},
		{id: "key.limit", title: "the limit of the key is the protocol's, where the server states it", source: "specification, Limits", key: true, run: keyLimit},
		{id: "call.refused", title: "a wrong member is named", source: "specification, Errors; contract 4.1, 4.5.1", key: true, run: callRefused},
		{id: "call.filed", title: "a call is filed and reads as it was sent", source: "specification, Protocol writes; contract 4.5.1", key: true, run: callFiled},
		{id: "call.locked", title: "the first call is locked", source: "specification, States; contract 4.5.1", key: true, run: callLocked},
		{id: "call.repeated", title: "an Idempotency-Key gives the first result", source: "contract 4.5.1", key: true, run: callRepeated},
		{id: "call.events", title: "events join the history and change nothing", source: "specification, Signal event; contract 4.5.2", key: true, run: callEvents},
		{id: "call.owner", title: "only the owner of a call adds to its history", source: "specification, Protocol writes; contract 4.5.2", key: true, run: callOwner},
		{id: "key.weak", title: "a weak key cannot sign", source: "identity 2.6; proto/testvectors", key: true, run: weakKeys},
		{id: "call.protocol", title: "a protocol call is repaired, filed and attested", source: "specification, Protocol V0, Write rules; contract 4.2.7, 4.13.5", key: true, admin: true, run: callProtocol},
	}
}

func keyOwner(ctx context.Context, r *run) {
	a := r.send(ctx, request{method: http.MethodGet, host: hub, path: "/api/network/field-record/me", key: true})
	if !r.status(a, http.StatusOK) {
		return
	}
	if handle := text(a.value, "handle"); r.due(handleForm.MatchString(handle), a, "a handle", say(handle)) {
		r.own.handle = handle
	}
	r.due(strings.Contains(a.header.Get("Cache-Control"), "no-store"), a, "Cache-Control: no-store", "Cache-Control: "+a.header.Get("Cache-Control"))
}

var policyForm = regexp.MustCompile(`q=(\d+);w=(\d+)`)

// keyLimit reads the limit of the key from RateLimit-Policy, which saves 61 requests.
func keyLimit(ctx context.Context, r *run) {
	a := r.send(ctx, request{method: http.MethodGet, host: hub, path: "/api/network/field-record/me", key: true})
	policy := a.header.Get("RateLimit-Policy")
	m := policyForm.FindStringSubmatch(policy)
	if m == nil {
		r.skip("the server does not tell its limits in RateLimit-Policy")
		return
	}
	r.due(m[1] == "60" && m[2] == "60", a, "60 in 60 seconds", policy)
}

// calling is a draft of a call with the key.
func calling(pairs ...any) request {
	return request{method: http.MethodPost, host: hub, path: "/api/predictions", key: true, body: object(pairs...)}
}

// callRefused sends drafts that no server may take, in the order of the table of the
// specification: the first wrong member is named.
func callRefused(ctx context.Context, r *run) {
	const m = "native-zzzzzzzzzzzzzzzz" // well formed and unknown
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
		a := r.send(ctx, calling(c.pairs...))
		if r.refused(a, http.StatusBadRequest, c.code) {
			r.same(a, "field", c.field)
		}
	}
	q := calling()
	q.body = "[]"
	r.refused(r.send(ctx, q), http.StatusBadRequest, "invalid_body")
	r.refused(r.send(ctx, calling(good()...).with("Content-Type", "text/plain")), http.StatusUnsupportedMediaType, "unsupported_media_type")
	q.body = object(good("textTake", strings.Repeat("x", 65<<10))...)
	r.refused(r.send(ctx, q), http.StatusRequestEntityTooLarge, "payload_too_large")
}

// native makes a native market and returns its id; empty, with a finding, if that fails.
func (r *run) native(ctx context.Context, yesBps int) string {
	r.own.asked = "Will the conformance kit's coin " + rand.Text()[:8] + " show heads?"
	a := r.send(ctx, request{method: http.MethodPost, host: hub, path: "/api/admin/markets", admin: true, body: object(
		"question", r.own.asked, "lane", "OTHER", "initialYesBps", yesBps,
		"cutoffAt", r.now().AddDate(0, 1, 0).UTC().Format("2006-01-02T15:04:05.000Z"))})
	id := text(a.value, "marketId")
	if a.err == nil {
		r.own.asked = ""
	}
	if !r.status(a, http.StatusCreated) || !r.due(strings.HasPrefix(id, "native-") && marketForm.MatchString(id), a, "a marketId native-…", say(id)) {
		return ""
	}
	r.own.open = append(r.own.open, id)
	return id
}

// Calls of the run itself are of the NO side, at what NO costs.
const initialYes = 3100

// filed is what callFiled sent.
type filed struct {
	body  string
	key   string // of idempotency
	price int
}

// place finds the market for the run's call and the price of NO there.
func (r *run) place(ctx context.Context) (market string, price int) {
	if r.Market == "" && r.Admin == "" {
		r.skip("needs a market to file a call on: --market, or --admin-secret to make one")
		return "", 0
	}
	if r.Market == "" {
		return r.native(ctx, initialYes), 10000 - initialYes
	}
	a := r.get(ctx, hub, "/api/m/"+r.Market)
	yes, ok := whole(a.value, "yesBps")
	if !r.status(a, http.StatusOK) || !ok {
		r.skip("the market of --market has no price now")
		return "", 0
	}
	return r.Market, 10000 - yes
}

func callFiled(ctx context.Context, r *run) {
	market, price := r.place(ctx)
	if market == "" {
		return
	}
	d := filed{key: "conform-" + rand.Text(), price: price}
	d.body = object("marketId", market, "direction", "NO", "priceAtPrediction", price, "confidence", 60, "textTake", "A call of the conformance kit.")
	q := calling().with("Idempotency-Key", d.key)
	q.body = d.body
	a := r.send(ctx, q)
	r.own.calling = a.err != nil
	if text(a.value, "error") == "already_predicted" {
		r.skip("the owner of the key has a call on the market already: give another one with --market")
		return
	}
	id := text(a.value, "id")
	if !r.status(a, http.StatusOK) || !r.due(at(a.value, "ok") == true && uuidForm.MatchString(id), a, "ok: true with the id of the call", say(a.value)) {
		return
	}
	r.own.market, r.own.signal, r.own.filed = market, id, d
	s := r.later(ctx, "/api/signals/"+id, func(a *answer) bool { return a.status == http.StatusOK })
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
	made, ok := moment(s.value, "createdAt")
	r.due(ok && r.now().Sub(made).Abs() < 10*time.Minute, s, "createdAt is now", say(at(s.value, "createdAt")))
}

// filedBefore reports whether the run has filed a call, and skips the check otherwise.
func (r *run) filedBefore() bool {
	if r.own.signal == "" {
		r.skip("no call was filed")
	}
	return r.own.signal != ""
}

func callLocked(ctx context.Context, r *run) {
	if !r.filedBefore() {
		return
	}
	for _, side := range []string{"YES", "NO"} {
		a := r.send(ctx, calling("marketId", r.own.market, "direction", side, "priceAtPrediction", 5000))
		if r.refused(a, http.StatusConflict, "already_predicted") {
			r.same(a, "id", r.own.signal)
		}
	}
	a := r.reread(ctx, hub, "/api/signals/"+r.own.signal)
	r.same(a, "direction", "NO")
	r.same(a, "priceAtPrediction", float64(r.own.filed.price))
}

func callRepeated(ctx context.Context, r *run) {
	if !r.filedBefore() {
		return
	}
	q := calling().with("Idempotency-Key", r.own.filed.key)
	q.body = r.own.filed.body
	a := r.send(ctx, q)
	if r.status(a, http.StatusOK) {
		r.same(a, "id", r.own.signal)
	}
	q.body = object("marketId", r.own.market, "direction", "YES", "priceAtPrediction", 1)
	r.refused(r.send(ctx, q), http.StatusConflict, "idempotency_key_reused")
}

func callEvents(ctx context.Context, r *run) {
	if !r.filedBefore() {
		return
	}
	path := "/api/signals/" + r.own.signal + "/events"
	before := r.reread(ctx, hub, "/api/signals/"+r.own.signal)
	add := func(body string) *answer {
		return r.send(ctx, request{method: http.MethodPost, host: hub, path: path, key: true, body: body})
	}
	for _, body := range []string{
		`{"type":"note","payload":{"text":"A note of the conformance kit."}}`, `{"type":"confidence","payload":{"confidence":61}}`, `{"type":"reaffirm"}`,
	} {
		a := add(body)
		if r.status(a, http.StatusCreated) {
			r.same(a, "event.actor", "owner")
			r.same(a, "event.type", text(decode([]byte(body)), "type"))
		}
	}
	for body, code := range map[string]string{
		`{"type":"resolved","payload":{}}`: "invalid_type", `{"type":"shout"}`: "invalid_type", `{"type":"note"}`: "invalid_payload",
		`{"type":"confidence","payload":{"confidence":0}}`: "invalid_payload", `{"type":"note","payload":{"text":"` + strings.Repeat("x", 501) + `"}}`: "invalid_payload",
	} {
		r.refused(add(body), http.StatusBadRequest, code)
	}
	a := r.later(ctx, path, func(a *answer) bool { return len(list(a.value, "events")) >= 3 })
	var last time.Time
	types := ""
	for _, e := range list(a.value, "events") {
		made, _ := moment(e, "createdAt")
		r.due(!made.Before(last), a, "events, the oldest first", text(e, "createdAt"))
		last, types = made, types+text(e, "type")+" "
	}
	r.due(types == "note confidence reaffirm ", a, "note, confidence and reaffirm", types)
	after := r.reread(ctx, hub, "/api/signals/"+r.own.signal)
	for _, member := range []string{"status", "score", "direction", "priceAtPrediction", "confidence", "textTake"} {
		r.same(after, member, at(before.value, member))
	}
}

// callOwner tries to add an event to the call of another operator.
func callOwner(ctx context.Context, r *run) {
	for _, h := range r.handles(ctx, 5) {
		if h == r.own.handle || r.own.handle == "" {
			continue
		}
		id := text(r.get(ctx, hub, "/api/operator/"+h).value, "recentCalls.0.signalId")
		if !uuidForm.MatchString(id) {
			continue
		}
		a := r.send(ctx, request{method: http.MethodPost, host: hub, path: "/api/signals/" + id + "/events", key: true, body: `{"type":"reaffirm"}`})
		r.refused(a, http.StatusForbidden, "forbidden")
		return
	}
	r.skip("no other operator has a call")
}

// callProtocol files a NO call that carries the price of YES, through the protocol
// route: the stored price is that of NO, and the hub attests the call.
func callProtocol(ctx context.Context, r *run) {
	market := r.native(ctx, 3000)
	if market == "" {
		return
	}
	a := r.send(ctx, request{method: http.MethodPost, host: hub, path: protocolBase + "/predictions", key: true, body: object("marketId", market, "position", "NO", "priceBps", 3000)})
	id := text(a.value, "id")
	if !r.status(a, http.StatusOK) || !r.due(uuidForm.MatchString(id), a, "the id of the call", say(id)) {
		return
	}
	r.own.second = second{market, id}
	r.due(strings.HasPrefix(text(a.value, "uri"), "denpa:") && strings.HasSuffix(text(a.value, "uri"), "/signal/"+id), a, "uri denpa:<denpaId>/signal/"+id, say(at(a.value, "uri")))
	s := r.later(ctx, "/api/signals/"+id, func(a *answer) bool { return a.status == http.StatusOK })
	r.same(s, "source", "api")
	r.same(s, "priceAtPrediction", float64(7000))
	if message := text(a.value, "messageId"); r.due(messageForm.MatchString(message), a, "messageId is msg_ and 64 hex digits", say(message)) {
		r.own.messages = append(r.own.messages, message)
		stored := r.get(ctx, hub, protocolBase+"/messages/"+message)
		if r.status(stored, http.StatusOK) {
			r.same(stored, "message.type", "prediction.create")
			r.same(stored, "message.payload.signalId", id)
			r.same(stored, "message.payload.credential", "operator_key")
			got, _ := whole(stored.value, "message.payload.priceAtPrediction")
			r.due(got == 7000, stored, "payload.priceAtPrediction is 7000", fmt.Sprint(got))
		}
	}
}

var messageForm = regexp.MustCompile(`^msg_[0-9a-f]{64}$`)
