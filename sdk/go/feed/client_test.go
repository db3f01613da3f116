package feed

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// quick contains short timeouts and wait times for the client of a test.
var quick = timing{
	minWait: time.Millisecond, maxWait: 20 * time.Millisecond, maxRefusedWait: 80 * time.Millisecond,
	handshake: 5 * time.Second, ack: 5 * time.Second, second: 50 * time.Millisecond,
}

// reader is a Client that counts its state changes by phase.
type reader struct {
	*Client
	t  *testing.T
	mu sync.Mutex
	by map[Phase]int
}

// read opens a reader of the server with the options o.
func (s *server) read(o Options) *reader {
	s.t.Helper()
	r := &reader{t: s.t, by: map[Phase]int{}}
	o.URL, o.timing = s.URL+"/ws", quick
	o.OnState = func(st State) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.by[st.Phase]++
	}
	c, err := Open(s.t.Context(), o)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Client = c
	s.t.Cleanup(c.Close)
	return r
}

func (r *reader) phases() map[Phase]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.by)
}

// until waits until is returns true, for at most 20 seconds.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	end := time.After(20 * time.Second)
	for !is() {
		select {
		case <-tick.C:
		case <-end:
			t.Fatalf("timeout after 20 s: %s", what)
		}
	}
}

func (r *reader) live(times int) {
	r.t.Helper()
	until(r.t, "live", func() bool { return r.phases()[Live] >= times })
}

// next returns the next message that is not a beat.
func (r *reader) next() Message {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), 20*time.Second)
	defer cancel()
	for {
		m, err := r.Next(ctx)
		if err != nil {
			r.t.Fatal(err)
		}
		if _, beat := m.(*Beat); !beat {
			return m
		}
	}
}

// want requires the events with these numbers next, in this order, without other messages between them.
func (r *reader) want(seqs ...int64) {
	r.t.Helper()
	for _, seq := range seqs {
		e, ok := r.next().(*Event)
		if !ok || e.Seq != seq {
			r.t.Fatalf("next message %+v; want event %d", e, seq)
		}
	}
}

func signals() Options { return Options{Channels: []string{"signals"}} }

// TestDisconnects checks that all events are delivered once and in order after each kind of disconnect, also before the first
// event of a channel.
func TestDisconnects(t *testing.T) {
	t.Parallel()
	for _, code := range []int{0, 1000, 1001, 1008, 1009, 1011, 4008, 4029} {
		s := serve(t)
		s.file("signals", 3, nil)
		r := s.read(signals())
		r.live(1)
		s.close(code)
		s.file("signals", 1, nil)
		s.file("resolutions", 1, nil)
		r.want(4)
		s.close(code)
		s.file("signals", 2, nil)
		r.want(6, 7)
		if got := r.Last(); got["signals"] != 7 {
			t.Errorf("after %d: last %v", code, got)
		}
		if got := r.Stats(); got.Holes+got.Lost != 0 || got.Connections < 3 {
			t.Errorf("after %d: %+v", code, got)
		}
	}
}

// TestHole checks that an event that the server did not send is requested again, delivered in order, and reported as repaired.
func TestHole(t *testing.T) {
	t.Parallel()
	s := serve(t)
	r := s.read(Options{Channels: []string{"signals", "resolutions"}})
	r.live(1)
	s.file("signals", 1, nil)
	r.want(1)
	s.set(func() { s.drop = 2 })
	s.file("signals", 5, nil)
	r.want(2, 3, 4, 5, 6)
	until(t, "repaired", func() bool { return r.phases()[Repaired] == 1 })
	if got := r.Stats(); got.Holes != 1 || got.Repaired != 1 || got.Lost != 0 || got.Connections != 1 {
		t.Errorf("%+v", got)
	}
	if got := r.phases(); got[Hole] != 1 {
		t.Errorf("%v", got)
	}
}

