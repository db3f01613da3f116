package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalcast/signalcast/pkg/grpcx"
	"github.com/signalcast/signalcast/pkg/localdb"
	feedv1 "github.com/signalcast/signalcast/proto/feed/v1"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	"github.com/signalcast/signalcast/test/system/stack"
)

// clockMarkets is the number of markets from which the clock service computes its timelines.
const clockMarkets = 10_000

// clock measures three properties of the clock service: the time to compute a timeline, the CPU time of a response with a
// cached timeline, and the latency of a response whose timeline is computed for the request.
func (b *bench) clock() {
	build := b.clockBuild()
	c := b.startClock()
	var ready, built, p99, allowed []float64
	for range b.rounds {
		b.awaitIdle()
		idle := c.idle()
		us, _ := c.load(4, idle, func() string { return "/program/timeline" })
		ready, built = append(ready, us), append(built, build)
		b.awaitIdle()
		specUs, waits := c.load(1, idle, func() string {
			return "/program/channel?spec=" + url.QueryEscape(fmt.Sprintf(`{"minVolume":%d}`, c.specs.Add(1)))
		})
		slow := millis(quantile(waits, 0.99))
		p99, allowed = append(p99, slow), append(allowed, 5)
		fmt.Printf("clock ready_us=%.1f spec_us=%.0f spec_p50=%s spec_p99=%.2fms specs=%d\n",
			us, specUs, quantile(waits, 0.5).Round(time.Microsecond), slow, len(waits))
	}
	b.report.ratio("clock ready timeline / a build of the product, cpu", "us", lower, 1.0/30, ready, built)
	b.report.ratio("clock spec through the public API, p99 / 5 ms", "ms", lower, 1, p99, allowed)
}

var (
	ourBuild  = regexp.MustCompile(`BenchmarkTimeline/hot/10000\S*\s+\d+\s+([0-9.]+) ns/op`)
	bareBuild = regexp.MustCompile(`clock markets=10000 compute_us=(\d+) marshal_us=(\d+)`)
)

// clockBuild measures the computation of a timeline and returns its median time in microseconds. It compares the time with
// that of a reference program, which does only the necessary work. Without this program, it adds a note to the report
// instead. Each program runs alone on one core.
func (b *bench) clockBuild() float64 {
	tests := filepath.Join(b.dir, "clock-edge.test")
	const tested = "github.com/signalcast/signalcast/services/clock/internal/httpapi"
	output(exec.CommandContext(b.ctx, "go", "test", "-c", "-o", tests, tested))
	anchors := b.buildAnchors("clock", "so the build is measured without a limit")
	var ours, bare []float64
	for range b.rounds {
		b.awaitIdle()
		args := []string{"-test.run=^$", "-test.bench=^BenchmarkTimeline$/^hot$/^10000$", "-test.cpu=1"}
		ours = append(ours, measured(pinned(b.ctx, serverCore, tests, args...), ourBuild)/1000)
		if anchors != "" {
			bare = append(bare, measured(pinned(b.ctx, serverCore, anchors, "clock"), bareBuild))
		}
	}
	built := quartile(ours, 2)
	fmt.Printf("clock build_us=%.0f of %d markets\n", built, clockMarkets)
	if anchors == "" {
		b.report.note("clock: a timeline of %d markets takes %.0f us from markets to bytes", clockMarkets, built)
	} else {
		b.report.ratio("clock timeline of 10,000 markets / bare compute and marshal", "us", lower, 2, ours, bare)
	}
	return built
}

// measured runs a program and returns the sum of the numbers that the capture groups of pattern match in its output.
func measured(cmd *exec.Cmd, pattern *regexp.Regexp) (sum float64) {
	out := output(cmd)
	m := pattern.FindSubmatch(out)
	if m == nil {
		check(fmt.Errorf("no number was found in the output %q", out))
	}
	for _, text := range m[1:] {
		sum += must(strconv.ParseFloat(string(text), 64))
	}
	return sum
}

// clockServer is a running clock service with a database, and a ledger that serves clockMarkets markets.
type clockServer struct {
	b     *bench
	url   string
	pid   int
	specs atomic.Int64 // number of specs requested so far; each spec is different
}

// startClock starts a database and a clock service on serverCore, with a fake ledger. It waits until the timeline contains a
// segment.
func (b *bench) startClock() *clockServer {
	db := must(localdb.StartPostgres(b.ctx, localdb.PostgresConfig{Dir: filepath.Join(b.dir, "clock-db"), Durable: true}))
	b.Cleanup(func() { db.Stop(context.Background()) })
	addr := stack.FreeAddr(b)
	program := filepath.Join(stack.Bin(b), "clock")
	env := append(os.Environ(), "ENV=test", "MIGRATE_DATABASE_URL="+db.URL(), "DB_RW_PASSWORD=bench", "REDIS_URL=",
		"DATABASE_URL="+must(localdb.WithUser(db.URL(), "clock_rw", "bench")),
		"API_ADDR="+b.serveMarkets(), "LINK_SECRET="+hopSecret,
		"RATE_LIMIT_ANON=0", "LOG_LEVEL=error", "GRPC_ADDR=127.0.0.1:0", "METRICS_ADDR=", "HTTP_ADDR="+addr)
	migrate := exec.CommandContext(b.ctx, program, "migrate")
	migrate.Env = env
	output(migrate)
	c := &clockServer{b: b, url: "http://" + addr, pid: b.serve(env, program).PID()}
	stack.Eventually(b, time.Minute, "a timeline of the clock", func() bool {
		a, err := c.get("/program/timeline?limit=400")
		return err == nil && a.Contains(`"segmentId"`)
	})
	return c
}

