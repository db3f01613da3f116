package httpapi_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/signalcast/signalcast/pkg/ledgerclient"
	recordv1 "github.com/signalcast/signalcast/proto/record/v1"
	"github.com/signalcast/signalcast/services/hub/internal/federation"
	"github.com/signalcast/signalcast/services/hub/internal/identityclaim"
)

// atRiver is the list of stations on which identities can be claimed, which contains only river.
var atRiver = []identityclaim.Station{{Name: "river", Profile: "https://river.example/u/"}}

func (b *fixture) newNetwork(ledger *ledgerclient.Client) *federation.Service {
	return federation.NewService(federation.Config{
		Origin: hubURL, People: hubURL + "/u/", Store: b.store, Claims: atRiver, Ledger: ledger, Keep: 10 * time.Minute, Now: b.clock.Now,
	})
}

// receive stores tapes and operators as the current lists of the partner river.
func (b *fixture) receive(tapes []federation.Tape, operators ...federation.Operator) {
	b.t.Helper()
	ctx := b.t.Context()
	if err := errors.Join(b.store.ReplaceTapes(ctx, "river", tapes, b.clock.Now()), b.store.ReplaceOperators(ctx, "river", operators, b.clock.Now())); err != nil {
		b.t.Fatal(err)
	}
}

// Ids of clips of this hub.
const (
	ownTape  = "0199f0c0-0000-7000-8000-00000000000a"
	sameTape = "0199f0c0-0000-7000-8000-00000000000b" // a tape of the station river has the same id
)

// clip stores a clip of mara_k that was made the given number of minutes after 11:00.
func (b *fixture) clip(id string, minute int) {
	b.ledger.Exec(`INSERT INTO hub.clips (id, handle, market_id, url, status, views, created_by, created_at, ready_at)
		VALUES ($1, 'mara_k', $2, 'https://video.example/a.m3u8', 'ready', 5, 'mara_k', $3, $3)`,
		id, marketID, at("2026-09-18T11:00:00Z").AsTime().Add(time.Duration(minute)*time.Minute))
}

// tape returns a tape of the station river that was made the given number of minutes after 11:00.
func tape(id, handle string, minute int, boosted bool) federation.Tape {
	return federation.Tape{
		ID: id, Origin: "river", OriginURL: "https://river.example", Handle: handle, URL: "https://video.example/" + id + ".m3u8",
		MarketID: marketID, Href: "https://river.example/u/" + handle, Views: 5,
		CreatedAt: time.Date(2026, 9, 18, 11, minute, 0, 0, time.UTC), Boosted: boosted,
	}
}

func names(t *testing.T, w *answer, list, name string) string {
	t.Helper()
	var body map[string]json.RawMessage
	var rows []map[string]any
	if json.Unmarshal(w.Body.Bytes(), &body) != nil || json.Unmarshal(body[list], &rows) != nil {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	var out []string
	for _, r := range rows {
		out = append(out, fmt.Sprint(r[name]))
	}
	return strings.NewReplacer(ownTape, "a", sameTape, "same").Replace(strings.Join(out, " "))
}

func TestNetworkTapes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.clip(ownTape, 10)
	b.clip(sameTape, 1)
	b.receive([]federation.Tape{tape("c", "otto", 20, false), tape("b", "otto", 5, true), tape(sameTape, "otto", 30, true)})
	w := b.send("GET", "/api/network/tapes", "")
	want(t, w, 200, "")
	if got := names(t, w, "tapes", "id"); got != "b c a same" || w.Header().Get("Cache-Control") != "public, max-age=0, s-maxage=60, stale-while-revalidate=300" {
		t.Errorf("%s %v", got, w.Header())
	}
	equal(t, names(t, w, "tapes", "origin"), "river river hub hub")
	if got := names(t, w, "tapes", "originUrl") + names(t, w, "tapes", "href"); !strings.Contains(got, hubURL+" "+hubURL) || !strings.Contains(got, hubURL+"/u/mara_k") {
		t.Errorf("addresses: %s", got)
	}
	for query, ids := range map[string]string{
		"?limit=2": "b c", "?limit=0": "b c a same", "?exclude=river": "a same", "?exclude=hub": "same b c", "?exclude=" + hubURL: "same b c",
		"?exclude=x,https://RIVER.example:443,": "a same", "?exclude=hub,river": "",
		"?origin=hub": "a same", "?origin=river": "same b c", "?origin=" + hubURL + "/": "a same", "?origin=hub,river": "b c a same", "?origin=": "b c a same",
		"?origin=unknown": "", "?origin=hub&exclude=" + hubURL: "",
	} {
		equal(t, names(t, b.send("GET", "/api/network/tapes"+query, ""), "tapes", "id"), ids, query)
	}
	b.clock.Advance(11 * time.Minute) // the partner has not been read since
	equal(t, names(t, b.send("GET", "/api/network/tapes", ""), "tapes", "id"), "a same")
	b.setDown(true)
	b.clock.Advance(time.Minute)
	w = b.send("GET", "/api/network/tapes", "")
	if want(t, w, 200, ""); names(t, w, "tapes", "id") != "" || w.Header().Get("X-Degraded") == "" || w.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("%v %s", w.Header(), w.Body)
	}
}

