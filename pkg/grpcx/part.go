package grpcx

import (
	"context"
	"errors"
	"net"

	"google.golang.org/grpc"
)

// Part is a Server that listens on an address while a process runs.
type Part struct {
	*Server
	addr     string
	listener net.Listener
}

// At returns the server as a part of a process that listens on addr.
func (s *Server) At(addr string) *Part { return &Part{Server: s, addr: addr} }

// Start listens.
func (p *Part) Start(ctx context.Context) error {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", p.addr)
	if err != nil {
		return err
	}
	p.listener = l
	return nil
}

// Addr returns the address in use once started, and before that the configured one.
func (p *Part) Addr() string {
	if p.listener == nil {
		return p.addr
	}
	return p.listener.Addr().String()
}

// Serve answers calls until Stop.
func (p *Part) Serve() error {
	if err := p.Server.Serve(p.listener); !errors.Is(err, grpc.ErrServerStopped) { // Stop may come before Serve
		return err
	}
	return nil
}

// Stop waits for running calls while ctx lasts.
func (p *Part) Stop(ctx context.Context) error {
	p.Shutdown(ctx)
	return nil
}
