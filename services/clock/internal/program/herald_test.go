package program

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/syntax"
)

// journal is a Journal in memory, which all Heralds of a test share.
type journal struct {
	starts map[string]Start // by channel and slot
	told   []Start
	copies map[string]string
	aired  int
	writes int
	fail   error
}

func newJournal() *journal {
	return &journal{starts: make(map[string]Start), copies: make(map[string]string)}
}

func (j *journal) ListStarts(_ context.Context, slot Slot) ([]Start, error) {
	var out []Start
	for _, s := range j.starts {
		if s.Slot == slot {
			out = append(out, s)
		}
	}
	return out, j.fail
}

func (j *journal) Tell(_ context.Context, t Telling) (Told, error) {
	if j.fail != nil {
		return Told{}, j.fail
	}
	told := Told{Aired: len(t.Airings)}
	j.aired += len(t.Airings)
	j.writes++
	for _, s := range t.Starts {
		key := fmt.Sprint(s.Channel, s.Slot)
		if _, was := j.starts[key]; was {
			continue
		}
		j.starts[key] = s
		j.told = append(j.told, s)
		told.Started++
	}
	for _, c := range t.Copies {
		j.copies[c.Channel] = string(c.Data)
	}
	return told, nil
}

// take gives what was told since, as channel and market.
func (j *journal) take() []string {
	var out []string
	for _, s := range j.told {
		out = append(out, s.Channel+" "+string(s.Market))
	}
	j.told = nil
	slices.Sort(out)
	return out
}

var words = Words{
	Segment: func(s *Segment) []byte {
		b, err := json.Marshal(map[string]any{"id": s.ID, "market": s.Market, "yes": s.Yes, "in": s.EndsIn.Milliseconds()})
		if err != nil {
			panic(err)
		}
		return b
	},
	Preempted: func(s *Segment, before *Entry, preempt string) []byte {
		was := ""
		if before != nil {
			was = string(before.Market)
		}
		return fmt.Appendf(nil, "%s %s was %q by %s", s.ID, s.Market, was, preempt)
	},
}

func (d *desk) herald(j *journal) *Herald { return NewHerald(d.Service, j, words, d.Service.now) }

func tell(t *testing.T, h *Herald, started int) {
	t.Helper()
	told, err := h.Tell(t.Context(), nil)
	if err != nil || told.Started != started {
		t.Fatalf("told %+v, %v, want %d", told, err, started)
	}
}

// onDefault is a desk with two lanes of the stored channel, in the bumper of a slot.
func onDefault() (*desk, Slot) {
	d := newDesk()
	k := SlotAt(noon)
	d.now = k.Start().Add(5 * time.Second)
	d.pool = NewPool([]Market{market("1", in("film")), market("2", in("tv")), market("3", in("crypto"))}, d.now, 1)
	d.rundown = &Rundown{LoadedAt: d.now, Version: 1, Entries: []Entry{
		entry("film", k, "1"), entry("tv", k, "2"), entry("crypto", k, "3"),
		entry("film", k+1, "1"), entry("tv", k+1, "2"), entry("crypto", k+1, "3"),
	}}
	return d, k
}

func TestChannels(t *testing.T) {
	t.Parallel()
	list := Channels()
	if len(list) != 44 {
		t.Fatalf("%d channels", len(list))
	}
	names := make(map[string][]Lane)
	for _, c := range list {
		names[c.Name] = c.Lanes
	}
	for name, lanes := range map[string]string{
		"program:default": "[]", "program:close": "[]", "program:hot:ENTERTAINMENT": "[film tv]", "program:hot:CULTURE": "[fashion culture]",
		"program:resolving:ECONOMY": "[economy]", "program:default:WORLD": "[news]",
	} {
		if got, ok := names[name]; !ok || fmt.Sprint(got) != lanes {
			t.Errorf("%s: %v %v", name, got, ok)
		}
	}
}

