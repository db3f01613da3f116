package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/ratelimit"
	"github.com/signalcast/signalcast/pkg/redisx"
	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/api/internal/attention"
	"github.com/signalcast/signalcast/services/api/internal/board"
	"github.com/signalcast/signalcast/services/api/internal/broker"
	"github.com/signalcast/signalcast/services/api/internal/httpapi"
	"github.com/signalcast/signalcast/services/api/internal/lane"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/operator"
	"github.com/signalcast/signalcast/services/api/internal/postgres"
	"github.com/signalcast/signalcast/services/api/internal/record"
	"github.com/signalcast/signalcast/services/api/internal/relay"
	"github.com/signalcast/signalcast/services/api/internal/resolution"
	"github.com/signalcast/signalcast/services/api/internal/signal"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// options contains the settings of a bundle.
type options struct {
	memory  int // number of events that the broker stores in memory
	sockets httpapi.SocketLimits
	perAddr int
	change  func(*httpapi.Deps)
	now     func() time.Time // nil: time.Now
	noRelay bool
}

// bundle is the public server of the api in a test, with a real database, a real Redis and a real listener.
type bundle struct {
	t           *testing.T
	store       *postgres.Store
	admin       *pgxpool.Pool
	rw          *pgxpool.Pool
	redis       *redisx.Client
	broker      *broker.Broker
	operators   *operator.Service
	oracle      *attention.Service
	server      *httpapi.Server
	addr        string
	smallBuffer bool // clients have a small receive buffer

	mu     sync.Mutex
	closed []int
}

// login is the Deps.Login of tests: it accepts tokens that begin with mara or tide. For the token unavailable, it returns the
// error of an unavailable identity provider.
func login(_ context.Context, raw string) (operator.Identity, error) {
	switch name, _, _ := strings.Cut(raw, "."); name {
	case "unavailable":
		return operator.Identity{}, apperr.New(apperr.Unavailable, "identity_provider_unavailable", "")
	case "mara", "tide":
		return operator.Identity{Issuer: "https://idp.example", Subject: "did:idp:" + name, Primary: true, Username: name}, nil
	}
	return operator.Identity{}, apperr.ErrCredentialUnknown
}

func setup(t *testing.T, o options) *bundle {
	t.Helper()
	db := testkit.Postgres(t, pg.Schema{Name: "api", Files: postgres.Migrations()})
	b := &bundle{
		t: t, admin: testkit.Pool(t, db.Admin), rw: testkit.Pool(t, db.URL("api_rw")), redis: testkit.KV(t, testkit.Redis(t)),
		broker: broker.New(max(o.memory, 1)),
	}
	quiet, now := slog.New(slog.DiscardHandler), o.now
	if now == nil {
		now = time.Now
	}
	t.Cleanup(b.broker.Close)
	b.store = postgres.New(b.rw, postgres.Rules{ResolveChunk: 1000, ReadBudget: 20 * time.Second}, now)
	t.Cleanup(b.store.Close)
	b.operators = operator.NewService(b.store, "0123456789abcdef0123456789abcdef", now)
	b.oracle = attention.NewService(b.store, now)
	if err := b.oracle.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	follower := relay.NewFollower(b.store, b.redis, b.broker, time.Now, quiet)
	t.Cleanup(func() { _ = follower.Close() })
	b.start(follower.Run)
	if !o.noRelay {
		b.start((&relay.Relay{Store: b.store, Redis: b.redis, Now: time.Now, Slog: quiet}).Run)
	}
	minute := func(name string, n int) *ratelimit.Limiter {
		return ratelimit.New(b.redis, ratelimit.Config{Name: name, Limit: n, Window: time.Minute, Replicas: 1, Now: time.Now})
	}
	markets, boards := market.NewService(b.store, nil, market.Classify{}, true, now), board.NewService(b.store, now)
	health := httpx.NewHealth("nonce", time.Now)
	health.Up()
	d := httpapi.Deps{
		Feed: b.store, Boards: boards, Oracle: b.oracle, Markets: markets, Outcomes: resolution.NewService(b.store, now),
		Operators: b.operators, Webhooks: b.webhooks(), Stations: b.stations(), Signals: signal.NewService(b.store, markets, now),
		Lanes: lane.NewService(b.store, now), Records: record.NewService(b.store, boards, b.operators, now), Broker: b.broker,
		Login: login, Readers: operator.Readers{Operators: b.operators, Login: login}, Viewers: func(context.Context, string) int { return 4 },
		Slots: func(name string, limit int) *ratelimit.Slots {
			return ratelimit.NewSlots(b.redis, ratelimit.SlotConfig{Name: name, Limit: limit, Replicas: 1})
		},
		Addresses: ratelimit.NewShared(nil, ratelimit.Config{Name: "api", Limit: o.perAddr, Window: time.Minute, Now: time.Now}), Keys: minute("api-key", 120), Tokens: minute("api-token", 120), Sessions: minute("api-login", 120),
		Admin: protocol.NewSecret(adminSecret), Failures: minute("api-failed", httpapi.MaxFailures),
		Health: health, Log: quiet, Now: now, Limits: o.sockets, HubURL: "https://hub.example/",
		Closed: func(code int) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.closed = append(b.closed, code)
		},
	}
	if o.change != nil {
		o.change(&d)
	}
	b.server = httpapi.New(d)
	server := httpx.NewServer("127.0.0.1:0", b.server, httpx.Limits{}, quiet)
	if err := server.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.addr = server.Addr()
	b.start(func(context.Context) error { return server.Serve() })
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := server.Stop(ctx); err != nil {
			t.Error(err)
		}
		b.server.Close(ctx)
	})
	testkit.Eventually(t, 20*time.Second, b.broker.Ready)
	return b
}