// TestHoleBeforeFirstEvent checks that a missing event before the first event of a channel is detected.
func TestHoleBeforeFirstEvent(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.file("signals", 2, nil)
	r := s.read(signals())
	r.live(1)
	s.set(func() { s.drop = 1 })
	s.file("signals", 2, nil)
	r.want(3, 4)
	if got := r.Stats(); got.Holes != 1 || got.Repaired != 1 {
		t.Errorf("%+v", got)
	}
}

// TestLost checks that missing events that the server cannot send are reported as a gap.
func TestLost(t *testing.T) {
	t.Parallel()
	s := serve(t)
	r := s.read(signals())
	r.live(1)
	s.file("signals", 1, nil)
	r.want(1)
	s.set(func() { s.drop, s.noReplay = 1, true })
	s.file("signals", 2, nil)
	if g, ok := r.next().(*Gap); !ok || g.From != 1 || g.Oldest != 3 || g.Channel != "signals" {
		t.Fatalf("%+v", g)
	}
	r.want(3)
	s.file("signals", 1, nil)
	r.want(4)
	if got := r.Stats(); got.Lost != 1 || got.Repaired != 0 {
		t.Errorf("%+v", got)
	}
}

// TestManyHoles checks that the client reconnects if more channels than maxRepairs miss events, and that the missing events are
// delivered.
func TestManyHoles(t *testing.T) {
	t.Parallel()
	s := serve(t)
	var names []string
	for c := 'a'; c <= 'z'; c++ {
		names = append(names, "operator:"+string(c))
	}
	r := s.read(Options{Channels: names})
	r.live(1)
	s.set(func() { s.drop = len(names) })
	for range 2 {
		for _, name := range names {
			s.file(name, 1, nil)
		}
	}
	seen := map[string][]int64{}
	for range 2 * len(names) {
		e := r.next().(*Event)
		seen[e.Channel] = append(seen[e.Channel], e.Seq)
	}
	for i, name := range names {
		if want := []int64{int64(i + 1), int64(i + 1 + len(names))}; !slices.Equal(seen[name], want) {
			t.Errorf("%s: %v, want %v", name, seen[name], want)
		}
	}
}

func TestRepeats(t *testing.T) {
	t.Parallel()
	s := serve(t)
	r := s.read(signals())
	r.live(1)
	s.set(func() { s.repeats = true })
	s.file("signals", 3, nil)
	r.want(1, 2, 3)
	until(t, "three repeats", func() bool { return r.Stats().Repeats == 3 })
}

// TestSilence checks that the client replaces a connection on which it receives no frames.
func TestSilence(t *testing.T) {
	t.Parallel()
	s := serve(t)
	r := s.read(signals())
	r.live(1)
	s.set(func() { s.mute = true })
	s.file("signals", 2, nil)
	r.want(1, 2) // on the next connection
	if got := r.Stats(); got.Connections < 2 || got.Holes != 0 {
		t.Errorf("%+v", got)
	}
}

// TestNoAnswer checks that the client replaces a connection on which the server does not answer a subscribe frame.
func TestNoAnswer(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.set(func() { s.noAcks = true })
	r := s.read(signals())
	until(t, "a second connection", func() bool { return r.Stats().Connections > 1 })
	s.set(func() { s.noAcks = false })
	r.live(1)
}

// TestSlowReader checks that a reader that pauses for a long time loses no events, and that at most bufferSize messages are
// buffered.
func TestSlowReader(t *testing.T) {
	t.Parallel()
	s := serve(t)
	r := s.read(signals())
	r.live(1)
	const n = 3000
	s.file("signals", n, strings.Repeat("x", 8<<10)) // more bytes than the buffers of a connection can contain
	if waiting := len(r.out); waiting > bufferSize {
		t.Errorf("%d messages are buffered; want at most bufferSize", waiting)
	}
	for seq := range int64(n) {
		r.want(seq + 1)
	}
	if got := r.Stats(); got.Holes != 0 || got.Lost != 0 || got.Connections < 2 {
		t.Errorf("%+v", got)
	}
}

