package livestream_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/hub/internal/livestream"
	"github.com/signalcast/signalcast/services/hub/internal/postgres"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// bench is a Service for tests that can make operators live.
type bench struct {
	*livestream.Service
	t     *testing.T
	clock *testkit.Clock
	store *postgres.OnAir
}

func setup(t *testing.T, redis string) *bench {
	t.Helper()
	b := &bench{
		t: t, clock: testkit.NewClock(time.Date(2026, 9, 18, 12, 0, 0, 0, time.UTC)),
		store: postgres.New(testkit.Pool(t, testkit.Postgres(t, postgres.Schema("")).URL("hub_rw")), testkit.ReadTime).OnAir(),
	}
	b.Service = livestream.NewService(livestream.Config{Store: b.store, Redis: testkit.KV(t, redis), Now: b.clock.Now, NewID: uuid.NewString})
	return b
}

func (b *bench) live(handle protocol.Handle) (showID string) {
	b.t.Helper()
	id, err := b.GoLive(b.t.Context(), livestream.GoLive{Handle: handle, URL: "https://v.example/" + string(handle) + ".m3u8"})
	if err != nil {
		b.t.Fatal(err)
	}
	return id
}

func (b *bench) view(handle protocol.Handle, viewer, address string) int64 {
	b.t.Helper()
	n, err := b.View(b.t.Context(), handle, viewer, address)
	if err != nil {
		b.t.Error(err)
	}
	return n
}

// count checks the number of viewers of each operator.
func (b *bench) count(want map[protocol.Handle]int64) {
	b.t.Helper()
	for handle, n := range want {
		if got := b.Viewers(b.t.Context(), handle); got != n {
			b.t.Errorf("%s: %s has %d viewers, want %d", b.clock.Now().Format(time.TimeOnly), handle, got, n)
		}
	}
}

// TestAudience checks that each concurrent viewer is counted once, at most twenty per address, and only for 45 seconds after the
// viewer's last report.
func TestAudience(t *testing.T) {
	t.Parallel()
	b := setup(t, testkit.Redis(t))
	noon := b.clock.Now()
	b.live("mara_k")
	b.live("tidewatch")
	var group sync.WaitGroup
	for i := range 60 {
		group.Go(func() { b.view("mara_k", fmt.Sprint("v", i%30), fmt.Sprint("a", i%2)) })
	}
	group.Wait()
	// Two addresses have fifteen viewers each, so one address has capacity for five more.
	for i := range 10 {
		b.view("mara_k", fmt.Sprint("w", i), "a0")
	}
	b.view("tidewatch", "v0", "a0")
	if n := b.view("otto", "v0", "a0"); n != 0 {
		t.Errorf("%d viewers of an operator who is not live", n)
	}
	b.count(map[protocol.Handle]int64{"mara_k": 35, "otto": 0, "tidewatch": 1})
	b.clock.Set(noon.Add(44 * time.Second))
	if n := b.view("mara_k", "v1", "a1"); n != 35 {
		t.Errorf("%d viewers after 44 seconds", n)
	}
	b.clock.Set(noon.Add(45 * time.Second))
	b.count(map[protocol.Handle]int64{"mara_k": 1, "tidewatch": 0})
	b.live("mara_k")
	if n := b.view("mara_k", "late", "a0"); n != 2 {
		t.Errorf("%d viewers with a new one", n)
	}
	// An older report does not shorten the time for which a viewer is counted.
	b.clock.Set(noon.Add(10 * time.Second))
	b.view("mara_k", "late", "a0")
	b.clock.Set(noon.Add(80 * time.Second))
	b.count(map[protocol.Handle]int64{"mara_k": 2})
}

// TestAudienceWithoutRedis checks that without Redis no viewer is counted, no sample is stored, and nothing fails.
func TestAudienceWithoutRedis(t *testing.T) {
	t.Parallel()
	server := testkit.RedisServer(t)
	b := setup(t, server.URL())
	show := b.live("mara_k")
	if n := b.view("mara_k", "v", "a"); n != 1 {
		t.Fatal(n)
	}
	testkit.Kill(t, server.PID())
	<-server.Done()
	if n := b.view("mara_k", "v", "a"); n != 0 {
		t.Error(n)
	}
	b.count(map[protocol.Handle]int64{"mara_k": 0})
	list, err := b.Live(t.Context())
	if err != nil || len(list) != 1 || list[0].Viewers != 0 {
		t.Error(list, err)
	}
	if err := livestream.NewSampler(b.Service, nil).Round(t.Context()); err != nil {
		t.Error(err)
	}
	if w, err := b.store.SessionWatched(t.Context(), show); err != nil || w.Samples != 0 {
		t.Error(w, err)
	}
}

// TestAudienceOfASession checks the length of the steps of an ended session, and that all steps are in the session.
func TestAudienceOfASession(t *testing.T) {
	t.Parallel()
	b := setup(t, testkit.Redis(t))
	noon := b.clock.Now()
	for length, want := range map[time.Duration]time.Duration{0: time.Minute, 90 * time.Minute: time.Minute, 5 * time.Hour: 3 * time.Minute} {
		a, err := b.Service.Audience(t.Context(), livestream.Session{Handle: "mara_k", StartedAt: noon, EndedAt: noon.Add(length)})
		if err != nil || a.Step != want || len(a.Steps) > 0 {
			t.Errorf("a session of %s: %+v %v; want steps of %s", length, a, err, want)
		}
	}
	sample := livestream.Sample{ShowID: b.live("mara_k"), Handle: "mara_k", Viewers: 3}
	if err := b.store.Sample(t.Context(), []livestream.Sample{sample}, noon); err != nil {
		t.Fatal(err)
	}
	for after, want := range map[time.Duration]int{0: 1, time.Hour: 0} {
		a, err := b.Service.Audience(t.Context(), livestream.Session{Handle: "mara_k", StartedAt: noon.Add(after), EndedAt: noon.Add(after + time.Minute)})
		if err != nil || len(a.Steps) != want {
			t.Errorf("a session %s later: %+v %v; want %d steps", after, a, err, want)
		}
	}
}
