package rows

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/system/openapi"
)

// h6 looks at what a cache between us and others is told. Whatever was answered to
// somebody, whatever was refused to somebody, and whatever went wrong belongs to him
// alone; what belongs to all may be kept for all.
var h6 = frame.Row{
	ID: "H6", Title: "private answers are not shared",
	Fault: frame.Fault{What: "an answer to a session is kept for everybody"},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		doc, err := openapi.Load(env.Root)
		if err != nil {
			return nil, err
		}
		r, err := mintRing(ctx, env, "h6-holder")
		if err != nil {
			return nil, err
		}
		s := shelf{env: env, seen: seen, ring: r}
		rest, signOuts := signOutsLast(consentFirst(doc.Operations))
		for _, ops := range [][]*openapi.Operation{rest, signOuts} {
			frame.Each(len(ops), 6, func(n int) { s.operation(ctx, ops[n], n) })
		}
		if err := s.broken(ctx, doc); err != nil {
			return nil, err
		}
		private, shared := s.private.Load(), s.shared.Load()
		seen.Check(private > 100 && shared > 10, "%d answers were private and %d were not: the row has looked at nothing", private, shared)
		seen.Promise("no-store or private 100%", fmt.Sprintf("%s of %s", frame.Number(int(private-s.wrong.Load())), frame.Number(int(private))))
		seen.Figure("private", private)
		seen.Figure("shared", shared)
		seen.Volume("%d operations, %d kinds of credentials, %s private answers, %s for all", len(doc.Operations), len(r.passes), frame.Number(int(private)), frame.Number(int(shared)))
		return seen, nil
	},
}

// shelf is what a shared cache would keep.
type shelf struct {
	env  *frame.Env
	seen *frame.Seen
	ring *ring

	private, shared, wrong atomic.Int64
}

// operation asks one door with each pass.
func (s *shelf) operation(ctx context.Context, op *openapi.Operation, n int) {
	if holds(op) {
		return
	}
	for i, p := range s.ring.passes {
		a := s.ring.knock(ctx, s.env, op, p, n+i)
		if a.Err != nil {
			s.seen.Wrong("%s with %s: %v", op.Name(), p.name, a.Err)
			continue
		}
		s.judge(op, p.name, s.personal(op, p, a), a)
	}
}

// personal tells whether an answer is somebody's: to a write, to whoever was let in as
// somebody, a refusal of a credential or of too many requests, a failure.
func (s *shelf) personal(op *openapi.Operation, p pass, a client.Answer) bool {
	switch {
	case op.Gone():
		return false
	case op.Method != http.MethodGet, a.Status >= 500, a.Status == http.StatusUnauthorized, a.Status == http.StatusForbidden, a.Status == http.StatusTooManyRequests:
		return true
	case a.Status >= 400:
		return false
	case !op.Public():
		return true
	}
	return slices.ContainsFunc(p.takes, op.Takes) && p.at(op) == letIn // it knows who asks
}

func (s *shelf) judge(op *openapi.Operation, with string, personal bool, a client.Answer) {
	told := a.Header.Get("Cache-Control")
	if !personal {
		s.shared.Add(1)
		return
	}
	s.private.Add(1)
	kept := strings.Contains(told, "public") || strings.Contains(told, "s-maxage") || !strings.Contains(told, "no-store") && !strings.Contains(told, "private")
	if kept {
		s.wrong.Add(1)
		s.seen.Wrong("%s with %s may be kept (%q): %.100s", op.Name(), with, told, a)
	}
}

// broken reads everything while the databases stand still: a failure, and what
// was answered for want of something better, is kept by nobody.
func (s *shelf) broken(ctx context.Context, doc *openapi.Document) error {
	if s.env.Size == frame.Small {
		return nil
	}
	resume, err := s.env.Stack.Hang("postgres")
	if err != nil {
		return err
	}
	frame.Each(len(doc.Operations), 6, func(n int) {
		op := doc.Operations[n]
		if op.Method != http.MethodGet || !op.Public() || holds(op) || health(op) {
			return
		}
		a := s.ring.knock(ctx, s.env, op, pass{name: "nothing"}, n)
		if a.Err != nil {
			s.seen.Wrong("%s without a database: %v", op.Name(), a.Err)
			return
		}
		s.judge(op, "no database", a.Status >= 500 || a.Header.Get("X-Degraded") != "", a)
	})
	resume()
	return nil
}