// A channel is told what begins, once, when its content begins, and its beginning is
// what was told.
func TestHeraldTells(t *testing.T) {
	t.Parallel()
	d, k := onDefault()
	j := newJournal()
	h := d.herald(j)
	tell(t, h, 0) // a bumper is announced, not told
	if got := j.copies["program:default:CRYPTO"]; !strings.Contains(got, `"now":{"id":"default:crypto:`+fmt.Sprint(k)+`:b"`) ||
		!strings.Contains(got, `"next":{"id":"default:crypto:`+fmt.Sprint(k)+`:c"`) || !strings.Contains(got, `"generatedAt":"`) {
		t.Errorf("in the bumper crypto begins with %s", got)
	}
	if len(j.copies) != 44 || j.copies["program:hot:TECH"] != `{"now":null,"next":null,"generatedAt":"`+syntax.Stamp(d.now)+`"}` {
		t.Errorf("%d copies, hot tech %s", len(j.copies), j.copies["program:hot:TECH"])
	}
	d.set(func() { d.now = k.Content() })
	tell(t, h, 6)
	want := []string{"program:default 1", "program:default:CRYPTO 3", "program:default:ENTERTAINMENT 1"}
	got := slices.DeleteFunc(j.take(), func(s string) bool { return !strings.HasPrefix(s, "program:default") })
	if !slices.Equal(got, want) {
		t.Errorf("told %v, want %v", got, want)
	}
	tell(t, h, 0)
	tell(t, d.herald(j), 0) // another term, or another replica
	if data := string(j.starts[fmt.Sprint("program:default:CRYPTO", k)].Data); !strings.Contains(data, fmt.Sprintf(`"id":"default:crypto:%d:c"`, k)) {
		t.Errorf("told %s", data)
	}

	// What ranks highest becomes another lane: the channel stays with what it told.
	d.set(func() {
		d.now = d.now.Add(time.Minute)
		d.pool = NewPool([]Market{market("1", in("film")), market("2", in("tv"), func(m *Market) { m.Streams = 1 }), market("3", in("crypto"))}, d.now, 2)
	})
	tell(t, h, 0)
	if s := d.Now("", ""); s.Segment.Market != "2" {
		t.Fatalf("%s is on", s.Segment.Market)
	}
	if got := j.copies["program:default"]; !strings.Contains(got, `"market":"1"`) {
		t.Errorf("after market 1 was told to be on, the channel begins with %s", got)
	}
	d.set(func() { d.now = (k + 1).Content() })
	d.pool, d.rundown.LoadedAt = d.pool.Confirmed(d.now), d.now
	tell(t, h, 6)
	if got := j.take(); !slices.Contains(got, "program:default 2") {
		t.Errorf("told %v", got)
	}
}

// A start that nobody saw is told while it lasts; one that is over is not.
func TestHeraldIsLate(t *testing.T) {
	t.Parallel()
	d, k := onDefault()
	j := newJournal()
	d.set(func() { d.now = (k + 1).End().Add(-time.Minute) })
	d.pool, d.rundown.LoadedAt = d.pool.Confirmed(d.now), d.now
	tell(t, d.herald(j), 6)
	for _, s := range j.told {
		if s.Slot != k+1 {
			t.Errorf("%s of slot %d was told in slot %d", s.Channel, s.Slot, k+1)
		}
	}
}

// Without the markets nothing is told of computed channels; the stored one waits for
// them a little.
func TestHeraldWithoutMarkets(t *testing.T) {
	t.Parallel()
	d, k := onDefault()
	d.pool = nil
	j := newJournal()
	h := d.herald(j)
	d.set(func() { d.now = k.Content() })
	tell(t, h, 0)
	if len(j.copies) != 0 {
		t.Errorf("%d copies of what nobody knows", len(j.copies))
	}
	d.set(func() { d.now = d.now.Add(bareAfter) })
	tell(t, h, 3)
	d.set(func() {
		d.pool = NewPool([]Market{market("1", in("film"))}, d.now, 1)
	})
	tell(t, h, 2) // hot and its lane; the others ask for more than this market is
}

// Figures are shown anew once a minute, another state at once; a failed step is done
// again.
func TestHeraldCopies(t *testing.T) {
	t.Parallel()
	d, k := onDefault()
	j := newJournal()
	h := d.herald(j)
	d.set(func() { d.now = k.Content() })
	j.fail = errors.New("away")
	if _, err := h.Tell(t.Context(), nil); err == nil {
		t.Fatal("nothing failed")
	}
	j.fail = nil
	tell(t, h, 6)
	crypto := func() string { return j.copies["program:default:CRYPTO"] }
	price := func(yes syntax.Bps, after time.Duration, change ...func(*Market)) {
		d.set(func() {
			d.now = d.now.Add(after)
			m := market("3", append(change, in("crypto"), func(m *Market) { m.Yes = yes })...)
			d.pool = NewPool([]Market{market("1", in("film")), market("2", in("tv")), m}, d.now, d.pool.Version+1)
		})
		tell(t, h, 0)
	}
	price(3500, time.Second)
	if !strings.Contains(crypto(), `"yes":3150`) {
		t.Errorf("a second later %s", crypto())
	}
	price(3500, refreshEvery)
	if !strings.Contains(crypto(), `"yes":3500`) {
		t.Errorf("a minute later %s", crypto())
	}
	price(3600, time.Second, func(m *Market) { m.Status = syntax.MarketResolved })
	if !strings.Contains(crypto(), `"yes":3600`) {
		t.Errorf("resolved %s", crypto())
	}
	before := j.writes
	price(3600, time.Second, func(m *Market) { m.Status = syntax.MarketResolved })
	if j.writes != before {
		t.Error("nothing changed and something was written")
	}
}

// Of two Heralds that tell at once the first stands, and the other goes on from it.
func TestHeraldsMeet(t *testing.T) {
	t.Parallel()
	d, k := onDefault()
	j := newJournal()
	one, other := d.herald(j), d.herald(j)
	tell(t, one, 0)
	tell(t, other, 0)
	d.set(func() { d.now = k.Content() })
	tell(t, one, 6)
	d.set(func() {
		d.pool = NewPool([]Market{market("1", in("film")), market("2", in("tv"), func(m *Market) { m.Streams = 1 }), market("3", in("crypto"))}, d.now, 2)
	})
	tell(t, other, 0)
	tell(t, other, 0)
	if got := j.copies["program:default"]; !strings.Contains(got, `"market":"1"`) {
		t.Errorf("the other says %s", got)
	}
}
