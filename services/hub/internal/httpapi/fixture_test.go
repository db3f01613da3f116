package httpapi_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/timestamppb"

	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	operatorv1 "github.com/signalcast/signalcast/proto/operator/v1"
	programv1 "github.com/signalcast/signalcast/proto/program/v1"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/ratelimit"
	"github.com/signalcast/signalcast/pkg/redisx"
	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/api/apitest"
	"github.com/signalcast/signalcast/services/hub/internal/audit"
	"github.com/signalcast/signalcast/services/hub/internal/broadcast"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi"
	"github.com/signalcast/signalcast/services/hub/internal/ingest"
	"github.com/signalcast/signalcast/services/hub/internal/livestream"
	"github.com/signalcast/signalcast/services/hub/internal/moderation"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
	"github.com/signalcast/signalcast/services/hub/internal/postgres"
	"github.com/signalcast/signalcast/services/hub/internal/signal"
)

func TestMain(m *testing.M) { testkit.Main(m) }

const (
	adminSecret = "admin-0123456789-0123456789-0123456789"
	cronSecret  = "cron-9876543210-9876543210-9876543210x"
	hubURL      = "https://hub.example"
	marketID    = "701122"
	nativeID    = "native-0000000001"
)

// fixture is a hub under test with a real ledger and a real database.
type fixture struct {
	t      testing.TB
	ledger *apitest.API
	conn   *grpc.ClientConn
	store  *postgres.Store
	server *httpapi.Server
	deps   httpapi.Deps // dependencies of the hub under test
	clock  *testkit.Clock
	audit  *auditLog
	people *accountFakes
	mara   *operatorv1.Operator
	key    string
	cookie string

	pool *pgxpool.Pool
	down atomic.Bool // true: the database of the hub refuses connections
}

// Errors of an api service and of a clock service that do not respond.
var (
	errAPI   = apperr.New(apperr.Unavailable, "signal_service_unavailable", "")
	errClock = apperr.New(apperr.Unavailable, "clock_unavailable", "")
)

type option func(*httpapi.Config, *httpapi.Deps)

func setup(t testing.TB, options ...option) *fixture {
	t.Helper()
	b := &fixture{t: t, clock: testkit.NewClock(time.Date(2026, 9, 18, 12, 0, 0, 0, time.UTC)), audit: &auditLog{}}
	b.ledger = apitest.Start(t, b.clock.Now, postgres.Schema(""))
	b.conn = b.ledger.Conn(registerClock)
	b.openStore()
	ledger := ledgerclient.New(b.conn)
	directory := operator.Directory{Ledger: ledger.Operators}
	sessions := caller.NewSessions([]string{"session-secret-0123456789-0123456789"}, b.store, true, b.clock.Now)
	grants := newGrants(t, postgres.NewGrants(b.pool, 30*time.Second), b.clock.Now)
	cfg := httpapi.Config{HubURL: hubURL, Origin: hubURL, Secure: true, Social: "farcaster", VenueA: "polymarket", OpenAPI: []byte(`{"openapi":"3.1.0"}`)}
	ids := &sequence{}
	programs := programv1.NewProgramReadServiceClient(ledgerclient.WithDeadlines(b.conn))
	deps := httpapi.Deps{
		Ledger: ledger,
		Callers: caller.New(caller.Deps{
			Sessions: sessions, Logins: logins{}, Tokens: authenticate(grants), Directory: directory, Limits: caller.NewLimits(counters(t, b.clock.Now)),
			Admin: protocol.NewSecret(adminSecret), Cron: protocol.NewSecret(cronSecret), Failures: caller.NewFailures(counters(t, b.clock.Now), "secret"),
			Now: b.clock.Now,
		}),
		Sessions: sessions, Grants: grants, Signals: signal.NewService(ledger, ids.next),
		Programs: programs, Director: programv1.NewProgramServiceClient(b.conn), Audit: b.audit,
		Pins: b.store, Stations: b.store, Links: b.store, Network: b.newNetwork(ledger),
		Viewers:   keyLimit{ratelimit.NewLocal("view", 1, time.Hour, b.clock.Now)},
		Addresses: ratelimit.NewShared(nil, ratelimit.Config{Name: "ip", Limit: 0, Window: time.Minute, Now: b.clock.Now}),
		Log:       slog.New(slog.DiscardHandler), Now: b.clock.Now, NewID: ids.next,
		Degraded: func(string, string) {},
	}
	deps.Broadcast = broadcast.New(broadcast.Deps{
		Ledger: deps.Ledger, Live: func(context.Context) ([]livestream.Show, error) { return nil, nil }, Store: b.store, Programs: programs,
		Now: b.clock.Now,
	})
	deps.OnAir = newOnAir(&deps, b.store, noRedis(t))
	newVideo(&deps, ingest.None{}, ids.next) // without a video provider
	b.wirePeople(&deps)
	b.wireMessages(&deps)
	for _, o := range options {
		o(&cfg, &deps)
	}
	deps.Moderation = moderation.NewService(deps.Ledger.Moderation, b.store.Moderation(), deps.OnAir, b.store, ids.next, b.clock.Now)
	b.server, b.deps = httpapi.New(cfg, deps), deps
	t.Cleanup(b.server.Close)
	b.mara = b.ledger.AddOperator("mara_k")
	b.key = b.ledger.AddKey(b.mara.GetId())
	b.cookie = b.signIn(b.mara)
	b.markets()
	return b
}

