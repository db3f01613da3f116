package app

import (
	"context"
	"io"

	"github.com/signalcast/signalcast/pkg/dbtime"
	"github.com/signalcast/signalcast/pkg/service"
	"github.com/signalcast/signalcast/services/clock/internal/postgres"
)

const usage = `       clock timeline --at TIME --minutes N [--preset NAME] [--spec JSON] [--station ID] [--lane LANE]
                          print the segments of a channel
`

// Program returns the command line program of the clock service, with the commands `serve`, `migrate` and `timeline`.
func Program() service.Program {
	return service.Program{
		Name: serviceName, Usage: usage, Serve: service.Serve(build), Schema: postgres.Schema, HTTPAddr: "127.0.0.1:8082",
		Commands: map[string]service.Command{"timeline": timeline},
	}
}

func build(ctx context.Context, cfg Config, log io.Writer, clock *dbtime.Clock) (*App, error) {
	a, err := New(ctx, cfg, log, clock.Now)
	if err != nil {
		return nil, err
	}
	a.time = clock
	return a, nil
}
