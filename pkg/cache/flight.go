package cache

import (
	"context"

	"golang.org/x/sync/singleflight"
)

// Flight shares one running call among concurrent callers of the same key. Its result is not stored. The zero value is ready.
type Flight[V any] struct{ group singleflight.Group }

// Do returns the result of the running call of a key, or calls do if none runs, and waits until ctx ends at most. do has the
// values of its first caller's context. It continues when that caller leaves, because others may wait, and must bound its time.
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
