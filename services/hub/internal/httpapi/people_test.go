package httpapi_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	boardv1 "github.com/signalcast/signalcast/proto/board/v1"
	digestv1 "github.com/signalcast/signalcast/proto/digest/v1"
	wirev1 "github.com/signalcast/signalcast/proto/wire/v1"

	"github.com/signalcast/signalcast/pkg/oidc"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/apitest"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

const followed = "/api/user/follow?handle=tidewatch"

func TestFollow(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.ledger.AddOperator("tidewatch")
	golden(t, "follow/none", b.send("GET", followed, ""))
	golden(t, "follow/followed", b.send("POST", "/api/user/follow", `{"handle":"TideWatch"}`, b.bySession()))
	golden(t, "follow/again", b.send("POST", "/api/user/follow", `{"handle":"tidewatch"}`, b.bySession()))
	golden(t, "follow/own", b.send("GET", followed, "", b.bySession()))
	anonymous := b.send("GET", followed, "")
	golden(t, "follow/anonymous", anonymous)
	has(t, anonymous, "Vary: Cookie")
	b.unchanged(followed, anonymous)
	golden(t, "follow/unfollowed", b.send("DELETE", "/api/user/follow", `{"handle":"tidewatch"}`, b.bySession()))
	golden(t, "follow/unfollowed_again", b.send("DELETE", followed, "", b.bySession()))
}

func TestInvalidFollows(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.ledger.AddOperator("tidewatch")
	for _, method := range []string{"POST", "DELETE"} {
		for body, c := range map[string]struct {
			status int
			code   string
		}{
			`{}`:                        {400, "missing_handle"},
			`{"handle":""}`:             {400, "missing_handle"},
			`{"handle":null}`:           {400, "missing_handle"},
			`{"handle":7}`:              {400, "invalid_handle"},
			`{"handle":["tidewatch"]}`:  {400, "invalid_handle"},
			`{"handle":"x"}`:            {400, "invalid_handle"},
			`{"handle":"tide watch"}`:   {400, "invalid_handle"},
			`{"handle":"../admin"}`:     {400, "invalid_handle"},
			`{"handle":"tïdewatch"}`:    {400, "invalid_handle"},
			`{"handle":"mara_k"}`:       {400, "invalid_handle"}, // operators cannot follow themselves
			`{"handle":"MARA_K"}`:       {400, "invalid_handle"},
			`{"handle":"no_such_user"}`: {404, "not_found"},
			`{"Handle":"tidewatch"}`:    {400, "missing_handle"},
			`[]`:                        {400, "invalid_body"},
			`{"handle":"` + strings.Repeat("a", 33) + `"}`: {400, "invalid_handle"},
		} {
			want(t, b.send(method, "/api/user/follow", body, b.bySession()), c.status, c.code)
		}
	}
	want(t, b.send("DELETE", "/api/user/follow", "", b.bySession()), 400, "missing_handle")
	want(t, b.send("DELETE", "/api/user/follow?handle=a%20b", "", b.bySession()), 400, "invalid_handle")
	want(t, b.send("DELETE", "/api/user/follow?handle=mara_k", "", b.bySession()), 400, "invalid_handle")
	want(t, b.send("DELETE", "/api/user/follow?handle=no_such_user", "", b.bySession()), 404, "not_found")
	want(t, b.send("GET", "/api/user/follow", ""), 400, "missing_handle")
	want(t, b.send("GET", "/api/user/follow?handle=%00", ""), 404, "not_found")
	want(t, b.send("GET", "/api/user/follow?handle=no_such_user", ""), 404, "not_found")
	equal(t, b.count("hub.follows"), 0)
}

func TestFollowWithoutDatabase(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.ledger.AddOperator("tidewatch")
	b.setDown(true)
	want(t, b.send("POST", "/api/user/follow", `{"handle":"tidewatch"}`, b.bySession()), 503, "db_unavailable")
	want(t, b.send("GET", followed, ""), 503, "db_unavailable")
	b.setDown(false)
	b.ledger.Fail(apitest.ErrDB, "GetOperator")
	want(t, b.send("POST", "/api/user/follow", `{"handle":"tidewatch"}`, b.bySession()), 503, "db_unavailable")
}

