package pages

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/labstack/echo/v4"
	"google.golang.org/grpc"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/cache"
	"github.com/signalcast/signalcast/pkg/httpx"
)

// partsWithin is the time that a page waits for all of its parts together.
const partsWithin = 800 * time.Millisecond

// gather reads the parts of a page concurrently. A part that fails or takes too long is missing, and the page shows that.
type gather struct {
	ctx    context.Context
	cancel context.CancelFunc
	wait   sync.WaitGroup
	mu     sync.Mutex
	failed map[string]error
}

func newGather(ctx context.Context, within time.Duration) *gather {
	g := &gather{failed: map[string]error{}}
	g.ctx, g.cancel = context.WithTimeout(ctx, within)
	return g
}

// part is the result of reading a part of a page, the zero value if it is missing. It must not be read before gather.done returns.
type part[T any] struct{ Value T }

// ask starts to read a part of a page. name is for the log.
func ask[T any](g *gather, name string, read func(context.Context) (T, error)) *part[T] {
	p := &part[T]{}
	g.wait.Go(func() {
		v, err := safely(g.ctx, read)
		if err != nil {
			g.fail(name, err)
			return
		}
		p.Value = v
	})
	return p
}

// askFor starts to read a part of a page with a method of a gRPC client.
func askFor[Q, A any](
	g *gather, name string, method func(context.Context, *Q, ...grpc.CallOption) (*A, error), q *Q,
) *part[*A] {
	return ask(g, name, func(ctx context.Context) (*A, error) { return method(ctx, q) })
}

// fail records the error of a part.
func (g *gather) fail(name string, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.failed[name] = err
}

// safely calls read and returns a panic as an error, because a panic in another goroutine would end the service.
func safely[T any](ctx context.Context, read func(context.Context) (T, error)) (v T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = apperr.ErrInternal.Wrap(fmt.Errorf("panic: %v", p))
		}
	}()
	return read(ctx)
}

// done waits for all parts and returns the names of the missing ones.
func (g *gather) done() map[string]bool {
	g.wait.Wait()
	g.cancel()
	away := map[string]bool{}
	for name := range g.failed {
		away[name] = true
	}
	return away
}

// renderParts renders a page that consists of parts. If some are missing, it marks the page as degraded, so that no cache stores it,
// and logs the errors.
func (s *site) renderParts(c echo.Context, g *gather, status int, name string, data any) error {
	if len(g.failed) > 0 && !errors.Is(c.Request().Context().Err(), context.Canceled) { // the client is still connected
		source := ""
		for part, err := range g.failed {
			f := apperr.Of(err)
			s.Log.WarnContext(c.Request().Context(), "page part unavailable", "part", part, "code", f.Code, "error", err)
			if one := strings.TrimSuffix(f.Code, "_unavailable"); source == "" || one < source {
				source = one
			}
		}
		httpx.Degrade(c, source)
	}
	return s.render(c, status, name, data)
}

// cached caches the responses of an expensive gRPC method by key. A call that takes longer than the page waits continues, so that
// the next page has its response.
type cached[A any] struct{ *cache.Cache[string, *A] }

func newCached[A any](now func() time.Time) cached[A] {
	return cached[A]{cache.New(cache.Options[string, *A]{
		TTL: 10 * time.Second, Hold: -1, Timeout: 5 * time.Second, MaxKeys: 512, Values: true, Now: now,
	})}
}

// askCached is askFor with a cache: it calls the method only if answers has no response for the key. If the call takes longer
// than the page waits, the error of the part is httpx.ErrTimeout.
func askCached[Q, A any](
	g *gather, name string, answers cached[A], key string, method func(context.Context, *Q, ...grpc.CallOption) (*A, error), q *Q,
) *part[*A] {
	return ask(g, name, func(ctx context.Context) (*A, error) {
		v, err := answers.Get(ctx, key, func(ctx context.Context, _ *A) (*A, error) { return method(ctx, q) })
		if err != nil && ctx.Err() != nil {
			err = httpx.ErrTimeout.Wrap(err)
		}
		return v, err
	})
}
