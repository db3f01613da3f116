package app

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/grpcx"
	"github.com/signalcast/signalcast/pkg/testkit"
	feedv1 "github.com/signalcast/signalcast/proto/feed/v1"
	programv1 "github.com/signalcast/signalcast/proto/program/v1"
	"github.com/signalcast/signalcast/services/clock/internal/postgres"
	"github.com/signalcast/signalcast/services/clock/internal/program"
)

// fakeFeed is a fake feed of the ledger. It stores each fact id once, and stores either all facts of a request or none.
type fakeFeed struct {
	feedv1.UnimplementedFeedServiceServer
	mu      sync.Mutex
	down    bool // true: requests fail
	lost    int  // number of next requests that succeed but are answered with an error
	facts   []*feedv1.Fact
	ids     map[string]bool
	repeats int // number of facts that were received more than once
	copies  map[string]string
}

func (n *fakeFeed) set(change func()) { n.mu.Lock(); defer n.mu.Unlock(); change() }

func (n *fakeFeed) Publish(_ context.Context, r *feedv1.PublishRequest) (*feedv1.PublishResponse, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	unavailable := apperr.New(apperr.Unavailable, "db_unavailable", "")
	if n.down {
		return nil, unavailable
	}
	if n.ids == nil {
		n.ids, n.copies = map[string]bool{}, map[string]string{}
	}
	for _, f := range r.GetFacts() {
		if n.ids[f.GetId()] {
			n.repeats++
			continue
		}
		n.ids[f.GetId()] = true
		n.facts = append(n.facts, f)
	}
	for _, c := range r.GetCopies() {
		n.copies[c.GetChannel()] = c.GetData()
	}
	if n.lost > 0 {
		n.lost--
		return nil, unavailable
	}
	return &feedv1.PublishResponse{}, nil
}

// started returns, for each channel, the market whose start in the slot was published. It fails the test if a start was published
// twice.
func (n *fakeFeed) started(t *testing.T, slot program.Slot) map[string]string {
	t.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	out := map[string]string{}
	for _, f := range n.facts {
		if f.GetType() != program.SegmentStarted || !f.GetAt().AsTime().Equal(slot.Content()) {
			continue
		}
		if _, twice := out[f.GetTopic()]; twice {
			t.Errorf("the start of slot %d on %s was published twice", slot, f.GetTopic())
		}
		out[f.GetTopic()] = f.GetMarketId()
	}
	return out
}

// shiftedClock is a clock that runs at the speed of the system clock but can be set to another time.
type shiftedClock struct{ ahead atomic.Int64 }

func (m *shiftedClock) Now() time.Time { return time.Now().Add(time.Duration(m.ahead.Load())) }

// set sets the time.
func (m *shiftedClock) set(at time.Time) { m.ahead.Add(int64(at.Sub(m.Now()))) }

// within is the time limit for expected events.
const within = 30 * time.Second

// TestFactsOnce checks that each start is published exactly once on each channel, while replicas run, stop and start.
func TestFactsOnce(t *testing.T) {
	t.Parallel()
	db := testkit.Postgres(t, postgres.Schema(""))
	l := newLedger(t, open("1", "sports"), open("2", "sports"), open("3", "crypto"))
	clock := &shiftedClock{}
	k := program.SlotAt(time.Now()) + 1
	clock.set(k.Content().Add(-3 * time.Second))
	one := startAt(t, db, l.addr, clock.Now)
	other := startAt(t, db, l.addr, clock.Now)
	const channels = 6 // the channels of the presets default and hot, and two lanes of each
	all := func(slot program.Slot) func() bool {
		return func() bool { return len(l.feed.started(t, slot)) == channels }
	}
	testkit.Eventually(t, within, all(k))
	if got := l.feed.started(t, k); got["program:default:CRYPTO"] != "3" || got["program:hot"] == "" {
		t.Errorf("published starts %v", got)
	}
	l.feed.set(func() { l.feed.lost = 3 }) // three answers are lost
	clock.set((k + 1).Content())
	testkit.Eventually(t, within, all(k+1))
	one.stop()
	clock.set((k + 2).Content().Add(time.Minute)) // no replica saw the start
	testkit.Eventually(t, within, all(k+2))
	other.stop()
	clock.set((k + 4).Content())
	startAt(t, db, l.addr, clock.Now)
	testkit.Eventually(t, within, all(k+4))
	if got := l.feed.started(t, k+3); len(got) != 0 {
		t.Errorf("starts %v of a slot that ended while no clock ran; want none", got)
	}
	l.feed.set(func() {
		if want := 4 * channels; len(l.feed.facts) != want || l.feed.repeats < channels {
			t.Errorf("%d facts, want %d; %d were received again", len(l.feed.facts), want, l.feed.repeats)
		}
		for _, f := range l.feed.facts {
			var s struct{ SegmentID, Kind, ID, Category string }
			if err := json.Unmarshal([]byte(f.GetData()), &s); err != nil || s.Kind != "content" || s.ID != f.GetMarketId() || s.SegmentID == "" || s.Category == "" {
				t.Errorf("%s: %v", f.GetData(), err)
			}
		}
	})
}

