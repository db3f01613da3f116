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

// partsTimeout is the time limit for reading all parts of a page.
const partsTimeout = 800 * time.Millisecond

// partReader reads the parts of a page concurrently. A part that fails or takes too long is missing on the page.
type partReader struct {
	ctx    context.Context
	cancel context.CancelFunc
	group  sync.WaitGroup
	mu     sync.Mutex
	failed map[string]error
}

func newPartReader(ctx context.Context, within time.Duration) *partReader {
	g := &partReader{failed: map[string]error{}}
	g.ctx, g.cancel = context.WithTimeout(ctx, within)
	return g
}

// part holds the data of one section of a page, which is read concurrently with other sections. Value must not be used before
// partReader.wait has returned. It is the zero value if the read failed.
type part[T any] struct{ Value T }

// readPart starts to read a part of a page. name identifies the part in logs and in layout.Unavailable.
func readPart[T any](g *partReader, name string, read func(context.Context) (T, error)) *part[T] {
	p := &part[T]{}
	g.group.Go(func() {
		v, err := recoverPanic(g.ctx, read)
		if err != nil {
			g.fail(name, err)
			return
		}
		p.Value = v
	})
	return p
}

// callPart starts to read a part of a page with a gRPC method.
func callPart[Q, A any](
	g *partReader, name string, method func(context.Context, *Q, ...grpc.CallOption) (*A, error), q *Q,
) *part[*A] {
	return readPart(g, name, func(ctx context.Context) (*A, error) { return method(ctx, q) })
}

func (g *partReader) fail(name string, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.failed[name] = err
}

// recoverPanic calls the function read and returns a panic as an error. A panic in a goroutine without recovery would end the
// process.
func recoverPanic[T any](ctx context.Context, read func(context.Context) (T, error)) (v T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = apperr.ErrInternal.Wrap(fmt.Errorf("panic: %v", p))
		}
	}()
	return read(ctx)
}

// wait waits until all parts are read or have failed, and returns the names of the failed parts.
func (g *partReader) wait() map[string]bool {
	g.group.Wait()
	g.cancel()
	unavailable := map[string]bool{}
	for name := range g.failed {
		unavailable[name] = true
	}
	return unavailable
}

// renderParts renders a page whose parts g has read. If parts are missing, it logs the errors and marks the page as degraded, so
// that it is not cached.
func (s *site) renderParts(c echo.Context, g *partReader, status int, name string, data any) error {
	if len(g.failed) > 0 && !errors.Is(c.Request().Context().Err(), context.Canceled) { // else all reads failed
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

// responseCache caches the responses of an expensive gRPC method. If a request to the method exceeds the time limit of the page,
// the request continues, so that the next page has the response.
type responseCache[A any] struct{ *cache.Cache[string, *A] }

func newResponseCache[A any](now func() time.Time) responseCache[A] {
	return responseCache[A]{cache.New(cache.Options[string, *A]{
		TTL: 10 * time.Second, Hold: -1, Timeout: 5 * time.Second, MaxKeys: 512, Values: true, Now: now,
	})}
}

// callCached is like callPart, but calls the method only if the cache has no response for the key. If the response does not
// arrive within the time limit of the page, the error of the part is httpx.ErrTimeout.
func callCached[Q, A any](
	g *partReader, name string, answers responseCache[A], key string,
	method func(context.Context, *Q, ...grpc.CallOption) (*A, error), q *Q,
) *part[*A] {
	return readPart(g, name, func(ctx context.Context) (*A, error) {
		v, err := answers.Get(ctx, key, func(ctx context.Context, _ *A) (*A, error) { return method(ctx, q) })
		if err != nil && ctx.Err() != nil {
			err = httpx.ErrTimeout.Wrap(err)
		}
		return v, err
	})
}
