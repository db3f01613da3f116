package pages

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/fault"
	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/syntax"
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
	HubURL                     string
	Open                       bool // calls are taken
	CallAt                     int  // a price in bps for the example

	Tabs      []tab
	Chart     chart
	ChartAway bool

	Outcome     *outcomePart
	OutcomeAway bool

	Calls      int64
	Newest     []callRow
	Older      []callRow
	LedgerAway bool

	Crowd     *crowdPart // nil: nobody called
	CrowdAway bool
	TopLine   string

	Mood     *moodPart
	MoodAway bool

	Related     []relatedRow
	RelatedAway bool
}

// tab is a link to the same page in another form; Here is the one that is shown.
type tab struct {
	Label, Name, URL string
	Here             bool
}

// The parts of the page, as they are named where they are missing.
const (
	partHistory = "history"
	partLedger  = "ledger"
	partCrowd   = "crowd"
	partOutcome = "outcome"
	partMood    = "sentiment"
	partRelated = "related"
)

// Sizes of the list of calls.
const (
	callsRead  = chartMarks
	callsShown = 12 // the others are folded away
)

// market is GET /m/{marketId}. The market itself must be readable; each of its
// parts may be missing.
func (s *site) market(c echo.Context) error {
	id, err := syntax.ParseMarketID(c.Param("marketId"))
	if err != nil {
		return market.ErrUnknown
	}
	ctx := c.Request().Context()
	m, err := s.readMarket(ctx, string(id))
	if err != nil {
		if fault.Of(err).Kind == fault.NotFound {
			return market.ErrUnknown
		}
		return err
	}
	interval := intervalOf(c.QueryParam("interval"), m)
	var (
		history *cataloguev1.ListHistoryResponse
		ledger  *signalv1.ListLedgerResponse
		crowd   *signalv1.GetCrowdResponse
		outcome *resolutionv1.Outcome
		mood    *cataloguev1.GetSentimentResponse
		related *cataloguev1.GetRelatedResponse
	)
	g := newGather(ctx)
	ask(g, partHistory, &history, func(ctx context.Context) (*cataloguev1.ListHistoryResponse, error) {
		return s.Ledger.Catalogue.ListHistory(ctx, &cataloguev1.ListHistoryRequest{MarketId: string(id), Interval: string(interval)})
	})
	ask(g, partLedger, &ledger, func(ctx context.Context) (*signalv1.ListLedgerResponse, error) {
		return s.Ledger.Signals.ListLedger(ctx, &signalv1.ListLedgerRequest{MarketId: string(id), Limit: callsRead})
	})
	ask(g, partCrowd, &crowd, func(ctx context.Context) (*signalv1.GetCrowdResponse, error) {
		return s.Ledger.Signals.GetCrowd(ctx, &signalv1.GetCrowdRequest{MarketId: string(id)})
	})
	ask(g, partOutcome, &outcome, func(ctx context.Context) (*resolutionv1.Outcome, error) { return s.outcome(ctx, id) })
	ask(g, partMood, &mood, func(ctx context.Context) (*cataloguev1.GetSentimentResponse, error) {
		return s.Ledger.Catalogue.GetSentiment(ctx, &cataloguev1.GetSentimentRequest{MarketId: string(id)})
	})
	ask(g, partRelated, &related, func(ctx context.Context) (*cataloguev1.GetRelatedResponse, error) {
		return s.Ledger.Catalogue.GetRelated(ctx, &cataloguev1.GetRelatedRequest{MarketId: string(id)})
	})
	g.done()

	p := s.marketOf(c, m)
	p.HubURL = s.HubURL
	p.ChartAway, p.LedgerAway, p.CrowdAway = g.missing(partHistory), g.missing(partLedger), g.missing(partCrowd)
	p.OutcomeAway, p.MoodAway, p.RelatedAway = g.missing(partOutcome), g.missing(partMood), g.missing(partRelated)
	p.settle(m, outcome, s.Now())
	p.Tabs = tabsOf(interval)
	p.Chart = plot(stretch{
		Points: history.GetPoints(), Calls: ledger.GetSignals(), Interval: interval, Now: s.Now(),
		Held: m.GetProvider() == string(syntax.Manual), Trades: m.GetStatus() == string(syntax.MarketOpen),
	})
	p.Calls = ledger.GetYes() + ledger.GetNo()
	rows := callsOf(ledger.GetSignals())
	p.Newest, p.Older = rows[:min(len(rows), callsShown)], rows[min(len(rows), callsShown):]
	p.Crowd, p.TopLine = crowdOf(m, crowd)
	p.Mood = moodOf(mood)
	p.Related = relatedOf(related.GetRelated())
	p.Description = p.card()
	s.lessThanWhole(c, g)
	return s.render(c, http.StatusOK, "market", p)
}

// intervalOf returns the requested interval; without one the last day of a market that trades and the
// whole life of one that does not.
func intervalOf(raw string, m *marketv1.Market) market.Interval {
	status := syntax.MarketStatus(m.GetStatus())
	if raw == "" && (status == syntax.MarketClosed || status == syntax.MarketResolved) {
		return market.All
	}
	return market.ParseInterval(raw)
}

func tabsOf(here market.Interval) []tab {
	names := []tab{
		{Label: string(market.Hour), Name: "last hour"},
		{Label: string(market.Day), Name: "last 24 hours"},
		{Label: string(market.Week), Name: "last 7 days"},
		{Label: string(market.All), Name: "since the beginning"},
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
		Venue: venueWord(m.GetProvider()), Lane: laneWord(m.GetLane()), YesLabel: "YES", NoLabel: "NO", CallAt: wholePrice / 2,
		Volume: amount(m.Volume, unit), Volume24h: amount(m.Volume24H, "usd"), Liquidity: amount(m.Liquidity, unit),
	}
	p.Wide, p.Here = true, "markets"
	p.shared(s.HubURL, "market", p.ID)
	if m.GetProvider() == string(syntax.Manual) { // it has no book
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
		yes := min(max(int(m.GetYesBps()), 0), wholePrice)
		p.Priced, p.Yes, p.No, p.YesPct = true, percent(yes), percent(wholePrice-yes), float64(yes)/100
		p.CallAt = min(max(yes, 1), wholePrice-1)
	}
	if end := ledgerclient.Time(m.GetEndDate()); !end.IsZero() {
		p.Ends, p.EndsISO, p.Left = when(end), syntax.Stamp(end), left(end, s.Now())
	}
	return p
}

// card is the page in one line, for those who see no more of it.
func (p *marketPage) card() string {
	text := p.Status.Word + "."
	if p.Priced {
		text = p.YesLabel + " " + p.Yes + ", " + p.NoLabel + " " + p.No + ". " + text
	}
	if !p.LedgerAway {
		text += " " + many(p.Calls, "call") + "."
	}
	if p.Ends != "" {
		text += " Ends " + p.Ends + "."
	}
	return text
}