// withPages returns a fixture that also serves the HTML pages.
func withPages(t testing.TB, options ...option) *fixture {
	t.Helper()
	b := setup(t, options...)
	b.mountPages()
	return b
}

// openStore connects the hub to its database. The connections fail while b.down is set.
func (b *fixture) openStore() {
	b.t.Helper()
	cfg, err := pgxpool.ParseConfig(b.ledger.Database.URL("hub_rw"))
	must(b.t, err)
	cfg.MaxConns = 8
	cfg.ConnConfig.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		if b.down.Load() {
			return nil, errors.New("the database is down")
		}
		return (&net.Dialer{}).DialContext(ctx, network, addr)
	}
	if b.pool, err = pgxpool.NewWithConfig(b.t.Context(), cfg); err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(b.pool.Close)
	if err := b.pool.Ping(b.t.Context()); err != nil { // so that no read pays for the first connection
		b.t.Fatal(err)
	}
	b.store = postgres.New(b.pool, testkit.ReadTime)
}

// setDown makes the database of the hub refuse connections if down is true, or accept them again.
func (b *fixture) setDown(down bool) {
	b.down.Store(down)
	b.pool.Reset()
}

// noRedis returns a client of a Redis that does not answer.
func noRedis(t testing.TB) *redisx.Client {
	t.Helper()
	return testkit.KV(t, "redis://127.0.0.1:1")
}

// newOnAir returns the service of live broadcasts, which counts viewers in redis.
func newOnAir(d *httpapi.Deps, store *postgres.Store, redis *redisx.Client) *livestream.Service {
	return livestream.NewService(livestream.Config{
		Store: store.OnAir(), Redis: redis, Records: d.Ledger.Records, People: operator.Directory{Ledger: d.Ledger.Operators},
		Now: d.Now, NewID: (&sequence{}).next,
	})
}

// registerClock registers a fake clock service. The test sets the answers to its reads.
func registerClock(r grpc.ServiceRegistrar) {
	d := &director{}
	programv1.RegisterProgramServiceServer(r, d)
	programv1.RegisterProgramReadServiceServer(r, d)
}

func (b *fixture) markets() {
	b.ledger.AddMarket(apitest.Market{
		ID: marketID, Title: "Will the Ostrava gauge read above 6 m before 1 December?", Description: "The gauge of the Odra.",
		End: at("2026-11-30T23:00:00Z").AsTime(), Yes: 3150, YesPrice: 3200, NoPrice: 6900, Volume: 182000, Volume24h: 9100,
		Liquidity: 22000.5, Slug: "ostrava-gauge-6m", EventKey: "ostrava-flood", Token: "7132", Lane: "SCIENCE",
		Read: at("2026-09-18T11:59:30Z").AsTime(),
	})
	b.ledger.AddMarket(apitest.Market{
		ID: nativeID, Title: "Will the mill race be dry on Sunday?", End: at("2026-09-20T10:00:00Z").AsTime(), Yes: 5000, Lane: "WORLD",
		Read: at("2026-09-18T11:00:00Z").AsTime(), Created: at("2026-09-01T08:00:00Z").AsTime(),
		ResolvesBy: at("2026-09-21T10:00:00Z").AsTime(), Source: "https://records.example/mill",
	})
}

