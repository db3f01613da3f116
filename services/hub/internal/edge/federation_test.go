package edge_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/signalcast/signalcast/pkg/fault"
	"github.com/signalcast/signalcast/pkg/ledgerclient"
	recordv1 "github.com/signalcast/signalcast/proto/record/v1"
	"github.com/signalcast/signalcast/services/hub/internal/claim"
	"github.com/signalcast/signalcast/services/hub/internal/edge"
	"github.com/signalcast/signalcast/services/hub/internal/network"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// partners is the database of federated rows, in memory.
type partners struct {
	mu        sync.Mutex
	away      bool
	local     []network.Tape
	tapes     []network.Tape
	operators []network.Operator
	at        time.Time
	claims    map[network.Proof]operator.ID
	views     map[string]int64
}

var errAway = fault.New(fault.Unavailable, "db_unavailable", "")

func (p *partners) check() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.away {
		return errAway
	}
	return nil
}

func (*partners) KeepTapes(context.Context, string, []network.Tape, time.Time) error {
	return errors.ErrUnsupported
}

func (*partners) KeepOperators(context.Context, string, []network.Operator, time.Time) error {
	return errors.ErrUnsupported
}

func (*partners) DropOthers(context.Context, []string) error { return errors.ErrUnsupported }

func (p *partners) CopiedTapes(_ context.Context, since time.Time) ([]network.Tape, error) {
	if p.at.Before(since) {
		return nil, p.check()
	}
	return p.tapes, p.check()
}

func (p *partners) CopiedOperators(_ context.Context, since time.Time) ([]network.Operator, error) {
	if p.at.Before(since) {
		return nil, p.check()
	}
	return append([]network.Operator{}, p.operators...), p.check()
}

func (p *partners) LocalTapes(context.Context, int) ([]network.Tape, error) {
	return p.local, p.check()
}

func (p *partners) Views(_ context.Context, list []network.Tape) ([]int64, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := make([]int64, len(list))
	for i, t := range list {
		out[i] = p.views[t.Origin+" "+t.ID]
	}
	return out, nil
}

func (p *partners) AddView(_ context.Context, origin, id string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.views == nil {
		p.views = map[string]int64{}
	}
	p.views[origin+" "+id]++
	return nil
}

func (p *partners) Owners(_ context.Context, list []network.Proof) (map[network.Proof]operator.ID, error) {
	out := map[network.Proof]operator.ID{}
	for _, one := range list {
		if id, there := p.claims[one]; there {
			out[one] = id
		}
	}
	return out, p.check()
}

// atRiver is the one station that claims may name.
var atRiver = []claim.Station{{Name: "river", Profile: "https://river.example/u/"}}

func newNetwork(conn grpc.ClientConnInterface, p *partners, now func() time.Time) *network.Service {
	return network.NewService(network.Config{
		Origin: hubURL, People: hubURL + "/u/", Copies: p, Shelf: p, Links: p, Claims: atRiver, Ledger: ledgerclient.New(conn), Keep: 10 * time.Minute, Now: now,
	})
}

// withPartners is a bench whose partners are p.
func withPartners(t *testing.T, p *partners) *bench {
	t.Helper()
	return setup(t, func(_ *edge.Config, d *edge.Deps) {
		p.at = d.Now()
		d.Network = network.NewService(network.Config{
			Origin: hubURL, People: hubURL + "/u/", Copies: p, Shelf: p, Links: p, Claims: atRiver, Ledger: d.Ledger, Keep: 10 * time.Minute, Now: d.Now,
		})
	})
}

func tape(id, origin, handle string, at int, boosted bool) network.Tape {
	return network.Tape{
		ID: id, Origin: origin, OriginURL: "https://" + origin + ".example", Handle: handle, URL: "https://video.example/" + id + ".m3u8", MarketID: marketID,
		Href: "https://" + origin + ".example/u/" + handle, Views: 5, CreatedAt: time.Date(2026, 9, 18, 11, at, 0, 0, time.UTC), Boosted: boosted,
	}
}

func names(t *testing.T, w *httptest.ResponseRecorder, list, name string) string {
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
	return strings.Join(out, " ")
}

