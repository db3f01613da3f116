package pages

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/fault"
	"github.com/signalcast/signalcast/pkg/syntax"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
	"github.com/signalcast/signalcast/services/hub/internal/market"
	"github.com/signalcast/signalcast/services/hub/internal/resolution"
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
	m, err := s.Markets.Market(ctx, id)
	if err != nil {
		if fault.Of(err).Kind == fault.NotFound {
			return market.ErrUnknown
		}
		return err
	}
	interval := s.interval(c.QueryParam("interval"), &m)
	var (
		points  []market.Point
		ledger  *signalv1.ListLedgerResponse
		crowd   *signalv1.GetCrowdResponse
		outcome *resolution.Outcome
		mood    market.Sentiment
		related market.Related
	)
	g := newGather(ctx)
	ask(g, partHistory, &points, func(ctx context.Context) ([]market.Point, error) { return s.Catalogue.History(ctx, id, "", interval) })
	ask(g, partLedger, &ledger, func(ctx context.Context) (*signalv1.ListLedgerResponse, error) {
		return s.Ledger.Signals.ListLedger(ctx, &signalv1.ListLedgerRequest{MarketId: string(id), Limit: callsRead})
	})
	ask(g, partCrowd, &crowd, func(ctx context.Context) (*signalv1.GetCrowdResponse, error) {
		return s.Ledger.Signals.GetCrowd(ctx, &signalv1.GetCrowdRequest{MarketId: string(id)})
	})
	ask(g, partOutcome, &outcome, func(ctx context.Context) (*resolution.Outcome, error) { return s.Resolutions.Outcome(ctx, id) })
	ask(g, partMood, &mood, func(ctx context.Context) (market.Sentiment, error) { return s.Catalogue.Sentiment(ctx, id) })
	ask(g, partRelated, &related, func(ctx context.Context) (market.Related, error) { return s.Catalogue.Related(ctx, id) })
	g.done()

	p := s.marketOf(c, &m)
	p.HubURL = s.HubURL
	p.ChartAway, p.LedgerAway, p.CrowdAway = g.missing(partHistory), g.missing(partLedger), g.missing(partCrowd)
	p.OutcomeAway, p.MoodAway, p.RelatedAway = g.missing(partOutcome), g.missing(partMood), g.missing(partRelated)
	p.settle(&m, outcome, s.Now())
	p.Tabs = tabsOf(interval)
	p.Chart = plot(stretch{
		Points: points, Calls: ledger.GetSignals(), Interval: interval, Now: s.Now(),
		Held: m.Provider == syntax.Manual, Trades: m.Status == syntax.MarketOpen,
	})
	p.Calls = ledger.GetYes() + ledger.GetNo()
	rows := callsOf(ledger.GetSignals())
	p.Newest, p.Older = rows[:min(len(rows), callsShown)], rows[min(len(rows), callsShown):]
	p.Crowd, p.TopLine = crowdOf(&m, crowd)
	p.Mood = moodOf(mood)
	p.Related = relatedOf(related)
	p.Description = p.card()
	s.lessThanWhole(c, g)
	return s.render(c, http.StatusOK, "market", p)
}

// interval is the one that was asked for; without a word the last day of a market
// that trades and the whole life of one that does not.
func (s *site) interval(raw string, m *market.Market) market.Interval {
	if raw == "" && (m.Status == syntax.MarketClosed || m.Status == syntax.MarketResolved) {
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

func (s *site) marketOf(c echo.Context, m *market.Market) marketPage {
	p := marketPage{
		frame: s.frame(c, m.Title, "", "/m/"+string(m.ID)),
		ID:    string(m.ID), Question: m.Title, About: m.Description, Venue: venueWord(m.Provider), Lane: laneWord(m.Lane),
		YesLabel: "YES", NoLabel: "NO", CallAt: wholePrice / 2, Volume: amount(m.Volume, m.VolumeUnit), Volume24h: amount(m.Volume24h, "usd"),
		Liquidity: amount(m.Liquidity, m.VolumeUnit),
	}
	p.Wide, p.Here = true, "markets"
	p.shared(s.HubURL, "market", p.ID)
	if m.Provider == syntax.Manual { // it has no book
		p.Volume, p.Volume24h, p.Liquidity = "", "", ""
	} else {
		p.VenueURL = link(m.URL)
	}
	if m.ResolutionSource != nil {
		p.Source = link(*m.ResolutionSource)
	}
	if len(m.Outcomes) == 2 {
		p.YesLabel, p.NoLabel = m.Outcomes[0], m.Outcomes[1]
	}
	if m.Yes != nil {
		yes := min(max(int(*m.Yes), 0), wholePrice)
		p.Priced, p.Yes, p.No, p.YesPct = true, percent(yes), percent(wholePrice-yes), float64(yes)/100
		p.CallAt = min(max(yes, 1), wholePrice-1)
	}
	if !m.EndDate.IsZero() {
		p.Ends, p.EndsISO = when(m.EndDate), syntax.Stamp(m.EndDate)
		p.Left = left(m.EndDate, s.Now())
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