// TestUnsentFacts checks that a new replica sends facts that another replica has committed but not sent.
func TestUnsentFacts(t *testing.T) {
	t.Parallel()
	db := testkit.Postgres(t, postgres.Schema(""))
	pool := testkit.Pool(t, db.URL("clock_rw"))
	l := newLedger(t, open("1", "sports"))
	l.feed.down = true
	clock := &shiftedClock{}
	k := program.SlotAt(time.Now()) + 1
	clock.set(k.Content())
	waiting := func(slot program.Slot) func() bool {
		return func() bool {
			return rows(t, pool, fmt.Sprintf("SELECT count(*) FROM outbox WHERE type = 'segment.started' AND at = to_timestamp(%d)", slot.Content().Unix())) == 4
		}
	}
	first := startAt(t, db, l.addr, clock.Now)
	testkit.Eventually(t, within, waiting(k))
	clock.set((k + 1).Content())
	testkit.Eventually(t, within, waiting(k+1))
	first.stop()
	if n := len(l.feed.facts); n != 0 {
		t.Fatalf("%d facts were sent while the feed was down; want 0", n)
	}
	l.feed.set(func() { l.feed.down = false })
	startAt(t, db, l.addr, clock.Now)
	testkit.Eventually(t, within, func() bool { return len(l.feed.started(t, k)) == 4 && len(l.feed.started(t, k+1)) == 4 })
	testkit.Eventually(t, within, func() bool { return rows(t, pool, "SELECT count(*) FROM outbox") == 0 })
	l.feed.set(func() {
		if l.feed.repeats != 0 || !l.feed.facts[0].GetAt().AsTime().Equal(k.Content()) {
			t.Errorf("%d facts were received again, the first fact is of %v", l.feed.repeats, l.feed.facts[0].GetAt().AsTime())
		}
		if got := l.feed.copies["program:default"]; !strings.Contains(got, fmt.Sprintf(`"segmentId":"default:sports:%d:c"`, k+1)) {
			t.Errorf("copy of the channel: %s", got)
		}
	})
}

// TestPreempted checks an entry of a director that is created through gRPC. It is published on both channels and airs; after it,
// the planned market airs.
func TestPreempted(t *testing.T) {
	t.Parallel()
	db := testkit.Postgres(t, postgres.Schema(""))
	l := newLedger(t, open("1", "sports"), open("2", "crypto"))
	clock := &shiftedClock{}
	k := program.SlotAt(time.Now()) + 1
	clock.set(k.Content())
	s := startAt(t, db, l.addr, clock.Now)
	testkit.Eventually(t, within, func() bool { return len(l.feed.started(t, k)) == 6 })
	conn, err := grpcx.Dial(grpcx.DialConfig{Addr: s.GRPCAddr(), Secret: linkSecret})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	c := programv1.NewProgramServiceClient(conn)
	got, err := c.CreatePreempt(t.Context(), &programv1.CreatePreemptRequest{MarketId: "2", Lane: "sports", StartsAt: timestamppb.New(clock.Now())})
	if err != nil || got.GetItem().GetStatus() != "queued" || !got.GetItem().GetStartsAt().AsTime().Equal((k + 1).Start()) {
		t.Fatalf("%v, %v", got, err)
	}
	preempted := func() (out []string) {
		l.feed.mu.Lock()
		defer l.feed.mu.Unlock()
		for _, f := range l.feed.facts {
			if f.GetType() == program.SegmentPreempted {
				out = append(out, f.GetTopic())
				if !strings.Contains(f.GetData(), `"replaces":{"id":"1","title":"Will 1 happen?"},"preemptId":"`+got.GetItem().GetId()+`"`) {
					t.Errorf("%s", f.GetData())
				}
			}
		}
		return out
	}
	testkit.Eventually(t, within, func() bool { return fmt.Sprint(preempted()) == "[program:default program:default:SPORT]" })
	testkit.Eventually(t, within, func() bool {
		l.feed.mu.Lock()
		defer l.feed.mu.Unlock()
		_, next, _ := strings.Cut(l.feed.copies["program:default:SPORT"], `"next":`)
		return strings.Contains(next, `"id":"2"`)
	})
	if _, err := c.CreatePreempt(t.Context(), &programv1.CreatePreemptRequest{MarketId: "2", Lane: "sports"}); apperr.Of(err).Code != "slot_taken" {
		t.Errorf("the same slot: %v", err)
	}
	clock.set((k + 1).Content())
	testkit.Eventually(t, within, func() bool { return l.feed.started(t, k+1)["program:default:SPORT"] == "2" })
	clock.set((k + 2).Content())
	testkit.Eventually(t, within, func() bool { return l.feed.started(t, k+2)["program:default:SPORT"] == "1" })
	list, err := programv1.NewProgramReadServiceClient(conn).ListPreempts(t.Context(), &programv1.ListPreemptsRequest{})
	if err != nil || len(list.GetItems()) != 1 || list.GetItems()[0].GetStatus() != "done" {
		t.Errorf("%v, %v", list, err)
	}
	for id, code := range map[string]string{"x": "not_found", "0199f0b0-0000-7000-8000-00000000ffff": "not_found"} {
		if _, err := c.CancelPreempt(t.Context(), &programv1.CancelPreemptRequest{Id: id}); apperr.Of(err).Code != code {
			t.Errorf("cancel %s: %v", id, err)
		}
	}
}
