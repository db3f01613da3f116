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

//go:embed count.lua
var countSource string

// Scripts of a scriptBatcher. slide counts a request in a sliding log if the limit allows it. count adds requests that were
// already allowed.
var (
	slide = redis.NewScript(slideSource)
	count = redis.NewScript(countSource)
)

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
	script *redis.Script
	limit  int
	window int64 // microseconds
	queue  *batch.Queue[*scriptRequest]
}

// newScriptBatcher returns the batcher of one limit. Its queue is unbounded.
func newScriptBatcher(store redis.Cmdable, script *redis.Script, limit int, window time.Duration) *scriptBatcher {
	b := &scriptBatcher{store: store, script: script, limit: limit, window: window.Microseconds()}
	b.queue = batch.New(batch.Config[*scriptRequest]{
		Size: maxBatch, Bound: math.MaxInt, Flight: maxSenders, Send: b.send,
		Wanted: func(r *scriptRequest) bool { return r.ctx == nil || r.ctx.Err() == nil },
	})
	return b
}

// scriptRequest is one key of a call of the script. done is called with the answer, in the format of slide.lua, or with an error.
type scriptRequest struct {
	ctx  context.Context // if it ends before the call is sent, done is not called; nil: the call is always sent
	name string          // the Redis key of the limit
	arg  any             // the argument of the script for this key
	done func(answer [4]int64, err error)
}

// count returns the result of the script for one key and its argument, or the error of ctx. If ctx ends after the request was
// sent to Redis, Redis still counts it.
func (b *scriptBatcher) count(ctx context.Context, name string, arg any) (answer [4]int64, err error) {
	type result struct {
		answer [4]int64
		err    error
	}
	done := make(chan result, 1)
	b.queue.Add(&scriptRequest{ctx: ctx, name: name, arg: arg, done: func(a [4]int64, err error) { done <- result{a, err} }})
	select {
	case r := <-done:
		return r.answer, r.err
	case <-ctx.Done():
		return answer, ctx.Err()
	}
}

// send executes the script once for a batch of requests. It calls the function done of each request.
func (b *scriptBatcher) send(batched []*scriptRequest) {
	keys, args := make([]string, len(batched)), make([]any, 2, len(batched)+2)
	args[0], args[1] = b.limit, b.window
	for i, r := range batched {
		keys[i] = r.name
		args = append(args, r.arg)
	}
	out, err := b.script.Run(context.Background(), b.store, keys, args...).Int64Slice()
	if err == nil && len(out) != 4*len(batched) {
		err = fmt.Errorf("rate limit script returned %d values for %d requests", len(out), len(batched))
	}
	for i, r := range batched {
		var answer [4]int64
		if err == nil {
			copy(answer[:], out[4*i:])
		}
		r.done(answer, err)
	}
}
