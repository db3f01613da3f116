package edge_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	operatorv1 "github.com/signalcast/signalcast/proto/operator/v1"

	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/limit"
	"github.com/signalcast/signalcast/pkg/testkit"
	programv1 "github.com/signalcast/signalcast/proto/program/v1"
	"github.com/signalcast/signalcast/services/hub/internal/audit"
	"github.com/signalcast/signalcast/services/hub/internal/broadcast"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
	"github.com/signalcast/signalcast/services/hub/internal/edge"
	"github.com/signalcast/signalcast/services/hub/internal/memledger"
	"github.com/signalcast/signalcast/services/hub/internal/moderation"
	"github.com/signalcast/signalcast/services/hub/internal/onair"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
	"github.com/signalcast/signalcast/services/hub/internal/signal"
	"github.com/signalcast/signalcast/services/hub/internal/upstream"
)

func TestMain(m *testing.M) { testkit.Main(m) }

const (
	adminSecret = "admin-0123456789-0123456789-0123456789"
	cronSecret  = "cron-9876543210-9876543210-9876543210x"
	hubURL      = "https://hub.example"
	marketID    = "701122"
	nativeID    = "native-0000000001"
)

// bench is one front door over an in-memory ledger.
type bench struct {
	t        testing.TB
	ledger   *memledger.Ledger
	server   *edge.Server
	deps     edge.Deps // what it was made of
	clock    *testkit.Clock
	audit    *auditLog
	grants   *grantStore
	stores   *messageStores
	people   *people
	mara     *operatorv1.Operator
	key      string
	cookie   string
	sessions *sessionStore
}

type option func(*edge.Config, *edge.Deps)

func setup(t testing.TB, options ...option) *bench {
	t.Helper()
	b := &bench{t: t, clock: testkit.NewClock(time.Date(2026, 9, 18, 12, 0, 0, 0, time.UTC)), audit: &auditLog{}}
	b.ledger = memledger.New(b.clock.Now)
	conn := testkit.Link(t, b.ledger.Register)
	ops, ledger := upstream.NewOperators(conn), ledgerclient.New(conn)
	b.sessions = &sessionStore{}
	sessions := caller.NewSessions([]string{"session-secret-0123456789-0123456789"}, b.sessions, true, b.clock.Now)
	store := &grantStore{}
	grants := newGrants(t, store, b.clock.Now)
	cfg := edge.Config{HubURL: hubURL, Origin: hubURL, Secure: true, Social: "farcaster", VenueA: "polymarket", OpenAPI: []byte(`{"openapi":"3.1.0"}`)}
	ids := &sequence{}
	programs := programv1.NewProgramReadServiceClient(ledgerclient.WithDeadlines(conn))
	deps := edge.Deps{
		Ledger: ledger,
		Callers: caller.New(caller.Deps{
			Sessions: sessions, Logins: logins{}, Tokens: grantTokens{grants}, Ledger: ops, Limiter: newLimiter(b.clock.Now),
			Admin: caller.NewSecret(adminSecret), Cron: caller.NewSecret(cronSecret), Now: b.clock.Now,
		}),
		Sessions: sessions, Operators: ops, Directory: ops, Grants: grants, Signals: signal.NewService(ledger, ids.next),
		Programs: programs, Director: programv1.NewProgramServiceClient(conn), Audit: b.audit,
		Pins: bare{}, Streams: bare{}, Clips: bare{}, Video: noVideo(ops, ids.next, b.clock.Now), Links: bare{}, Network: newNetwork(conn, &partners{}, b.clock.Now), Viewers: keyLimit{limit.NewLocal("view", 1, time.Hour, b.clock.Now)},
		Addresses: limit.NewLocal("ip", 0, time.Minute, b.clock.Now),
		Log:       slog.New(slog.DiscardHandler), Now: b.clock.Now, NewID: ids.next,
		Carry:    func(ctx context.Context, _ string) context.Context { return ctx },
		Degraded: func(string, string) {},
	}
	deps.Broadcast = broadcast.New(broadcast.Deps{
		Ledger: deps.Ledger, Stage: broadcast.Dark, Spotlights: bare{}, Programs: programs,
		Tapes: bare{}, Streamers: bare{}, Now: b.clock.Now,
	})
	air := &airStore{neverLive{}}
	deps.OnAir = newOnAir(&deps, air, onair.NoAudience{})
	b.stores = wireMessages(t, &deps, conn)
	b.stores.air = air
	b.people = wirePeople(&deps, conn, b.clock.Now)
	for _, o := range options {
		o(&cfg, &deps)
	}
	deps.Moderation = moderation.NewService(deps.Ledger.Moderation, &moderatedApps{}, deps.OnAir, ids.next, b.clock.Now)
	b.server, b.deps, b.grants = edge.New(cfg, deps), deps, store
	t.Cleanup(b.server.Close)
	b.mara = b.ledger.AddOperator("mara_k")
	b.key = b.ledger.AddKey(b.mara.GetId())
	b.cookie = b.signIn(b.mara)
	b.markets()
	return b
}

