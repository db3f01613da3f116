package app

import (
	"context"
	"sync"
	"time"

	"github.com/signalcast/signalcast/pkg/limit"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
)

// maxRefusals bounds what is remembered about callers over their limit.
const maxRefusals = 1 << 14

// limits gives the shared limiters the words of the subject, and remembers
// refusals: how long a caller has to wait is certain once it is known, so a
// caller that does not wait costs nobody anything.
type limits struct {
	by  map[caller.Kind]*limit.Limiter
	now func() time.Time

	mu       sync.Mutex
	cur, old map[whose]refusal // two generations, so that memory is bounded
}

type whose struct {
	kind caller.Kind
	id   string
}

type refusal struct {
	limit int
	until time.Time
}

func newLimits(by map[caller.Kind]*limit.Limiter, now func() time.Time) *limits {
	return &limits{by: by, now: now, cur: make(map[whose]refusal)}
}

// Count implements caller.Limiter.
func (l *limits) Count(ctx context.Context, kind caller.Kind, id string) caller.Standing {
	who := whose{kind, id}
	if st, refused := l.refused(who); refused {
		return st
	}
	d := l.by[kind].Allow(ctx, id)
	if !d.Allowed && !d.Fallback {
		l.remember(who, refusal{limit: d.Limit, until: l.now().Add(d.RetryAfter)})
	}
	return caller.Standing{
		Allowed: d.Allowed, Limit: d.Limit, Remaining: d.Remaining, Retry: d.RetryAfter, Reset: d.Reset,
	}
}

func (l *limits) refused(who whose) (caller.Standing, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r, ok := l.cur[who]
	if !ok {
		r, ok = l.old[who]
	}
	wait := r.until.Sub(l.now())
	if !ok || wait <= 0 {
		return caller.Standing{}, false
	}
	return caller.Standing{Limit: r.limit, Retry: wait, Reset: wait}, true
}

func (l *limits) remember(who whose, r refusal) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.cur) >= maxRefusals {
		l.old, l.cur = l.cur, make(map[whose]refusal)
	}
	l.cur[who] = r
}
