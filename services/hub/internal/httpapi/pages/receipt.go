package pages

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/protocol"
	cataloguev1 "github.com/signalcast/signalcast/proto/catalogue/v1"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	resolutionv1 "github.com/signalcast/signalcast/proto/resolution/v1"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/format"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/site"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/request"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
	"github.com/signalcast/signalcast/services/hub/internal/signal"
)

type receiptPage struct {
	site.Layout
	ID, MarketID, MarketTitle string
	Side, SideClass, Price    string
	Yes                       string // name of the side YES
	Status, StatusLabel       string
	Settled                   bool
	Score, ScoreUnit          string
	Upside, Downside          string // points of an open call if it is won or lost
	UpsideUnit, DownsideUnit  string
	AtMost                    string // prefix of Upside while the scoring price can still rise; Downside can then become lower
	Stated, NoPoints          string
	Take                      string
	Handle, PublicID          string
	Filed, FiledISO           string
	Crowd, Confidence         string
	Close, CLV, Outcome       string
	Resolved, Resolver        string
	ProofURL, Proof, Disputed string
	Bars                      []format.Bar
	BarsWidth                 int
	Chart                     chart
	Events                    []receiptEvent
	Update                    *eventPanel // nil unless the visitor filed the call
	Share                     *sharePanel // nil if the call is not public
}

type receiptEvent struct {
	Label, Text, Link string
	At, AtISO         string
}

// receipt handles GET /receipts/{id}, the page of a call. Clients that prefer JSON get the receipt as JSON.
func (s *server) receipt(c echo.Context) error {
	if site.WantsJSON(c.Request()) {
		return s.ReceiptJSON(c)
	}
	id, ok := request.ParseUUID(c.Param("id"))
	if !ok {
		return signal.ErrUnknown
	}
	return s.showReceipt(c, http.StatusOK, id, eventFormOf(s.Draft(c, site.ReceiptPath+id)))
}

// showReceipt renders the page of a call, with the state of the forms that update it.
func (s *server) showReceipt(c echo.Context, status int, id string, form eventForm) error {
	ctx := c.Request().Context()
	found, err := s.Ledger.Signals.GetSignal(ctx, &signalv1.GetSignalRequest{Id: id})
	if err != nil {
		return err
	}
	events, err := s.Ledger.Signals.ListEvents(ctx, &signalv1.ListEventsRequest{SignalId: id})
	if err != nil {
		return err
	}
	sig := found.GetSignal()
	g := site.NewPartReader(ctx, site.PartsTimeout)
	from, to, interval := view.CallPeriod(sig, s.Now())
	history := site.CallPart(g, "history", s.Ledger.Catalogue.ListHistory, &cataloguev1.ListHistoryRequest{
		MarketId: sig.GetMarketId(), Interval: string(interval),
	})
	m := s.sidesOf(ctx, sig.GetMarketId())
	outcome, _ := s.Ledger.Outcome(ctx, protocol.MarketID(sig.GetMarketId())) // without the outcome, the page is still served
	unavailable := g.Wait()
	p := s.receiptOf(c, sig, m)
	p.Unlisted, p.Unavailable = sig.GetUnconfirmed(), unavailable
	p.addResult(sig, outcome)
	p.Chart = newChart(chartInput{
		Market: m, Side: protocol.Side(sig.GetDirection()), Points: history.Value.GetPoints(), Own: sig, Receipt: true,
		Interval: interval, From: from, Now: to, Stepped: m.GetProvider() == string(protocol.Manual),
		Trading: m.GetStatus() == string(protocol.MarketOpen) && !p.Settled,
	})
	p.Outcome = view.SideName(m, p.Outcome)
	for _, e := range events.GetEvents() {
		if signal.EventType(e.GetType()) != signal.Resolved {
			p.Events = append(p.Events, eventOf(e))
		}
	}
	if v := s.Viewer(c); v.Handle != "" && v.Handle == sig.GetHandle() && v.DeletesOn() == "" || form.err != nil {
		p.Update = s.eventPanelOf(c, sig, form)
	}
	if !p.Unlisted {
		p.Share = s.shareOf(id, p.Side, p.Price, p.MarketTitle)
	}
	return s.RenderParts(c, g, status, "receipt", p)
}

