package edge

import (
	"bytes"
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/fault"
	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/syntax"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	"github.com/signalcast/signalcast/proto/openapi"
	recordv1 "github.com/signalcast/signalcast/proto/record/v1"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
	"github.com/signalcast/signalcast/services/hub/internal/card"
	"github.com/signalcast/signalcast/services/hub/internal/market"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
	"github.com/signalcast/signalcast/services/hub/internal/record"
	"github.com/signalcast/signalcast/services/hub/internal/share"
	"github.com/signalcast/signalcast/services/hub/internal/signal"
)

// thing is what can be shared: the card of it, where it is, and what it was made of.
type thing struct {
	card.Card
	kind   share.Kind
	id     string // in its one spelling
	url    string
	signal *signalv1.Signal                    // of a signal
	market *marketv1.Market                    // of a market
	record *recordv1.GetOperatorRecordResponse // of an operator
	// disputed: the outcome of the market, or of the call's, is under review
	disputed bool
}

var errNoThing = fault.New(fault.NotFound, "not_found", "")

// thing finds what is named. Fault: not_found.
func (s *server) thing(ctx context.Context, kind, id string) (thing, error) {
	switch share.Kind(kind) {
	case share.Signal:
		return s.signalThing(ctx, id)
	case share.Market:
		return s.marketThing(ctx, id)
	case share.Operator:
		return s.operatorThing(ctx, id)
	}
	return thing{}, errNoThing
}

// disputeWithin bounds the time that the card of a call waits for the catalogue.
const disputeWithin = time.Second

func (s *server) signalThing(ctx context.Context, raw string) (thing, error) {
	id, ok := parseUUID(raw)
	if !ok {
		return thing{}, signal.ErrUnknown
	}
	r, err := s.Ledger.Signals.GetSignal(ctx, &signalv1.GetSignalRequest{Id: id})
	if err != nil {
		return thing{}, err
	}
	waiting, cancel := context.WithTimeout(ctx, disputeWithin)
	defer cancel()
	found := r.GetSignal()
	t := thing{kind: share.Signal, id: id, url: s.HubURL + "/receipts/" + id, signal: found}
	if m, err := s.readMarket(waiting, syntax.MarketID(found.GetMarketId())); err == nil {
		t.disputed = m.GetDisputed()
	}
	who := found.GetPublicId()
	if found.GetHandle() != "" {
		who = "@" + found.GetHandle()
	}
	t.Card = card.Card{
		Kicker: "Call", Title: card.Clean(found.GetMarketTitle()), Name: "Market " + found.GetMarketId(),
		Subtitle: who + " called " + found.GetDirection() + " at " + inCents(found.GetScoreBasisBps()), Accent: card.Plain,
		Lines: []string{"Locked " + day(ledgerclient.Time(found.GetCreatedAt()))},
	}
	if found.GetPriceBps() != found.GetScoreBasisBps() {
		t.Subtitle += ", stated " + inCents(found.GetPriceBps())
	}
	reason := signal.NoPoints(found)
	if reason != "" {
		reason = ", no points: " + reason
	} else if found.Score != nil {
		reason = ", " + points0(*found.Score)
	}
	switch syntax.SignalStatus(found.GetStatus()) {
	case syntax.Won:
		t.Accent, t.Lines = card.Good, append(t.Lines, "Won"+reason)
	case syntax.Lost:
		t.Accent, t.Lines = card.Bad, append(t.Lines, "Lost"+reason)
	case syntax.Void:
		t.Accent, t.Lines = card.Grey, append(t.Lines, "Void: "+signal.NoPoints(found))
	default:
		t.Lines = append(t.Lines, openLine(found)+reason)
	}
	if t.disputed {
		t.Accent, t.Lines = card.Grey, append(t.Lines, underReview)
	}
	return t, nil
}

// underReview is said where the flag stands, claimed or not (contract 4.3.5).
const underReview = "Disputed: the outcome is under review"

