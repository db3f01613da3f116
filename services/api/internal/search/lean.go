package search

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/signalcast/signalcast/pkg/syntax"
)

const (
	// leanFor is how long the sentiment of a market is shown again: reading it
	// counts every call on the market.
	leanFor = 2 * time.Second
	// leanBudget ends a read that nobody waits for any more.
	leanBudget = 5 * time.Second
	// mostLeans bounds the markets that are remembered.
	mostLeans = 1024
)

// leans are the sentiments of the last moments and those that are being read. Of
// a market there is one read at a time, which all share who ask meanwhile.
type leans struct {
	mu   sync.Mutex
	kept map[syntax.MarketID]*lean
}

type lean struct {
	done  chan struct{}
	value Sentiment
	err   error
}

func (l *lean) running() bool {
	select {
	case <-l.done:
		return false
	default:
		return true
	}
}

// get gives what is kept, joins the read under way as long as ctx lasts, or reads.
// A read goes on when its first caller leaves. A failure is not kept.
func (l *leans) get(ctx context.Context, id syntax.MarketID, now time.Time, read func(context.Context) (Sentiment, error)) (Sentiment, error) {
	l.mu.Lock()
	one := l.kept[id]
	if one == nil || !one.running() && now.Sub(one.value.UpdatedAt) >= leanFor {
		l.makeRoom(now)
		one = &lean{done: make(chan struct{}), err: context.Canceled}
		l.kept[id] = one
		l.mu.Unlock()
		l.run(ctx, id, one, read)
		return one.value, one.err
	}
	l.mu.Unlock()
	select {
	case <-one.done:
		return one.value, one.err
	case <-ctx.Done():
		return Sentiment{}, ctx.Err()
	}
}

func (l *leans) run(ctx context.Context, id syntax.MarketID, one *lean, read func(context.Context) (Sentiment, error)) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leanBudget)
	defer cancel()
	// Deferred, so that a panic of the read leaves nobody waiting.
	defer func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if one.err != nil && l.kept[id] == one {
			delete(l.kept, id)
		}
		close(one.done)
	}()
	one.value, one.err = read(ctx)
}

// makeRoom forgets what has run out, and all that is read if that is not enough,
// because ids are chosen by callers. The lock is held.
func (l *leans) makeRoom(now time.Time) {
	if len(l.kept) < mostLeans {
		return
	}
	maps.DeleteFunc(l.kept, func(_ syntax.MarketID, one *lean) bool {
		return !one.running() && now.Sub(one.value.UpdatedAt) >= leanFor
	})
	if len(l.kept) >= mostLeans {
		maps.DeleteFunc(l.kept, func(_ syntax.MarketID, one *lean) bool { return !one.running() })
	}
}
