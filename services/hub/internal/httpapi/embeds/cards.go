package embeds

import (
	"bytes"
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
	"golang.org/x/sync/semaphore"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/cache"
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/protocol"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	"github.com/signalcast/signalcast/proto/openapi"
	recordv1 "github.com/signalcast/signalcast/proto/record/v1"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
	"github.com/signalcast/signalcast/services/hub/internal/card"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/request"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
	"github.com/signalcast/signalcast/services/hub/internal/livestream"
	"github.com/signalcast/signalcast/services/hub/internal/market"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
	"github.com/signalcast/signalcast/services/hub/internal/record"
	"github.com/signalcast/signalcast/services/hub/internal/share"
	"github.com/signalcast/signalcast/services/hub/internal/signal"
)

// Server has the handlers of share cards, embeds and short links.
type Server struct {
	HubURL string
	Ledger *ledgerclient.Client
	Links  share.Store
	OnAir  *livestream.Service
	Now    func() time.Time

	pictures *cache.Cache[string, []byte] // PNG files by entity tag
	drawing  *semaphore.Weighted
}

// Limits for rendering PNG files. One file takes about 20 ms of CPU time.
const (
	maxDrawing = 2                      // maximum number of concurrent renderings
	maxCached  = 128                    // maximum number of cached PNG files
	drawWithin = 900 * time.Millisecond // time limit, including the wait for other renderings
)

// New sets up the cache of PNG files of s and returns s.
func New(s *Server, b *view.Caches) *Server {
	s.pictures = cache.New(cache.Options[string, []byte]{
		TTL: 24 * time.Hour, Hold: -1, Timeout: drawWithin, MaxKeys: maxCached, Now: s.Now,
	})
	b.OnClose(s.pictures.Close)
	s.drawing = semaphore.NewWeighted(maxDrawing)
	return s
}

// png returns the PNG file of a card. tag is its entity tag and cache key. At most maxDrawing files are rendered concurrently.
// Errors are not cached.
func (s *Server) png(ctx context.Context, tag string, c *card.Card) ([]byte, error) {
	return s.pictures.Get(ctx, tag, func(ctx context.Context, _ []byte) ([]byte, error) {
		if err := s.drawing.Acquire(ctx, 1); err != nil {
			return nil, err
		}
		defer s.drawing.Release(1)
		return c.PNG()
	})
}

// item is a call, market, operator or broadcast that can be shared. It has a card, a URL and the ledger response.
type item struct {
	card.Card
	kind     share.Kind
	id       string // in the form that the ledger stores
	url      string
	signal   *signalv1.Signal                    // nil unless kind is share.Signal
	market   *marketv1.Market                    // nil unless kind is share.Market
	sides    *openapi.MarketSides                // of the market or of the market of the call; nil if they are Yes and No
	record   *recordv1.GetOperatorRecordResponse // nil unless kind is share.Operator
	show     livestream.Session                  // valid if kind is broadcast
	side     string                              // name of the called side, or of the side YES of a market
	disputed bool                                // the outcome of the market is under review
}

var errItemNotFound = apperr.New(apperr.NotFound, "not_found",
	"there is no such card; kind must be operator, market, signal or broadcast, and id must exist")

// item returns the item with the given kind and id. Error: not_found.
func (s *Server) item(ctx context.Context, kind, id string) (item, error) {
	switch share.Kind(kind) {
	case share.Signal:
		return s.signalItem(ctx, id)
	case share.Market:
		return s.marketItem(ctx, id)
	case share.Operator:
		return s.operatorItem(ctx, id)
	case broadcast:
		return s.broadcastItem(ctx, id)
	}
	return item{}, errItemNotFound
}

// disputeTimeout is the time limit for reading the market of a call. If the read fails, the card does not show whether the market
// is disputed.
const disputeTimeout = time.Second