func TestNetworkTapes(t *testing.T) {
	t.Parallel()
	p := &partners{
		local: []network.Tape{tape("a", "", "mara_k", 10, false), tape("same", "", "mara_k", 1, false)},
		tapes: []network.Tape{tape("c", "river", "otto", 20, false), tape("b", "river", "otto", 5, true), tape("same", "river", "otto", 30, true)},
	}
	b := withPartners(t, p)
	w := b.send("GET", "/api/network/tapes", "")
	want(t, w, 200, "")
	if got := names(t, w, "tapes", "id"); got != "b c a same" || w.Header().Get("Cache-Control") != "public, max-age=0, s-maxage=60, stale-while-revalidate=300" {
		t.Errorf("%s %v", got, w.Header())
	}
	if got := names(t, w, "tapes", "origin"); got != "river river hub hub" {
		t.Errorf("origins: %s", got)
	}
	if got := names(t, w, "tapes", "originUrl") + names(t, w, "tapes", "href"); !strings.Contains(got, hubURL+" "+hubURL) || !strings.Contains(got, hubURL+"/u/mara_k") {
		t.Errorf("addresses: %s", got)
	}
	for query, ids := range map[string]string{
		"?limit=2": "b c", "?limit=0": "b c a same", "?exclude=river": "a same", "?exclude=hub": "same b c", "?exclude=" + hubURL: "same b c",
		"?exclude=x,https://RIVER.example:443,": "a same", "?exclude=hub,river": "",
		"?origin=hub": "a same", "?origin=river": "same b c", "?origin=" + hubURL + "/": "a same", "?origin=hub,river": "b c a same", "?origin=": "b c a same",
		"?origin=nobody": "", "?origin=hub&exclude=" + hubURL: "",
	} {
		if got := names(t, b.send("GET", "/api/network/tapes"+query, ""), "tapes", "id"); got != ids {
			t.Errorf("%s: %q, want %q", query, got, ids)
		}
	}
	b.clock.Advance(11 * time.Minute) // the partner has not been read since
	if got := names(t, b.send("GET", "/api/network/tapes", ""), "tapes", "id"); got != "a same" {
		t.Errorf("an old copy: %s", got)
	}
	p.mu.Lock()
	p.away = true
	p.mu.Unlock()
	b.clock.Advance(time.Minute)
	w = b.send("GET", "/api/network/tapes", "")
	if want(t, w, 200, ""); names(t, w, "tapes", "id") != "" || w.Header().Get("X-Degraded") == "" || w.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("%v %s", w.Header(), w.Body)
	}
}

// Never more than three of one handle in a row; what waits comes as soon as it may.
func TestTapesAreSpread(t *testing.T) {
	t.Parallel()
	p := &partners{}
	for i := range 5 {
		p.tapes = append(p.tapes, tape(fmt.Sprintf("m%d", i), "river", "otto", 50-i, false))
	}
	p.tapes = append(p.tapes, tape("x", "river", "rita", 10, false), tape("y", "river", "rita", 9, false))
	b := withPartners(t, p)
	if got := names(t, b.send("GET", "/api/network/tapes", ""), "tapes", "id"); got != "m0 m1 m2 x m3 m4 y" {
		t.Error(got)
	}
	p.tapes = p.tapes[:5]
	if got := names(t, b.send("GET", "/api/network/tapes?limit=7", ""), "tapes", "id"); got != "m0 m1 m2" {
		t.Errorf("of one handle alone: %s", got)
	}
}

func TestTapeViews(t *testing.T) {
	t.Parallel()
	p := &partners{local: []network.Tape{tape("a", "", "mara_k", 10, false)}, tapes: []network.Tape{tape("c", "river", "otto", 20, false)}}
	b := withPartners(t, p)
	for _, c := range []struct {
		id, want string
	}{{"c", `{"ok":true,"counted":true}`}, {"c", `{"ok":true,"counted":false}`}, {"a", `{"ok":true,"counted":true}`}} {
		if w := b.send("POST", "/api/network/tapes/"+c.id+"/view", ""); w.Code != 200 || w.Body.String() != c.want {
			t.Errorf("%s: %d %s", c.id, w.Code, w.Body)
		}
	}
	want(t, b.send("POST", "/api/network/tapes/nobody/view", ""), 404, "not_found")
	want(t, b.send("POST", "/api/network/tapes/%20/view", ""), 404, "not_found")
	if got := names(t, b.send("GET", "/api/network/tapes", ""), "tapes", "views"); got != "6 6" {
		t.Errorf("views: %s", got)
	}
	b.clock.Advance(time.Hour)
	p.at = b.clock.Now() // read again
	if w := b.send("POST", "/api/network/tapes/c/view", ""); !strings.Contains(w.Body.String(), `"counted":true`) || p.views["river c"] != 2 {
		t.Errorf("an hour later: %s, %v", w.Body, p.views)
	}
}

