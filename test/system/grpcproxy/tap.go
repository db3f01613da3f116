package grpcproxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// Tap is a running gRPC proxy that counts calls. Addr is the address (host:port) on which it listens.
type Tap struct {
	Addr string

	server *grpc.Server
	conn   *grpc.ClientConn
	mu     sync.Mutex
	calls  map[string]int
}

// frame is an encoded gRPC message, which the proxy forwards without decoding it.
type frame struct{ raw []byte }

type codec struct{}

func (codec) Name() string { return "proto" }

func (codec) Marshal(v any) ([]byte, error) {
	f, ok := v.(*frame)
	if !ok {
		return nil, fmt.Errorf("grpcproxy: cannot encode a message of type %T", v)
	}
	return f.raw, nil
}

func (codec) Unmarshal(data []byte, v any) error {
	f, ok := v.(*frame)
	if !ok {
		return fmt.Errorf("grpcproxy: cannot decode into a message of type %T", v)
	}
	f.raw = append([]byte(nil), data...)
	return nil
}

// New starts a proxy on a free loopback port that forwards calls to upstream (host:port).
func New(upstream string) (*Tap, error) {
	conn, err := grpc.NewClient(upstream, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.ForceCodec(codec{}), grpc.MaxCallRecvMsgSize(16<<20)))
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	t := &Tap{Addr: l.Addr().String(), conn: conn, calls: map[string]int{}}
	t.server = grpc.NewServer(grpc.ForceServerCodec(codec{}), grpc.MaxRecvMsgSize(16<<20), grpc.UnknownServiceHandler(t.forward))
	go func() { _ = t.server.Serve(l) }()
	return t, nil
}

// Calls returns the number of calls by full method name, for example "/package.Service/Method".
func (t *Tap) Calls() map[string]int {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := make(map[string]int, len(t.calls))
	for method, n := range t.calls {
		out[method] = n
	}
	return out
}

// Close stops the proxy and closes its connection to the upstream.
func (t *Tap) Close() {
	t.server.Stop()
	_ = t.conn.Close()
}

// forward forwards the messages of one call in both directions until the server ends the call.
func (t *Tap) forward(_ any, in grpc.ServerStream) error {
	method, ok := grpc.MethodFromServerStream(in)
	if !ok {
		return status.Error(codes.Internal, "the call has no method")
	}
	t.mu.Lock()
	t.calls[method]++
	t.mu.Unlock()
	md, _ := metadata.FromIncomingContext(in.Context())
	ctx, cancel := context.WithCancel(metadata.NewOutgoingContext(in.Context(), md.Copy()))
	defer cancel()
	out, err := t.conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, method)
	if err != nil {
		return err
	}
	sent := make(chan error, 1)
	go func() { sent <- sendRequests(in, out) }()
	if err := sendResponses(out, in); err != nil {
		return err
	}
	cancel()
	return nil
}

// sendRequests forwards messages of the client to the server until the client ends its stream.
func sendRequests(in grpc.ServerStream, out grpc.ClientStream) error {
	for {
		var f frame
		if err := in.RecvMsg(&f); err != nil {
			if errors.Is(err, io.EOF) {
				return out.CloseSend()
			}
			return err
		}
		if err := out.SendMsg(&f); err != nil {
			return err
		}
	}
}

// sendResponses forwards messages of the server to the client until the server ends its stream.
func sendResponses(out grpc.ClientStream, in grpc.ServerStream) error {
	for {
		var f frame
		err := out.RecvMsg(&f)
		if err != nil {
			in.SetTrailer(out.Trailer())
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if err := in.SendMsg(&f); err != nil {
			return err
		}
	}
}
