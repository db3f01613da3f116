package testkit

import (
	"context"
	"net"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/test/bufconn"

	"github.com/signalcast/signalcast/pkg/grpcx"
)

// Link starts a gRPC server of pkg/grpcx with the services that the function register adds. It returns an in-memory connection to
// the server. The server and the connection are closed at the end of the test.
func Link(t testing.TB, register func(grpc.ServiceRegistrar), options ...grpc.ServerOption) *grpc.ClientConn {
	t.Helper()
	const secret = "testkit-link-secret-of-32-letters"
	server, err := grpcx.NewServer(grpcx.ServerConfig{Secret: secret, Options: options})
	if err != nil {
		t.Fatal(err)
	}
	register(server)
	listener := bufconn.Listen(1 << 20)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	conn, err := grpcx.Dial(grpcx.DialConfig{
		Addr: "passthrough:///memory", Secret: secret, Timeout: 10 * time.Second,
		Options: []grpc.DialOption{grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			return listener.DialContext(ctx)
		})},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = conn.Close()
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		server.Shutdown(ctx)
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return conn
}
