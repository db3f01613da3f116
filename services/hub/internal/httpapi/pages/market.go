package pages

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/protocol"
	cataloguev1 "github.com/signalcast/signalcast/proto/catalogue/v1"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	resolutionv1 "github.com/signalcast/signalcast/proto/resolution/v1"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
	"github.com/signalcast/signalcast/services/hub/internal/market"
)

type marketPage struct {
	frame
	ID, Question, About        string
	Venue, VenueURL, Lane      string
	Status                     badge
	Priced                     bool
	Yes, No, YesLabel, NoLabel string
	YesPct                     float64
	Close                      string
	Ends, EndsISO, Left        string
	Volume, Volume24h          string
	Liquidity, Source          string
	Open                       bool // calls are taken
	CallAt                     int  // a price in bps for the example

	Tabs          []tab
	Chart         chart
	Outcome       *outcomePart
	Calls         int64
	Newest, Older []callRow
	Crowd         *crowdPart // nil: there is no call
	TopLine       string
	Mood          *moodPart
	Related       []marketRow
}

// tab is a link to the same page in another form; Here is the one that is shown.
type tab struct {
	Label, Name, URL string
	Here             bool
}

// Sizes of the list of calls.
const (
	callsRead  = chartMarks
	callsShown = 12 // the others are folded away
)

// market is GET /m/{marketId}. The market itself must be readable; each of its
// parts may be missing.
func (s *site) market(c echo.Context) error {
	id, err := protocol.ParseMarketID(c.Param("marketId"))
	if err != nil {
		return market.ErrUnknown
	}
	ctx := c.Request().Context()
	m, err := s.Ledger.Market(ctx, id)
	if err != nil {
		return market.ReadError(err)
	}
	interval := intervalOf(c.QueryParam("interval"), m)
	g := newGather(ctx, partsWithin)
	history := askFor(g, "history", s.Ledger.Catalogue.ListHistory, &cataloguev1.ListHistoryRequest{
		MarketId: string(id), Interval: string(interval),
	})
	ledger := askFor(g, "ledger", s.Ledger.Signals.ListLedger, &signalv1.ListLedgerRequest{
		MarketId: string(id), Limit: callsRead,
	})
	crowd := askFor(g, "crowd", s.Ledger.Signals.GetCrowd, &signalv1.GetCrowdRequest{MarketId: string(id)})
	outcome := ask(g, "outcome", func(ctx context.Context) (*resolutionv1.Outcome, error) { return s.Ledger.Outcome(ctx, id) })
	mood := askFor(g, "sentiment", s.Ledger.Catalogue.GetSentiment, &cataloguev1.GetSentimentRequest{MarketId: string(id)})
	related := askFor(g, "related", s.Ledger.Catalogue.GetRelated, &cataloguev1.GetRelatedRequest{MarketId: string(id)})
	away := g.done()

	p := s.marketOf(c, m)
	p.Away = away
	p.settle(m, outcome.Value, s.Now())
	p.Tabs = tabsOf(interval)
	p.Chart = plot(stretch{
		Points: history.Value.GetPoints(), Calls: ledger.Value.GetSignals(), Interval: interval, Now: s.Now(),
		Held: m.GetProvider() == string(protocol.Manual), Trades: m.GetStatus() == string(protocol.MarketOpen),
	})
	p.Calls = ledger.Value.GetYes() + ledger.Value.GetNo()
	rows := callsOf(ledger.Value.GetSignals())
	p.Newest, p.Older = rows[:min(len(rows), callsShown)], rows[min(len(rows), callsShown):]
	p.Crowd, p.TopLine = crowdOf(m, crowd.Value)
	p.Mood = moodOf(mood.Value)
	p.Related = relatedOf(related.Value.GetRelated())
	p.Description = p.card()
	return s.renderParts(c, g, http.StatusOK, "market", p)
}

// intervalOf returns the requested interval; without one the last day of a market that trades and the
// whole life of one that does not.
func intervalOf(raw string, m *marketv1.Market) protocol.Interval {
	status := protocol.MarketStatus(m.GetStatus())
	if raw == "" && (status == protocol.MarketClosed || status == protocol.MarketResolved) {
		return protocol.IntervalAll
	}
	return protocol.ParseInterval(raw)
}

func tabsOf(here protocol.Interval) []tab {
	names := []tab{
		{Label: string(protocol.IntervalHour), Name: "last hour"},
		{Label: string(protocol.IntervalDay), Name: "last 24 hours"},
		{Label: string(protocol.IntervalWeek), Name: "last 7 days"},
		{Label: string(protocol.IntervalAll), Name: "all time"},
	}
	for i := range names {
		names[i].URL = "?interval=" + names[i].Label + "#price"
		names[i].Here = names[i].Label == string(here)
	}
	return names
}

func (s *site) marketOf(c echo.Context, m *marketv1.Market) marketPage {
	id, unit := m.GetId(), m.GetVolumeUnit()
	p := marketPage{
		frame: s.frame(c, m.GetTitle(), "", "/m/"+id), ID: id, Question: m.GetTitle(), About: m.GetDescription(),
		Venue: venueWord(m.GetProvider()), Lane: capital(m.GetLane()), YesLabel: "YES", NoLabel: "NO", CallAt: wholePrice / 2,
		Volume: amount(m.Volume, unit), Volume24h: amount(m.Volume24H, "usd"), Liquidity: amount(m.Liquidity, unit),
	}
	p.Wide, p.Here = true, "markets"
	p.shared(s.HubURL, "market", p.ID)
	if m.GetProvider() == string(protocol.Manual) { // it has no book
		p.Volume, p.Volume24h, p.Liquidity = "", "", ""
	} else {
		p.VenueURL = link(m.GetUrl())
	}
	if m.ResolutionSource != nil {
		p.Source = link(m.GetResolutionSource())
	}
	if labels := market.Labels(m); labels != nil {
		p.YesLabel, p.NoLabel = labels[0], labels[1]
	}
	if m.YesBps != nil {
		yes := bounded(m.GetYesBps())
		p.Priced, p.Yes, p.No, p.YesPct = true, percent(yes), percent(wholePrice-yes), float64(yes)/100
		p.CallAt = min(max(yes, 1), wholePrice-1)
	}
	if end := ledgerclient.Time(m.GetEndDate()); !end.IsZero() {
		p.Ends, p.EndsISO, p.Left = when(end), protocol.Stamp(end), left(end, s.Now())
	}
	return p
}

// card is the page in one line, for those who see no more of it.
func (p *marketPage) card() string {
	text := p.Status.Word + "."
	if p.Priced {
		text = p.YesLabel + " " + p.Yes + ", " + p.NoLabel + " " + p.No + ". " + text
	}
	if !p.Away["ledger"] {
		text += " " + many(p.Calls, "call") + "."
	}
	if p.Ends != "" {
		text += " Ends " + p.Ends + "."
	}
	return text
}
