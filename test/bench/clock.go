package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
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
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalcast/signalcast/pkg/link"
	"github.com/signalcast/signalcast/pkg/localdb"
	feedv1 "github.com/signalcast/signalcast/proto/feed/v1"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
)

// clockMarkets is how many markets the programme is made from.
const clockMarkets = 10_000

// clock measures the programme: how long a timeline takes from markets to bytes, beside
// the least work that yields one; what a ready one costs; and how long a channel takes
// that is worked out for its reader.
func (b *bench) clock(ctx context.Context) error {
	build, err := b.clockBuild(ctx)
	if err != nil {
		return err
	}
	door, err := b.startClock(ctx)
	if err != nil {
		return err
	}
	defer door.stop()
	var ready, built, p99, allowed []float64
	for range b.rounds {
		b.calm(ctx)
		idle, err := door.idle(ctx, b.length)
		if err != nil {
			return err
		}
		us, _, err := door.stretch(ctx, b.length, 4, idle, func() string { return "/program/timeline" })
		if err != nil {
			return err
		}
		ready, built = append(ready, us), append(built, build)
		b.calm(ctx)
		specUs, waits, err := door.stretch(ctx, b.length, 1, idle, door.nextSpec)
		if err != nil {
			return err
		}
		slow := millis(quantile(waits, 0.99))
		p99, allowed = append(p99, slow), append(allowed, 5)
		fmt.Printf("clock ready_us=%.1f spec_us=%.0f spec_p50=%s spec_p99=%.2fms specs=%d\n", us, specUs, quantile(waits, 0.5).Round(time.Microsecond), slow, len(waits))
	}
	b.report.ratio("clock ready timeline / a build of ours, cpu", "us", lower, 1.0/30, ready, built)
	b.report.ratio("clock spec through the public door, p99 / 5 ms", "ms", lower, 1, p99, allowed)
	return ctx.Err()
}

var (
	ourBuild  = regexp.MustCompile(`BenchmarkTimeline/hot/10000\S*\s+\d+\s+([0-9.]+) ns/op`)
	bareBuild = regexp.MustCompile(`clock markets=10000 compute_us=(\d+) marshal_us=(\d+)`)
)

// clockBuild holds our build against the bare one and gives ours in us. Both run alone on
// one core, in turn.
func (b *bench) clockBuild(ctx context.Context) (float64, error) {
	tests := filepath.Join(b.dir, "clock-edge.test")
	compile := exec.CommandContext(ctx, "go", "test", "-c", "-o", tests, "github.com/signalcast/signalcast/services/clock/internal/edge")
	if out, err := compile.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("build the benchmark of the clock: %w\n%s", err, bytes.TrimSpace(out))
	}
	anchors, err := b.buildAnchors(ctx, "clock", "so our build stands alone")
	if err != nil {
		return 0, err
	}
	var ours, bare []float64
	for range b.rounds {
		b.calm(ctx)
		found, err := measured(pinned(ctx, serverCore, tests, "-test.run=^$", "-test.bench=^BenchmarkTimeline$/^hot$/^10000$", "-test.cpu=1"), ourBuild)
		if err != nil {
			return 0, err
		}
		ours = append(ours, found[0]/1000)
		if anchors == "" {
			continue
		}
		if found, err = measured(pinned(ctx, serverCore, anchors, "clock"), bareBuild); err != nil {
			return 0, err
		}
		bare = append(bare, found[0]+found[1])
	}
	fmt.Printf("clock build_us=%.0f of %d markets\n", median(ours), clockMarkets)
	if anchors == "" {
		b.report.note("clock: a timeline of %d markets takes %.0f us from markets to bytes", clockMarkets, median(ours))
	} else {
		b.report.ratio("clock timeline of 10,000 markets / bare compute and marshal", "us", lower, 2, ours, bare)
	}
	return median(ours), nil
}