// TestKeyRefused checks that a client with an invalid key does not reconnect.
func TestKeyRefused(t *testing.T) {
	t.Parallel()
	s := serve(t)
	r := s.read(Options{Channels: []string{"me"}, Key: "dk_x"})
	r.live(1)
	s.close(4001)
	requireEnd := func(r *reader) {
		t.Helper()
		for _, err := range r.Messages(t.Context()) {
			if err != nil && !errors.Is(err, ErrUnauthenticated) {
				t.Errorf("%v", err)
			}
		}
		<-r.done
	}
	requireEnd(r)
	if got := s.headers[0].Get("Authorization"); got != "Bearer dk_x" || s.opened != 1 {
		t.Errorf("%q, %d connections", got, s.opened)
	}
	s.set(func() { s.refuse = []int{http.StatusUnauthorized} })
	requireEnd(s.read(signals()))
}

// TestRefusals checks that a client reconnects to a server that refuses connections, with increasing waits.
func TestRefusals(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.set(func() { s.refuse = []int{503, 429, 500, 404} })
	r := s.read(signals())
	r.live(1)
	s.file("signals", 1, nil)
	r.want(1)
	for _, c := range []struct {
		refusals int
		most     time.Duration
	}{{0, 5}, {1, 5}, {2, 10}, {3, 20}, {4, 30}, {99, 30}} {
		var least, most time.Duration = time.Hour, 0
		for range 2000 {
			w := defaultTiming.wait(c.refusals)
			least, most = min(least, w), max(most, w)
		}
		if least < 500*time.Millisecond || least > time.Second || most > c.most*time.Second || most < c.most*time.Second*9/10 {
			t.Errorf("%d refusals: %v to %v", c.refusals, least, most)
		}
	}
}

// TestGap checks that events that the feed no longer stores are reported as a gap, and that the stored events follow.
func TestGap(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.file("signals", 9, nil)
	s.set(func() { s.oldest = 5 })
	r := s.read(Options{Channels: []string{"signals"}, Since: map[string]int64{"signals": 2}})
	if g, ok := r.next().(*Gap); !ok || g.From != 2 || g.Oldest != 5 {
		t.Fatalf("%+v", g)
	}
	r.want(5, 6, 7, 8, 9)
	s.close(0)
	s.file("signals", 1, nil)
	r.want(10)
}

// TestNumberOfAnotherFeed checks that a number in Since above the newest number of the feed causes an error, and that the next
// events are delivered.
func TestNumberOfAnotherFeed(t *testing.T) {
	t.Parallel()
	s := serve(t)
	r := s.read(Options{Channels: []string{"signals"}, Since: map[string]int64{"signals": 700}})
	if e, ok := r.next().(*ServerError); !ok || e.Code != "future_cursor" {
		t.Fatalf("%+v", e)
	}
	s.file("signals", 2, nil)
	r.want(1, 2)
}

// TestChannels checks that a snapshot is delivered, that names are spelled as the server spells them, and that an unknown channel
// causes an error and is dropped.
func TestChannels(t *testing.T) {
	t.Parallel()
	s := serve(t)
	r := s.read(Options{Channels: []string{"live", "nowhere", "operator:Mara_K"}})
	if e, ok := r.next().(*ServerError); !ok || e.Channel != "nowhere" {
		t.Fatalf("%+v", e)
	}
	if sn, ok := r.next().(*Snapshot); !ok || sn.Channel != "live" {
		t.Fatalf("%+v", sn)
	}
	r.live(1)
	s.file("operator:mara_k", 1, nil)
	r.want(1)
	s.close(0)
	s.file("operator:mara_k", 1, nil)
	for {
		if e, ok := r.next().(*Event); ok {
			if e.Seq != 2 {
				t.Errorf("%+v", e)
			}
			break
		}
	}
	if last := r.Last(); last["operator:mara_k"] != 2 || last["operator:Mara_K"] != 0 {
		t.Errorf("%v", last)
	}
}
