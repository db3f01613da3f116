package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/clock/internal/program"
)

// fakeLedger lists stations and records their published programmes.
type fakeLedger struct {
	stations  []program.Station
	published map[string]string // programmes by station id
	failing   string            // id of the station whose programme it rejects
}

func (r *fakeLedger) ActiveStations(context.Context) ([]program.Station, error) {
	return r.stations, nil
}

func (r *fakeLedger) PublishStation(_ context.Context, id string, _ time.Time, data []byte) error {
	if id == r.failing {
		return errors.New("unavailable")
	}
	r.published[id] = string(data)
	return nil
}

// encodeContents returns the lane, slot and market of each content segment of a programme as text.
func encodeContents(p *program.Program) ([]byte, error) {
	var out strings.Builder
	for i := range p.Segments {
		if s := &p.Segments[i]; s.Kind == program.Content {
			fmt.Fprintf(&out, "%s %d %s;", s.Lane, s.Slot, s.Market)
		}
	}
	return []byte(out.String()), nil
}

// network is a fixture: a database, a fake ledger with stations, copies of the markets, and a clock.
type network struct {
	*bundle
	*fakeLedger
	clock  *testkit.Clock
	copies *program.Copies
}

func (n *network) planner() *program.StationPlanner {
	return program.NewStationPlanner(program.StationConfig{
		Store: n.bundle.Store, Copies: n.copies, Active: n.ActiveStations, Publish: n.PublishStation, Encode: encodeContents,
		Lanes: program.DefaultLanes(), Now: n.clock.Now,
	})
}

// setMarkets replaces the copy of the markets.
func (n *network) setMarkets(markets ...program.Market) {
	n.copies.Markets.Store(program.NewPool(markets, n.clock.Now(), uint64(n.clock.Now().UnixNano())))
}

// rundown returns lane and market of each stored slot of a station, from the running slot on.
func (n *network) rundown(t *testing.T, id string) map[program.Slot]string {
	t.Helper()
	k := program.SlotAt(n.clock.Now())
	list, err := n.ListSlots(t.Context(), program.StationChannel(id), k, k+program.Ahead)
	if err != nil {
		t.Fatal(err)
	}
	out := make(map[program.Slot]string, len(list))
	for _, e := range list {
		out[e.Slot] += string(e.Lane) + " " + string(e.Market)
	}
	return out
}

func newNetwork(t *testing.T) *network {
	b := setup(t)
	return &network{
		bundle: b, clock: testkit.NewClock((b.slot + 3).Content().Add(5 * time.Second)), copies: &program.Copies{},
		fakeLedger: &fakeLedger{published: map[string]string{}},
	}
}

// TestStations checks that each station has a separate stored rundown, and that its programme is published to the ledger. A
// failure of one station does not affect the others.
func TestStations(t *testing.T) {
	n := newNetwork(t)
	now := n.clock.Now()
	native := market(3, "science", now)
	native.ID, native.Provider = "native-03", protocol.Manual
	n.stations = []program.Station{
		{ID: "off"},
		{ID: "lab", Lanes: []string{"SCIENCE"}},
		{ID: "own", Lanes: []string{"SCIENCE"}, Providers: []string{"manual"}},
		{ID: "none", Lanes: []string{"MUSIC"}},
	}
	n.failing = "off"
	d := n.planner()
	if err := d.FillAll(t.Context()); err != nil || len(n.published) != 0 {
		t.Errorf("without copies of the markets: %v %v; want no publication", err, n.published)
	}
	n.setMarkets(market(1, "science", now), market(2, "science", now), native, market(9, "sports", now))
	if err := d.FillAll(t.Context()); err == nil || !strings.Contains(err.Error(), "station off") {
		t.Errorf("error %v; want one that names the station whose publication failed", err)
	}
	k := program.SlotAt(now)
	if !strings.HasPrefix(n.published["lab"], fmt.Sprintf("science %d 1;science %d 2;science %d native-03;", k, k+1, k+2)) ||
		n.published["none"] != "" || len(n.published) != 3 {
		t.Errorf("published %v", n.published)
	}
	for id, want := range map[string]string{"lab": "science 2", "own": "science native-03", "off": "sports 9"} {
		if got := n.rundown(t, id); len(got) != program.Ahead+1 || got[k+1] != want {
			t.Errorf("%s: %d slots, then %q, want %q", id, len(got), got[k+1], want)
		}
	}
	if got := fmt.Sprint(d.Needed()); got != "[1 2 9 native-03]" {
		t.Errorf("needed %s", got)
	}
	if n := rowsOf(t, n.bundle, "SELECT count(*) FROM airings WHERE channel LIKE 'station.%' AND yes_bps_start = 3150"); n != 3 {
		t.Errorf("%d airings on record, want 3", n)
	}

	// Another replica becomes the leader. The programme does not change.
	before := n.published["lab"]
	other := n.planner()
	if err := other.FillAll(t.Context()); err == nil || n.published["lab"] != before {
		t.Errorf("after a change of the leader: %v\n%s\n%s", err, before, n.published["lab"])
	}
	if n := rowsOf(t, n.bundle, "SELECT count(*) FROM airings"); n != 3 {
		t.Errorf("%d airings on record, want 3", n)
	}

	// A degraded programme is not published, so the ledger keeps the last one.
	n.clock.Advance(2 * time.Minute)
	n.published = map[string]string{}
	if err := d.FillAll(t.Context()); err != nil || len(n.published) != 0 {
		t.Errorf("with old markets: %v %v; want no publication", err, n.published)
	}
}

// TestStationChanges checks that when the lanes or providers of a station change, its running slot stays and its future slots are
// refilled.
func TestStationChanges(t *testing.T) {
	n := newNetwork(t)
	now := n.clock.Now()
	native := market(3, "science", now)
	native.ID, native.Provider = "native-03", protocol.Manual
	n.stations = []program.Station{{ID: "lab", Lanes: []string{"SCIENCE"}}}
	d := n.planner()
	fill := func() map[program.Slot]string {
		t.Helper()
		n.setMarkets(market(1, "science", now), native, market(7, "crypto", now))
		if err := d.FillAll(t.Context()); err != nil {
			t.Fatal(err)
		}
		return n.rundown(t, "lab")
	}
	k := program.SlotAt(now)
	if got := fill(); got[k] != "science 1" || got[k+1] != "science native-03" {
		t.Fatalf("%v", got)
	}
	n.stations[0].Providers = []string{"manual"}
	for slot, got := range fill() {
		if want := map[bool]string{true: "science 1", false: "science native-03"}[slot == k]; got != want {
			t.Errorf("slot %d: %s, want %s", slot-k, got, want)
		}
	}
	n.stations[0] = program.Station{ID: "lab", Lanes: []string{"CRYPTO"}}
	got := fill()
	if got[k] != "crypto 7science 1" || len(got) != program.Ahead+1 {
		t.Errorf("running slot: %q of %d slots", got[k], len(got))
	}
	for slot, one := range got {
		if slot != k && one != "crypto 7" {
			t.Errorf("slot %d: %s", slot-k, one)
		}
	}
	n.stations = nil // the station is no longer active
	if err := d.FillAll(t.Context()); err != nil || len(d.Needed()) != 0 {
		t.Errorf("without stations, %v are needed, %v; want none", d.Needed(), err)
	}
}

// rowsOf returns the single number that a query returns.
func rowsOf(t *testing.T, b *bundle, sql string, args ...any) (n int) {
	t.Helper()
	if err := b.pool.QueryRow(t.Context(), sql, args...).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
