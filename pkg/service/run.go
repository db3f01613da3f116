package service

import (
	"context"
	"log/slog"
	"time"

	"github.com/signalcast/signalcast/pkg/dbtime"
	"github.com/signalcast/signalcast/pkg/grpcx"
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/run"
)

// Life is what every service has while it runs.
type Life struct {
	Log      *slog.Logger
	Health   *httpx.Health
	HTTP     *httpx.Server
	Internal *httpx.Server // the metrics; nil without METRICS_ADDR
	GRPC     *grpcx.Part   // nil: the service has none
	Clock    *dbtime.Clock // follows Time; nil when the time is set by hand
	Time     dbtime.Ask    // the time of the database
	Linger   time.Duration // time in which it still serves after it is no longer ready
	Up       func()        // called once all parts serve
}

// Run serves with the parts of a service until ctx ends, a signal comes or a part fails, and stops everything again. The
// service is ready once all parts serve, and no longer from the start of the stop.
func (l Life) Run(ctx context.Context, parts ...run.Part) error {
	if l.Internal != nil {
		parts = append(parts, run.Of("metrics", l.Internal))
	}
	if l.Clock != nil {
		parts = append(parts, run.Loop("time", func(ctx context.Context) error { return l.Clock.Follow(ctx, l.Time) }))
	}
	ready := func(ready bool) {
		if l.GRPC != nil {
			l.GRPC.SetReady(ready)
		}
	}
	return run.Run(ctx, run.Options{
		Log:    l.Log,
		Up:     func() { l.Health.Up(); ready(true); l.Up() },
		Drain:  func() { l.Health.Down(); ready(false); l.HTTP.Drain() },
		Linger: l.Linger,
	}, parts...)
}
