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

var quick = pace{
	least: time.Millisecond, most: 20 * time.Millisecond, refused: 80 * time.Millisecond,
	handshake: 5 * time.Second, ack: 5 * time.Second, second: 50 * time.Millisecond,
}

// reader is a client with what it was told of its states.
type reader struct {
	*Client
	t  *testing.T
	mu sync.Mutex
	by map[Phase]int
}

func (s *server) read(o Options) *reader {
	s.t.Helper()
	r := &reader{t: s.t, by: map[Phase]int{}}
	o.URL, o.pace = s.URL+"/ws", quick
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

// until waits for something.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	end := time.After(20 * time.Second)
	for !is() {
		select {
		case <-tick.C:
		case <-end:
			t.Fatalf("never: %s", what)
		}
	}
}

func (r *reader) live(times int) {
	r.t.Helper()
	until(r.t, "live", func() bool { return r.phases()[Live] >= times })
}

// next gives the next message that is no beat.
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

// want demands these events, in this order, and nothing else between them.
func (r *reader) want(seqs ...int64) {
	r.t.Helper()
	for _, seq := range seqs {
		e, ok := r.next().(*Event)
		if !ok || e.Seq != seq {
			r.t.Fatalf("got %+v, want %d", e, seq)
		}
	}
}

func signals() Options { return Options{Channels: []string{"signals"}} }

// TestCuts: after each way of being cut, also before the first event of a channel,
// everything comes once and in order.
func TestCuts(t *testing.T) {
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

// TestHole: an event that was not sent is asked for, comes in its place, and is told.
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

// TestHoleOfBeginning: an event that is missing before the first of a channel is seen.
func TestHoleOfBeginning(t *testing.T) {
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

// TestLost: what the server does not have is told as a gap, never passed over.
func TestLost(t *testing.T) {
	t.Parallel()
	s := serve(t)
	r := s.read(signals())
	r.live(1)
	s.file("signals", 1, nil)
	r.want(1)
	s.set(func() { s.drop, s.forget = 1, true })
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

// TestManyHoles: more holes than may be asked for one by one are asked for together.
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

// TestSilence: a connection on which nothing comes is replaced.
func TestSilence(t *testing.T) {
	t.Parallel()
	s := serve(t)
	r := s.read(signals())
	r.live(1)
	s.set(func() { s.mute = true })
	s.file("signals", 2, nil)
	r.want(1, 2) // by the next connection
	if got := r.Stats(); got.Connections < 2 || got.Holes != 0 {
		t.Errorf("%+v", got)
	}
}

// TestNoAnswer: a connection on which a frame is not answered is replaced.
func TestNoAnswer(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.set(func() { s.deaf = true })
	r := s.read(signals())
	until(t, "a second connection", func() bool { return r.Stats().Connections > 1 })
	s.set(func() { s.deaf = false })
	r.live(1)
}

// TestSlowReader: who takes nothing for long loses nothing, and little waits for it.
func TestSlowReader(t *testing.T) {
	t.Parallel()
	s := serve(t)
	r := s.read(signals())
	r.live(1)
	const n = 3000
	s.file("signals", n, strings.Repeat("x", 8<<10)) // more than what connections hold
	if waiting := len(r.out); waiting > ahead {
		t.Errorf("%d messages wait", waiting)
	}
	for seq := range int64(n) {
		r.want(seq + 1)
	}
	if got := r.Stats(); got.Holes != 0 || got.Lost != 0 || got.Connections < 2 {
		t.Errorf("%+v", got)
	}
}

// TestKeyRefused: a client does not come back with a key that is no key.
func TestKeyRefused(t *testing.T) {
	t.Parallel()
	s := serve(t)
	r := s.read(Options{Channels: []string{"me"}, Key: "dk_x"})
	r.live(1)
	s.close(4001)
	ends := func(r *reader) {
		t.Helper()
		for _, err := range r.Messages(t.Context()) {
			if err != nil && !errors.Is(err, ErrUnauthenticated) {
				t.Errorf("%v", err)
			}
		}
		<-r.done
	}
	ends(r)
	if got := s.headers[0].Get("Authorization"); got != "Bearer dk_x" || s.opened != 1 {
		t.Errorf("%q, %d connections", got, s.opened)
	}
	s.set(func() { s.refuse = []int{http.StatusUnauthorized} })
	ends(s.read(signals()))
}

// TestRefusals: a server that refuses is tried again, less and less often.
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
			w := usual.wait(c.refusals)
			least, most = min(least, w), max(most, w)
		}
		if least < 500*time.Millisecond || least > time.Second || most > c.most*time.Second || most < c.most*time.Second*9/10 {
			t.Errorf("%d refusals: %v to %v", c.refusals, least, most)
		}
	}
}

// TestGap: what is older than the feed keeps is told, and the newer is not lost.
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

// TestNumberOfAnotherFeed: a number above the newest is told, and then it is live.
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

// TestChannels: a snapshot comes, a name is spelled as the server spells it, and a
// channel that does not exist is told and left out.
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