func at(s string) *timestamppb.Timestamp {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		panic(err)
	}
	return timestamppb.New(t)
}

// header changes a request before it is sent.
type header func(*http.Request)

func with(name, value string) header {
	return func(r *http.Request) { r.Header.Add(name, value) }
}

// contentType sets the Content-Type of a request.
func contentType(media string) header {
	return func(r *http.Request) { r.Header.Set("Content-Type", media) }
}

// signedIn is the time at which the users of a fixture signed in, which is the start time of the fixture.
var signedIn = time.Date(2026, 9, 18, 12, 0, 0, 0, time.UTC)

// signIn starts a session of an operator and returns its cookies.
func (b *fixture) signIn(op *operatorv1.Operator) string {
	b.t.Helper()
	who := operator.Operator{ID: operator.ID(op.GetId()), SessionVersion: op.GetSessionVersion()}
	cookies, err := b.deps.Sessions.Start(b.t.Context(), who, b.clock.Now(), caller.Device{}, "")
	must(b.t, err)
	return "db_uid=" + cookies.UID + "; db_sig=" + cookies.Sig + "; __Host-db_bind=" + cookies.Bind
}

func (b *fixture) byKey() header { return with("Authorization", "Bearer "+b.key) }

func byLogin(name string) header { return with("Authorization", "Bearer jwt."+name+".sig") }

func byAdmin() header { return with("X-Admin-Secret", adminSecret) }

// bySession sets the session cookies of mara_k and the origin of a page of the hub.
func (b *fixture) bySession() header {
	return func(r *http.Request) {
		r.Header.Set("Cookie", b.cookie)
		r.Header.Set("Origin", hubURL)
	}
}

// answer is a recorded answer together with its request, which failure messages show.
type answer struct {
	*httptest.ResponseRecorder
	request string // method, target and body of the request
}