// sidesOf returns a market with the names of its sides. It returns nil if the market cannot be read within titlesTimeout; a page
// then shows YES and NO.
func (s *server) sidesOf(ctx context.Context, id string) *marketv1.Market {
	ctx, cancel := context.WithTimeout(ctx, titlesTimeout)
	defer cancel()
	m, err := s.Ledger.Market(ctx, protocol.MarketID(id))
	if err != nil {
		return nil
	}
	return m
}

// marketsOf returns the markets with the given ids, by id, with the names of their sides. All are read at once. If they cannot be
// read within titlesTimeout, the result is empty; a page then shows YES and NO.
func (s *server) marketsOf(ctx context.Context, ids ...string) map[string]*marketv1.Market {
	slices.Sort(ids)
	if ids = slices.Compact(ids); len(ids) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, titlesTimeout)
	defer cancel()
	r, err := s.Ledger.Markets.ListMarkets(ctx, &marketv1.ListMarketsRequest{Ids: ids})
	if err != nil {
		return nil
	}
	out := make(map[string]*marketv1.Market, len(ids))
	for _, m := range r.GetMarkets() {
		out[m.GetId()] = m
	}
	return out
}

// receiptOf returns the page of a call. m has the names of the sides of its market; it may be nil.
func (s *server) receiptOf(c echo.Context, sig *signalv1.Signal, m *marketv1.Market) receiptPage {
	id, status, title := sig.GetId(), sig.GetStatus(), sig.GetMarketTitle()
	side := view.SideName(m, sig.GetDirection())
	price, filed := format.Cents(sig.GetScoreBasisBps()), ledgerclient.Time(sig.GetCreatedAt())
	won, lost := signal.Points(sig)
	p := receiptPage{
		Layout: s.NewLayout(c, side+" at "+price+": "+title,
			format.CallerName(sig)+" called "+side+" at "+price+", filed "+format.When(filed)+".", "/receipts/"+id),
		ID: id, MarketID: sig.GetMarketId(), MarketTitle: title, Side: side, SideClass: format.SideClass(sig.GetDirection()), Price: price,
		Yes:    view.SideName(m, string(protocol.Yes)),
		Status: status, StatusLabel: format.StatusLabel(status), Settled: protocol.SignalStatus(status) != protocol.Pending,
		Upside: format.Signed(won), UpsideUnit: view.PointsUnit(int64(won)),
		Downside: format.Signed(lost), DownsideUnit: view.PointsUnit(int64(lost)), NoPoints: signal.NoPoints(sig),
		Handle: sig.GetHandle(), PublicID: sig.GetPublicId(), Take: sig.GetTextTake(),
		Filed: format.When(filed), FiledISO: protocol.Stamp(filed),
	}
	p.AddPreview(s.HubURL, "signal", id)
	p.Bars, p.BarsWidth = format.Bars(id)
	if sig.GetPriceBps() != sig.GetScoreBasisBps() {
		p.Stated = format.Cents(sig.GetPriceBps())
	}
	if !signal.PriceFinal(sig) {
		p.AtMost = "at most "
	}
	if sig.MarketYesBps != nil {
		p.Crowd = format.Cents(sig.GetMarketYesBps())
	}
	if sig.Confidence != nil {
		p.Confidence = strconv.Itoa(int(sig.GetConfidence()))
	}
	return p
}