// followed adds followers to the operator with the id until it has n followers.
func (b *fixture) followed(n int, id string) {
	b.t.Helper()
	for i := range n {
		stranger := operator.Operator{ID: operator.ID(fmt.Sprintf("0199f0a0-0000-7000-8000-%012d", i)), Handle: protocol.Handle(fmt.Sprint("op_", i))}
		if err := b.store.Follow(b.t.Context(), stranger, operator.Operator{ID: operator.ID(id), Handle: "mara_k"}, b.clock.Now()); err != nil {
			b.t.Fatal(err)
		}
	}
}

// TestFollowersOnTheBoard checks that the hub adds follower counts to the leaderboard of the ledger. A board without these counts
// is marked as degraded, and neither the hub nor a shared cache stores it.
func TestFollowersOnTheBoard(t *testing.T) {
	t.Parallel()
	const path = "/api/operator/leaderboard"
	b := setup(t)
	other := b.ledger.AddOperator("tidewatch")
	b.ledger.Lock()
	b.ledger.Board = []*boardv1.Row{{Rank: 1, Operator: other}, {Rank: 2, Operator: b.mara}}
	b.ledger.Unlock()
	followers := func() string {
		b.clock.Advance(time.Minute) // the cached page has expired
		w := b.send("GET", path, "")
		var shown struct {
			Leaderboard []struct{ Followers int }
		}
		must(t, json.Unmarshal(w.Body.Bytes(), &shown))
		return fmt.Sprintln(w.Code, shown.Leaderboard, w.Header().Get("X-Degraded"))
	}
	b.followed(3, b.mara.GetId())
	equal(t, followers(), "200 [{0} {3}] \n")
	b.setDown(true)
	equal(t, followers(), "200 [{0} {0}] follows\n")
	has(t, b.send("GET", path, ""), "Cache-Control: no-store", "tidewatch")
	b.setDown(false)
	b.followed(4, b.mara.GetId())
	equal(t, followers(), "200 [{0} {4}] \n")
}

func TestIdentityClaim(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.people.wallets["did:idp:mara_k"] = []string{strings.ToLower(wallet)}
	golden(t, "claim/none", b.send("GET", "/api/identity/claim", "", b.bySession()))
	golden(t, "claim/made", b.send("POST", "/api/identity/claim", `{"station":"partner","address":"`+wallet+`"}`, b.bySession(), withIdentity("id.did:idp:mara_k.token")))
	equal(t, b.people.lastToken, "id.did:idp:mara_k.token")
	want(t, b.send("POST", "/api/identity/claim", `{"address":"`+strings.ToLower(wallet)+`"}`, b.bySession()), 200, "") // the only station is the default
	golden(t, "claim/list", b.send("GET", "/api/identity/claim", "", b.bySession()))
	public := b.send("GET", "/api/network/identity/MARA_K", "")
	golden(t, "claim/network", public)
	has(t, public, "Access-Control-Allow-Origin: *", "!Etag: ")
	want(t, b.send("DELETE", "/api/identity/claim?station=other", "", b.bySession()), 400, "invalid_station")
	golden(t, "claim/dropped", b.send("DELETE", "/api/identity/claim?station=partner", "", b.bySession()))
	golden(t, "claim/dropped_again", b.send("DELETE", "/api/identity/claim", "", b.bySession()))
	golden(t, "claim/network_none", b.send("GET", "/api/network/identity/mara_k", ""))
	want(t, b.send("GET", "/api/network/identity/no_such_user", ""), 404, "not_found")
	want(t, b.send("GET", "/api/network/identity/no%20handle", ""), 404, "not_found")
}