// send sends a request and returns the answer. If body is not empty, its content type is application/json unless a header changes
// it.
func (b *fixture) send(method, target, body string, headers ...header) *answer {
	var r *http.Request
	if body == "" {
		r = httptest.NewRequest(method, target, nil)
	} else {
		r = httptest.NewRequest(method, target, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
	}
	for _, h := range headers {
		h(r)
	}
	b.addFormToken(r, body)
	return &answer{testkit.Serve(b.server, r), fmt.Sprintf("%s %.200s %.200s", method, target, body)}
}

// addFormToken adds the token of the visitor to a form of a page that has no field csrf, as the page does.
func (b *fixture) addFormToken(r *http.Request, body string) {
	if r.Header.Get("Content-Type") != "application/x-www-form-urlencoded" || strings.Contains(body, "csrf=") {
		return
	}
	for _, name := range []string{"db_uid", "db_dev"} {
		if cookie, err := r.Cookie(name); err == nil {
			body += "&csrf=" + b.deps.Sessions.FormToken(cookie.Value)
			r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
			return
		}
	}
}

// as adds the name of a test case to the failures of an answer.
func (w *answer) as(name string) *answer {
	w.request = name + ": " + w.request
	return w
}

// want checks the status and the error code of an answer, and further conditions, as described at has. An empty code is not
// checked.
func want(t testing.TB, w *answer, status int, code string, conditions ...string) {
	t.Helper()
	if got := field(w, "error"); w.Code != status || code != "" && got != code {
		t.Errorf("%s: status %d code %q, want %d %q: %v %s", w.request, w.Code, got, status, code, w.Header(), w.Body)
	}
	has(t, w, conditions...)
}

var (
	headerForm = regexp.MustCompile(`^([A-Z][A-Za-z-]*): (.*)$`)
	memberForm = regexp.MustCompile(`^(\w+)=(.*)$`)
)

// has checks conditions of an answer:
//
//	"Name: value"  the header has that value; "Name: " means that the header is absent
//	"name=value"   the member of the JSON body has that value; "name=" means that the member is absent, null or empty
//	"=text"        the body is that text
//	"text"         the body contains that text
//
// A condition that begins with "!" must not be met: "!Etag: " requires an ETag.
func has(t testing.TB, w *answer, conditions ...string) {
	t.Helper()
	for _, c := range conditions {
		text, not := strings.CutPrefix(c, "!")
		header, member := headerForm.FindStringSubmatch(text), memberForm.FindStringSubmatch(text)
		var met bool
		switch {
		case header != nil:
			met = w.Header().Get(header[1]) == header[2]
		case member != nil:
			met = field(w, member[1]) == member[2]
		case strings.HasPrefix(text, "="):
			met = w.Body.String() == text[1:]
		default:
			met = strings.Contains(w.Body.String(), text)
		}
		if met == not {
			t.Errorf("%s: the answer does not meet %q: %d %v %s", w.request, c, w.Code, w.Header(), w.Body)
		}
	}
}

// unchanged checks that a conditional read with the ETag of w is answered with 304, the same ETag and no body.
func (b *fixture) unchanged(target string, w *answer) {
	b.t.Helper()
	tag := w.Header().Get("Etag")
	want(b.t, b.send("GET", target, "", with("If-None-Match", tag)), http.StatusNotModified, "", "=", "Etag: "+tag, "!Etag: ")
}

// requireSwept runs a background job once and checks how many entries it settled.
func (b *fixture) requireSwept(sweep func(context.Context) (int, error), want int) {
	b.t.Helper()
	n, err := sweep(context.WithoutCancel(b.t.Context()))
	must(b.t, err)
	equal(b.t, n, want)
}

// must ends the test if err is not nil.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// equal checks that got equals want. about describes the test case in a failure.
func equal[T comparable](t testing.TB, got, want T, about ...any) {
	t.Helper()
	if got != want {
		t.Errorf("%v: got %v, want %v", about, got, want)
	}
}

// field returns the member name of the JSON body of an answer as text; "" if the member is absent or null.
func field(w *answer, name string) string {
	var body map[string]any
	_ = json.Unmarshal(w.Body.Bytes(), &body)
	if body[name] == nil {
		return ""
	}
	return fmt.Sprint(body[name])
}

// file files a call on the market marketID and returns the id of the call.
func (b *fixture) file(direction string, price int, headers ...header) string {
	b.t.Helper()
	body := fmt.Sprintf(`{"marketId":%q,"direction":%q,"priceAtPrediction":%d}`, marketID, direction, price)
	w := b.send("POST", "/api/predictions", body, headers...)
	want(b.t, w, 200, "")
	return field(w, "id")
}

// golden compares the status, the Cache-Control header and the JSON body of an answer with a golden file.
func golden(t testing.TB, name string, w *answer) {
	t.Helper()
	var out bytes.Buffer
	body := w.Body.Bytes()
	if len(body) == 0 {
		body = []byte("null")
	}
	fmt.Fprintf(&out, `{"status":%d,"cacheControl":%q,"body":%s}`, w.Code, w.Header().Get("Cache-Control"), body)
	testkit.Golden(t, name+".json", out.Bytes())
}

// logins accepts the token jwt.<name>.sig as a login of the operator with that name, whose address the provider has verified.
type logins struct{}

func (logins) Verify(_ context.Context, raw string) (operator.Identity, error) {
	name, ok := strings.CutPrefix(raw, "jwt.")
	name, ok2 := strings.CutSuffix(name, ".sig")
	if !ok || !ok2 {
		return operator.Identity{}, caller.ErrUnauthenticated
	}
	return operator.Identity{
		SignedInAt: signedIn, Issuer: "https://issuer.example", Subject: "did:idp:" + name, Primary: true, Username: name, Name: strings.ToUpper(name),
		Email: name + "@planted.example",
	}, nil
}

// counters returns rate limit counters that are stored in memory.
func counters(t testing.TB, now func() time.Time) caller.Counters {
	return caller.Counters{Redis: noRedis(t), Replicas: 1, Now: now, OnFallback: func(string) func() { return nil }}
}

// auditLog stores audit entries in memory. If fail is not nil, Add returns it.
type auditLog struct {
	mu      sync.Mutex
	entries []audit.Entry
	fail    error
}

func (a *auditLog) Add(_ context.Context, e audit.Entry) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.fail != nil {
		return a.fail
	}
	a.entries = append(a.entries, e)
	return nil
}