// measured runs a program and reads the numbers that it prints.
func measured(cmd *exec.Cmd, pattern *regexp.Regexp) ([]float64, error) {
	out, err := cmd.CombinedOutput()
	if err != nil {
		return nil, commandError(err, out)
	}
	m := pattern.FindSubmatch(out)
	if m == nil {
		return nil, fmt.Errorf("no figure in %q", out)
	}
	var list []float64
	for _, text := range m[1:] {
		n, err := strconv.ParseFloat(string(text), 64)
		if err != nil {
			return nil, err
		}
		list = append(list, n)
	}
	return list, nil
}

// clockDoor is a clock of its own with a database and a ledger of 10,000 markets.
type clockDoor struct {
	url   string
	child *localdb.Child
	ends  []func()
	specs atomic.Int64
	http  *http.Client
}

func (d *clockDoor) stop() {
	for i := len(d.ends) - 1; i >= 0; i-- {
		d.ends[i]()
	}
}

// startClock starts it, pinned to the server's core, and waits for its first timeline.
func (b *bench) startClock(ctx context.Context) (d *clockDoor, err error) {
	d = &clockDoor{http: &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 8, DisableCompression: true}}}
	defer func() {
		if err != nil {
			d.stop()
		}
	}()
	ledger, err := serveMarkets(d)
	if err != nil {
		return d, err
	}
	db, err := localdb.StartPostgres(ctx, localdb.PostgresConfig{Dir: filepath.Join(b.dir, "clock-db"), Durable: true})
	if err != nil {
		return d, err
	}
	d.ends = append(d.ends, func() { db.Stop(context.Background()) })
	user, err := localdb.WithUser(db.URL(), "clock_rw", "bench")
	if err != nil {
		return d, err
	}
	program := filepath.Join(b.dir, "clock")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", program, "github.com/signalcast/signalcast/services/clock").CombinedOutput(); err != nil {
		return d, fmt.Errorf("build the clock: %w\n%s", err, bytes.TrimSpace(out))
	}
	port, err := localdb.FreePort()
	if err != nil {
		return d, err
	}
	d.url = fmt.Sprintf("http://127.0.0.1:%d", port)
	env := append(ownEnv(), "ENV=test", "MIGRATE_DATABASE_URL="+db.URL(), "DB_RW_PASSWORD=bench", "DATABASE_URL="+user, "API_ADDR="+ledger,
		"LINK_SECRET="+hopSecret, "RATE_LIMIT_ANON=0", "LOG_LEVEL=error", "GOMAXPROCS=1", "GRPC_ADDR=127.0.0.1:0", "METRICS_ADDR=", "HTTP_ADDR="+strings.TrimPrefix(d.url, "http://"))
	migrate := exec.CommandContext(ctx, program, "migrate")
	migrate.Env = env
	if out, err := migrate.CombinedOutput(); err != nil {
		return d, commandError(err, out)
	}
	cmd := pinned(context.Background(), serverCore, program)
	cmd.Env, cmd.Stderr = env, os.Stderr
	if d.child, err = localdb.StartChild(cmd, syscall.SIGTERM); err != nil {
		return d, err
	}
	d.ends = append(d.ends, func() { d.child.Stop(context.Background(), syscall.SIGTERM, 10*time.Second) })
	return d, d.ready(ctx)
}

// ready waits until the timeline is full.
func (d *clockDoor) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		body, err := d.get(ctx, "/program/timeline?limit=400", "")
		if err == nil && bytes.Contains(body, []byte(`"segmentId"`)) {
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("the clock shows no timeline: %w", errors.Join(err, ctx.Err()))
		}
		pause(ctx, 100*time.Millisecond)
	}
}

func (d *clockDoor) get(ctx context.Context, path, encoding string) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, d.url+path, nil)
	if err != nil {
		return nil, err
	}
	if encoding != "" {
		r.Header.Set("Accept-Encoding", encoding)
	}
	res, err := d.http.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %d", path, res.StatusCode)
	}
	return body, err
}

