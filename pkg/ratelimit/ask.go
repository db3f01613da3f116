package ratelimit

import (
	"context"
	_ "embed"
	"fmt"
	"math"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/signalcast/signalcast/pkg/batch"
)

//go:embed slide.lua
var slideSource string

var slide = redis.NewScript(slideSource)

const (
	// maxJoined is the most questions of one call of the script, which blocks Redis for a fraction of a millisecond.
	maxJoined = 64
	// maxFlights is the most calls of the script at a time. A burst waits here and not in the time limit of the Redis
	// client, where waiting would look like an outage.
	maxFlights = 2
)

// asker sends all questions that wait to Redis with one call of the script, without a timer.
type asker struct {
	store  redis.Cmdable
	limit  int
	window int64 // microseconds
	queue  *batch.Queue[*question]
}

// newAsker returns the asker of a limit. The number of questions that wait is not bounded: each request waits for one at most.
func newAsker(store redis.Cmdable, limit int, window time.Duration) *asker {
	a := &asker{store: store, limit: limit, window: window.Microseconds()}
	a.queue = batch.New(batch.Config[*question]{
		Size: maxJoined, Bound: math.MaxInt, Flight: maxFlights, Send: a.run,
		Wanted: func(q *question) bool { return q.ctx.Err() == nil },
	})
	return a
}

// question asks the script whether one request may pass. done is closed when answer or err is set.
type question struct {
	ctx          context.Context
	name, member string // the Redis key of the limit, and the entry of this request in it
	done         chan struct{}
	answer       [4]int64 // as slide.lua returns it
	err          error
}

// ask returns the answer of the script for one request, or the error of ctx. Redis counts a request whose question was sent, also
// if ctx ends before the answer.
func (a *asker) ask(ctx context.Context, name, member string) (answer [4]int64, err error) {
	q := &question{ctx: ctx, name: name, member: member, done: make(chan struct{})}
	a.queue.Add(q)
	select {
	case <-q.done:
		return q.answer, q.err
	case <-ctx.Done():
		return answer, ctx.Err()
	}
}

// run sends questions with one call of the script and sets their answers.
func (a *asker) run(joined []*question) {
	keys, args := make([]string, len(joined)), make([]any, 2, len(joined)+2)
	args[0], args[1] = a.limit, a.window
	for i, q := range joined {
		keys[i] = q.name
		args = append(args, q.member)
	}
	out, err := slide.Run(context.Background(), a.store, keys, args...).Int64Slice()
	if err == nil && len(out) != 4*len(joined) {
		err = fmt.Errorf("limit script answered %d values to %d questions", len(out), len(joined))
	}
	for i, q := range joined {
		if q.err = err; err == nil {
			copy(q.answer[:], out[4*i:])
		}
		close(q.done)
	}
}
