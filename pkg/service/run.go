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

// Life contains the components of a running service. Log, Health, HTTP and Up are required.
type Life struct {
	Log      *slog.Logger
	Health   *httpx.Health
	HTTP     *httpx.Server
	Internal *httpx.Server // serves the metrics; nil without METRICS_ADDR
	GRPC     *grpcx.Part   // nil if the service has no gRPC server
	Clock    *dbtime.Clock // follows Time; nil if tests set the time
	Time     dbtime.Ask    // returns the time of the database
	Linger   time.Duration // time in which the service still serves requests after it is no longer ready
	Up       func()        // called when all parts have started
}

// Run runs the parts of a service until ctx ends, a signal arrives or a part fails, and then stops them. The service becomes
// ready after all parts have started, and is not ready once the stop begins.
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
