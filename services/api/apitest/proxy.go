package apitest

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"

	"github.com/signalcast/signalcast/pkg/apperr"
)

// ErrDB is the error that the api returns while its database is unavailable.
var ErrDB = apperr.New(apperr.Unavailable, "db_unavailable", "").With("retryAfterMs", 1000)

// Proxy records the gRPC calls that a test sends to the api, and lets the test fail, delay or change them. Fail and Count
// take the last part of a method name, for example "GetSignal". Count also accepts the service and the method, for example
// "FeedReadService/ListEvents". Each call in a FileMany request also counts as a call of File.
type Proxy struct {
	mu       sync.Mutex
	fault    error
	failing  []string // methods that fail with fault; empty: all methods
	after    func(method string) error
	edit     func(answer proto.Message)
	answer   func(req any, handle func() (proto.Message, error)) (proto.Message, error)
	methods  []string
	requests []proto.Message
}

// Fail makes calls of the given methods fail with err before they reach the api. Without methods, all calls fail. If err is
// context.DeadlineExceeded, each call blocks until its context ends and then fails. If err is nil, calls no longer fail.
func (p *Proxy) Fail(err error, methods ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fault, p.failing = err, methods
}

// After sets a function that runs after each unary call that the api has executed without an error. If the function returns an
// error, the caller receives this error instead of the response. nil removes the function.
func (p *Proxy) After(f func(method string) error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.after = f
}

// Edit sets a function that changes each response, so that a test can return values that the api never returns. nil removes
// the function.
func (p *Proxy) Edit(f func(answer proto.Message)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.edit = f
}

// Count returns the number of calls of a method so far.
func (p *Proxy) Count(method string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for _, m := range p.methods {
		if named(m, method) {
			n++
		}
	}
	return n
}

// Requests returns the requests of type T so far, in the order in which they arrived.
func Requests[T any](a *API) (list []T) {
	p := &a.Proxy
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.requests {
		if r, ok := any(r).(T); ok {
			list = append(list, r)
		}
	}
	return list
}

// Last returns the newest request of type T, or the zero value if there is none.
func Last[T any](a *API) (last T) {
	if list := Requests[T](a); len(list) > 0 {
		last = list[len(list)-1]
	}
	return last
}

// named reports whether a full gRPC method name ends with the parameter method. This is the name of a method, with or
// without the name of its service.
func named(full, method string) bool {
	return strings.HasSuffix(full, "/"+method) || strings.HasSuffix(full, "."+method)
}

// options returns options for a gRPC server that send each call through the proxy.
func (p *Proxy) options() []grpc.ServerOption {
	stream := func(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, handle grpc.StreamHandler) error {
		if err := p.enter(ss.Context(), info.FullMethod, nil); err != nil {
			return err
		}
		return handle(srv, ss)
	}
	return []grpc.ServerOption{grpc.ChainUnaryInterceptor(p.unary), grpc.ChainStreamInterceptor(stream)}
}

func (p *Proxy) unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
	if err := p.enter(ctx, info.FullMethod, req); err != nil {
		return nil, err
	}
	answer, err := p.answer(req, func() (proto.Message, error) {
		out, err := handle(ctx, req)
		if err != nil {
			return nil, err
		}
		return out.(proto.Message), nil
	})
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	edit, after := p.edit, p.after
	p.mu.Unlock()
	if edit != nil {
		edit(answer)
	}
	if after != nil {
		err = after(strings.TrimSuffix(path.Base(info.FullMethod), "Many"))
	}
	return answer, err
}

// enter records a call and returns the error that Fail has set for its method. It also records each call of a FileMany request
// as a call of File. If the error is context.DeadlineExceeded, enter first waits until ctx ends.
func (p *Proxy) enter(ctx context.Context, method string, req any) error {
	if many, ok := req.(*signalv1.FileManyRequest); ok {
		for _, c := range many.GetCalls() {
			if err := p.enter(ctx, signalv1.SignalService_File_FullMethodName, c); err != nil {
				return err
			}
		}
	}
	p.mu.Lock()
	p.methods = append(p.methods, method)
	if req, ok := req.(proto.Message); ok {
		p.requests = append(p.requests, req)
	}
	err := p.fault
	if len(p.failing) > 0 && !slices.Contains(p.failing, path.Base(method)) {
		err = nil
	}
	p.mu.Unlock()
	if errors.Is(err, context.DeadlineExceeded) {
		<-ctx.Done()
	}
	return err
}
