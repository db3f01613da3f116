package edge_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// somebodyElse are members that say for whom to act; no route reads them.
func somebodyElse(id, handle string) map[string]any {
	out := map[string]any{"handle": handle, "username": handle, "callsign": handle}
	for _, name := range []string{"userId", "user_id", "user", "denpaId", "denpa_id", "operatorId", "operator_id", "ownerId", "owner", "actor", "author", "sub", "subject", "privyId"} {
		out[name] = id
	}
	return out
}

// injected writes a body with the members of somebody else.
func injected(more map[string]any, pairs ...any) string {
	var all []any
	for name, v := range more {
		if !slices.Contains(pairs, any(name)) {
			all = append(all, name, v)
		}
	}
	return object(append(all, pairs...)...)
}

func nobodyAtAll(*http.Request) {}

// act is a write of mara's.
type act struct {
	route, path, body string
	who               header
	status            int
	late              func() string // makes the body when it is due; nil: body
}

// everyWrite is each write that somebody with a credential of their own can make, in an
// order that leaves each something to do.
func (b *bench) everyWrite(victim string, theirs map[string]any) []act {
	b.people.linked["did:idp:mara_k"] = []string{wallet}
	signal := b.file("YES", 3150, b.byKey())
	a := b.register("confidential", "scopes", `["profile:read","signer:create","signal:create","prediction:create"]`)
	access, _, grantID := b.connect(a, "scope", "profile:read signer:create signal:create prediction:create")
	_, _, second := b.connect(a, "scope", "profile:read")
	by, p := bearer(access), b.newPen("of the app")
	p.appID = a.ID
	own := b.signer("mara's own", "signal:create", "station:create")
	forVictim := b.newPen("forged")
	forVictim.denpaID = victim
	key := field(b.send("POST", "/api/dev/keys", `{"label":"x"}`, byLogin("mara_k")), "id")
	const nothing = ""
	return []act{
		{"POST /api/protocol/v1/signers/challenge", nothing, injected(theirs, "publicKey", p.key()), by, 200, nil},
		{"POST /api/protocol/v1/signers", nothing, "", by, 201, func() string {
			return strings.Replace(p.registration(p.challenge(by), "signal:create"), "{", strings.TrimSuffix(injected(without(theirs, "label")), "}")+",", 1)
		}},
		{"POST /api/protocol/v1/predictions", nothing, injected(theirs, "marketId", nativeID, "position", "YES"), by, 200, nil},
		{"POST /api/protocol/v1/signals", nothing, injected(theirs, "marketId", marketID, "position", "NO"), by, 409, nil}, // mara has called there
		{"POST /api/protocol/v1/messages", nothing, own.write("station.create", injectedPayload(theirs)), b.byKey(), 400, nil},
		{"POST /api/protocol/v1/messages", nothing, forVictim.write("signal.create", call(nativeID)), b.byKey(), 401, nil},
		{"DELETE /api/protocol/v1/signers/:publicKey", signersPath + "/" + own.key(), nothing, b.byKey(), 200, nil},
		{"DELETE /api/protocol/v1/grants/:grantId", "/api/protocol/v1/grants/" + grantID, nothing, by, 200, nil},
		{"DELETE /api/user/signers/:publicKey", "/api/user/signers/" + own.key(), nothing, b.bySession(), 200, nil},
		{"DELETE /api/user/grants/:grantId", "/api/user/grants/" + second, nothing, b.bySession(), 200, nil},
		{"POST /api/dev/apps", nothing, injected(theirs, "name", "Mine", "type", "public", "redirectUris", []string{callback}, "scopes", []string{"profile:read"}), byLogin("mara_k"), 201, nil},
		{"PATCH /api/dev/apps/:appId", "/api/dev/apps/" + a.ID, injected(theirs, "name", "Mine still"), byLogin("mara_k"), 200, nil},
		{"POST /api/dev/apps/:appId/secret", "/api/dev/apps/" + a.ID + "/secret", injected(theirs), byLogin("mara_k"), 200, nil},
		{"DELETE /api/dev/apps/:appId", "/api/dev/apps/" + a.ID, nothing, byLogin("mara_k"), 200, nil},
		{"POST /api/auth/privy", nothing, injected(theirs), byLogin("mara_k"), 200, nil},
		{"POST /api/dev/keys", nothing, injected(theirs, "label", "x"), byLogin("mara_k"), 201, nil},
		{"DELETE /api/dev/keys", "/api/dev/keys?id=" + key, nothing, byLogin("mara_k"), 200, nil},
		{"POST /api/predictions", nothing, injected(theirs, "marketId", marketID, "direction", "YES", "priceAtPrediction", 1), b.byKey(), 409, nil},
		{"POST /api/signals/:id/events", "/api/signals/" + signal + "/events", injected(theirs, "type", "reaffirm"), b.byKey(), 201, nil},
		{"POST /api/m/:marketId/streams", streamsURL, injected(theirs, "url", playURL), b.bySession(), 200, nil},
		{"DELETE /api/m/:marketId/streams", streamsURL, nothing, b.bySession(), 200, nil},
		{"POST /api/reports", nothing, injected(theirs, "kind", "profile", "id", "tidewatch", "reason", "spam"), b.byKey(), 201, nil},
		{"POST /api/user/follow", nothing, injected(theirs, "handle", "tidewatch"), b.bySession(), 200, nil},
		{"DELETE /api/user/follow", "/api/user/follow?handle=tidewatch", nothing, b.bySession(), 200, nil},
		{"POST /api/identity/claim", nothing, injected(theirs, "address", wallet), b.bySession(), 200, nil},
		{"DELETE /api/identity/claim", nothing, nothing, b.bySession(), 200, nil},
		{"POST /api/streamer/stream", nothing, injected(theirs, "label", "mine"), byLogin("mara_k"), 403, nil},                    // nobody has approved her
		{"POST /api/live/:handle/clip", "/api/live/tidewatch/clip", injected(theirs, "title", "theirs"), b.bySession(), 409, nil}, // nobody is live
		{"POST /api/streamer/signal", nothing, injected(theirs, "marketId", marketID, "name", "Ostrava", "streamerId", "victim_v"), b.byKey(), 200, nil},
		{"POST /api/streamer/heartbeat", nothing, injected(theirs, "state", "live"), b.byKey(), 200, nil},
		{"DELETE /api/streamer/signal", nothing, nothing, b.bySession(), 200, nil},
		{"POST /api/streamer/register", nothing, injected(without(theirs, "displayName"), "lanes", []string{"science"}), b.bySession(), 201, nil},
		{"POST /api/mcp", nothing, toolCall("submit_signal", injected(theirs, "marketId", marketID, "direction", "YES", "priceAtPrediction", 1)), b.byKey(), 200, nil}, // a tool that knows no such argument
		{"POST /api/protocol/v1/mcp", nothing, toolCall("submit_signal", injected(theirs, "marketId", marketID, "direction", "YES", "priceAtPrediction", 1)), nobodyAtAll, 401, nil},
		{"POST /api/streamer/profile", nothing, injected(theirs, "bio", "mine"), b.byKey(), 200, nil},
	}
}

