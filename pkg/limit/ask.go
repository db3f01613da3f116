package limit

import (
	"context"
	_ "embed"
	"fmt"
	"sync"

	"github.com/redis/go-redis/v9"
)

//go:embed slide.lua
var slideSource string

var slide = redis.NewScript(slideSource)

const (
	// maxJoined is the most questions of one call of the script: it holds Redis for
	// a fraction of a millisecond.
	maxJoined = 64
	// maxFlights is how many calls of the script are under way at a time. A burst
	// waits here and not in Redis's own time limit, where waiting would look like an
	// outage.
	maxFlights = 2
)

// asker joins the questions that wait at the same moment into one call of the
// script, without a timer: a question that comes alone leaves alone.
type asker struct {
	store  redis.Cmdable
	limit  int
	window int64 // microseconds

	mu      sync.Mutex
	waiting []*question
	flights int
}

// question is one call of a key; done is closed once the answer stands.
type question struct {
	ctx          context.Context
	name, member string
	done         chan struct{}
	answer       [4]int64 // as the script gives it
	err          error
}

// ask gives what the script says of one call.
func (a *asker) ask(ctx context.Context, name, member string) ([4]int64, error) {
	q := &question{ctx: ctx, name: name, member: member}
	a.mu.Lock()
	if a.flights < maxFlights {
		a.flights++
		a.mu.Unlock()
		a.run(ctx, []*question{q})
		a.land()
		return q.answer, q.err
	}
	q.done = make(chan struct{})
	a.waiting = append(a.waiting, q)
	a.mu.Unlock()
	select {
	case <-q.done:
		return q.answer, q.err
	case <-ctx.Done():
		return q.answer, ctx.Err()
	}
}

// land hands the place of a flight that has ended to the questions that wait.
func (a *asker) land() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.waiting) > 0 {
		go a.fly()
		return
	}
	a.flights--
}

// fly asks what waits until nothing does.
func (a *asker) fly() {
	for {
		joined := a.take()
		if joined == nil {
			return
		}
		a.run(context.Background(), joined)
	}
}

// take takes the questions that still want an answer; with none it gives up the
// flight's place.
func (a *asker) take() []*question {
	a.mu.Lock()
	defer a.mu.Unlock()
	for len(a.waiting) > 0 {
		n := min(len(a.waiting), maxJoined)
		joined := make([]*question, 0, n)
		for _, q := range a.waiting[:n] {
			if q.ctx.Err() == nil {
				joined = append(joined, q)
			}
		}
		a.waiting = a.waiting[n:]
		if len(joined) > 0 {
			return joined
		}
	}
	a.waiting = nil
	a.flights--
	return nil
}

// run asks joined questions at once and wakes who waits.
func (a *asker) run(ctx context.Context, joined []*question) {
	keys, args := make([]string, len(joined)), make([]any, 2, len(joined)+2)
	args[0], args[1] = a.limit, a.window
	for i, q := range joined {
		keys[i] = q.name
		args = append(args, q.member)
	}
	out, err := slide.Run(ctx, a.store, keys, args...).Int64Slice()
	if err == nil && len(out) != 4*len(joined) {
		err = fmt.Errorf("limit script answered %d values to %d questions", len(out), len(joined))
	}
	for i, q := range joined {
		if q.err = err; err == nil {
			copy(q.answer[:], out[4*i:])
		}
		if q.done != nil {
			close(q.done)
		}
	}
}