// sequence generates ids that are the same in every run.
type sequence struct {
	prefix string // first 8 digits; empty: the default
	mu     sync.Mutex
	n      int
}

func (s *sequence) next() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n++
	return fmt.Sprintf("%s-0000-7000-8000-%012d", cmp.Or(s.prefix, "0199f0a4"), s.n)
}

// calls returns the number of stored calls.
func (b *fixture) calls() int {
	b.t.Helper()
	return apitest.Get[int](b.ledger, `SELECT count(*) FROM signals`)
}

// nth returns a column of the stored call number n, from 0 in the order of filing, as text.
func (b *fixture) nth(n int, column string) string {
	b.t.Helper()
	return apitest.Get[string](b.ledger, fmt.Sprintf(`SELECT %s::text FROM signals ORDER BY created_at, id OFFSET %d LIMIT 1`, column, n))
}

// owner returns the user id of the operator of the stored call number n.
func (b *fixture) owner(n int) string { return b.nth(n, "user_id") }

// call returns the stored call number n.
func (b *fixture) call(n int) *signalv1.Signal {
	b.t.Helper()
	out, err := signalv1.NewSignalReadServiceClient(b.conn).GetSignal(b.t.Context(), &signalv1.GetSignalRequest{Id: b.nth(n, "id")})
	must(b.t, err)
	return out.GetSignal()
}

// events returns the events of the stored call number n.
func (b *fixture) events(n int) []*signalv1.Event {
	b.t.Helper()
	out, err := signalv1.NewSignalReadServiceClient(b.conn).ListEvents(b.t.Context(), &signalv1.ListEventsRequest{SignalId: b.nth(n, "id")})
	must(b.t, err)
	for _, e := range out.GetEvents() { // remove the spaces that jsonb adds
		var text bytes.Buffer
		must(b.t, json.Compact(&text, []byte(e.GetPayload())))
		e.Payload = text.String()
	}
	return out.GetEvents()
}

// draft returns the newest draft of a call that reached the ledger, which may be that of a dry run.
func (b *fixture) draft() *signalv1.Draft {
	return apitest.Last[interface{ GetDraft() *signalv1.Draft }](b.ledger).GetDraft()
}

// count returns the number of rows of a table of the ledger.
func (b *fixture) count(table string) int {
	b.t.Helper()
	return apitest.Get[int](b.ledger, "SELECT count(*) FROM "+table)
}

// number runs a query that returns one number.
func (b *fixture) number(sql string) int {
	b.t.Helper()
	return apitest.Get[int](b.ledger, sql)
}

// operator returns an operator from the ledger.
func (b *fixture) operator(handle string) *operatorv1.Operator {
	b.t.Helper()
	out, err := operatorv1.NewOperatorReadServiceClient(b.conn).GetOperator(b.t.Context(), &operatorv1.GetOperatorRequest{By: &operatorv1.GetOperatorRequest_Handle{Handle: handle}})
	must(b.t, err)
	return out.GetOperator()
}

// market returns a market from the ledger.
func (b *fixture) market(id string) *marketv1.Market {
	b.t.Helper()
	out, err := marketv1.NewMarketReadServiceClient(b.conn).GetMarket(b.t.Context(), &marketv1.GetMarketRequest{Id: id})
	must(b.t, err)
	return out.GetMarket()
}

// rename changes the title of a market.
func (b *fixture) rename(market, title string) {
	b.t.Helper()
	b.ledger.Exec(`UPDATE markets SET title = $2 WHERE market_id = $1`, market, title)
}

// stationName returns the name of a station.
func (b *fixture) stationName(id string) string {
	b.t.Helper()
	return apitest.Get[string](b.ledger, `SELECT name FROM stations WHERE station_id = $1`, id)
}

// renamed replaces a random id in an answer with the fixed text name, so that the answer can be compared with a golden file.
func renamed(w *answer, id, name string) *answer {
	w.Body = bytes.NewBufferString(strings.ReplaceAll(w.Body.String(), id, name))
	return w
}