// TestClaimsThatAreRefused checks that a claim of an invalid or unlinked wallet is refused and not stored.
func TestClaimsThatAreRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.people.wallets["did:idp:mara_k"] = []string{wallet}
	claiming := func(body string, headers ...header) *answer {
		return b.send("POST", "/api/identity/claim", body, append(headers, b.bySession())...)
	}
	address := func(a string) string { return `{"address":"` + a + `"}` }
	for body, code := range map[string]string{
		`{}`:                              "missing_address",
		`{"address":null}`:                "missing_address",
		`{"address":7}`:                   "invalid_address",
		`{"station":7,"address":"0x"}`:    "invalid_station",
		`{"station":"else","address":""}`: "missing_address",
		`{"station":"else","address":"` + wallet + `"}`:    "invalid_station",
		`{"station":"PARTNER","address":"` + wallet + `"}`: "invalid_station",
		address("0x"):         "invalid_address",
		address(wallet[:41]):  "invalid_address",
		address(wallet + "0"): "invalid_address",
		address(strings.ToLower(wallet[:20]) + wallet[20:]): "invalid_address", // mixed case with a wrong checksum
		address("0X" + wallet[2:]):                          "invalid_address",
		address(" " + wallet):                               "invalid_address",
		address(strings.Repeat("1", 44)):                    "invalid_address",
		address("0OIl" + strings.Repeat("1", 30)):           "invalid_address",
		`[]`: "invalid_body",
	} {
		want(t, claiming(body), 400, code)
	}
	want(t, claiming(address("0x"+strings.Repeat("1", 40))), 403, "wallet_not_linked")
	for name, token := range map[string]string{"foreign": "id.did:idp:bob.token", "broken": "x", "empty": ""} {
		want(t, claiming(address(wallet), withIdentity(token)).as(name), 401, "unauthenticated")
	}
	b.people.providerErr = oidc.ErrUnavailable
	w := b.send("POST", "/api/identity/claim", address(wallet), b.bySession())
	want(t, w, 503, "identity_provider_unavailable", "!Retry-After: ")
	b.people.providerErr = nil
	b.setDown(true)
	want(t, b.send("POST", "/api/identity/claim", address(wallet), b.bySession()), 503, "db_unavailable")
	equal(t, b.count("hub.identity_claims"), 0)
}

func TestPayout(t *testing.T) {
	t.Parallel()
	b := setup(t)
	golden(t, "claim/payout_unset", b.send("GET", "/api/network/payout/mara_k", ""))
	for _, handle := range []string{"no_such_user", "x", "no%20handle"} {
		want(t, b.send("GET", "/api/network/payout/"+handle, ""), 200, "", `={"eligible":false}`)
	}
	set := func(kind, tier string) {
		b.ledger.Exec(`UPDATE users SET payout_address = '0x2222222222222222222222222222222222222222', operator_type = $1, is_house = $2 WHERE handle = 'mara_k'`,
			kind, tier == "house")
	}
	set("human", "independent")
	golden(t, "claim/payout", b.send("GET", "/api/network/payout/mara_k", ""))
	for tier, kind := range map[string]string{"house": "human", "automated": "ai_agent"} {
		set(kind, tier)
		has(t, b.send("GET", "/api/network/payout/mara_k", ""),
			"eligible="+map[string]string{"house": "true", "automated": "false"}[tier])
	}
}

const digestPath = "/api/admin/daily-digest"

// withDigest returns a fixture whose ledger has the figures of the previous day and a situation.
func withDigest(t *testing.T) *fixture {
	t.Helper()
	b := setup(t)
	b.ledger.Lock()
	defer b.ledger.Unlock()
	b.ledger.Day = &digestv1.GetDayResponse{
		Signals: 27, Won: 11, Lost: 8, NewOperators: 2, Disputed: []string{"701122"},
		TopCalls: []*digestv1.TopCall{{
			SignalId: "0199f0a4-0000-7000-8000-000000000009", Handle: "mara_k", MarketTitle: "Will it\r\nrain?\u2028\x1b", Direction: "YES", OddsBps: 1200, Score: 88,
		}},
		Pulse: &digestv1.Pulse{Last7: 9, Prev7: 14, WeekSignals: 14, WeekOperators: 3},
	}
	b.ledger.Situations = map[string][]*wirev1.Situation{"24h": {{
		EventKey: "ostrava-flood", Provider: "polymarket", Headline: "Ostrava flood odds fall 14 points", Lane: "SCIENCE", MarketCount: 1, Volume: 182000,
		Score: 19, Criticality: "Elevated", DetectedAt: at("2026-09-18T09:00:00Z"),
		Markets: []*wirev1.Move{{MarketId: marketID, Provider: "polymarket", Title: "Will it?", Outcome: "Yes", FromBps: 4550, ToBps: 3150, Volume: 182000}},
	}}}
	return b
}

