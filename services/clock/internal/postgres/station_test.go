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

// register is the ledger's stations, and what it was told of them.
type register struct {
	stations []program.Station
	told     map[string]string
	away     string
}

func (r *register) ActiveStations(context.Context) ([]program.Station, error) { return r.stations, nil }

func (r *register) PublishStation(_ context.Context, id string, _ time.Time, data []byte) error {
	if id == r.away {
		return errors.New("away")
	}
	r.told[id] = string(data)
	return nil
}

// contents writes a programme as lane, slot and market of what it airs.
func contents(p *program.Program) ([]byte, error) {
	var out strings.Builder
	for i := range p.Segments {
		if s := &p.Segments[i]; s.Kind == program.Content {
			fmt.Fprintf(&out, "%s %d %s;", s.Lane, s.Slot, s.Market)
		}
	}
	return []byte(out.String()), nil
}

type network struct {
	*bundle
	*register
	clock  *testkit.Clock
	copies *program.Copies
}

func (n *network) desk() *program.StationDesk {
	return program.NewStationDesk(program.StationDeps{
		Store: n.bundle.Store, Copies: n.copies, Active: n.ActiveStations, Publish: n.PublishStation, Words: contents,
		Lanes: program.DefaultLanes(), Now: n.clock.Now,
	})
}

func (n *network) fresh(markets ...program.Market) {
	n.copies.Markets.Store(program.NewPool(markets, n.clock.Now(), uint64(n.clock.Now().UnixNano())))
}

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
		register: &register{told: map[string]string{}},
	}
}

// Each station has a rundown of its own, stored as the default one is, and the ledger is
// told of it; one that cannot be told does not keep the others back.
func TestStations(t *testing.T) {
	n := newNetwork(t)
	now := n.clock.Now()
	native := market(3, "science", now)
	native.ID, native.Provider = "native-03", protocol.Manual
	n.stations = []program.Station{{ID: "off"}, {ID: "lab", Lanes: []string{"SCIENCE"}}, {ID: "own", Lanes: []string{"SCIENCE"}, Providers: []string{"manual"}}, {ID: "none", Lanes: []string{"MUSIC"}}}
	n.away = "off"
	d := n.desk()
	if err := d.Round(t.Context()); err != nil || len(n.told) != 0 {
		t.Errorf("without facts: %v %v", err, n.told)
	}
	n.fresh(market(1, "science", now), market(2, "science", now), native, market(9, "sports", now))
	if err := d.Round(t.Context()); err == nil || !strings.Contains(err.Error(), "station off") {
		t.Errorf("one that is away is no mistake: %v", err)
	}
	k := program.SlotAt(now)
	if !strings.HasPrefix(n.told["lab"], fmt.Sprintf("science %d 1;science %d 2;science %d native-03;", k, k+1, k+2)) || n.told["none"] != "" || len(n.told) != 3 {
		t.Errorf("told %v", n.told)
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

	// Another replica takes over in the middle: nothing is otherwise.
	before := n.told["lab"]
	other := n.desk()
	if err := other.Round(t.Context()); err == nil || n.told["lab"] != before {
		t.Errorf("after the hand-over: %v\n%s\n%s", err, before, n.told["lab"])
	}
	if n := rowsOf(t, n.bundle, "SELECT count(*) FROM airings"); n != 3 {
		t.Errorf("%d airings on record, want 3", n)
	}

	// What is less than whole is not told: the copy before it stays.
	n.clock.Advance(2 * time.Minute)
	n.told = map[string]string{}
	if err := d.Round(t.Context()); err != nil || len(n.told) != 0 {
		t.Errorf("with old markets: %v %v", err, n.told)
	}
}

// A station that changes what it airs keeps the slot that runs; those to come follow.
func TestStationChanges(t *testing.T) {
	n := newNetwork(t)
	now := n.clock.Now()
	native := market(3, "science", now)
	native.ID, native.Provider = "native-03", protocol.Manual
	n.stations = []program.Station{{ID: "lab", Lanes: []string{"SCIENCE"}}}
	d := n.desk()
	round := func() map[program.Slot]string {
		t.Helper()
		n.fresh(market(1, "science", now), native, market(7, "crypto", now))
		if err := d.Round(t.Context()); err != nil {
			t.Fatal(err)
		}
		return n.rundown(t, "lab")
	}
	k := program.SlotAt(now)
	if got := round(); got[k] != "science 1" || got[k+1] != "science native-03" {
		t.Fatalf("%v", got)
	}
	n.stations[0].Providers = []string{"manual"}
	for slot, got := range round() {
		if want := map[bool]string{true: "science 1", false: "science native-03"}[slot == k]; got != want {
			t.Errorf("slot %d: %s, want %s", slot-k, got, want)
		}
	}
	n.stations[0] = program.Station{ID: "lab", Lanes: []string{"CRYPTO"}}
	got := round()
	if got[k] != "crypto 7science 1" || len(got) != program.Ahead+1 {
		t.Errorf("the slot that runs: %q of %d", got[k], len(got))
	}
	for slot, one := range got {
		if slot != k && one != "crypto 7" {
			t.Errorf("slot %d: %s", slot-k, one)
		}
	}
	n.stations = nil // it has ended
	if err := d.Round(t.Context()); err != nil || len(d.Needed()) != 0 {
		t.Errorf("needed of nobody: %v, %v", d.Needed(), err)
	}
}

func rowsOf(t *testing.T, b *bundle, sql string, args ...any) (n int) {
	t.Helper()
	if err := b.pool.QueryRow(t.Context(), sql, args...).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
