package rows

import (
	"context"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/system/openapi"
)

// g7 brings every kind of credential to every route. The routes are those that the
// running services have mounted; what is due comes from the description, which has
// to agree with the specification's own tables.
var g7 = frame.Row{
	ID: "G7", Title: "each credential only where the table says",
	Fault: frame.Fault{What: "the admin secret is taken from the address, too"},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		doc, err := openapi.Load(env.Root)
		if err != nil {
			return nil, err
		}
		agrees(doc, seen)
		mounted, err := sameRoutes(ctx, env, doc, seen)
		if err != nil {
			return nil, err
		}
		r, err := mintRing(ctx, env, "g7-holder")
		if err != nil {
			return nil, err
		}
		ops := consentFirst(doc.Operations)
		if env.Size == frame.Small {
			ops = nil
			for _, op := range doc.Operations {
				if op.Takes("adminSecret") || op.Takes("identityToken") {
					ops = append(ops, op)
				}
			}
		}
		rest, signOuts := signOutsLast(ops)
		cells, good := r.try(ctx, env, rest, seen)
		n, fine := r.try(ctx, env, signOuts, seen)
		cells, good = cells+n, good+fine
		n, fine = r.cronWithBody(ctx, env, doc, seen)
		cells, good = cells+n, good+fine
		seen.Figure("routes", mounted)
		seen.Figure("credentials", len(r.passes))
		seen.Figure("cells", cells)
		seen.OutOf(cells, good)
		seen.Volume("%d routes of three services, %d kinds of credentials, %s cells", mounted, len(r.passes), frame.Number(cells))
		return seen, nil
	},
}

var parameter = regexp.MustCompile(`:(\w+)`)

// sameRoutes wants the tables of the running services to be the description.
func sameRoutes(ctx context.Context, env *frame.Env, doc *openapi.Document, seen *frame.Seen) (int, error) {
	missing := map[string]bool{}
	for _, op := range doc.Operations {
		missing[op.Name()] = true
	}
	mounted := 0
	for name, host := range map[string]string{"hub": "hub", "hub-2": "hub", "api": "api", "clock": "clock"} {
		list, err := env.Stack.Routes(ctx, name)
		if err != nil {
			return 0, err
		}
		for _, line := range list {
			method, path, _ := strings.Cut(line, " ")
			path = parameter.ReplaceAllString(strings.Replace(path, "*", "{rest}", 1), "{$1}")
			op := method + " " + host + path
			_, known := missing[op]
			seen.Check(known, "%s serves %s, which is not described", name, op)
			missing[op] = false
			if name != "hub-2" {
				mounted++
			}
		}
	}
	for op, is := range missing {
		below := strings.HasSuffix(op, "/healthz") || strings.HasSuffix(op, "/readyz") // mounted below the table
		seen.Check(!is || below, "%s is described and not served", op)
	}
	return mounted, nil
}

// try brings every pass to every door.
func (r *ring) try(ctx context.Context, env *frame.Env, ops []*openapi.Operation, seen *frame.Seen) (cells, good int) {
	var fine atomic.Int64
	frame.Each(len(ops), 6, func(n int) {
		op := ops[n]
		for i, p := range r.passes {
			d := p.at(op)
			a := r.knock(ctx, env, op, p, n+i)
			if why := d.verdict(op, p, a); why != "" {
				seen.Wrong("%s with %s %s: %.160s", op.Name(), p.name, why, a)
				continue
			}
			fine.Add(1)
		}
	})
	return len(ops) * len(r.passes), int(fine.Load())
}

// cronWithBody: what a body says is for the administrators, so the scheduler's secret
// beside one is none.
func (r *ring) cronWithBody(ctx context.Context, env *frame.Env, doc *openapi.Document, seen *frame.Seen) (cells, good int) {
	for i, op := range doc.Operations {
		if !op.Takes("cronSecret") || op.Body() == nil {
			continue
		}
		for _, at := range []string{"", "&dry=1"} {
			a := env.Client.Do(ctx, client.Request{
				Method: op.Method, URL: env.Hub(i) + op.Path + "?secret=" + env.Stack.CronSecret + at, Body: map[string]any{"marketId": r.market, "outcome": "YES"},
			})
			cells++
			if a.Status == http.StatusUnauthorized && a.Code() == "unauthenticated" {
				good++
			} else {
				seen.Wrong("%s with a body and the cron secret: %s", op.Name(), a)
			}
		}
	}
	return cells, good
}
