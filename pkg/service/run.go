package service

import (
	"context"
	"log/slog"
	"time"

	"github.com/signalcast/signalcast/pkg/chrono"
	"github.com/signalcast/signalcast/pkg/link"
	"github.com/signalcast/signalcast/pkg/run"
	"github.com/signalcast/signalcast/pkg/web"
)

// Life is what every service has while it runs.
type Life struct {
	Log      *slog.Logger
	Health   *web.Health
	HTTP     *web.Server
	Internal *web.Server   // the metrics; nil without METRICS_ADDR
	GRPC     *link.Part    // nil: the service has none
	Clock    *chrono.Clock // follows Time; nil when the time is set by hand
	Time     chrono.Ask    // the time of the database
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
