package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/signalcast/signalcast/pkg/link"
	"github.com/signalcast/signalcast/pkg/localdb"
	"github.com/signalcast/signalcast/pkg/obs"
	operatorv1 "github.com/signalcast/signalcast/proto/operator/v1"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
)

// The two kinds of hop: what grpc-go does at least, and what our services do.
const (
	bareHop = "bare"
	ourHop  = "ours"
)

const hopSecret = "the secret of a hop that is only measured"

// hop compares one internal call of ours with a bare unary call.
func (b *bench) hop(ctx context.Context) error {
	ports := map[string]string{}
	pids := map[string]int{}
	for _, kind := range []string{bareHop, ourHop} {
		port, err := localdb.FreePort()
		if err != nil {
			return err
		}
		addr := "127.0.0.1:" + strconv.Itoa(port)
		self, err := os.Executable()
		if err != nil {
			return err
		}
		child, err := localdb.StartChild(pinned(context.Background(), serverCore, self, "hop-server", kind, addr), syscall.SIGKILL)
		if err != nil {
			return err
		}
		defer child.Stop(context.Background(), syscall.SIGTERM, 2*time.Second)
		if err := listens(ctx, addr); err != nil {
			return err
		}
		ports[kind], pids[kind] = addr, child.PID()
	}
	for _, inFlight := range []int{1, 16, 64} {
		costs := map[string][]float64{}
		for range b.rounds {
			for _, kind := range []string{bareHop, ourHop} {
				b.calm(ctx)
				us, err := b.hopStretch(ctx, kind, ports[kind], pids[kind], inFlight)
				if err != nil {
					return err
				}
				costs[kind] = append(costs[kind], us)
			}
		}
		b.report.ratio(fmt.Sprintf("hop c=%d ours / bare grpc-go, cpu of both ends", inFlight), "us", lower, 1.5, costs[ourHop], costs[bareHop])
	}
	return ctx.Err()
}

// hopFound is what the loading process tells.
type hopFound struct {
	Calls int
	CPU   time.Duration
	P50   time.Duration
	Took  time.Duration
}

func (b *bench) hopStretch(ctx context.Context, kind, addr string, server, inFlight int) (float64, error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	before := procTime(server)
	var stderr bytes.Buffer
	cmd := pinned(ctx, loadCore, self, "hop-load", kind, addr, strconv.Itoa(inFlight), b.length.String())
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return 0, commandError(err, stderr.Bytes())
	}
	spent := procTime(server) - before
	var f hopFound
	if err := json.Unmarshal(out, &f); err != nil {
		return 0, err
	}
	n := float64(f.Calls)
	fmt.Printf("hop c=%d %s rate=%.0f p50=%s server_us=%.2f client_us=%.2f\n", inFlight, kind, n/f.Took.Seconds(), f.P50, micros(spent, n), micros(f.CPU, n))
	return micros(spent+f.CPU, n), nil
}

func listens(ctx context.Context, addr string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for {
		var d net.Dialer
		conn, err := d.DialContext(ctx, "tcp", addr)
		if err == nil {
			return conn.Close()
		}
		if ctx.Err() != nil {
			return fmt.Errorf("nothing listens on %s: %w", addr, err)
		}
		pause(ctx, 20*time.Millisecond)
	}
}

// ledger answers a filing at once.
type ledger struct {
	signalv1.UnimplementedSignalServiceServer
}

func (ledger) File(_ context.Context, r *signalv1.FileRequest) (*signalv1.FileResponse, error) {
	return &signalv1.FileResponse{Id: r.GetDraft().GetId()}, nil
}

// echo is the bare service: bytes come back as they are.
var echo = grpc.ServiceDesc{
	ServiceName: "bench.Echo", HandlerType: (*any)(nil),
	Methods: []grpc.MethodDesc{{MethodName: "Echo", Handler: func(_ any, _ context.Context, read func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
		in := new(wrapperspb.BytesValue)
		return in, read(in)
	}}},
}

