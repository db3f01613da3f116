package cache

import (
	"context"

	"golang.org/x/sync/singleflight"
)

// Flight shares one running call among those who need the same. Nothing of it is stored. The zero value is ready.
type Flight[V any] struct{ group singleflight.Group }

// Do joins the running call of a key, or starts do, and waits as long as ctx lasts. do sees the values of the context of its
// first caller. It goes on when that caller leaves, because others may wait for it, and must bound its own time.
func (f *Flight[V]) Do(ctx context.Context, key string, do func(context.Context) (V, error)) (V, error) {
	shared := f.group.DoChan(key, func() (any, error) { return guarded(context.WithoutCancel(ctx), do) })
	select {
	case answer := <-shared:
		return answer.Val.(V), answer.Err
	case <-ctx.Done():
		var none V
		return none, ctx.Err()
	}
}
