package cache

import (
	"context"

	"golang.org/x/sync/singleflight"
)

// Flight shares one running call among concurrent callers of the same key. Results are not stored. The zero value is
// usable.
type Flight[V any] struct{ group singleflight.Group }

// Do returns the result of the running call of a key. If no call of the key runs, it calls the function do. If ctx ends first, it
// returns the error of ctx. do receives the context values of its first caller, but not its cancellation, because other callers
// may wait for the result. do must therefore limit its own run time.
func (f *Flight[V]) Do(ctx context.Context, key string, do func(context.Context) (V, error)) (V, error) {
	shared := f.group.DoChan(key, func() (any, error) { return guarded(context.WithoutCancel(ctx), do) })
	select {
	case answer := <-shared:
		v, _ := answer.Val.(V) // a nil value of an interface type has no dynamic type
		return v, answer.Err
	case <-ctx.Done():
		var none V
		return none, ctx.Err()
	}
}
