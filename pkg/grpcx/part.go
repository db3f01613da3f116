package grpcx

import (
	"context"
	"errors"
	"net"

	"google.golang.org/grpc"
)

// Part is a Server with a listener. It implements the lifecycle (Start, Serve, Stop) that pkg/run expects.
type Part struct {
	*Server
	addr     string
	listener net.Listener
}

// At returns a Part that serves s on addr.
func (s *Server) At(addr string) *Part { return &Part{Server: s, addr: addr} }

// Start opens the listener. The address may have port 0; Addr then returns the assigned port.
func (p *Part) Start(ctx context.Context) error {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", p.addr)
	if err != nil {
		return err
	}
	p.listener = l
	return nil
}

// Addr returns the address of the listener, or the configured address before Start.
func (p *Part) Addr() string {
	if p.listener == nil {
		return p.addr
	}
	return p.listener.Addr().String()
}

// Serve serves calls until Stop is called, and then returns nil.
func (p *Part) Serve() error {
	if err := p.Server.Serve(p.listener); !errors.Is(err, grpc.ErrServerStopped) { // Stop may be called before Serve
		return err
	}
	return nil
}

// Stop waits for running calls until ctx ends, then cancels them.
func (p *Part) Stop(ctx context.Context) error {
	p.Shutdown(ctx)
	return nil
}