// get sends a GET request for a path. It returns an error unless the status is 200.
func (c *clockServer) get(path string, sets ...stack.Set) (stack.Answer, error) {
	a, err := anonymous.Try(c.b, http.MethodGet, c.url+path, sets...)
	if err == nil && a.Status != http.StatusOK {
		err = fmt.Errorf("%s was answered %v", path, a)
	}
	return a, err
}

// idle returns the number of cores that the clock service uses without requests. 1 means one full core.
func (c *clockServer) idle() float64 {
	before, began := procTime(c.pid), time.Now()
	stack.Wait(c.b, c.b.length)
	return float64(procTime(c.pid)-before) / float64(time.Since(began))
}

// load sends requests from a number of clients. The function path returns the path of each request. load returns the CPU time of
// one response in microseconds, without the CPU time of an idle service, and the latencies. idle is the result of the method
// idle.
func (c *clockServer) load(clients int, idle float64, path func() string) (float64, []time.Duration) {
	before := procTime(c.pid)
	done := c.b.load(c.url, clients, c.b.length, func(*client) error {
		_, err := c.get(path(), stack.Header("Accept-Encoding", "gzip"))
		return err
	})
	spent := procTime(c.pid) - before - time.Duration(idle*float64(done.took))
	return micros(max(spent, 0), float64(done.n)), done.waits
}

// marketLedger is a fake ledger that serves generated markets over gRPC. It implements the methods that the clock service
// calls.
type marketLedger struct {
	marketv1.UnimplementedMarketReadServiceServer
	feedv1.UnimplementedFeedServiceServer
	answer *marketv1.ListAirableResponse
}

// ListAirable returns the generated markets.
func (l *marketLedger) ListAirable(context.Context, *marketv1.ListAirableRequest) (*marketv1.ListAirableResponse, error) {
	return l.answer, nil
}

// ListMarkets returns no markets.
func (l *marketLedger) ListMarkets(context.Context, *marketv1.ListMarketsRequest) (*marketv1.ListMarketsResponse, error) {
	return &marketv1.ListMarketsResponse{}, nil
}

// Publish accepts facts and discards them.
func (l *marketLedger) Publish(context.Context, *feedv1.PublishRequest) (*feedv1.PublishResponse, error) {
	return &feedv1.PublishResponse{}, nil
}

// serveMarkets starts a gRPC server with a marketLedger and returns its address. The server runs until the end of the current
// scope.
func (b *bench) serveMarkets() string {
	s := must(grpcx.NewServer(grpcx.ServerConfig{
		Secret: hopSecret, Log: silent(), Options: []grpc.ServerOption{grpc.MaxSendMsgSize(64 << 20)},
	}))
	ledger := &marketLedger{answer: &marketv1.ListAirableResponse{Markets: airableMarkets(clockMarkets)}}
	marketv1.RegisterMarketReadServiceServer(s, ledger)
	feedv1.RegisterFeedServiceServer(s, ledger)
	l := must(net.Listen("tcp", "127.0.0.1:0"))
	go func() { _ = s.Serve(l) }()
	b.Cleanup(s.Stop)
	return l.Addr().String()
}

// airableMarkets returns n open markets with random lanes, prices and volumes. The markets end within about a month.
func airableMarkets(n int) []*marketv1.Market {
	r := rand.New(rand.NewPCG(5, 6))
	lanes := strings.Fields("sports music film tv fashion culture crypto politics news science tech economy")
	out, now := make([]*marketv1.Market, n), time.Now()
	for i := range out {
		yes, volume, day := int32(r.IntN(10001)), r.ExpFloat64()*50000, r.ExpFloat64()*5000
		out[i] = &marketv1.Market{
			Id: strconv.Itoa(500000 + i), Provider: "polymarket", Status: "open",
			Title:    fmt.Sprintf("Will event number %d happen before the end of the month?", i),
			Category: lanes[r.IntN(len(lanes))], YesBps: &yes, Volume: &volume, VolumeUsd: &volume, Volume24H: &day,
			VolumeUnit: "usd", EndDate: timestamppb.New(now.Add(12*time.Hour + time.Duration(r.IntN(30*86400))*time.Second)),
		}
	}
	return out
}
