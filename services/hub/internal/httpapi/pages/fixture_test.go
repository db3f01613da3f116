package pages_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/labstack/echo/v4"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/testkit"
	cataloguev1 "github.com/signalcast/signalcast/proto/catalogue/v1"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	"github.com/signalcast/signalcast/proto/openapi"
	operatorv1 "github.com/signalcast/signalcast/proto/operator/v1"
	programv1 "github.com/signalcast/signalcast/proto/program/v1"
	recordv1 "github.com/signalcast/signalcast/proto/record/v1"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
	"github.com/signalcast/signalcast/services/api/apitest"
	"github.com/signalcast/signalcast/services/hub/internal/grant"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/reference"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/site"
	"github.com/signalcast/signalcast/services/hub/internal/market"
)

func TestMain(m *testing.M) { testkit.Main(m) }

const (
	hubURL   = "https://hub.example"
	gauge    = "701122"
	callID   = "0199f0f0-0000-7000-8000-0000000000aa"
	question = "Will the Ostrava gauge read above 6 m before 1 December?"
)

// fixture serves only the HTML pages, with a real ledger.
type fixture struct {
	t      testing.TB
	ledger *apitest.API
	mara   *operatorv1.Operator
	router *httpx.Router
	clock  *testkit.Clock
	pins   *pins
	feed   *record
	store  *memoryStore

	failed   []string // failed checks of the hub
	missing  site.DegradedSources
	withheld map[string]bool // handles of hidden and suspended operators

	mu       sync.Mutex
	began    time.Time // start of the last request
	degraded []string  // missing sources of the last answer, as "route source"
}

// pins is a store of pins with a fixed list.
type pins struct {
	market.Store
	list []market.Pin
	err  error
}

func (p *pins) Pins(context.Context, int) ([]market.Pin, error) { return p.list, p.err }

// setup returns a fixture. contact is the contact for security reports; without it there is none.
func setup(t testing.TB, contact ...string) *fixture {
	t.Helper()
	b := &fixture{t: t, clock: testkit.NewClock(time.Date(2026, 9, 18, 12, 0, 0, 0, time.UTC))}
	b.ledger = apitest.Start(t, b.clock.Now)
	conn := b.ledger.Conn(func(r grpc.ServiceRegistrar) {
		programv1.RegisterProgramReadServiceServer(r, programv1.UnimplementedProgramReadServiceServer{})
	})
	log := slog.New(slog.DiscardHandler)
	b.pins, b.feed = &pins{}, &record{}
	b.router = httpx.New(httpx.Config{Log: log, Now: b.clock.Now, Degraded: func(path, source string) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.degraded = append(b.degraded, path+" "+source)
		b.missing.Mark(source, b.clock.Now())
	}})
	ledger := ledgerclient.New(conn)
	ledger.Feed = b.feed
	deps := site.Deps{
		SecurityContact: strings.Join(contact, ""), ReleasedAt: time.Date(2026, 9, 1, 0, 0, 0, 0, time.UTC),
		Withheld: func(context.Context) (map[string]bool, error) { return b.withheld, nil },

		FailedChecks: func(context.Context) []string { return b.failed },
		Missing:      &b.missing,

		HubURL: hubURL, Origin: hubURL, APIURL: "https://api.example", Ledger: ledger,
		Pins:       b.pins,
		Visitor:    func(echo.Context) (grant.Visitor, string, error) { return grant.Visitor{}, "", nil },
		PublicRead: func(next echo.HandlerFunc) echo.HandlerFunc { return next },
		OwnPage:    func(c echo.Context) bool { return httpx.SameOrigin(c.Request(), hubURL) },
		Programs:   programv1.NewProgramReadServiceClient(conn),
		Now:        b.clock.Now, Log: log,
	}
	var err error
	if deps.Guides, err = guides(); err != nil {
		t.Fatal(err)
	}
	if deps.Reference, err = reference.Read(openapi.JSON); err != nil {
		t.Fatal(err)
	}
	b.wirePeople(&deps, conn)
	if err := pages.Mount(b.router, deps); err != nil {
		t.Fatal(err)
	}
	b.fill()
	return b
}

