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

// gate is a store whose builds wait until they are let through.
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

// Of one board there is one build at a time, whatever its readers' limits; another
// board does not wait for it, and a reader leaves when it wants to.
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
		t.Error("a reader who left was kept")
	}
	ask(t.Context(), "CRYPTO", 2, 2)
	<-g.begun
	close(g.open)
	wg.Wait()
	if n := g.builds.Load(); n != 2 {
		t.Errorf("%d builds of two boards", n)
	}
}

// folder is a store whose builds take a second and whose folds are counted.
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

// A slow build wakes the fold, which would rest otherwise; one that fails is told
// and not the last.
func TestASlowBuildWakesTheFold(t *testing.T) {
	t.Parallel()
	f := &folder{clock: testkit.NewClock(time.Now()), folds: make(chan error)}
	s := NewService(f, f.clock.Now)
	ctx, cancel := context.WithCancel(t.Context())
	failed, over := make(chan error, 1), make(chan error, 1)
	go func() { over <- s.Run(ctx, func(err error) { failed <- err }) }()
	away := errors.New("away")
	f.folds <- away
	if err := <-failed; !errors.Is(err, away) {
		t.Error(err)
	}
	for range 3 {
		if _, err := s.Board(t.Context(), ByScore, Human, "", 1); err != nil {
			t.Fatal(err)
		}
		select {
		case f.folds <- nil:
		case <-time.After(foldEvery / 2):
			t.Fatal("the fold goes on resting")
		}
	}
	s.Took(slow + 1) // of another read
	select {
	case f.folds <- nil:
	case <-time.After(foldEvery / 2):
		t.Fatal("the fold goes on resting after a slow read elsewhere")
	}
	cancel()
	if err := <-over; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