// start runs a function in the background until the test ends. An error of the function fails the test.
func (b *bundle) start(run func(context.Context) error) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := run(ctx); err != nil && !errors.Is(err, context.Canceled) {
			b.t.Errorf("a background function ended with %v", err)
		}
	}()
	b.t.Cleanup(func() { cancel(); <-done })
}

func (b *bundle) exec(sql string, args ...any) {
	b.t.Helper()
	if _, err := b.admin.Exec(context.Background(), sql, args...); err != nil {
		b.t.Fatalf("%s: %v", sql, err)
	}
}

// market stores an open market in a lane.
func (b *bundle) market(id, lane string) {
	b.t.Helper()
	b.exec(`INSERT INTO api.markets (market_id, provider, title, status, lane, created_at, updated_at) VALUES ($1, 'polymarket', 'Ostrava gauge above 6 m?', 'open', $2, now(), now())`, id, lane)
}

// traded stores an open market with the price and the numbers of calls that marketState contains.
func (b *bundle) traded(id, lane string) {
	b.t.Helper()
	b.market(id, lane)
	b.exec(`INSERT INTO api.market_quotes (market_id, yes_bps, at) VALUES ($1, 3150, now())`, id)
	b.exec(`INSERT INTO api.market_totals (market_id, yes, no) VALUES ($1, 12, 30)`, id)
}

// fact stores n outbox entries of a type about a market, which the relay publishes as numbered events.
func (b *bundle) fact(kind, market string, n int) {
	b.t.Helper()
	b.exec(`INSERT INTO api.outbox (type, market_id, data, at) SELECT $1, $2, jsonb_build_object('n', i), now() FROM generate_series(1, $3) i`, kind, market, n)
	b.exec(`SELECT pg_notify('sc_outbox', '')`)
}

// head waits until the broker has delivered event number n.
func (b *bundle) head(n int64) {
	b.t.Helper()
	testkit.Eventually(b.t, 20*time.Second, func() bool { return b.broker.Head() >= n })
}

// key mints an operator key with all permissions and returns its plaintext. name is the handle of the operator.
func (b *bundle) key(name string) string {
	b.t.Helper()
	plaintext, _, _ := b.mint(name, false)
	return plaintext
}