// fill adds a market with content for every part of its page.
func (b *fixture) fill() {
	now := b.clock.Now()
	points := make([]*cataloguev1.HistoryPoint, 0, 61)
	for i := range 61 {
		points = append(points, &cataloguev1.HistoryPoint{T: now.Add(time.Duration(i-60) * time.Minute).Unix(), P: 0.30 + float64(i)/4000})
	}
	b.mara = b.ledger.AddOperator("mara_k")
	b.ledger.AddMarket(apitest.Market{
		ID: gauge, Title: question, Description: "The gauge of the Odra.", End: now.AddDate(0, 0, 73), Yes: 3150, Volume: 182000, Liquidity: 22000.5,
		Volume24h: 9100, URL: "https://venue.example/event/gauge", Lane: "SCIENCE",
	})
	b.ledger.AddMarket(apitest.Market{ID: "kalshi-MILL", Title: "Will the mill race be dry on Sunday?", Yes: 500, Lane: "WORLD"})
	b.addCalls(filedCall{
		ID: callID, Owner: b.mara.GetId(), Market: gauge, Price: 6850, Take: "The dam opened at noon.", At: now.Add(-20 * time.Minute),
	})
	b.ledger.Lock()
	defer b.ledger.Unlock()
	b.ledger.Histories = map[string][]*cataloguev1.HistoryPoint{"24H " + gauge: points, "7D " + gauge: points, "1H " + gauge: points[30:]}
	b.ledger.Sentiments = map[string]*cataloguev1.GetSentimentResponse{gauge: {
		No: 1, WeightNo: 0.7, ConfidenceNo: proto.Float64(70), TakesNo: 1, Signals24H: 1, Move24HBps: proto.Int32(-450),
	}}
	b.ledger.Relations = map[string][]*cataloguev1.Relation{gauge: {{Relation: "same_lane", Market: &marketv1.Market{
		Id: "kalshi-MILL", Provider: "kalshi", Title: "Will the mill race be dry on Sunday?", Status: "open", YesBps: proto.Int32(500), Lane: "WORLD",
	}}}}
	b.ledger.Tiles = map[string][]*cataloguev1.Tile{"": {{
		Id: "ostrava-flood", Label: "River levels", MarketId: gauge, Title: question, Lane: "SCIENCE", MarketCount: 3, Volume24H: 48210.5,
		YesBps: proto.Int32(3150), Move24HBps: proto.Int32(-650),
	}}}
}

func (b *fixture) get(target string) *httptest.ResponseRecorder {
	return b.serve(httptest.NewRequest("GET", target, nil))
}

// post sends a form from a page of the hub.
func (b *fixture) post(target string, form url.Values, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("POST", target, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", echo.MIMEApplicationForm)
	r.Header.Set("Origin", hubURL)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return b.serve(r)
}

func (b *fixture) serve(r *http.Request) *httptest.ResponseRecorder {
	return testkit.Serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b.mu.Lock()
		b.began, b.degraded = time.Now(), nil
		b.mu.Unlock()
		b.router.ServeHTTP(w, r)
	}), r)
}

// edit registers functions that change the calls, operators, markets and other parts of the ledger's answers. A nil function
// changes nothing.
func (b *fixture) edit(call func(*signalv1.Signal), operator func(*operatorv1.Operator), market func(*marketv1.Market), more func(proto.Message)) {
	b.ledger.Edit(func(answer proto.Message) {
		var calls []*signalv1.Signal
		switch a := answer.(type) {
		case *signalv1.GetSignalResponse:
			calls = append(calls, a.GetSignal())
		case *signalv1.ListLedgerResponse:
			calls = a.GetSignals()
		case *recordv1.ListCallsResponse:
			calls = a.GetSignals()
		}
		for _, c := range calls {
			if call != nil {
				call(c)
			}
		}
		if a, ok := answer.(interface{ GetOperator() *operatorv1.Operator }); ok && operator != nil {
			operator(a.GetOperator())
		}
		if a, ok := answer.(*marketv1.GetMarketResponse); ok && market != nil {
			market(a.GetMarket())
		}
		if more != nil {
			more(answer)
		}
	})
}

// has checks that a page has the given status, contains all words, and has neither inline scripts nor inline styles. A word that starts
// with "!" must not be on the page.
func has(t testing.TB, w *httptest.ResponseRecorder, status int, words ...string) {
	t.Helper()
	body := strings.ReplaceAll(w.Body.String(), "&#43;", "+")
	if w.Code != status {
		t.Fatalf("%d, want %d: %.400s", w.Code, status, body)
	}
	for _, word := range words {
		if not, ok := strings.CutPrefix(word, "!"); ok && strings.Contains(body, not) {
			t.Errorf("the page contains %q", not)
		} else if !ok && !strings.Contains(body, word) {
			t.Errorf("the page lacks %q", word)
		}
	}
	scripts := strings.Count(strings.ToLower(body), "<script")
	if scripts != strings.Count(body, `<script type="module" src="/static/`) || strings.Contains(body, " style=") || strings.Contains(body, "ZgotmplZ") {
		t.Error("the page has a script, an inline style or unescaped text")
	}
}

