package rows

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/system/openapi"
)

// i6 makes requests out of the description, good ones, such that are wrong in one way,
// and hostile ones, for every operation of every service. Whatever comes back has to be
// described, member by member.
var i6 = frame.Row{
	ID: "I6", Title: "answers are as they are described, whatever is asked",
	Fault: frame.Fault{What: "errors have a member that nobody described"},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		doc, err := openapi.Load(env.Root)
		if err != nil {
			return nil, err
		}
		q := inquiry{env: env, seen: seen}
		if err := q.gather(ctx); err != nil {
			return nil, err
		}
		bodies, edges := 0, 0
		if env.Size != frame.Small {
			bodies, edges = q.bounds(ctx, doc)
		}
		each := env.Of(2, 12, 120)
		sources := make([]*rand.Rand, len(doc.Operations))
		for i, op := range doc.Operations {
			sources[i] = env.Rand("I6 " + op.Name())
		}
		frame.Each(len(doc.Operations), 6, func(i int) {
			answered := 0
			for n := range each {
				if q.ask(ctx, doc, doc.Operations[i], sources[i], n) {
					answered++
				}
			}
			if answered > 0 {
				q.covered.Add(1)
			}
		})
		all := len(doc.Operations)
		seen.Check(int(q.covered.Load()) == all, "%d of %d operations gave an answer that fits", q.covered.Load(), all)
		asked := int(q.asked.Load())
		seen.Promise(fmt.Sprintf("violations 0 of %s, operations covered %d of %d", frame.Number(asked), all, all),
			fmt.Sprintf("violations %d of %s, operations covered %d of %d", q.wrong.Load(), frame.Number(asked), q.covered.Load(), all))
		seen.Figure("bodiesAtTheirBounds", edges)
		seen.Figure("operationsWithSuchBodies", bodies)
		seen.Figure("answersThatWereGood", q.good.Load())
		seen.Figure("answersThatRefused", q.refused.Load())
		seen.Figure("answersThatLimited", q.limited.Load())
		seen.Volume("%s requests to %d operations of three services, %s of them let through", frame.Number(asked), all, frame.Number(int(q.good.Load())))
		return seen, nil
	},
}

// inquiry asks.
type inquiry struct {
	env  *frame.Env
	seen *frame.Seen
	cast
	people    []person          // each with a limit of its own
	operators []client.Operator // for keys, whose limit is smaller

	told sync.Map // operations whose first mistake was told

	asked, wrong, good, refused, limited, covered atomic.Int64
}

func (q *inquiry) gather(ctx context.Context) error {
	var err error
	if q.cast, err = gather(ctx, q.env, "I6", "i6-writer"); err != nil {
		return err
	}
	for i := range q.env.Of(1, 9, 40) {
		p, err := signUp(ctx, q.env, fmt.Sprintf("i6-asker-%d", i), 0)
		if err != nil {
			return err
		}
		q.people = append(q.people, p)
	}
	q.operators, err = pool(ctx, q.env, "i6", q.env.Of(4, 24, 200), 1)
	return err
}

// ask makes one request and tells whether its answer fits.
func (q *inquiry) ask(ctx context.Context, doc *openapi.Document, op *openapi.Operation, r *rand.Rand, n int) bool {
	care := openapi.Care(n % 3)
	request := q.request(op, r, care, n)
	a := q.env.Client.Do(ctx, request)
	q.asked.Add(1)
	if why := q.judge(ctx, doc, op, request, a); why != "" {
		q.wrong.Add(1)
		if _, told := q.told.LoadOrStore(op.Name(), true); !told { // one of each is enough to go by
			q.seen.Wrong("%s: %s: %.200s", op.Name(), why, a)
		}
		return false
	}
	switch {
	case a.Status == http.StatusTooManyRequests:
		q.limited.Add(1)
	case a.Status < 400:
		q.good.Add(1)
	default:
		q.refused.Add(1)
	}
	return true
}

// judge says what speaks against an answer; empty: nothing. What a service cannot do is
// a fault here, where everything runs, unless the description names it.
func (q *inquiry) judge(ctx context.Context, doc *openapi.Document, op *openapi.Operation, r client.Request, a client.Answer) string {
	switch {
	case a.Err != nil:
		return a.Err.Error()
	case a.Status == http.StatusInternalServerError, a.Status >= 500 && !op.Knows(a.Status):
		return "a fault of ours"
	case a.Status == http.StatusNotFound && a.Code() == "not_found" && !doc.Has(op.Host, op.Method, r.URL):
		return "" // what was put into the path made it another one
	}
	if err := op.Check(ctx, hostOf(q.env, op.Host, 0)+anyPath(op.Path), a.Status, a.Header, a.Body); err != nil {
		return "not as it is described: " + err.Error()
	}
	return ""
}
