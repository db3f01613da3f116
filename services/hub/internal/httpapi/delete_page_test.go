package httpapi_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	operatorv1 "github.com/signalcast/signalcast/proto/operator/v1"
	"github.com/signalcast/signalcast/services/api/apitest"
	"github.com/signalcast/signalcast/services/hub/internal/account"
)

// deletion returns the service that deletes accounts.
func (b *fixture) deletion() account.Deletion {
	return account.Deletion{
		Ledger: b.deps.Ledger.OperatorWrites, Reads: b.deps.Ledger.Operators, Store: b.store, Notices: b.store, Hide: b.deps.OnAir.Hide,
		Now: b.clock.Now,
	}
}

// appendOnly lists the tables whose rows never change, and the log of changes.
var appendOnly = map[string]bool{"signals": true, "signal_events": true, "protocol_events_rest": true, "messages": true, "audit_log": true, "outbox": true}

// TestDeletion checks that an account is closed at once, can be opened again for 7 days, and is then erased in every table that is
// not append-only, while its calls and counters remain.
func TestDeletion(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	const openID = "9"
	b.ledger.AddMarket(apitest.Market{ID: openID, Title: "Mill race", Yes: 5000, Volume: 50, End: at("2026-11-30T23:00:00Z").AsTime()})
	tide := b.ledger.AddOperator("tide")
	w := b.send("POST", "/api/predictions", `{"marketId":"`+marketID+`","direction":"YES","priceAtPrediction":3200,"textTake":"planted take"}`, b.byKey())
	want(t, w, 200, "")
	id := field(w, "id")
	want(t, b.send("POST", "/api/signals/"+id+"/events", `{"type":"note","payload":{"text":"planted note"}}`, b.byKey()), 201, "")
	followed := func(handle string, count int) {
		t.Helper()
		got := apitest.Get[string](b.ledger, `SELECT handle || ' ' || count FROM hub.notifications WHERE user_id = $1 AND kind = 'followed'`, tide.GetId())
		if want := fmt.Sprint(handle, " ", count); got != want {
			t.Errorf("new followers: %s; want %s", got, want)
		}
	}
	want(t, b.post("/u/tide/follow", url.Values{}, with("Cookie", b.signIn(b.ledger.AddOperator("other"))), with("Origin", hubURL)), http.StatusSeeOther, "")
	want(t, b.post("/u/tide/follow", url.Values{}, b.bySession()), http.StatusSeeOther, "")
	followed("mara_k", 2)
	want(t, b.post("/u/mara_k/follow", url.Values{}, with("Cookie", b.signIn(tide)), with("Origin", hubURL)), http.StatusSeeOther, "")
	want(t, b.post("/report", url.Values{"subject": {"profile:tide"}, "reason": {"planted reason"}}, b.bySession()), 200, "")
	b.ledger.Exec(`UPDATE users SET display_name = 'planted name', bio = 'planted bio', avatar_url = 'https://planted.example/a.png',
		links = '{https://planted.example}' WHERE handle = 'mara_k'`)
	b.ledger.Exec(`INSERT INTO webhooks (id, user_id, url, channels, types, created_at, secret, taken)
		VALUES (gen_random_uuid(), $1, 'https://planted.example/hook', '{all}', '{}', now(), 'sealed', 0)`, b.mara.GetId())
	b.ledger.Exec(`INSERT INTO hub.pictures (operator_id, source, jpeg, tried_at)
		VALUES ($1, 'https://planted.example/a.png', 'planted', now())`, b.mara.GetId())
	b.ledger.Exec(`INSERT INTO hub.seen_follows (followed, follower, seen_at) VALUES ($1, $2, now())`, tide.GetId(), b.mara.GetId())
	b.ledger.Exec(`INSERT INTO hub.streams (market_id, handle, url, label, updated_at) VALUES ($1, 'mara_k', 'https://planted.example/s.m3u8', '', now())`, marketID)
	want(t, b.send("POST", "/api/streamer/heartbeat", `{"marketId":"`+marketID+`"}`, b.byKey()), 200, "")
	want(t, b.send("GET", "/api/embed/operator/mara_k", ""), 200, "", "shortUrl")
	counters := func() string {
		return apitest.Get[string](b.ledger, `SELECT json_build_array(t.total, s.score, m.yes, m.crowd_yes)::text FROM operator_totals t
			JOIN operator_scores s USING (user_id), market_totals m WHERE t.user_id = $1 AND m.market_id = $2`, b.mara.GetId(), marketID)
	}
	before := counters()
	remove := func(handle string) *answer {
		return b.post("/settings/delete", url.Values{"handle": {handle}}, b.bySession())
	}
	write := func() *answer { return b.send("POST", "/api/user/follow", `{"handle":"tide"}`, b.bySession()) }

	want(t, remove(""), 200, "", "Enter <b>mara_k</b>", "cannot be recalled")
	want(t, remove("tide"), 400, "", ` value="tide"`, ` aria-invalid="true"`, `<p class="field-error" role="alert">Enter mara_k to delete the account.`)
	want(t, write(), 200, "")
	want(t, b.post("/settings/delete/cancel", url.Values{}, b.bySession()), http.StatusSeeOther, "")
	want(t, remove("@mara_k"), http.StatusSeeOther, "", "Location: /settings")
	want(t, write(), 403, "account_closing")
	closed := []string{"Your account is closed", "Your account will be deleted on 25 September 2026.", ` href="/settings"`, "!Something went wrong"}
	for _, path := range []string{"/u/tide/unfollow", "/u/tide/mute", "/m/" + nativeID + "/watch", "/profile", "/receipts/" + id + "/events"} {
		want(t, b.post(path, url.Values{}, b.bySession()), 403, "", closed...)
	}
	want(t, b.send("GET", callPage, "", b.bySession()), 200, "", "Your call", "!Update your call")
	noCall := []string{"Your account will be deleted on 25 September 2026, so it cannot make calls.", ">Cancel the deletion<", "!Make this call"}
	want(t, b.send("GET", "/m/"+openID, "", b.bySession()), 200, "", noCall...)
	want(t, b.post("/m/"+openID+"/call", callValues("k"), b.bySession()), 403, "", append(noCall, "The call was not filed")...)
	want(t, b.send("POST", "/api/predictions", `{"marketId":"x"}`, b.byKey()), 401, "unauthenticated")
	want(t, b.send("GET", "/markets", "", b.bySession()), 200, "", "Your account will be deleted on 25 September 2026.")
	equal(t, b.count("hub.streams"), 0)
	equal(t, b.count("hub.outbox WHERE type IN ('stream.unbound', 'operator.offline')"), 2)
	equal(t, b.count("webhooks WHERE active"), 0)
	want(t, b.send("GET", "/notifications", "", b.bySession()), 200, "", "Deletion requested</b>")
	want(t, b.post("/settings/delete/cancel", url.Values{}, b.bySession()), http.StatusSeeOther, "")
	want(t, b.send("GET", "/notifications", "", b.bySession()), 200, "", "!eletion requested", "!You can cancel")
	want(t, b.send("GET", "/settings?done=reopened", "", b.bySession()), 200, "", "Your account is open again.", "!will be deleted on")
	want(t, write(), 200, "")

	want(t, remove("mara_k"), http.StatusSeeOther, "")
	b.clock.Advance(protocol.DeletionWait - time.Second)
	b.requireSwept(b.deletion().Erase, 0)
	b.clock.Advance(time.Second)
	want(t, b.post("/settings/delete/cancel", url.Values{}, b.bySession()), 404, "")
	b.clock.Advance(time.Minute)
	b.requireSwept(b.deletion().Erase, 1)
	b.requireSwept(b.deletion().Erase, 0)
	handle := "deleted-" + b.mara.GetPublicId()[:12]
	want(t, b.send("GET", "/u/"+handle, "", with("Accept", "text/html")), 410, "", "Deleted account", ` content="noindex"`, "!planted")
	want(t, b.send("GET", "/u/mara_k", "", with("Accept", "text/html")), 404, "")
	want(t, b.send("GET", "/api/signals/"+id, ""), 200, "", "!planted")
	want(t, b.send("GET", "/receipts/"+id, "", with("Accept", "text/html")), 200, "", "!planted")
	equal(t, b.count("hub.seen_follows"), 0)
	equal(t, b.count("hub.pictures"), 0)
	followed("other", 1)
	if after := counters(); after != before {
		t.Errorf("counters were %s and are %s", before, after)
	}
	for _, schema := range []string{"api", "hub"} {
		for _, table := range apitest.Get[[]string](b.ledger, `SELECT array_agg(tablename::text) FROM pg_tables WHERE schemaname = $1`, schema) {
			n := apitest.Get[int](b.ledger, `SELECT count(*)::integer FROM `+schema+`.`+table+` t WHERE t::text ~ 'planted|mara_k'`)
			if n > 0 && !appendOnly[table] {
				t.Errorf("%d rows of %s.%s have personal data", n, schema, table)
			}
		}
	}
	again, err := b.deps.Ledger.OperatorWrites.SignIn(t.Context(), &operatorv1.SignInRequest{
		Issuer: b.mara.GetIssuer(), Subject: b.mara.GetProviderId(), Primary: true, Username: "mara_k",
	})
	if must(t, err); again.GetOperator().GetId() == b.mara.GetId() || !again.GetIsNew() || strings.HasPrefix(again.GetOperator().GetHandle(), "deleted") {
		t.Errorf("the new account is %v", again.GetOperator())
	}
}
