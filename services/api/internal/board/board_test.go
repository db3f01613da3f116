package board

import (
	"context"
	"errors"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/skill"
	"github.com/signalcast/signalcast/pkg/testkit"
)

// gate is a store whose queries wait until the channel open is closed.
type gate struct {
	Store
	begun, open chan struct{}
	builds      atomic.Int32
}

func (g *gate) ListBoard(context.Context, string, Query, time.Time) ([]Row, error) {
	g.builds.Add(1)
	g.begun <- struct{}{}
	<-g.open
	return make([]Row, 3), nil
}

// TestOneBuildOfABoard checks that concurrent reads of a board share one query, whatever their limits. A read of another board
// must not wait for it, and a read whose context ends must return at once.
func TestOneBuildOfABoard(t *testing.T) {
	t.Parallel()
	g := &gate{begun: make(chan struct{}, 10), open: make(chan struct{})}
	s := NewService(g, time.Now)
	var wg sync.WaitGroup
	ask := func(ctx context.Context, lane string, limit, want int) {
		wg.Go(func() {
			rows, err := s.Board(ctx, ByScore, Human, lane, limit)
			if err != nil || len(rows) != want || rows[want-1].Rank != want {
				t.Errorf("limit %d: %d rows, %v", limit, len(rows), err)
			}
		})
	}
	ask(t.Context(), "", 50, 3)
	<-g.begun
	left, leave := context.WithCancel(t.Context())
	leave()
	if _, err := s.Board(left, ByScore, Human, "", 50); err == nil {
		t.Error("Board ignored a canceled context")
	}
	ask(t.Context(), "CRYPTO", 2, 2)
	<-g.begun
	close(g.open)
	wg.Wait()
	if n := g.builds.Load(); n != 2 {
		t.Errorf("%d queries for two boards, want 2", n)
	}
}

// TestBroadcastScore checks the broadcast score and its components for hand-computed examples of docs/scores.md.
func TestBroadcastScore(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		b                      Broadcast
		skill, activity, reach float64
		score                  int
	}{
		{Broadcast{}, 0.5, 0, 0, 250},
		{Broadcast{WindowScore: 48, WindowDone: 18, Calls28: 12, Takes28: 2, ViewerMinutes28: 9}, 0.5 + 48.0/1400, 13.0 / 28, 0.2, 446},
		{Broadcast{ViewerMinutes28: 99}, 0.5, 0, 0.4, 330},
		{Broadcast{ViewerMinutes28: 999}, 0.5, 0, 0.6, 370},
		{Broadcast{ViewerMinutes28: 9999}, 0.5, 0, 0.8, 410},
		{Broadcast{ViewerMinutes28: 99_999}, 0.5, 0, 1, 450},
		{Broadcast{ViewerMinutes28: 10_000_000}, 0.5, 0, 1, 450},
		{Broadcast{WindowScore: 100_000, WindowDone: 10, Calls28: 100, ViewerMinutes28: 1 << 40}, 1, 1, 1, 1000},
		{Broadcast{WindowScore: -100_000, WindowDone: 10}, 0, 0, 0, 0},
	} {
		b := tc.b
		b.measure()
		if math.Abs(b.Skill-tc.skill)+math.Abs(b.Activity-tc.activity)+math.Abs(b.Reach-tc.reach) > 1e-9 {
			t.Errorf("%+v: skill %g, activity %g, reach %g; want %g, %g, %g", tc.b, b.Skill, b.Activity, b.Reach, tc.skill, tc.activity, tc.reach)
		}
		if got := int(math.Round(500*b.Skill + 300*b.Activity + 200*b.Reach)); got != tc.score {
			t.Errorf("%+v: broadcast score %d, want %d", tc.b, got, tc.score)
		}
	}
}

// folder is a store whose board queries take one second. Each FoldBoards returns the next error of the channel folds.
type folder struct {
	Store
	clock *testkit.Clock
	folds chan error
}

func (f *folder) ListBoard(context.Context, string, Query, time.Time) ([]Row, error) {
	f.clock.Advance(time.Second)
	return nil, nil
}

func (f *folder) FoldBoards(context.Context, int, time.Time) (bool, error) {
	return true, <-f.folds
}

func (f *folder) FoldEdges(context.Context, int, func([]skill.Tally) (Edge, error)) (bool, error) {
	return true, nil
}

// TestASlowBuildWakesTheFold checks that a slow query starts an early update of the stored rows. A failed update must be
// reported and followed by another.
func TestASlowBuildWakesTheFold(t *testing.T) {
	t.Parallel()
	f := &folder{clock: testkit.NewClock(time.Now()), folds: make(chan error)}
	s := NewService(f, f.clock.Now)
	ctx, cancel := context.WithCancel(t.Context())
	failed, over := make(chan error, 1), make(chan error, 1)
	go func() { over <- s.Run(ctx, func(err error) { failed <- err }) }()
	unavailable := errors.New("unavailable")
	f.folds <- unavailable
	if err := <-failed; !errors.Is(err, unavailable) {
		t.Error(err)
	}
	for range 3 {
		if _, err := s.Board(t.Context(), ByScore, Human, "", 1); err != nil {
			t.Fatal(err)
		}
		select {
		case f.folds <- nil:
		case <-time.After(foldEvery / 2):
			t.Fatal("a slow query did not start the next fold")
		}
	}
	s.Took(slowRead + 1) // package record reports a slow read
	select {
	case f.folds <- nil:
	case <-time.After(foldEvery / 2):
		t.Fatal("a slow read of another package did not start the next fold")
	}
	cancel()
	if err := <-over; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
