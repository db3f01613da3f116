package app

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/config"
	"github.com/signalcast/signalcast/pkg/grpcx"
	"github.com/signalcast/signalcast/pkg/testkit"
	feedv1 "github.com/signalcast/signalcast/proto/feed/v1"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	programv1 "github.com/signalcast/signalcast/proto/program/v1"
	"github.com/signalcast/signalcast/services/clock/internal/postgres"
	"github.com/signalcast/signalcast/services/clock/internal/program"
)

// asCommand is the environment variable that makes the test binary run as the clock command.
const asCommand = "SIGNALCAST_TEST_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		os.Exit(Program().Main(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
	}
	testkit.Main(m)
}

const linkSecret = "q8Zs2Lr0vXn5Tb7Wd1Ye4Uf6Ig9Oh3Pj"

// ledger is a fake api service that serves the markets that the test sets.
type ledger struct {
	marketv1.UnimplementedMarketReadServiceServer
	addr string

	mu      sync.Mutex
	markets map[string]*marketv1.Market
	down    bool // true: requests fail
	feed    fakeFeed
}

func newLedger(t *testing.T, markets ...*marketv1.Market) *ledger {
	t.Helper()
	l := &ledger{markets: make(map[string]*marketv1.Market)}
	for _, m := range markets {
		l.markets[m.GetId()] = m
	}
	server, err := grpcx.NewServer(grpcx.ServerConfig{Secret: linkSecret})
	if err != nil {
		t.Fatal(err)
	}
	marketv1.RegisterMarketReadServiceServer(server, l)
	feedv1.RegisterFeedServiceServer(server, &l.feed)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.addr = listener.Addr().String()
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		server.Shutdown(ctx)
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return l
}

func (l *ledger) set(change func()) { l.mu.Lock(); defer l.mu.Unlock(); change() }

func (l *ledger) list(keep func(*marketv1.Market) bool) ([]*marketv1.Market, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.down {
		return nil, apperr.New(apperr.Unavailable, "db_unavailable", "")
	}
	var out []*marketv1.Market
	for _, m := range l.markets {
		if keep(m) {
			out = append(out, proto.CloneOf(m))
		}
	}
	return out, nil
}

func (l *ledger) ListAirable(context.Context, *marketv1.ListAirableRequest) (*marketv1.ListAirableResponse, error) {
	out, err := l.list(func(m *marketv1.Market) bool { return m.GetStatus() == "open" && m.YesBps != nil })
	return &marketv1.ListAirableResponse{Markets: out}, err
}

func (l *ledger) ListMarkets(_ context.Context, r *marketv1.ListMarketsRequest) (*marketv1.ListMarketsResponse, error) {
	out, err := l.list(func(m *marketv1.Market) bool {
		for _, id := range r.GetIds() {
			if id == m.GetId() {
				return true
			}
		}
		return false
	})
	return &marketv1.ListMarketsResponse{Markets: out}, err
}

func open(id, category string) *marketv1.Market {
	return &marketv1.Market{
		Id: id, Provider: "polymarket", Title: "Will " + id + " happen?", Category: category, Status: "open",
		EndDate: timestamppb.New(time.Now().Add(100 * time.Hour)), YesBps: proto.Int32(3150),
		Volume: proto.Float64(182000), VolumeUsd: proto.Float64(182000), Volume24H: proto.Float64(9100), VolumeUnit: "usd",
	}
}

// instance is a clock service that a test has started, with its log.
type instance struct {
	*App
	stop func()
	log  *bytes.Buffer
}

func start(t *testing.T, db testkit.Database, ledgerAddr string) *instance {
	t.Helper()
	return startAt(t, db, ledgerAddr, time.Now)
}

func startAt(t *testing.T, db testkit.Database, ledgerAddr string, now func() time.Time) *instance {
	t.Helper()
	cfg, err := config.LoadFrom[Config](map[string]string{
		"ENV": "test", "HTTP_ADDR": "127.0.0.1:0", "GRPC_ADDR": "127.0.0.1:0", "METRICS_ADDR": "127.0.0.1:0",
		"DATABASE_URL": db.URL("clock_rw"), "DB_READ_TIMEOUT": "20s", "API_ADDR": ledgerAddr, "LINK_SECRET": linkSecret,
		"RATE_LIMIT_ANON": "0", "INSTANCE_NONCE": "nonce-1",
	})
	if err != nil {
		t.Fatal(err)
	}
	s := &instance{log: new(bytes.Buffer)}
	if s.App, err = New(t.Context(), cfg, s.log, now); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	s.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("run: %v\n%s", err, s.log)
		}
	})
	t.Cleanup(s.stop)
	select {
	case <-s.Up():
	case err := <-ended:
		ended <- err
		t.Fatalf("start of the clock: %v", err)
	}
	return s
}