// mint signs an operator in and mints a key with the given permissions, or with all of them if none is given. It returns the
// plaintext of the key, the id of the operator and the id of the key.
func (b *bundle) mint(name string, strict bool, permissions ...string) (plaintext, owner, id string) {
	b.t.Helper()
	who := operator.Identity{Issuer: "https://idp.example", Subject: "did:idp:" + name, Primary: true, Username: name}
	o, _, err := b.operators.SignIn(b.t.Context(), who)
	if err != nil {
		b.t.Fatal(err)
	}
	plaintext, k, err := b.operators.Mint(b.t.Context(), o.ID, "test", operator.PrefixKey, permissions, strict)
	if err != nil {
		b.t.Fatal(err)
	}
	return plaintext, o.ID, k.ID
}

// answer is the response to an HTTP request without an upgrade.
type answer struct {
	status int
	header http.Header
	body   map[string]any
	raw    []byte
}

// do sends an HTTP request and returns the response. headers alternates between names and values.
func (b *bundle) do(method, path, body string, headers ...string) answer {
	b.t.Helper()
	r := testkit.Must(http.NewRequestWithContext(b.t.Context(), method, "http://"+b.addr+path, strings.NewReader(body)))(b.t)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 20 * time.Second}
	resp, err := client.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer resp.Body.Close()
	a := answer{status: resp.StatusCode, header: resp.Header}
	if a.raw, err = io.ReadAll(resp.Body); err != nil {
		b.t.Fatal(err)
	}
	_ = json.Unmarshal(a.raw, &a.body) // body stays nil if the response is not a JSON object
	return a
}

// client is a websocket client of the test.
type client struct {
	t    *testing.T
	conn *websocket.Conn
}

// frame is the JSON of a frame that the server sent.
type frame map[string]any

func (f frame) seq() int64 { return number(f["seq"]) }

func number(v any) int64 {
	n, _ := v.(float64)
	return int64(n)
}

// dial opens a websocket from a loopback address, for example 127.0.0.9, so that limits by address can be tested.
func (b *bundle) dial(from string, header http.Header) (*client, *http.Response, error) {
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	tr := &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := d.DialContext(ctx, network, addr)
		if err == nil && b.smallBuffer {
			err = conn.(*net.TCPConn).SetReadBuffer(4 << 10)
		}
		return conn, err
	}}
	ctx, cancel := context.WithTimeout(b.t.Context(), 20*time.Second)
	defer cancel()
	conn, resp, err := websocket.Dial(ctx, "ws://"+b.addr+"/ws", &websocket.DialOptions{
		HTTPClient: &http.Client{Transport: tr}, HTTPHeader: header, Subprotocols: []string{"signal.v1"},
	})
	if err != nil {
		return nil, resp, err
	}
	conn.SetReadLimit(1 << 20)
	return &client{t: b.t, conn: conn}, resp, nil
}

// socket opens a websocket and reads the hello frame.
func (b *bundle) socket() *client {
	b.t.Helper()
	c, _, err := b.dial("127.0.0.1", nil)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = c.conn.CloseNow() })
	if f := c.next(); f["op"] != "hello" {
		b.t.Fatalf("first frame: %v", f)
	}
	return c
}

func (c *client) send(text string) {
	c.t.Helper()
	if err := c.conn.Write(c.t.Context(), websocket.MessageText, []byte(text)); err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) read() (frame, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	_, raw, err := c.conn.Read(ctx)
	if err != nil {
		return nil, err
	}
	var f frame
	d := json.NewDecoder(bytes.NewReader(raw))
	if err := d.Decode(&f); err != nil {
		return nil, err
	}
	return f, nil
}

// next returns the next frame that is not a heartbeat. A closed socket fails the test.
func (c *client) next() frame {
	c.t.Helper()
	for {
		f := testkit.Must(c.read())(c.t)
		if f["op"] != "beat" {
			return f
		}
	}
}

// ends reads frames until the socket is closed, and returns the close code.
func (c *client) ends() websocket.StatusCode {
	c.t.Helper()
	for {
		if _, err := c.read(); err != nil {
			code := websocket.CloseStatus(err)
			if code == -1 {
				c.t.Logf("ended with %v", err)
			}
			return code
		}
	}
}