// addResult adds the result of the call, and the outcome of its market unless o is nil.
func (p *receiptPage) addResult(sig *signalv1.Signal, o *resolutionv1.Outcome) {
	if sig.Score != nil {
		p.Score, p.ScoreUnit = format.Signed(int(sig.GetScore())), view.PointsUnit(int64(sig.GetScore()))
	}
	if sig.ClosePriceBps != nil {
		p.Close = format.Cents(sig.GetClosePriceBps())
	}
	if sig.ClvBps != nil {
		p.CLV = moveOf(int(sig.GetClvBps()))
	}
	if at := sig.GetResolvedAt(); at != nil {
		p.Resolved = format.When(at.AsTime())
	}
	if o == nil {
		return
	}
	if o.Outcome != nil {
		p.Outcome = view.OutcomeLabel(*o.Outcome)
	}
	p.Resolver, p.ProofURL, p.Proof, p.Disputed = resolverOf(o), proofURL(o), proofLabel(o), disputeReason(o)
}

// moveOf returns the text for a closing line value in bps: the change of the price of a side between the call and the close.
func moveOf(bps int) string {
	switch {
	case bps > 0:
		return "Price moved " + format.Cents(bps) + " in favour of this call by the close"
	case bps < 0:
		return "Price moved " + format.Cents(-bps) + " against this call by the close"
	}
	return "Price did not move between this call and the close"
}

// resolverLabels maps the resolvers of the ledger to the texts of the pages.
var resolverLabels = map[string]string{"admin": "Administrator", "manual": "Administrator", "oracle": "Oracle"}

// defaultSource is the source of an outcome whose administrator named no source. Pages do not show it.
const defaultSource = "native"

// resolverOf returns the label of the resolver of an outcome, or "" without a resolver. The label is the name of the venue if the
// resolver is an oracle and the source is a venue. Otherwise resolverOf appends the source, unless it is empty, equal to the
// resolver, or defaultSource.
func resolverOf(o *resolutionv1.Outcome) string {
	if o.Resolver == nil {
		return ""
	}
	label, source := cmp.Or(resolverLabels[*o.Resolver], *o.Resolver), o.GetSource()
	if *o.Resolver == "oracle" && isVenue(source) {
		return format.VenueName(source) + " (oracle)"
	}
	if source == "" || source == *o.Resolver || source == defaultSource {
		return label
	}
	return label + " (source: " + source + ")"
}

// isVenue reports whether source names an external venue.
func isVenue(source string) bool {
	p, ok := protocol.ParseProvider(source)
	return ok && p != protocol.Manual
}

// proofURL returns the URL of the evidence of an outcome. It returns "" if there is none, or if it is not an https URL.
func proofURL(o *resolutionv1.Outcome) string {
	if address := format.Link(o.GetProofUrl()); strings.HasPrefix(strings.ToLower(address), "https:") {
		return address
	}
	return ""
}

// proofLabel returns the text of the link to the evidence of an outcome.
func proofLabel(o *resolutionv1.Outcome) string {
	if isVenue(o.GetSource()) {
		return "See the result on " + format.VenueName(o.GetSource())
	}
	return "Evidence of the outcome"
}

func disputeReason(o *resolutionv1.Outcome) string {
	switch {
	case !o.GetDisputed():
		return ""
	case o.DisputeReason == nil:
		return "the outcome is under review"
	}
	return *o.DisputeReason
}

var eventLabels = map[signal.EventType]string{
	signal.Take: "Take", signal.Reaffirm: "Reaffirmed", signal.Confidence: "Confidence", signal.Note: "Note",
	signal.Share: "Shared",
}

func eventOf(e *signalv1.Event) receiptEvent {
	var payload struct {
		Text       string `json:"text"`
		URL        string `json:"url"`
		Channel    string `json:"channel"`
		Confidence *int   `json:"confidence"`
	}
	// If the payload is invalid, the event is shown without details.
	_ = json.Unmarshal([]byte(e.GetPayload()), &payload)
	kind, at := signal.EventType(e.GetType()), ledgerclient.Time(e.GetCreatedAt())
	out := receiptEvent{Label: eventLabels[kind], Text: payload.Text, Link: payload.URL, At: format.When(at), AtISO: protocol.Stamp(at)}
	switch {
	case kind == signal.Confidence && payload.Confidence != nil:
		out.Text = strconv.Itoa(*payload.Confidence) + "%"
	case kind == signal.Share && payload.Channel != "":
		out.Text = payload.Channel
	}
	return out
}