func (s *instance) get(t *testing.T, base, path string) (*http.Response, string) {
	t.Helper()
	r, err := http.Get("http://" + base + path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r, string(b)
}

type onAir struct {
	Segment *struct {
		SegmentID, ID, Status string
		YesPrice              *float64
	}
}

func (s *instance) now(t *testing.T, lane string) onAir {
	t.Helper()
	_, b := s.get(t, s.HTTPAddr(), "/program/now?lane="+lane)
	var out onAir
	if err := json.Unmarshal([]byte(b), &out); err != nil {
		t.Fatalf("%v: %s", err, b)
	}
	return out
}

func rows(t *testing.T, pool *pgxpool.Pool, query string) int {
	t.Helper()
	var n int
	if err := pool.QueryRow(t.Context(), query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestWholeService(t *testing.T) {
	t.Parallel()
	db := testkit.Postgres(t, postgres.Schema(""))
	pool := testkit.Pool(t, db.URL("clock_rw"))
	l := newLedger(t, open("1", "sports"), open("2", "sports"), open("3", "crypto"), open("4", "science"))
	s := start(t, db, l.addr)

	testkit.Eventually(t, within, func() bool { return s.now(t, "sports").Segment != nil && s.now(t, "crypto").Segment != nil })
	const slots = 2 * (program.Ahead + 1)
	if n := rows(t, pool, "SELECT count(*) FROM program_slots"); n < slots {
		t.Errorf("%d slots are stored, want %d", n, slots)
	}
	testkit.Eventually(t, within, func() bool { r, _ := s.get(t, s.HTTPAddr(), "/readyz"); return r.StatusCode == 200 })

	t.Run("interfaces", func(t *testing.T) { checkInterfaces(t, s) })

	// The market resolves while it airs. The slot keeps the market with the new status, and future slots get the other market.
	aired := s.now(t, "sports").Segment
	l.set(func() {
		m := l.markets[aired.ID]
		m.Status, m.ResolutionValue = "resolved", proto.String("YES")
	})
	testkit.Eventually(t, within, func() bool {
		now := s.now(t, "sports").Segment
		return now != nil && (now.SegmentID != aired.SegmentID || now.Status == "resolved")
	})
	running := int64(program.SlotAt(time.Now()))
	testkit.Eventually(t, within, func() bool {
		return rows(t, pool, fmt.Sprintf("SELECT count(*) FROM program_slots WHERE market_id = '%s' AND slot > %d + 1", aired.ID, running)) == 0
	})

	// After the bumper, which lasts ten seconds, the airing of the content is stored.
	testkit.Eventually(t, within, func() bool { return rows(t, pool, "SELECT count(*) FROM airings") > 0 })

	// While the ledger is unavailable, the current segments stay.
	l.set(func() { l.down = true })
	if now := s.now(t, "crypto").Segment; now == nil || now.ID != "3" {
		t.Errorf("without the ledger crypto airs %+v", now)
	}
	s.stop()
	for _, want := range []string{`"msg":"rundown filled"`, `"msg":"stopped"`} {
		if !strings.Contains(s.log.String(), want) {
			t.Errorf("the log has no %s:\n%s", want, s.log)
		}
	}
	if strings.Contains(s.log.String(), linkSecret) || strings.Contains(s.log.String(), "testkit@") {
		t.Error("the log contains a secret")
	}
}

// checkInterfaces checks the HTTP, gRPC and metrics servers of the running clock s.
func checkInterfaces(t *testing.T, s *instance) {
	conn, err := grpcx.Dial(grpcx.DialConfig{Addr: s.GRPCAddr(), Secret: linkSecret})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	inner := programv1.NewProgramReadServiceClient(conn)
	p, err := inner.GetProgram(t.Context(), &programv1.GetProgramRequest{})
	if err != nil || p.GetProgram().GetTotal() == 0 || len(p.GetProgram().GetLanes()) != 2 {
		t.Errorf("program %v, %v", p, err)
	}
	var outer struct {
		Total    int
		Segments []struct{ SegmentID string }
		Lanes    []struct{ Key string }
	}
	r, b := s.get(t, s.HTTPAddr(), "/program/timeline?limit=400")
	if err := json.Unmarshal([]byte(b), &outer); err != nil || r.StatusCode != 200 || outer.Total != int(p.GetProgram().GetTotal()) {
		t.Errorf("timeline: %d, total %d, inner total %d, %v", r.StatusCode, outer.Total, p.GetProgram().GetTotal(), err)
	}
	testkit.Eventually(t, 5*time.Second, func() bool {
		r, b := s.get(t, s.HTTPAddr(), `/program/channel?preset=hot`)
		return r.StatusCode == 200 && strings.Contains(b, `"hot:science:`) && strings.Contains(b, `"hot:sports:`)
	})
	if r, b := s.get(t, s.HTTPAddr(), `/program/channel?spec={"minYes":"x"}`); r.StatusCode != 400 || !strings.Contains(b, `"invalid_spec"`) {
		t.Errorf("bad spec: %d %s", r.StatusCode, b)
	}
	if r, b := s.get(t, s.HTTPAddr(), "/healthz"); r.StatusCode != 200 || !strings.Contains(b, "nonce-1") {
		t.Errorf("health: %d %s", r.StatusCode, b)
	}
	_, metrics := s.get(t, s.internal.Addr(), "/metrics")
	for _, name := range []string{"sc_clock_markets_age_seconds", "sc_clock_rundown_age_seconds", `sc_http_request_seconds_count{method="GET",route="/program/now"`} {
		if !strings.Contains(metrics, name) {
			t.Errorf("no metric %s", name)
		}
	}
	unknown, err := grpcx.Dial(grpcx.DialConfig{Addr: s.GRPCAddr(), Secret: "m1Nc2Bv3Xz4Lk5Jh6Gf7Ds8Ap9Oi0UyT"})
	if err != nil {
		t.Fatal(err)
	}
	defer unknown.Close()
	if _, err := programv1.NewProgramReadServiceClient(unknown).GetProgram(t.Context(), &programv1.GetProgramRequest{}); err == nil {
		t.Error("a client with a wrong secret received an answer; want an error")
	}
}

// TestFailover stops the leader and checks that the other replica becomes the leader. Both replicas must show the same programme.
func TestFailover(t *testing.T) {
	t.Parallel()
	db := testkit.Postgres(t, postgres.Schema(""))
	pool := testkit.Pool(t, db.URL("clock_rw"))
	l := newLedger(t, open("1", "sports"), open("2", "sports"))
	first := start(t, db, l.addr)

	testkit.Eventually(t, within, func() bool { return first.now(t, "sports").Segment != nil })
	second := start(t, db, l.addr)
	testkit.Eventually(t, within, func() bool {
		a, b := first.now(t, "sports").Segment, second.now(t, "sports").Segment
		return a != nil && b != nil && a.SegmentID == b.SegmentID && a.ID == b.ID
	})
	first.stop()
	l.set(func() {
		l.markets["3"] = open("3", "crypto")
	})
	testkit.Eventually(t, within, func() bool { return second.now(t, "crypto").Segment != nil })
	if n := rows(t, pool, "SELECT count(*) FROM program_slots WHERE lane = 'crypto'"); n < program.Ahead+1 {
		t.Errorf("%d slots of the new lane, want %d", n, program.Ahead+1)
	}
}

// TestStartsWithoutDependencies checks that a clock starts and answers while the database and the ledger are unavailable.
func TestStartsWithoutDependencies(t *testing.T) {
	t.Parallel()
	nowhere := testkit.Database{Admin: "postgres://app@127.0.0.1:1/nowhere"}
	s := start(t, nowhere, "127.0.0.1:1")
	for path, source := range map[string]string{
		"/program/timeline": "postgres", "/program/channel?preset=hot": "api", "/program/now": "postgres", "/program/next?preset=close": "api",
	} {
		if r, b := s.get(t, s.HTTPAddr(), path); r.StatusCode != 200 || r.Header.Get("X-Degraded") != source || r.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %d %v %s", path, r.StatusCode, r.Header, b)
		}
	}
	if r, b := s.get(t, s.HTTPAddr(), "/readyz"); r.StatusCode != 503 || !strings.Contains(b, "programme") {
		t.Errorf("ready: %d %s", r.StatusCode, b)
	}
}
