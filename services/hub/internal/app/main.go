package app

import (
	"context"
	"io"

	"github.com/signalcast/signalcast/pkg/dbtime"
	"github.com/signalcast/signalcast/pkg/service"
	"github.com/signalcast/signalcast/services/hub/internal/postgres"
)

// Program returns the program of the hub: its serve command, its database schema and its default address.
func Program() service.Program {
	return service.Program{Name: serviceName, Serve: service.Serve(build), Schema: postgres.Schema, HTTPAddr: "127.0.0.1:8080"}
}

func build(ctx context.Context, cfg Config, log io.Writer, clock *dbtime.Clock) (*App, error) {
	a, err := New(ctx, cfg, log, clock.Now)
	if err != nil {
		return nil, err
	}
	a.time = clock
	return a, nil
}