// shared is the argument want of cached for a complete page: shared caches may store it for 10 seconds, and no source is missing.
const shared = "public, s-maxage=10|"

// cached checks the Cache-Control and X-Degraded headers of a page. want has both values in this order, separated by "|".
func cached(t testing.TB, w *httptest.ResponseRecorder, want string) {
	t.Helper()
	if got := fmt.Sprint(w.Header().Get("Cache-Control"), "|", w.Header().Get("X-Degraded")); got != want {
		t.Errorf("the page is cached as %q, want %q", got, want)
	}
}

// checkParts lets each method of the ledger that a page calls fail alone, in three ways. The page must be answered within 3
// seconds, show that the part is missing, and have all other parts. parts maps each method to the text that the page then shows
// and to the text that it then lacks; "" is not checked.
func checkParts(t *testing.T, path, route string, parts map[string][2]string, fill func(*fixture)) {
	t.Helper()
	for _, c := range []struct {
		name   string
		err    error
		source string
	}{
		{"unavailable", apitest.ErrDB, "db"},
		{"broken", errors.New("broken"), "internal_error"},
		{"silent", context.DeadlineExceeded, "signal_service"},
	} {
		for method := range parts {
			t.Run(method+" "+c.name, func(t *testing.T) {
				t.Parallel()
				b := setup(t)
				fill(b)
				b.ledger.Fail(c.err, method)
				w := b.get(path)
				if took := time.Since(b.began); took > 3*time.Second {
					t.Errorf("the page took %v, want at most 3 s", took)
				}
				cached(t, w, "no-store|"+c.source)
				for m, part := range parts {
					if m != method {
						has(t, w, 200, "!"+part[0], part[1])
						continue
					}
					has(t, w, 200, part[0])
					if part[1] != "" {
						has(t, w, 200, "!"+part[1])
					}
				}
				if len(b.degraded) != 1 || b.degraded[0] != route+" "+c.source {
					t.Errorf("counted as degraded: %v", b.degraded)
				}
			})
		}
	}
}

// filedCall is a call that addCalls stores with a given filing time.
type filedCall struct {
	ID, Owner, Market, Title string
	Yes                      bool
	Price                    int // stated and scoring price in bps; the call is verified
	Take                     string
	At                       time.Time
	Status                   string // empty: pending
	Score                    int
}

// addCalls stores calls and updates the counters of filed calls. It does not update the counters of results.
func (b *fixture) addCalls(list ...filedCall) {
	b.t.Helper()
	for _, c := range list {
		b.ledger.Exec(`INSERT INTO signals (id, market_id, user_id, yes, price_bps, score_basis_bps, price_verified, rated, created_at,
				market_title, source, text_take)
			VALUES ($1, $2, $3, $4, $5, $5, true, true, $6, $7, 'web', nullif($8, ''))`,
			c.ID, c.Market, c.Owner, c.Yes, c.Price, c.At, c.Title, c.Take)
		b.ledger.Exec(`INSERT INTO market_totals AS t (market_id, yes, no, crowd_yes, crowd_no) 
			SELECT $1, y, 1 - y, y, 1 - y FROM (SELECT $2::boolean::integer AS y) AS s
			ON CONFLICT (market_id) DO UPDATE SET yes = t.yes + excluded.yes, no = t.no + excluded.no,
				crowd_yes = t.crowd_yes + excluded.yes, crowd_no = t.crowd_no + excluded.no`, c.Market, c.Yes)
		b.ledger.Exec(`UPDATE operator_totals SET total = total + 1 WHERE user_id = $1`, c.Owner)
		if c.Status == "" {
			b.ledger.Exec(`INSERT INTO open_signals (signal_id, market_id, created_at) VALUES ($1, $2, $3)`, c.ID, c.Market, c.At)
			continue
		}
		b.ledger.Exec(`INSERT INTO signal_results (signal_id, event_id, user_id, status, score, outcome, beat_crowd, scoring_version,
				scoring_vertical, resolved_at, basis_bps, counted)
			VALUES ($1, $1, $2, $3, $4, 'YES', false, '1.1', 'OTHER', $5, $6, true)`,
			c.ID, c.Owner, c.Status, c.Score, c.At.Add(time.Hour), c.Price)
	}
}
