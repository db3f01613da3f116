package site

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

// PartsTimeout is the time limit for reading all parts of a page.
const PartsTimeout = 800 * time.Millisecond

// PartReader reads the parts of a page concurrently. A part that fails or takes too long is missing on the page.
type PartReader struct {
	ctx    context.Context
	cancel context.CancelFunc
	group  sync.WaitGroup
	mu     sync.Mutex
	failed map[string]error
}

// NewPartReader returns a PartReader whose reads are canceled after the given time.
func NewPartReader(ctx context.Context, within time.Duration) *PartReader {
	g := &PartReader{failed: map[string]error{}}
	g.ctx, g.cancel = context.WithTimeout(ctx, within)
	return g
}

// Part holds the data of one section of a page, which is read concurrently with other sections. Value must not be used before
// PartReader.Wait has returned. It is the zero value if the read failed.
type Part[T any] struct{ Value T }

// ReadPart starts to read a part of a page. name identifies the part in logs and in Layout.Unavailable.
func ReadPart[T any](g *PartReader, name string, read func(context.Context) (T, error)) *Part[T] {
	p := &Part[T]{}
	g.group.Go(func() {
		v, err := RecoverPanic(g.ctx, read)
		if err != nil {
			g.Fail(name, err)
			return
		}
		p.Value = v
	})
	return p
}

// CallPart starts to read a part of a page with a gRPC method.
func CallPart[Q, A any](
	g *PartReader, name string, method func(context.Context, *Q, ...grpc.CallOption) (*A, error), q *Q,
) *Part[*A] {
	return ReadPart(g, name, func(ctx context.Context) (*A, error) { return method(ctx, q) })
}

// Fail records that a part cannot be read.
func (g *PartReader) Fail(name string, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.failed[name] = err
}

// RecoverPanic calls the function read and returns a panic as an error. A panic in a goroutine without recovery would end the
// process.
func RecoverPanic[T any](ctx context.Context, read func(context.Context) (T, error)) (v T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = apperr.ErrInternal.Wrap(fmt.Errorf("panic: %v", p))
		}
	}()
	return read(ctx)
}

// Wait waits until all parts are read or have failed, and returns the names of the failed parts.
func (g *PartReader) Wait() map[string]bool {
	g.group.Wait()
	g.cancel()
	unavailable := map[string]bool{}
	for name := range g.failed {
		unavailable[name] = true
	}
	return unavailable
}

// RenderParts renders a page whose parts g has read. If parts are missing, it logs the errors and marks the page as degraded, so
// that it is not cached.
func (s *Site) RenderParts(c echo.Context, g *PartReader, status int, name string, data any) error {
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
	return s.Render(c, status, name, data)
}

// ResponseCache caches the responses of an expensive gRPC method. A call that takes longer than the page may wait continues in the
// background, and its response is cached for the next request.
type ResponseCache[A any] struct{ *cache.Cache[string, *A] }

// NewResponseCache returns an empty cache.
func NewResponseCache[A any](now func() time.Time) ResponseCache[A] {
	return ResponseCache[A]{cache.New(cache.Options[string, *A]{
		TTL: 10 * time.Second, Hold: -1, Timeout: 5 * time.Second, MaxKeys: 512, Values: true, Now: now,
	})}
}

// CallCached is like CallPart, but calls the method only if the cache has no response for the key. If the response does not
// arrive within the time limit of the page, the error of the part is httpx.ErrTimeout.
func CallCached[Q, A any](
	g *PartReader, name string, answers ResponseCache[A], key string,
	method func(context.Context, *Q, ...grpc.CallOption) (*A, error), q *Q,
) *Part[*A] {
	return ReadPart(g, name, func(ctx context.Context) (*A, error) {
		v, err := answers.Get(ctx, key, func(ctx context.Context, _ *A) (*A, error) { return method(ctx, q) })
		if err != nil && ctx.Err() != nil {
			err = httpx.ErrTimeout.Wrap(err)
		}
		return v, err
	})
}