func (b *bench) markets() {
	b.ledger.Lock()
	defer b.ledger.Unlock()
	b.ledger.Markets[marketID] = &marketv1.Market{
		Id: marketID, Provider: "polymarket", Title: "Will the Ostrava gauge read above 6 m before 1 December?",
		Description: "The gauge of the Odra.", EndDate: at("2026-11-30T23:00:00Z"), Status: "open",
		YesBps: proto.Int32(3150), Volume: proto.Float64(182000), VolumeUnit: "usd", Liquidity: proto.Float64(22000.5),
		VolumeUsd: proto.Float64(182000), Volume24H: proto.Float64(9100), Slug: "ostrava-gauge-6m", EventKey: "ostrava-flood",
		ClobTokenId: "7132", Lane: "SCIENCE", UpdatedAt: at("2026-09-18T11:59:30Z"),
	}
	b.ledger.Quotes = map[string]memledger.Quote{marketID: {Yes: 3200, No: 6900}, nativeID: {Yes: 5000, No: 5000}}
	b.ledger.Markets[nativeID] = &marketv1.Market{
		Id: nativeID, Provider: "manual", Title: "Will the mill race be dry on Sunday?", EndDate: at("2026-09-20T10:00:00Z"),
		Status: "open", YesBps: proto.Int32(5000), Volume: proto.Float64(0), VolumeUnit: "usd", Liquidity: proto.Float64(0),
		Lane: "WORLD", UpdatedAt: at("2026-09-18T11:00:00Z"), CreatedAt: at("2026-09-01T08:00:00Z"), Yes: 1, No: 2,
		ResolvesBy: at("2026-09-21T10:00:00Z"), ResolutionSource: proto.String("https://records.example/mill"),
	}
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

// signedIn is when the people of a bench signed in at their provider: its beginning.
var signedIn = time.Date(2026, 9, 18, 12, 0, 0, 0, time.UTC)

// signIn starts a session of an operator and gives its cookies.
func (b *bench) signIn(op *operatorv1.Operator) string {
	b.t.Helper()
	who := operator.Operator{ID: operator.ID(op.GetId()), SessionVersion: op.GetSessionVersion()}
	cookies, err := b.deps.Sessions.Start(b.t.Context(), who, b.clock.Now())
	if err != nil {
		b.t.Fatal(err)
	}
	return "db_uid=" + cookies.UID + "; db_sig=" + cookies.Sig + "; __Host-db_bind=" + cookies.Bind
}

func (b *bench) byKey() header { return with("Authorization", "Bearer "+b.key) }

func byLogin(name string) header { return with("Authorization", "Bearer jwt."+name+".sig") }

func byAdmin() header { return with("X-Admin-Secret", adminSecret) }

// bySession sends the cookies as our own page would.
func (b *bench) bySession() header {
	return func(r *http.Request) {
		r.Header.Set("Cookie", b.cookie)
		r.Header.Set("Origin", hubURL)
	}
}

// send makes a request; a body makes it JSON.
func (b *bench) send(method, target, body string, headers ...header) *httptest.ResponseRecorder {
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
	w := httptest.NewRecorder()
	b.server.ServeHTTP(w, r)
	return w
}

// want checks the status and, for an error, its code.
func want(t testing.TB, w *httptest.ResponseRecorder, status int, code string) {
	t.Helper()
	got := field(w, "error")
	if w.Code != status || code != "" && got != code {
		t.Errorf("status %d code %q, want %d %q: %s", w.Code, got, status, code, w.Body)
	}
}

func field(w *httptest.ResponseRecorder, name string) string {
	var body map[string]any
	_ = json.Unmarshal(w.Body.Bytes(), &body)
	if body[name] == nil {
		return ""
	}
	return fmt.Sprint(body[name])
}

// file files a call on the market and returns its id.
func (b *bench) file(direction string, price int, headers ...header) string {
	b.t.Helper()
	body := fmt.Sprintf(`{"marketId":%q,"direction":%q,"priceAtPrediction":%d}`, marketID, direction, price)
	w := b.send("POST", "/api/predictions", body, headers...)
	want(b.t, w, 200, "")
	return field(w, "id")
}

// golden compares the answer with a golden file: status line, the headers
// that belong to the contract, and the body.
func golden(t testing.TB, name string, w *httptest.ResponseRecorder) {
	t.Helper()
	var out bytes.Buffer
	body := w.Body.Bytes()
	if len(body) == 0 {
		body = []byte("null")
	}
	fmt.Fprintf(&out, `{"status":%d,"cacheControl":%q,"body":%s}`, w.Code, w.Header().Get("Cache-Control"), body)
	testkit.Golden(t, name+".json", out.Bytes())
}

// logins takes jwt.<name>.sig for the operator of that name.
type logins struct{}

func (logins) Verify(_ context.Context, raw string) (operator.Identity, error) {
	name, ok := strings.CutPrefix(raw, "jwt.")
	name, ok2 := strings.CutSuffix(name, ".sig")
	if !ok || !ok2 {
		return operator.Identity{}, caller.ErrUnauthenticated
	}
	return operator.Identity{
		SignedInAt: signedIn, Issuer: "https://issuer.example", Subject: "did:idp:" + name, Primary: true, Username: name, Name: strings.ToUpper(name),
	}, nil
}

// limiter is exact within this process, which is all that one bench has.
type limiter map[caller.Kind]*limit.Local

func newLimiter(now func() time.Time) limiter {
	return limiter{
		caller.Key:     limit.NewLocal("hub", caller.KeyLimit, time.Minute, now),
		caller.Session: limit.NewLocal("hub", caller.SessionLimit, time.Minute, now),
		caller.Login:   limit.NewLocal("hub", caller.LoginLimit, time.Minute, now),
		caller.Token:   limit.NewLocal("hub", caller.TokenLimit, time.Minute, now),
		caller.Client:  limit.NewLocal("hub", caller.ClientLimit, time.Minute, now),
		caller.Consent: limit.NewLocal("hub", caller.ConsentLimit, time.Minute, now),
	}
}

func (l limiter) Count(_ context.Context, kind caller.Kind, whose string) caller.Standing {
	d := l[kind].Allow(whose)
	return caller.Standing{Allowed: d.Allowed, Limit: d.Limit, Remaining: d.Remaining, Retry: d.RetryAfter, Reset: d.Reset}
}

// auditLog keeps entries, or fails.
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

// sequence makes ids that repeat from run to run.
type sequence struct {
	mu sync.Mutex
	n  int
}

func (s *sequence) next() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n++
	return fmt.Sprintf("0199f0a4-0000-7000-8000-%012d", s.n)
}