// TestTapesAreSpread checks that at most three tapes of one handle follow each other. Apart from that, the order of the tapes
// does not change.
func TestTapesAreSpread(t *testing.T) {
	t.Parallel()
	var tapes []federation.Tape
	for i := range 5 {
		tapes = append(tapes, tape(fmt.Sprintf("m%d", i), "otto", 50-i, false))
	}
	b := setup(t)
	b.receive(append(tapes, tape("x", "rita", 10, false), tape("y", "rita", 9, false)))
	equal(t, names(t, b.send("GET", "/api/network/tapes", ""), "tapes", "id"), "m0 m1 m2 x m3 m4 y")
	b.receive(tapes)
	equal(t, names(t, b.send("GET", "/api/network/tapes?limit=7", ""), "tapes", "id"), "m0 m1 m2")
}

func TestTapeViews(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tapes := []federation.Tape{tape("c", "otto", 20, false)}
	b.clip(ownTape, 10)
	b.receive(tapes)
	for _, c := range []struct {
		id, want string
	}{{"c", `{"ok":true,"counted":true}`}, {"c", `{"ok":true,"counted":false}`}, {ownTape, `{"ok":true,"counted":true}`}} {
		want(t, b.send("POST", "/api/network/tapes/"+c.id+"/view", ""), 200, "", "="+c.want)
	}
	want(t, b.send("POST", "/api/network/tapes/unknown/view", ""), 404, "not_found")
	want(t, b.send("POST", "/api/network/tapes/%20/view", ""), 404, "not_found")
	equal(t, names(t, b.send("GET", "/api/network/tapes", ""), "tapes", "views"), "6 6")
	b.clock.Advance(time.Hour)
	b.receive(tapes)
	w := b.send("POST", "/api/network/tapes/c/view", "")
	if n := b.number(`SELECT views FROM hub.tape_views WHERE tape_id = 'c'`); !strings.Contains(w.Body.String(), `"counted":true`) || n != 2 {
		t.Errorf("an hour later: %s, %d views", w.Body, n)
	}
}

func TestNetworkOperators(t *testing.T) {
	t.Parallel()
	theirs := func(handle string, score int64) federation.Operator {
		return federation.Operator{
			Origin: "river", OriginURL: "https://river.example", Handle: handle, DisplayName: strings.ToUpper(handle), Score: score, Accuracy: 60, Total: 10, Won: 6, Lost: 4,
			Resolved: 10, Followers: 3, Href: "https://river.example/u/" + handle, Tier: "independent", OperatorType: "human",
		}
	}
	b := setup(t)
	operators := []federation.Operator{theirs("mara_k", 90), theirs("otto", 20), theirs("rita", 48)}
	b.receive(nil, operators...)
	b.ledger.Lock()
	b.ledger.Ranked = []*recordv1.Ranked{{Operator: b.mara, Stats: &recordv1.Stats{Score: 48, Total: 24, Won: 12, Lost: 6, Void: 1, Accuracy: 67, Streak: 2, AvgClvBps: proto.Int32(115)}}}
	b.mara.DisplayName = "Mara K"
	b.ledger.Unlock()
	w := b.send("GET", "/api/network/operators", "")
	want(t, w, 200, "")
	equal(t, names(t, w, "operators", "handle")+"|"+names(t, w, "operators", "origin"),
		"mara_k mara_k rita otto|river hub river river")
	equal(t, names(t, w, "operators", "alsoOn"), "<nil> <nil> <nil> <nil>")
	b.ledger.Exec(`INSERT INTO hub.identity_claims (user_id, station, identity, verified_at) VALUES ($1, 'river', $2, now())`,
		b.mara.GetId(), wallet)
	b.clock.Advance(time.Minute)
	equal(t, names(t, b.send("GET", "/api/network/operators", ""), "operators", "alsoOn"), "<nil> <nil> <nil> <nil>")
	operators[0].Handle, operators[0].Href = "mara_river", "https://river.example/u/"+strings.ToLower(wallet)
	b.receive(nil, operators...)
	b.clock.Advance(time.Minute)
	w = b.send("GET", "/api/network/operators", "")
	equal(t, names(t, w, "operators", "handle")+"|"+names(t, w, "operators", "alsoOn"),
		"mara_k rita otto|[river] <nil> <nil>")
	var shown struct{ Operators []map[string]any }
	must(t, json.Unmarshal(w.Body.Bytes(), &shown))
	if got := fmt.Sprint(shown.Operators[0]); got != "map[accuracy:67 alsoOn:[river] avatarUrl:<nil> avgClvBps:115 displayName:Mara K followers:0 handle:mara_k href:"+hubURL+
		"/u/mara_k isAi:false lost:6 operatorType:human origin:hub originUrl:"+hubURL+" pending:5 resolved:18 score:48 streak:2 tier:independent total:24 won:12]" {
		t.Error(got)
	}
	for query, handles := range map[string]string{"?limit=1": "mara_k", "?exclude=river": "mara_k", "?exclude=hub": "mara_river rita otto", "?origin=hub": "mara_k", "?origin=river": "mara_river rita otto"} {
		equal(t, names(t, b.send("GET", "/api/network/operators"+query, ""), "operators", "handle"), handles, query)
	}
	b.ledger.Lock()
	b.mara.OperatorType, b.mara.Tier = "ai_agent", "automated"
	b.ledger.Unlock()
	b.clock.Advance(time.Minute)
	equal(t, names(t, b.send("GET", "/api/network/operators", ""), "operators", "origin"), "river river river")
}
