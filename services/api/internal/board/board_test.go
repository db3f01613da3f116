package board

import (
	"context"
	"errors"
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