// idle is the share of time that the clock works with nobody asking.
func (d *clockDoor) idle(ctx context.Context, length time.Duration) (float64, error) {
	before, began := procTime(d.child.PID()), time.Now()
	pause(ctx, length)
	return float64(procTime(d.child.PID())-before) / float64(time.Since(began)), ctx.Err()
}

// stretch asks for a while, as browsers do, and gives the clock's CPU of one answer in us
// and how long each took. What the clock does anyway is not counted.
func (d *clockDoor) stretch(ctx context.Context, length time.Duration, clients int, idle float64, path func() string) (float64, []time.Duration, error) {
	before := procTime(d.child.PID())
	done, err := load(ctx, d.url, clients, length, func(*client) error {
		_, err := d.get(ctx, path(), "gzip")
		return err
	})
	if err != nil {
		return 0, nil, err
	}
	spent := procTime(d.child.PID()) - before - time.Duration(idle*float64(done.took))
	return micros(max(spent, 0), float64(done.n)), done.waits, nil
}

// nextSpec asks for a channel that nobody has asked for before.
func (d *clockDoor) nextSpec() string {
	return "/program/channel?spec=" + url.QueryEscape(fmt.Sprintf(`{"minVolume":%d}`, d.specs.Add(1)))
}

// fair is the ledger of this section.
type fair struct {
	marketv1.UnimplementedMarketReadServiceServer
	answer *marketv1.ListAirableResponse
}

func (l *fair) ListAirable(context.Context, *marketv1.ListAirableRequest) (*marketv1.ListAirableResponse, error) {
	return l.answer, nil
}

func (l *fair) ListMarkets(context.Context, *marketv1.ListMarketsRequest) (*marketv1.ListMarketsResponse, error) {
	return &marketv1.ListMarketsResponse{}, nil
}

// deaf takes what the clock tells.
type deaf struct {
	feedv1.UnimplementedFeedServiceServer
}

func (deaf) Publish(context.Context, *feedv1.PublishRequest) (*feedv1.PublishResponse, error) {
	return &feedv1.PublishResponse{}, nil
}

func serveMarkets(d *clockDoor) (addr string, err error) {
	s, err := link.NewServer(link.ServerConfig{Secret: hopSecret, Log: silent(), Options: []grpc.ServerOption{grpc.MaxSendMsgSize(64 << 20)}})
	if err != nil {
		return "", err
	}
	marketv1.RegisterMarketReadServiceServer(s, &fair{answer: &marketv1.ListAirableResponse{Markets: airableMarkets(clockMarkets)}})
	feedv1.RegisterFeedServiceServer(s, deaf{})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	go func() { _ = s.Serve(l) }()
	d.ends = append(d.ends, s.Stop)
	return l.Addr().String(), nil
}

// airableMarkets are spread over lanes, prices, volumes and the coming month.
func airableMarkets(n int) []*marketv1.Market {
	r := rand.New(rand.NewPCG(5, 6))
	lanes := [...]string{"sports", "music", "film", "tv", "fashion", "culture", "crypto", "politics", "news", "science", "tech", "economy"}
	out := make([]*marketv1.Market, n)
	now := time.Now()
	for i := range out {
		yes, volume, day := int32(r.IntN(10001)), r.ExpFloat64()*50000, r.ExpFloat64()*5000
		out[i] = &marketv1.Market{
			Id: strconv.Itoa(500000 + i), Provider: "polymarket", Title: fmt.Sprintf("Will event number %d happen before the end of the month?", i), Status: "open",
			Category: lanes[r.IntN(len(lanes))], YesBps: &yes, Volume: &volume, VolumeUsd: &volume, Volume24H: &day, VolumeUnit: "usd",
			EndDate: timestamppb.New(now.Add(12*time.Hour + time.Duration(r.IntN(30*86400))*time.Second)),
		}
	}
	return out
}
