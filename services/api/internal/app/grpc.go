package app

import (
	"context"
	"net"

	"github.com/signalcast/signalcast/pkg/link"
)

// grpcServer gives a link.Server the life of a part.
type grpcServer struct {
	*link.Server
	addr     string
	listener net.Listener
}

// Start listens.
func (s *grpcServer) Start(ctx context.Context) error {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", s.addr)
	if err != nil {
		return err
	}
	s.listener = l
	return nil
}

// Addr is the address in use, once started.
func (s *grpcServer) Addr() string {
	if s.listener == nil {
		return s.addr
	}
	return s.listener.Addr().String()
}

// Serve answers calls until Stop.
func (s *grpcServer) Serve() error { return s.Server.Serve(s.listener) }

// Stop lets running calls end while ctx lasts.
func (s *grpcServer) Stop(ctx context.Context) error {
	s.Shutdown(ctx)
	return nil
}
