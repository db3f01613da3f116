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
	// maxBatch is the maximum number of requests in one call of the script. With that number, the script blocks Redis
	// for a fraction of a millisecond.
	maxBatch = 64
	// maxSenders is the maximum number of concurrent calls of the script. During a burst, requests wait in the queue
	// and not in the Redis client, whose timeout would look like an outage.
	maxSenders = 2
)

// scriptBatcher counts requests in Redis. It sends waiting requests together with one call of the script, without a timer.
type scriptBatcher struct {
	store  redis.Cmdable
	limit  int
	window int64 // microseconds
	queue  *batch.Queue[*scriptRequest]
}

// newScriptBatcher returns the batcher of one limit. Its queue is unbounded. Each call of count adds one entry.
func newScriptBatcher(store redis.Cmdable, limit int, window time.Duration) *scriptBatcher {
	b := &scriptBatcher{store: store, limit: limit, window: window.Microseconds()}
	b.queue = batch.New(batch.Config[*scriptRequest]{
		Size: maxBatch, Bound: math.MaxInt, Flight: maxSenders, Send: b.send,
		Wanted: func(r *scriptRequest) bool { return r.ctx.Err() == nil },
	})
	return b
}

// scriptRequest is one request to be counted by the script. done is closed when answer or err is set.
type scriptRequest struct {
	ctx          context.Context
	name, member string // the Redis key of the limit, and the member for this request
	done         chan struct{}
	answer       [4]int64 // in the format of slide.lua
	err          error
}

// count returns the result of the script for one request, or the error of ctx. If ctx ends after the request was sent to
// Redis, Redis still counts it.
func (b *scriptBatcher) count(ctx context.Context, name, member string) (answer [4]int64, err error) {
	r := &scriptRequest{ctx: ctx, name: name, member: member, done: make(chan struct{})}
	b.queue.Add(r)
	select {
	case <-r.done:
		return r.answer, r.err
	case <-ctx.Done():
		return answer, ctx.Err()
	}
}

// send counts a batch of requests with one call of the script. It sets the answer or error of each request and closes
// its channel done.
func (b *scriptBatcher) send(batched []*scriptRequest) {
	keys, args := make([]string, len(batched)), make([]any, 2, len(batched)+2)
	args[0], args[1] = b.limit, b.window
	for i, r := range batched {
		keys[i] = r.name
		args = append(args, r.member)
	}
	out, err := slide.Run(context.Background(), b.store, keys, args...).Int64Slice()
	if err == nil && len(out) != 4*len(batched) {
		err = fmt.Errorf("rate limit script returned %d values for %d requests", len(out), len(batched))
	}
	for i, r := range batched {
		if r.err = err; err == nil {
			copy(r.answer[:], out[4*i:])
		}
		close(r.done)
	}
}
