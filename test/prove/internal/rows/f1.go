package rows

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

// f1 tells each service to stop while it is busy. Calls are under way that end only
// after its doors have closed, since a lock holds their market, readers come and go
// all the time, and the api has listeners.
var f1 = frame.Row{
	ID: "F1", Title: "SIGTERM: not ready first, then everything begun is finished",
	Fault: frame.Fault{What: "a service that is told to stop cuts its connections"},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		l, err := startSide(ctx, env, nil)
		if err != nil {
			return nil, err
		}
		defer l.stop()
		clock, err := env.Stack.Side(ctx, "clock", nil)
		if err != nil {
			return nil, err
		}
		defer clock.Stop()
		f := &farewell{env: env, seen: seen, hub: l.hub.URL, api: l.api, clock: clock}
		if err := f.prepare(ctx); err != nil {
			return nil, err
		}
		if err := f.watchSockets(ctx); err != nil {
			return nil, err
		}
		if err := f.all(ctx, l); err != nil {
			return nil, err
		}
		lost, err := missing(ctx, env, f.markets, f.acked)
		if err != nil {
			return nil, err
		}
		told := f.listeners.told()
		seen.Figure("slowestExit", f.exits.At(1))
		seen.Figure("shortestNotice", f.notice)
		seen.Figure("busy", f.busy.Load())
		seen.Check(f.busy.Load()*10 <= f.requests.Load(), "%d of %d requests were not answered in full", f.busy.Load(), f.requests.Load())
		seen.Check(lost == 0, "%d acknowledged calls of %d are lost", lost, len(f.acked))
		seen.Check(told == len(f.listeners), "%d sockets of %d were told 1001", told, len(f.listeners))
		seen.Promise("acknowledged lost 0, resets 0, sockets told 1001 100%, exit ≤ 10 s",
			fmt.Sprintf("lost %d of %d, resets %d, %d of %d, exit ≤ %.1f s", lost, len(f.acked), f.resets.Load(), told, len(f.listeners), f.exits.At(1).Seconds()))
		seen.Volume("3 services, %d calls under way each, %d sockets, %s requests", f.held, len(f.listeners), frame.Number(int(f.requests.Load())))
		return seen, nil
	},
}

// all ends the hub, the api behind a new hub, and the clock.
func (f *farewell) all(ctx context.Context, l *sideLedger) error {
	if err := f.end(ctx, "hub", l.hub, f.hubRequest, true); err != nil {
		return err
	}
	if err := errors.Join(l.hub.Start(ctx), f.introduce(ctx)); err != nil {
		return err
	}
	if err := f.end(ctx, "api", l.api, f.apiRequest, true, l.api.GRPC); err != nil {
		return err
	}
	f.listeners.wait(ctx, f.seen)
	return f.end(ctx, "clock", f.clock, f.clockRequest, false, f.clock.GRPC)
}

// prepare makes the market that is held, the others, and who calls on them.
func (f *farewell) prepare(ctx context.Context) (err error) {
	f.held = f.env.Of(40, 200, 200)
	if f.markets, err = markets(ctx, f.env, "F1", 3); err != nil {
		return err
	}
	if f.ops, err = pool(ctx, f.env, "f1", 2*f.held+callersAtEnds, 1); err != nil {
		return err
	}
	return f.introduce(ctx)
}

// introduce shows the hub each key that will be used: of one that it has not heard of
// it asks the ledger first, and the call would not be under way.
func (f *farewell) introduce(ctx context.Context) error {
	errs := make([]error, len(f.ops)-f.used)
	frame.Each(len(errs), 8, func(i int) {
		var a client.Answer
		_, errs[i] = frame.Until(ctx, 10*time.Second, func() (bool, error) {
			a = f.env.Client.Do(ctx, client.Request{URL: f.hub + "/api/protocol/v1/me", As: f.ops[f.used+i].Keys[0]})
			return a.Status == http.StatusOK, nil
		})
		errs[i] = errors.Join(errs[i], a.Into(http.StatusOK, nil))
	})
	return errors.Join(errs...)
}

func (f *farewell) watchSockets(ctx context.Context) (err error) {
	f.listeners, err = gatherListeners(ctx, f.api.URL, f.env.Of(48, 400, 400), f.env.Of(12, 100, 100))
	return err
}

func (f *farewell) hubRequest(i int) client.Request {
	switch i % 4 {
	case 0:
		return client.Request{URL: f.hub + "/api/m/" + f.markets[1+i%2]}
	case 1:
		return client.Request{URL: f.hub + "/api/m/" + f.markets[1+i%2] + "/crowd"}
	case 2:
		return client.Request{URL: f.hub + "/api/signals/feed"}
	}
	return client.Request{URL: f.hub + "/api/protocol/v1/me", As: f.ops[2*f.held+i%callersAtEnds].Keys[0]}
}

func (f *farewell) apiRequest(i int) client.Request {
	return client.Request{URL: f.api.URL + []string{"/api/v1/feed", "/api/v1/signals/leaderboard", "/api/v1/feed?after=1"}[i%3]}
}

func (f *farewell) clockRequest(i int) client.Request {
	return client.Request{URL: f.clock.URL + []string{"/program/now", "/program/next", "/program/timeline"}[i%3]}
}