func TestDigestDry(t *testing.T) {
	t.Parallel()
	b := withDigest(t)
	golden(t, "digest/dry", b.send("POST", digestPath+"?dry=1", "", byAdmin()))
	golden(t, "digest/dry", b.send("POST", digestPath+"?dry=1&secret="+cronSecret, ""))
	day := apitest.Last[*digestv1.GetDayRequest](b.ledger)
	if from, to := day.GetFrom().AsTime(), day.GetTo().AsTime(); from.Format(time.RFC3339) != "2026-09-17T00:00:00Z" || to.Sub(from) != 24*time.Hour {
		t.Errorf("the hub requested %v to %v", from, to)
	}
	for _, query := range []string{"?dry=2", "?dry=", "?dry", "?dry=true", "?dry=01", "?dry=1&dry=0", "?dry=1&dry=1"} {
		want(t, b.send("POST", digestPath+query, "", byAdmin()), 400, "invalid_request", "field=dry")
	}
	equal(t, len(b.people.letters), 0)
	equal(t, b.count("hub.digest_sent"), 0)
}

func TestDigestIsSentOnceADay(t *testing.T) {
	t.Parallel()
	b := withDigest(t)
	golden(t, "digest/sent", b.send("POST", digestPath+"?dry=0", "", byAdmin()))
	golden(t, "digest/already", b.send("POST", digestPath+"?secret="+cronSecret, ""))
	if len(b.people.letters) != 1 || b.audit.entries[0].Target != "2026-09-17" {
		t.Fatalf("%d letters, audited as %+v", len(b.people.letters), b.audit.entries)
	}
	letter := b.people.letters[0]
	for _, part := range []string{
		"2026-09-17", "Calls filed: 27. Resolved: 19 (11 won, 8 lost), void: 0. New operators: 2.", "mara_k: YES at 12.00% on Will it  rain?", "+88.",
		"Ostrava flood odds fall 14 points", hubURL + "/m/701122", "Ending soon",
	} {
		if !strings.Contains(letter.Text, part) {
			t.Errorf("no %q in\n%s", part, letter.Text)
		}
	}
	if strings.ContainsAny(letter.Text, "\r\x1b\u2028") || strings.ContainsAny(letter.Subject, "\r\n") {
		t.Errorf("%q", letter.Text)
	}
	b.clock.Advance(24 * time.Hour)
	has(t, b.send("POST", digestPath, "", byAdmin()), "sent=2")
	equal(t, len(b.people.letters), 2)
}

// TestDigestThatFailed checks that a digest that could not be composed or sent can be requested again for the same day.
func TestDigestThatFailed(t *testing.T) {
	t.Parallel()
	b := withDigest(t)
	b.people.sendErr = errBroken
	want(t, b.send("POST", digestPath, "", byAdmin()), 503, "digest_unavailable")
	b.people.sendErr = nil
	for _, method := range []string{"GetDay", "ListSituations", "ListAirable"} {
		b.ledger.Fail(apitest.ErrDB, method)
		want(t, b.send("POST", digestPath, "", byAdmin()), 503, "db_unavailable")
		want(t, b.send("POST", digestPath+"?dry=1", "", byAdmin()), 503, "db_unavailable")
	}
	b.ledger.Fail(nil)
	want(t, b.send("POST", digestPath, "", byAdmin()), 200, "", "sent=2")
	b.setDown(true)
	want(t, b.send("POST", digestPath, "", byAdmin()), 503, "db_unavailable")
}
