package pages_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/labstack/echo/v4"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	cataloguev1 "github.com/signalcast/signalcast/proto/catalogue/v1"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"

	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/services/hub/internal/edge/pages"
	"github.com/signalcast/signalcast/services/hub/internal/grant"
	"github.com/signalcast/signalcast/services/hub/internal/market"
	"github.com/signalcast/signalcast/services/hub/internal/memledger"
	"github.com/signalcast/signalcast/services/hub/internal/upstream"
)

func TestMain(m *testing.M) { testkit.Main(m) }

const (
	hubURL   = "https://hub.example"
	gauge    = "701122"
	callID   = "0199f0f0-0000-7000-8000-0000000000aa"
	question = "Will the Ostrava gauge read above 6 m before 1 December?"
)

// bench is the pages alone over an in-memory ledger.
type bench struct {
	t      testing.TB
	ledger *memledger.Ledger
	edge   *web.Edge
	clock  *testkit.Clock
	pins   *pins
	feed   *record
	kept   *shelves

	mu       sync.Mutex
	degraded []string
}

// pins is a list that nobody changes.
type pins struct {
	list []market.Pin
	err  error
}

func (p *pins) Pins(context.Context, int) ([]market.Pin, error) { return p.list, p.err }

func (p *pins) Pin(_ context.Context, one market.Pin) (market.Pin, error) { return one, p.err }

func (p *pins) Unpin(context.Context, syntax.MarketID) (bool, error) { return false, p.err }

func setup(t testing.TB) *bench {
	t.Helper()
	b := &bench{t: t, clock: testkit.NewClock(time.Date(2026, 9, 18, 12, 0, 0, 0, time.UTC))}
	b.ledger = memledger.New(b.clock.Now)
	conn := testkit.Link(t, b.ledger.Register)
	log := slog.New(slog.DiscardHandler)
	b.pins, b.feed = &pins{}, &record{}
	b.edge = web.New(web.Config{Log: log, Now: b.clock.Now})
	ledger := ledgerclient.New(conn)
	ledger.Feed = b.feed
	deps := pages.Deps{
		HubURL: hubURL, Origin: hubURL, APIURL: "https://api.example", Ledger: ledger,
		Pins: b.pins, Operators: upstream.NewOperators(conn),
		Visitor: func(echo.Context) (grant.Visitor, string, error) { return grant.Visitor{}, "", nil },
		Now:     b.clock.Now, Log: log, Degraded: func(path, source string) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.degraded = append(b.degraded, path+" "+source)
		},
	}
	b.wirePeople(&deps, conn)
	if err := pages.Mount(b.edge, deps); err != nil {
		t.Fatal(err)
	}
	b.fill()
	return b
}

// fill gives the market something for every part of its page.
func (b *bench) fill() {
	now := b.clock.Now()
	points := make([]*cataloguev1.HistoryPoint, 0, 61)
	for i := range 61 {
		points = append(points, &cataloguev1.HistoryPoint{T: now.Add(time.Duration(i-60) * time.Minute).Unix(), P: 0.30 + float64(i)/4000})
	}
	b.ledger.Lock()
	defer b.ledger.Unlock()
	b.ledger.Markets[gauge] = &marketv1.Market{
		Id: gauge, Provider: "polymarket", Title: question, Description: "The gauge of the Odra.", EndDate: timestamppb.New(now.AddDate(0, 0, 73)),
		Status: "open", YesBps: proto.Int32(3150), Volume: proto.Float64(182000), VolumeUnit: "usd", Liquidity: proto.Float64(22000.5),
		Volume24H: proto.Float64(9100), Url: "https://venue.example/event/gauge", Lane: "SCIENCE", UpdatedAt: timestamppb.New(now),
	}
	b.ledger.Markets["kalshi-MILL"] = &marketv1.Market{
		Id: "kalshi-MILL", Provider: "kalshi", Title: "Will the mill race be dry on Sunday?", Status: "open", YesBps: proto.Int32(500), Lane: "WORLD",
	}
	b.ledger.Histories = map[string][]*cataloguev1.HistoryPoint{"24H " + gauge: points, "1H " + gauge: points[30:]}
	b.ledger.Signals = []*memledger.Filed{{Owner: "x", Signal: &signalv1.Signal{
		Id: callID, Handle: "mara_k", PublicId: "op_0123456789abcdef", MarketId: gauge, Direction: "NO", PriceBps: 6850, ScoreBasisBps: 6850, PriceVerified: true, Rated: true, Status: "pending",
		TextTake: proto.String("The dam opened at noon."), CreatedAt: timestamppb.New(now.Add(-20 * time.Minute)),
	}}}
	b.ledger.Sentiments = map[string]*cataloguev1.GetSentimentResponse{gauge: {
		No: 1, WeightNo: 0.7, ConfidenceNo: proto.Float64(70), TakesNo: 1, Signals24H: 1, Move24HBps: proto.Int32(-450),
	}}
	b.ledger.Relations = map[string][]*cataloguev1.Relation{gauge: {{Market: b.ledger.Markets["kalshi-MILL"], Relation: "same_lane"}}}
	b.ledger.Tiles = map[string][]*cataloguev1.Tile{"": {{
		Id: "ostrava-flood", Label: "River levels", MarketId: gauge, Title: question, Lane: "SCIENCE", MarketCount: 3, Volume24H: 48210.5,
		YesBps: proto.Int32(3150), Move24HBps: proto.Int32(-650),
	}}}
}

func (b *bench) get(target string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	b.edge.ServeHTTP(w, httptest.NewRequest("GET", target, nil))
	return w
}

// fail makes the methods answer with an error, or wait until nobody asks any more.
func (b *bench) fail(err error, methods ...string) {
	b.ledger.Lock()
	defer b.ledger.Unlock()
	b.ledger.Before = func(ctx context.Context, method string) error {
		for _, m := range methods {
			if m != method {
				continue
			}
			if err == nil {
				<-ctx.Done()
				return ctx.Err()
			}
			return err
		}
		return nil
	}
}

// set changes the market.
func (b *bench) set(change func(m *marketv1.Market)) {
	b.ledger.Lock()
	defer b.ledger.Unlock()
	m := proto.CloneOf(b.ledger.Markets[gauge])
	change(m)
	b.ledger.Markets[gauge] = m
}

// has demands words of a page, and that others are not on it: those with a mark.
func has(t testing.TB, w *httptest.ResponseRecorder, status int, words ...string) {
	t.Helper()
	body := strings.ReplaceAll(w.Body.String(), "&#43;", "+")
	if w.Code != status {
		t.Fatalf("%d, want %d: %.400s", w.Code, status, body)
	}
	for _, word := range words {
		if not, ok := strings.CutPrefix(word, "!"); ok && strings.Contains(body, not) {
			t.Errorf("it shows %q", not)
		} else if !ok && !strings.Contains(body, word) {
			t.Errorf("it does not show %q", word)
		}
	}
	if strings.Contains(strings.ToLower(body), "<script") || strings.Contains(body, " style=") || strings.Contains(body, "ZgotmplZ") {
		t.Error("a script, a style or something unsafe is on the page")
	}
}

// cached tells how the page may be kept.
func cached(w *httptest.ResponseRecorder) string {
	return fmt.Sprint(w.Header().Get("Cache-Control"), "|", w.Header().Get("X-Degraded"))
}