func (s *Server) signalItem(ctx context.Context, raw string) (item, error) {
	id, ok := request.ParseUUID(raw)
	if !ok {
		return item{}, signal.ErrUnknown
	}
	r, err := s.Ledger.Signals.GetSignal(ctx, &signalv1.GetSignalRequest{Id: id})
	if err != nil {
		return item{}, err
	}
	waiting, cancel := context.WithTimeout(ctx, disputeTimeout)
	defer cancel()
	found := r.GetSignal()
	t := item{kind: share.Signal, id: id, url: s.HubURL + "/receipts/" + id, signal: found}
	side := found.GetDirection()
	if m, err := s.Ledger.Market(waiting, protocol.MarketID(found.GetMarketId())); err == nil {
		t.disputed, t.sides, side = m.GetDisputed(), showSides(m), view.SideName(m, side)
	}
	who := found.GetPublicId()
	if found.GetHandle() != "" {
		who = "@" + found.GetHandle()
	}
	t.side = side
	t.Card = card.Card{
		Kicker: "Call", Title: card.Clean(found.GetMarketTitle()), Name: "Market " + found.GetMarketId(),
		Subtitle: who + " called " + side + " at " + inCents(found.GetScoreBasisBps()), Accent: card.Plain,
		Lines: []string{"Filed " + day(ledgerclient.Time(found.GetCreatedAt()))},
	}
	if found.Confidence != nil {
		t.Lines[0] += ", " + strconv.Itoa(int(found.GetConfidence())) + "% confident"
	}
	if found.GetPriceBps() != found.GetScoreBasisBps() {
		t.Subtitle += ", stated " + inCents(found.GetPriceBps())
	}
	reason := signal.NoPoints(found)
	if reason != "" {
		reason = ", no points: " + reason
	} else if found.Score != nil {
		reason = ", " + view.PointsLabel(int64(*found.Score))
	}
	t.Stamp = found.GetStatus()
	if t.Stamp == string(protocol.Pending) {
		t.Stamp = "Open"
	}
	switch protocol.SignalStatus(found.GetStatus()) {
	case protocol.Won:
		t.Accent, t.Lines = card.Good, append(t.Lines, "Won"+reason)
	case protocol.Lost:
		t.Accent, t.Lines = card.Bad, append(t.Lines, "Lost"+reason)
	case protocol.Void:
		t.Accent, t.Lines = card.Grey, append(t.Lines, "Void: "+signal.NoPoints(found))
	default:
		t.Lines = append(t.Lines, openLine(found)+reason)
	}
	if t.disputed {
		t.Accent, t.Lines = card.Grey, append(t.Lines, underReview)
	}
	return t, nil
}

// underReview is the line on the card of a disputed market or call.
const underReview = "Disputed: the outcome is under review"

func (s *Server) marketItem(ctx context.Context, raw string) (item, error) {
	id, err := protocol.ParseMarketID(raw)
	if err != nil {
		return item{}, market.ErrUnknown
	}
	m, err := s.Ledger.Market(ctx, id)
	if err != nil {
		return item{}, market.ReadError(err)
	}
	t := item{kind: share.Market, id: m.GetId(), url: s.HubURL + "/m/" + m.GetId(), market: m, disputed: m.GetDisputed()}
	t.sides, t.side = showSides(m), view.SideName(m, string(protocol.Yes))
	t.Card = card.Card{Kicker: "Market", Title: card.Clean(m.GetTitle()), Name: "Market " + t.id, Accent: card.Plain}
	name := func(side string) string { return view.SideName(m, side) }
	switch {
	case m.ResolutionValue != nil && t.disputed:
		t.Subtitle = "Resolved: " + name(view.OutcomeLabel(m.GetResolutionValue())) + ", disputed"
	case m.ResolutionValue != nil:
		t.Subtitle = "Resolved: " + name(view.OutcomeLabel(m.GetResolutionValue()))
	case m.YesBps != nil:
		t.Subtitle = name(string(protocol.Yes)) + " " + inCents(m.GetYesBps()) + " · " +
			name(string(protocol.No)) + " " + inCents(10000-m.GetYesBps())
	}
	calls := m.GetYes() + m.GetNo()
	t.Lines = []string{strconv.FormatInt(calls, 10) + plural(calls, " call", " calls")}
	if m.GetEndDate() != nil && m.ResolutionValue == nil {
		t.Lines = append(t.Lines, "Ends "+day(m.GetEndDate().AsTime()))
	}
	if t.disputed {
		t.Accent, t.Lines = card.Grey, append(t.Lines, underReview)
	}
	return t, nil
}

// recentCalls is the number of newest calls in an embed of an operator.
const recentCalls = 10

