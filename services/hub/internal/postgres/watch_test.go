package postgres_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/hub/internal/follow"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
	"github.com/signalcast/signalcast/services/hub/internal/watch"
)

// TestWatches checks that a watch is stored once, that lists have the newest first, and that a user can watch watch.MaxMarkets
// markets.
func TestWatches(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	for i, at := range []time.Time{noon, noon.Add(time.Minute), noon.Add(2 * time.Minute)} {
		if err := store.Watch(t.Context(), person(1), protocol.MarketID(fmt.Sprint("m", i%2)), at); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.Watch(t.Context(), person(2), "m0", noon); err != nil {
		t.Fatal(err)
	}
	want := []watch.Watch{{MarketID: "m1", CreatedAt: noon.Add(time.Minute)}, {MarketID: "m0", CreatedAt: noon}}
	if got, err := store.ListWatched(t.Context(), person(1), 10); err != nil || !slices.Equal(got, want) {
		t.Errorf("watched: %v %v, want %v", got, err, want)
	}
	if got, err := store.WatchedOf(t.Context(), person(1), []protocol.MarketID{"m0", "m9"}); err != nil || len(got) != 1 || !got["m0"] {
		t.Errorf("watched of two markets: %v %v, want m0", got, err)
	}
	for after, want := range map[operator.ID][]operator.ID{"": {person(1), person(2)}, person(1): {person(2)}, person(2): {}} {
		if got, err := store.WatchersOf(t.Context(), "m0", after, 10); err != nil || !slices.Equal(got, want) {
			t.Errorf("watchers after %q: %v %v, want %v", after, got, err, want)
		}
	}
	for range 2 {
		if err := store.Unwatch(t.Context(), person(1), "m0"); err != nil {
			t.Fatal(err)
		}
	}
	for i := range watch.MaxMarkets {
		if err := store.Watch(t.Context(), person(3), protocol.MarketID(fmt.Sprint("n", i)), noon); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.Watch(t.Context(), person(3), "n0", noon); err != nil {
		t.Errorf("repeated watch of a full list: %v", err)
	}
	if err := store.Watch(t.Context(), person(3), "m0", noon); !errors.Is(err, watch.ErrFull) {
		t.Errorf("one watch too many: %v, want %v", err, watch.ErrFull)
	}
}

// TestFollowing checks the list of followed operators with its pages, and the switches of a follow.
func TestFollowing(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	for n := 2; n <= 5; n++ {
		if err := store.Follow(t.Context(), operatorOf(1), operatorOf(n), noon.Add(time.Duration(n/2)*time.Minute)); err != nil {
			t.Fatal(err)
		}
	}
	off := false
	for _, tc := range []struct {
		followed int
		to       follow.Switches
		want     bool
	}{
		{2, follow.Switches{Muted: new(true)}, true}, {3, follow.Switches{Calls: &off, Takes: &off}, true}, {9, follow.Switches{Muted: new(true)}, false},
	} {
		if got, err := store.SetFollow(t.Context(), person(1), person(tc.followed), tc.to, noon); err != nil || got != tc.want {
			t.Errorf("set %d: %v %v, want %v", tc.followed, got, err, tc.want)
		}
	}
	var got []follow.Followed
	for after := (follow.Followed{}); ; after = got[len(got)-1] {
		page, err := store.ListFollowing(t.Context(), person(1), after, 3)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		got = append(got, page...)
	}
	at := func(minutes int) time.Time { return noon.Add(time.Duration(minutes) * time.Minute) }
	want := []follow.Followed{
		{ID: person(4), Since: at(2), Calls: true, Live: true, Takes: true},
		{ID: person(5), Since: at(2), Calls: true, Live: true, Takes: true},
		{ID: person(2), Since: at(1), Calls: true, Live: true, Takes: true, Muted: true},
		{ID: person(3), Since: at(1), Live: true},
	}
	if !slices.Equal(got, want) {
		t.Errorf("following:\n%+v\nwant\n%+v", got, want)
	}
}
