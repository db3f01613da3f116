package pages

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/fault"
)

// partsWithin is how long a page waits for its parts, all of them together.
const partsWithin = 800 * time.Millisecond

// gather reads the parts of a page side by side. What does not come in time or
// fails is missing from the page, and the page says so.
type gather struct {
	ctx    context.Context
	cancel context.CancelFunc
	wait   sync.WaitGroup
	mu     sync.Mutex
	failed map[string]error
}

func newGather(ctx context.Context) *gather {
	g := &gather{failed: map[string]error{}}
	g.ctx, g.cancel = context.WithTimeout(ctx, partsWithin)
	return g
}

// ask reads one part. Its value may be looked at after done, when it did not fail.
func ask[T any](g *gather, name string, to *T, read func(context.Context) (T, error)) {
	g.wait.Go(func() {
		v, err := safely(g.ctx, read)
		if err != nil {
			g.fail(name, err)
			return
		}
		*to = v
	})
}

// fail notes what a part lacks.
func (g *gather) fail(name string, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.failed[name] = err
}

// safely turns a panic into an error: a part that breaks must not end the service.
func safely[T any](ctx context.Context, read func(context.Context) (T, error)) (v T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fault.ErrInternal.Wrap(fmt.Errorf("panic: %v", p))
		}
	}()
	return read(ctx)
}

// done waits for all parts.
func (g *gather) done() {
	g.wait.Wait()
	g.cancel()
}

// missing tells whether a part failed.
func (g *gather) missing(name string) bool { return g.failed[name] != nil }

// lessThanWhole marks a page of which parts are missing: no cache keeps it, and
// those who run the service see why.
func (s *site) lessThanWhole(c echo.Context, g *gather) {
	if len(g.failed) == 0 || errors.Is(c.Request().Context().Err(), context.Canceled) { // nobody waits any more
		return
	}
	source := ""
	for name, err := range g.failed {
		f := fault.Of(err)
		s.Log.WarnContext(c.Request().Context(), "a part of a page is missing", "part", name, "code", f.Code, "error", err)
		if one := strings.TrimSuffix(f.Code, "_unavailable"); source == "" || one < source {
			source = one
		}
	}
	s.Degraded(c.Path(), source)
	h := c.Response().Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Degraded", source)
}
