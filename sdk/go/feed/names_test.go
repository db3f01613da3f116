package feed

import (
	"errors"
	"maps"
	"strings"
	"testing"
)

// TestRestartWithCapitals checks that a client resumes a channel when the handle is written in another case.
func TestRestartWithCapitals(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.file("operator:up25144", 2, nil)
	first := s.read(Options{Channels: []string{"operator:UP25144", "operator:up25144"}})
	first.live(1)
	s.file("operator:up25144", 1, nil)
	first.want(3)
	last := first.Last()
	if !maps.Equal(last, map[string]int64{"operator:up25144": 3}) {
		t.Fatalf("%v", last)
	}
	first.Close()
	s.file("operator:up25144", 2, nil)
	for _, o := range []Options{
		{Channels: []string{"operator:UP25144"}, Since: last},
		{Channels: []string{"operator:Up25144"}, Since: map[string]int64{"operator:UP25144": 3, "overlay:other": 9}},
		{Channels: []string{"operator:up25144"}, Since: map[string]int64{"operator:UP25144": 3, "operator:up25144": 4}},
	} {
		r := s.read(o)
		r.want(4, 5)
		if got := r.Last(); !maps.Equal(got, map[string]int64{"operator:up25144": 5}) {
			t.Errorf("%v", got)
		}
	}
}

// TestUnknownChannel checks that Last omits a channel that does not exist, and that the other channels continue.
func TestUnknownChannel(t *testing.T) {
	t.Parallel()
	s := serve(t)
	r := s.read(Options{Channels: []string{"nowhere", "signals"}, Since: map[string]int64{"nowhere": 3}})
	if e, ok := r.next().(*ServerError); !ok || e.Code != "unknown_channel" {
		t.Fatalf("%+v", e)
	}
	r.live(1)
	s.close(0)
	r.live(2)
	s.file("signals", 1, nil)
	r.want(1)
	if got := r.Last(); !maps.Equal(got, map[string]int64{"signals": 1}) {
		t.Errorf("%v", got)
	}
	if err := r.Refresh(t.Context(), "nowhere"); !errors.Is(err, ErrNotRead) {
		t.Errorf("%v", err)
	}
}

// TestNoChannel checks that a client ends when the server has refused every channel.
func TestNoChannel(t *testing.T) {
	t.Parallel()
	s := serve(t)
	r := s.read(Options{Channels: []string{"nowhere"}})
	if e, ok := r.next().(*ServerError); !ok || e.Code != "unknown_channel" {
		t.Fatalf("%+v", e)
	}
	if m, err := r.Next(t.Context()); !errors.Is(err, ErrNoChannel) || !strings.Contains(err.Error(), "unknown_channel") {
		t.Errorf("after the last channel: %+v, %v; want %v", m, err, ErrNoChannel)
	}
}

// TestLateSnapshot checks that an unavailable snapshot causes an error and is delivered later, and that Refresh delivers a
// snapshot without a loss or a repetition of events.
func TestLateSnapshot(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.set(func() { s.noSnapshots = true })
	r := s.read(Options{Channels: []string{"live", "signals"}})
	if e, ok := r.next().(*ServerError); !ok || e.Code != "db_unavailable" || e.Channel != "live" {
		t.Fatalf("%+v", e)
	}
	r.live(1)
	s.file("live", 2, nil)
	r.want(1, 2)
	s.set(func() {
		s.noSnapshots = false
		for p := range s.conns {
			s.send(p, map[string]any{"op": "snapshot", "channel": "live", "seq": 2, "data": map[string]any{}})
		}
	})
	if sn, ok := r.next().(*Snapshot); !ok || sn.Channel != "live" || sn.Seq != 2 {
		t.Fatalf("%+v", sn)
	}
	if err := r.Refresh(t.Context(), "live"); err != nil {
		t.Fatal(err)
	}
	if sn, ok := r.next().(*Snapshot); !ok || sn.Channel != "live" {
		t.Fatalf("%+v", sn)
	}
	s.file("live", 1, nil)
	r.want(3)
	if got := r.Stats(); got.Connections != 1 || got.Holes != 0 {
		t.Errorf("%+v", got)
	}
}
