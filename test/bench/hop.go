package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strconv"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/signalcast/signalcast/pkg/grpcx"
	"github.com/signalcast/signalcast/pkg/telemetry"
	operatorv1 "github.com/signalcast/signalcast/proto/operator/v1"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
	"github.com/signalcast/signalcast/test/system/stack"
)

// Kinds of measured gRPC calls: a bare call of grpc-go, and a call between services of the product.
const (
	bareHop = "bare"
	ourHop  = "ours"
)

const hopSecret = "a secret of the benchmark of hops alone"

// hop compares the CPU time of a gRPC call between services of the product with that of a bare unary call of grpc-go.
func (b *bench) hop() {
	kinds, pids, addrs := []string{bareHop, ourHop}, map[string]int{}, map[string]string{}
	for _, kind := range kinds {
		addrs[kind] = stack.FreeAddr(b)
		pids[kind] = b.serve(nil, own(), "hop-server", kind, addrs[kind]).PID()
		b.awaitListener(addrs[kind])
	}
	for _, inFlight := range []int{1, 16, 64} {
		costs := map[string][]float64{}
		for range b.rounds {
			for _, kind := range kinds {
				b.awaitIdle()
				costs[kind] = append(costs[kind], b.loadHop(kind, addrs[kind], pids[kind], inFlight))
			}
		}
		job := fmt.Sprintf("hop c=%d ours / bare grpc-go, cpu of both ends", inFlight)
		b.report.ratio(job, "us", lower, 1.5, costs[ourHop], costs[bareHop])
	}
}

// hopCost contains the measurements that the helper program hop-load prints.
type hopCost struct {
	Calls          int
	CPU, P50, Took time.Duration
}

// loadHop runs hop-load against a server and returns the CPU time of one call in microseconds, as the sum of client and server.
// server is the process ID of the server, and inFlight is the number of concurrent calls.
func (b *bench) loadHop(kind, addr string, server, inFlight int) float64 {
	before := procTime(server)
	out := output(pinned(b.ctx, loadCore, own(), "hop-load", kind, addr, strconv.Itoa(inFlight), b.length.String()))
	spent := procTime(server) - before
	var c hopCost
	check(json.Unmarshal(out, &c))
	n := float64(c.Calls)
	fmt.Printf("hop c=%d %s rate=%.0f p50=%s server_us=%.2f client_us=%.2f\n",
		inFlight, kind, n/c.Took.Seconds(), c.P50, micros(spent, n), micros(c.CPU, n))
	return micros(spent+c.CPU, n)
}

// instantLedger is a fake ledger that accepts each filed call immediately.
type instantLedger struct {
	signalv1.UnimplementedSignalServiceServer
}

// File returns the ID of the call and stores nothing.
func (instantLedger) File(_ context.Context, r *signalv1.FileRequest) (*signalv1.FileResponse, error) {
	return &signalv1.FileResponse{Id: r.GetDraft().GetId()}, nil
}

// echo is the gRPC service for the bare call. Its method Echo returns the request.
var echo = grpc.ServiceDesc{
	ServiceName: "bench.Echo", HandlerType: (*any)(nil),
	Methods: []grpc.MethodDesc{{
		MethodName: "Echo",
		Handler: func(_ any, _ context.Context, read func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
			in := new(wrapperspb.BytesValue)
			return in, read(in)
		},
	}},
}

// hopServer is the helper program hop-server, which serves gRPC calls. Its arguments are bareHop or ourHop, and the address.
func hopServer(ctx context.Context, args []string) {
	l := must(net.Listen("tcp", args[1]))
	if args[0] == bareHop {
		s := grpc.NewServer()
		s.RegisterService(&echo, struct{}{})
		context.AfterFunc(ctx, s.Stop)
		check(s.Serve(l))
		return
	}
	s := must(grpcx.NewServer(grpcx.ServerConfig{Secret: hopSecret, Log: silent(), Options: untraced(ctx).ServerOptions()}))
	signalv1.RegisterSignalServiceServer(s, instantLedger{})
	context.AfterFunc(ctx, s.Stop)
	check(s.Serve(l))
}

// untraced returns the tracing configuration of a service that exports no traces.
func untraced(ctx context.Context) *telemetry.Tracing {
	return must(telemetry.NewTracing(ctx, telemetry.TraceConfig{}, "bench", "", silent()))
}

func silent() *slog.Logger { return slog.New(slog.DiscardHandler) }

// hopLoad is the helper program hop-load, which makes gRPC calls and prints its measurements as JSON. Its arguments are bareHop
// or ourHop, the address, the number of concurrent calls, and a duration.
func hopLoad(ctx context.Context, args []string) {
	inFlight, length := must(strconv.Atoi(args[2])), must(time.ParseDuration(args[3]))
	call := hopCall(ctx, args[0], args[1])
	check(call(ctx))
	var (
		wg   sync.WaitGroup
		mu   sync.Mutex
		all  []time.Duration
		fail error
	)
	before, began := procTime(os.Getpid()), time.Now()
	for range inFlight {
		wg.Go(func() {
			var waits []time.Duration
			var err error
			for start := time.Now(); err == nil && start.Sub(began) < length; start = time.Now() {
				err = call(ctx)
				waits = append(waits, time.Since(start))
			}
			mu.Lock()
			defer mu.Unlock()
			all, fail = append(all, waits...), errors.Join(fail, err)
		})
	}
	wg.Wait()
	check(fail)
	c := hopCost{Calls: len(all), Took: time.Since(began), CPU: procTime(os.Getpid()) - before}
	c.P50 = quantile(all, 0.5)
	check(json.NewEncoder(os.Stdout).Encode(c))
}

// hopCall returns a function that makes one gRPC call to the server at addr. kind is bareHop or ourHop.
func hopCall(ctx context.Context, kind, addr string) func(context.Context) error {
	if kind == bareHop {
		cc := must(grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials())))
		payload := bytes.Repeat([]byte("x"), 200)
		return func(ctx context.Context) error {
			return cc.Invoke(ctx, "/bench.Echo/Echo", wrapperspb.Bytes(payload), new(wrapperspb.BytesValue))
		}
	}
	cc := must(grpcx.Dial(grpcx.DialConfig{Addr: addr, Secret: hopSecret, Options: untraced(ctx).DialOptions()}))
	ledger := signalv1.NewSignalServiceClient(cc)
	take, hash := "the order book leans early", make([]byte, 32)
	return func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(telemetry.WithRequestID(ctx, "01990000-0000-7000-8000-000000000000"), 2*time.Second)
		defer cancel()
		_, err := ledger.File(ctx, &signalv1.FileRequest{
			Caller: &operatorv1.Caller{Credential: &operatorv1.Caller_KeyHash{KeyHash: hash}},
			Draft: &signalv1.Draft{
				Id: "01990000-0000-7000-8000-000000000001", MarketId: "kalshi-BENCH-1234", Direction: "YES", PriceBps: 5200,
				TextTake: &take, Source: "web",
			},
		})
		return err
	}
}