// TestWritesActAsTheirBearer (S26): made from the table of routes. Every write that
// somebody with a credential of their own can make is made with the members and the
// query that name somebody else; what comes of it is the bearer's, or nothing.
func TestWritesActAsTheirBearer(t *testing.T) {
	t.Parallel()
	store, streams := stored(t)
	b, db := withMessages(t, store)
	kept := []*pgxpool.Pool{testkit.Pool(t, db.Admin), streams}
	victim := b.ledger.AddOperator("victim_v")
	b.ledger.AddOperator("tidewatch")
	theirs := somebodyElse(victim.GetId(), "victim_v")
	var seen []string
	for _, act := range b.everyWrite(victim.GetId(), theirs) {
		method, path, _ := strings.Cut(act.route, " ")
		seen = append(seen, act.route)
		if act.path != "" {
			path = act.path
		}
		body := act.body
		if act.late != nil {
			body = act.late()
		}
		b.clock.Advance(10 * time.Second)
		if w := b.send(method, query(path, theirs), body, act.who); w.Code != act.status || strings.Contains(w.Body.String(), victim.GetId()) || strings.Contains(w.Body.String(), "victim_v") {
			t.Errorf("%s: %d, want %d: %s", act.route, w.Code, act.status, w.Body)
		}
		b.untouched(kept, act.route, operator.ID(victim.GetId()))
	}
	again := b.register("public")
	form := url.Values{"request": {b.consent(again.asking())}, "decision": {"approve"}}
	for name, value := range theirs {
		form.Set(name, fmt.Sprint(value))
	}
	form.Set("displayName", "Mara")
	form.Set("address", wallet)
	for path, want := range map[string]int{
		authorizePath: 303, "/apps/revoke": 404, "/profile": 303, "/profile/claims": 303, "/profile/claims/drop": 303,
		"/u/tidewatch/follow": 303, "/u/tidewatch/unfollow": 303,
	} {
		seen = append(seen, "POST "+strings.Replace(path, "/u/tidewatch/", "/u/:handle/", 1))
		if w := b.post(query(path, theirs), form, b.bySession()); w.Code != want {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
		b.untouched(kept, path, operator.ID(victim.GetId()))
	}
	for _, r := range b.server.Table() {
		writes := r.Method != "GET" && slices.ContainsFunc(r.Who, func(who string) bool { return slices.Contains([]string{"token", "key", "session", "jwt"}, who) })
		if route := r.Method + " " + r.Path; writes && !slices.Contains(seen, route) {
			t.Errorf("%s is a write that nobody tried", route)
		}
	}
}

func without(m map[string]any, names ...string) map[string]any {
	out := map[string]any{}
	for name, v := range m {
		if !slices.Contains(names, name) {
			out[name] = v
		}
	}
	return out
}

func injectedPayload(theirs map[string]any) map[string]any {
	out := without(theirs)
	out["stationId"], out["name"], out["url"] = "abc", "S", "https://s.example"
	return out
}

// query adds the members of somebody else to an address, but for those it has.
func query(path string, theirs map[string]any) string {
	base, has, _ := strings.Cut(path, "?")
	v, err := url.ParseQuery(has)
	if err != nil {
		panic(err)
	}
	for name, value := range theirs {
		if !v.Has(name) {
			v.Set(name, fmt.Sprint(value))
		}
	}
	return base + "?" + v.Encode()
}

// untouched says that nothing is the victim's and nothing names them.
func (b *bench) untouched(kept []*pgxpool.Pool, route string, victim operator.ID) {
	t := b.t
	t.Helper()
	b.ledger.Lock()
	for _, f := range b.ledger.Signals {
		if f.Owner == string(victim) {
			t.Errorf("%s: a call of the victim's", route)
		}
	}
	for _, k := range b.ledger.Keys {
		if k.Owner == string(victim) {
			t.Errorf("%s: a key of the victim's", route)
		}
	}
	b.ledger.Unlock()
	b.people.mu.Lock()
	for pair := range b.people.follows {
		if slices.Contains(pair[:], victim) {
			t.Errorf("%s: the victim follows or is followed", route)
		}
	}
	if len(b.people.claims[victim]) != 0 {
		t.Errorf("%s: the victim claims", route)
	}
	b.people.mu.Unlock()
	for _, pool := range kept {
		for _, table := range []string{"apps", "auth_requests", "auth_codes", "grants", "signers", "signer_challenges", "messages", "streams", "attestations_due"} {
			var n int
			sql := "SELECT count(*) FROM hub." + table + " t WHERE t::text LIKE '%' || $1 || '%' OR t::text LIKE '%victim_v%'"
			if err := pool.QueryRow(t.Context(), sql, string(victim)).Scan(&n); err != nil {
				t.Fatal(err)
			}
			if n > 0 {
				t.Errorf("%s: %d rows of %s name the victim", route, n, table)
			}
		}
	}
}