func (s *Server) operatorItem(ctx context.Context, raw string) (item, error) {
	handle, err := protocol.ParseHandle(raw)
	if err != nil {
		return item{}, operator.ErrUnknown
	}
	r, err := s.Ledger.Records.GetOperatorRecord(ctx, record.Request(handle, recentCalls, 0))
	if err != nil {
		return item{}, err
	}
	o, st := r.GetOperator(), r.GetStats()
	total, resolved := st.GetTotal(), record.Resolved(st)
	t := item{kind: share.Operator, id: o.GetHandle(), url: s.HubURL + "/u/" + o.GetHandle(), record: r}
	t.Card = card.Card{
		Kicker: "Level " + strconv.Itoa(record.Level(resolved)) + " forecaster", Title: card.Clean(o.GetDisplayName()), Name: "@" + o.GetHandle(),
		Subtitle: "@" + o.GetHandle(), Accent: card.Plain,
		Lines: []string{
			strconv.FormatInt(total, 10) + plural(total, " call, ", " calls, ") + strconv.FormatInt(resolved, 10) + " resolved",
		},
	}
	if t.Title == "" {
		t.Title = "@" + o.GetHandle()
	}
	if resolved > 0 {
		t.Lines = append(t.Lines, strconv.Itoa(int(st.GetAccuracy()))+"% win rate, "+view.PointsLabel(st.GetScore()))
	}
	switch tier := protocol.Tier(o.GetTier()); {
	case view.IsAI(o) || tier == protocol.Automated:
		t.Subtitle += " · bot"
	case tier == protocol.House:
		t.Subtitle += " · house"
	}
	return t, nil
}

// Card handles GET /api/card/{kind}/{id}. The response is JSON for format=json. Otherwise it is a PNG file for the extension
// .png, and an SVG file for .svg. Without an extension, it is a PNG file if the Accept header names PNG but not SVG, otherwise
// an SVG file.
func (s *Server) Card(c echo.Context) error {
	id, wantsPNG := strings.CutSuffix(c.Param("id"), ".png")
	id, wantsSVG := strings.CutSuffix(id, ".svg")
	c.Response().Header().Set("Vary", "Accept")
	t, err := s.item(c.Request().Context(), c.Param("kind"), id)
	if err != nil {
		return err
	}
	if c.QueryParam("format") == "json" {
		return httpx.Tagged(c, openapi.Card{Title: t.Title, Subtitle: t.Subtitle, Lines: t.Lines, Accent: t.Accent, URL: t.url})
	}
	s.addChart(c.Request().Context(), &t)
	accept := c.Request().Header.Get("Accept")
	wantsPNG = wantsPNG || !wantsSVG && strings.Contains(accept, "image/png") && !strings.Contains(accept, "image/svg+xml")
	svg := t.SVG()
	tag := httpx.TagOf(svg)
	if wantsPNG { // PNG and SVG need different entity tags
		tag = httpx.TagOf(append([]byte("png "), svg...))
	}
	h := c.Response().Header()
	// A browser that opens an SVG file directly treats it as a document, so scripts must be blocked.
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	h.Set("X-Content-Type-Options", "nosniff")
	if httpx.NotModified(c, tag) {
		return nil
	}
	if !wantsPNG {
		return c.Blob(http.StatusOK, "image/svg+xml", svg)
	}
	png, err := s.png(c.Request().Context(), tag, &t.Card)
	if err != nil {
		return err
	}
	return c.Stream(http.StatusOK, "image/png", bytes.NewReader(png))
}

// Embedded returns the handler of GET /api/embed/{kind}/{id}. param is the name of the path parameter with the id.
func (s *Server) Embedded(kind share.Kind, param string) echo.HandlerFunc {
	return func(c echo.Context) error {
		t, err := s.item(c.Request().Context(), string(kind), c.Param(param))
		if err != nil {
			return err
		}
		v, err := s.embedOf(c, &t)
		return view.Tagged(c, v, err)
	}
}

// openLine returns the card line of an open call, with the points for a win and for a loss. If the call cannot get points, the
// line has no points.
func openLine(call *signalv1.Signal) string {
	if signal.NoPoints(call) != "" {
		return "Open"
	}
	won, lost := signal.Points(call)
	atMost, orLower := "", ""
	if !signal.PriceFinal(call) {
		atMost, orLower = "at most ", " or lower"
	}
	return "Open: " + atMost + view.PointsLabel(int64(won)) + " if won, " + view.PointsLabel(int64(lost)) + orLower + " if lost"
}

func inCents(bps int32) string {
	text := strconv.FormatFloat(float64(bps)/100, 'f', 2, 64)
	return strings.TrimRight(strings.TrimRight(text, "0"), ".") + "¢"
}

func day(t time.Time) string { return t.UTC().Format("2 January 2006") }

func plural(n int64, one, more string) string {
	if n == 1 {
		return one
	}
	return more
}