func (s *server) marketThing(ctx context.Context, raw string) (thing, error) {
	id, err := syntax.ParseMarketID(raw)
	if err != nil {
		return thing{}, market.ErrUnknown
	}
	m, err := s.readMarket(ctx, id)
	if err != nil {
		return thing{}, oneThing(err)
	}
	t := thing{kind: share.Market, id: m.GetId(), url: s.HubURL + "/m/" + m.GetId(), market: m, disputed: m.GetDisputed()}
	t.Card = card.Card{Kicker: "Market", Title: card.Clean(m.GetTitle()), Name: "Market " + t.id, Accent: card.Plain}
	switch {
	case m.ResolutionValue != nil && t.disputed:
		t.Subtitle = "Resolved: " + m.GetResolutionValue() + ", disputed"
	case m.ResolutionValue != nil:
		t.Subtitle = "Resolved: " + m.GetResolutionValue()
	case m.YesBps != nil:
		t.Subtitle = "YES " + inPercent(m.GetYesBps()) + " · NO " + inPercent(10000-m.GetYesBps())
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

func (s *server) operatorThing(ctx context.Context, raw string) (thing, error) {
	handle, err := syntax.ParseHandle(raw)
	if err != nil {
		return thing{}, operator.ErrUnknown
	}
	r, err := s.Ledger.Records.GetOperatorRecord(ctx, recordOf(handle, atomRecent, 0))
	if err != nil {
		return thing{}, err
	}
	o, st := r.GetOperator(), r.GetStats()
	total, resolved := st.GetTotal(), record.Resolved(st)
	t := thing{kind: share.Operator, id: o.GetHandle(), url: s.HubURL + "/u/" + o.GetHandle(), record: r}
	t.Card = card.Card{
		Kicker: record.Title(resolved), Title: card.Clean(o.GetDisplayName()), Name: "@" + o.GetHandle(),
		Subtitle: "@" + o.GetHandle(), Accent: card.Plain,
		Lines: []string{strconv.FormatInt(total, 10) + plural(total, " call, ", " calls, ") + strconv.FormatInt(resolved, 10) + " decided"},
	}
	if t.Title == "" {
		t.Title = "@" + o.GetHandle()
	}
	if resolved > 0 {
		t.Lines = append(t.Lines, strconv.Itoa(int(st.GetAccuracy()))+" % right, "+points0(int32(st.GetScore())))
	}
	switch tier := syntax.Tier(o.GetTier()); {
	case isAI(o) || tier == syntax.Automated:
		t.Subtitle += " · machine"
	case tier == syntax.House:
		t.Subtitle += " · house"
	}
	return t, nil
}

// card is GET /api/card/{kind}/{id}.
func (s *server) card(c echo.Context) error {
	id, wantsPNG := strings.CutSuffix(c.Param("id"), ".png")
	id, wantsSVG := strings.CutSuffix(id, ".svg")
	c.Response().Header().Set("Vary", "Accept")
	t, err := s.thing(c.Request().Context(), c.Param("kind"), id)
	if err != nil {
		return err
	}
	if c.QueryParam("format") == "json" {
		return tagged(c, openapi.Card{Title: t.Title, Subtitle: t.Subtitle, Lines: t.Lines, Accent: t.Accent, URL: t.url})
	}
	accept := c.Request().Header.Get("Accept")
	wantsPNG = wantsPNG || !wantsSVG && strings.Contains(accept, "image/png") && !strings.Contains(accept, "image/svg+xml")
	svg := t.SVG()
	tag := tagOf(svg)
	if wantsPNG { // another representation, so another tag
		tag = tagOf(append([]byte("png "), svg...))
	}
	h := c.Response().Header()
	// A picture that is opened by itself is a document: it may do nothing.
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	h.Set("X-Content-Type-Options", "nosniff")
	if known(c, tag) {
		return nil
	}
	if !wantsPNG {
		return c.Blob(http.StatusOK, "image/svg+xml", svg)
	}
	png, err := s.pictures.png(c.Request().Context(), tag, &t.Card)
	if err != nil {
		return err
	}
	return c.Stream(http.StatusOK, "image/png", bytes.NewReader(png))
}

// embedded is GET /api/embed/{kind}/{id}: see embeds.go for what each kind says.
func (s *server) embedded(kind share.Kind, param string) echo.HandlerFunc {
	return func(c echo.Context) error {
		t, err := s.thing(c.Request().Context(), string(kind), c.Param(param))
		if err != nil {
			return err
		}
		v, err := s.embedOf(c, &t)
		if err != nil {
			return err
		}
		return tagged(c, v)
	}
}

// openLine describes an open call by the points of either outcome.
func openLine(call *signalv1.Signal) string {
	if signal.NoPoints(call) != "" {
		return "Open"
	}
	won, lost := signal.Points(call)
	most := ""
	if !signal.PriceFinal(call) {
		most = "at most "
	}
	return "Open: " + most + points0(int32(won)) + " if right, " + most + points0(int32(lost)) + " if wrong"
}

func inCents(bps int32) string {
	text := strconv.FormatFloat(float64(bps)/100, 'f', 2, 64)
	return strings.TrimRight(strings.TrimRight(text, "0"), ".") + "¢"
}

func inPercent(bps int32) string { return strings.TrimSuffix(inCents(bps), "¢") + "%" }

func points0(n int32) string {
	if n > 0 {
		return "+" + strconv.Itoa(int(n)) + " points"
	}
	return strconv.Itoa(int(n)) + " points"
}

func day(t time.Time) string { return t.UTC().Format("2 January 2006") }

func plural(n int64, one, more string) string {
	if n == 1 {
		return one
	}
	return more
}