// hopServer is the called side: KIND ADDR.
func hopServer(ctx context.Context, args []string) error {
	if len(args) != 2 {
		return errors.New("hop-server KIND ADDR")
	}
	l, err := net.Listen("tcp", args[1])
	if err != nil {
		return err
	}
	if args[0] == bareHop {
		s := grpc.NewServer()
		s.RegisterService(&echo, struct{}{})
		context.AfterFunc(ctx, s.Stop)
		return s.Serve(l)
	}
	tracing, err := untraced(ctx)
	if err != nil {
		return err
	}
	s, err := link.NewServer(link.ServerConfig{Secret: hopSecret, Log: silent(), Options: tracing.ServerOptions()})
	if err != nil {
		return err
	}
	signalv1.RegisterSignalServiceServer(s, ledger{})
	context.AfterFunc(ctx, s.Stop)
	return s.Serve(l)
}

// untraced is the tracing of a service without a collector, as most run.
func untraced(ctx context.Context) (*obs.Tracing, error) {
	return obs.NewTracing(ctx, obs.TraceConfig{}, "bench", "", silent())
}

func silent() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

// hopLoad is the calling side: KIND ADDR IN-FLIGHT LENGTH.
func hopLoad(ctx context.Context, args []string) error {
	if len(args) != 4 {
		return errors.New("hop-load KIND ADDR IN-FLIGHT LENGTH")
	}
	inFlight, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	length, err := time.ParseDuration(args[3])
	if err != nil {
		return err
	}
	call, err := hopCall(ctx, args[0], args[1])
	if err != nil {
		return err
	}
	if err := call(ctx); err != nil {
		return err
	}
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		waits []time.Duration
		fail  error
	)
	before, began := procTime(os.Getpid()), time.Now()
	for range inFlight {
		wg.Go(func() {
			var mine []time.Duration
			var err error
			for start := time.Now(); err == nil && start.Sub(began) < length; start = time.Now() {
				err = call(ctx)
				mine = append(mine, time.Since(start))
			}
			mu.Lock()
			defer mu.Unlock()
			waits, fail = append(waits, mine...), errors.Join(fail, err)
		})
	}
	wg.Wait()
	if fail != nil {
		return fail
	}
	f := hopFound{Calls: len(waits), Took: time.Since(began), CPU: procTime(os.Getpid()) - before}
	f.P50 = quantile(waits, 0.5)
	return json.NewEncoder(os.Stdout).Encode(f)
}

// hopCall prepares one call of a kind.
func hopCall(ctx context.Context, kind, addr string) (func(context.Context) error, error) {
	if kind == bareHop {
		cc, err := grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			return nil, err
		}
		payload := bytes.Repeat([]byte("x"), 200)
		return func(ctx context.Context) error {
			return cc.Invoke(ctx, "/bench.Echo/Echo", wrapperspb.Bytes(payload), new(wrapperspb.BytesValue))
		}, nil
	}
	tracing, err := untraced(ctx)
	if err != nil {
		return nil, err
	}
	cc, err := link.Dial(link.DialConfig{Addr: addr, Secret: hopSecret, Options: tracing.DialOptions()})
	if err != nil {
		return nil, err
	}
	ledger := signalv1.NewSignalServiceClient(cc)
	take, hash := "the order book leans early", make([]byte, 32)
	return func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(link.WithRequestID(ctx, "01990000-0000-7000-8000-000000000000"), 2*time.Second)
		defer cancel()
		_, err := ledger.File(ctx, &signalv1.FileRequest{
			Caller: &operatorv1.Caller{Credential: &operatorv1.Caller_KeyHash{KeyHash: hash}},
			Draft: &signalv1.Draft{
				Id: "01990000-0000-7000-8000-000000000001", MarketId: "kalshi-BENCH-1234", Direction: "YES", PriceBps: 5200, TextTake: &take, Source: "web",
			},
		})
		return err
	}, nil
}