func TestNetworkOperators(t *testing.T) {
	t.Parallel()
	theirs := func(handle string, score int64) network.Operator {
		return network.Operator{
			Origin: "river", OriginURL: "https://river.example", Handle: handle, DisplayName: strings.ToUpper(handle), Score: score, Accuracy: 60, Total: 10, Won: 6, Lost: 4,
			Resolved: 10, Followers: 3, Href: "https://river.example/u/" + handle, Tier: "independent", OperatorType: "human",
		}
	}
	p := &partners{operators: []network.Operator{theirs("mara_k", 90), theirs("otto", 20), theirs("rita", 48)}}
	b := withPartners(t, p)
	b.ledger.Lock()
	b.ledger.Ranked = []*recordv1.Ranked{{Operator: b.mara, Stats: &recordv1.Stats{Score: 48, Total: 24, Won: 12, Lost: 6, Void: 1, Accuracy: 67, Streak: 2, AvgClvBps: proto.Int32(115)}}}
	b.mara.Tier, b.mara.OperatorType, b.mara.DisplayName = "independent", "human", "Mara K"
	b.ledger.Unlock()
	w := b.send("GET", "/api/network/operators", "")
	want(t, w, 200, "")
	if got := names(t, w, "operators", "handle") + "|" + names(t, w, "operators", "origin"); got != "mara_k mara_k rita otto|river hub river river" {
		t.Errorf("two of one handle: %s", got)
	}
	if got := names(t, w, "operators", "alsoOn"); got != "<nil> <nil> <nil> <nil>" {
		t.Errorf("nobody is linked: %s", got)
	}
	p.claims = map[network.Proof]operator.ID{{Station: "river", Identity: wallet}: operator.ID(b.mara.GetId())}
	b.clock.Advance(time.Minute)
	if got := names(t, b.send("GET", "/api/network/operators", ""), "operators", "alsoOn"); got != "<nil> <nil> <nil> <nil>" {
		t.Errorf("linked by a handle that is the same: %s", got)
	}
	p.operators[0].Handle, p.operators[0].Href = "mara_river", "https://river.example/u/"+strings.ToLower(wallet)
	b.clock.Advance(time.Minute)
	w = b.send("GET", "/api/network/operators", "")
	if got := names(t, w, "operators", "handle") + "|" + names(t, w, "operators", "alsoOn"); got != "mara_k rita otto|[river] <nil> <nil>" {
		t.Errorf("linked: %s", got)
	}
	var shown struct{ Operators []map[string]any }
	if err := json.Unmarshal(w.Body.Bytes(), &shown); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(shown.Operators[0]); got != "map[accuracy:67 alsoOn:[river] avatarUrl:<nil> avgClvBps:115 displayName:Mara K followers:0 handle:mara_k href:"+hubURL+
		"/u/mara_k isAi:false lost:6 operatorType:human origin:hub originUrl:"+hubURL+" pending:5 resolved:18 score:48 streak:2 tier:independent total:24 won:12]" {
		t.Error(got)
	}
	for query, handles := range map[string]string{"?limit=1": "mara_k", "?exclude=river": "mara_k", "?exclude=hub": "mara_river rita otto", "?origin=hub": "mara_k", "?origin=river": "mara_river rita otto"} {
		if got := names(t, b.send("GET", "/api/network/operators"+query, ""), "operators", "handle"); got != handles {
			t.Errorf("%s: %s", query, got)
		}
	}
	b.ledger.Lock()
	b.mara.OperatorType, b.mara.Tier = "ai_agent", "automated"
	b.ledger.Unlock()
	b.clock.Advance(time.Minute)
	if got := names(t, b.send("GET", "/api/network/operators", ""), "operators", "origin"); got != "river river river" {
		t.Errorf("a machine is shown: %s", got)
	}
}
