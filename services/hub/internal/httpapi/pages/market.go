package pages

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/labstack/echo/v4"
	"google.golang.org/protobuf/proto"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/cache"
	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/protocol"
	cataloguev1 "github.com/signalcast/signalcast/proto/catalogue/v1"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	resolutionv1 "github.com/signalcast/signalcast/proto/resolution/v1"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/format"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/site"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
	"github.com/signalcast/signalcast/services/hub/internal/market"
)

type marketPage struct {
	site.Layout
	ID, Question, About        string
	Watchable, Watched         bool // the visitor can watch the market; the visitor watches it
	Venue, VenueURL, Lane      string
	Status                     statusBadge
	Priced                     bool
	Yes, No, YesLabel, NoLabel string
	Named                      bool // the venue has other names of the sides than Yes and No
	YesPct                     float64
	Close                      string
	Ends, EndsISO, TimeLeft    string
	Volume, Volume24h          string
	Liquidity, Source          string
	Open                       bool // the market accepts calls
	Call                       callPanel
	LiveBy                     []string // handles of the operators with a live broadcast on the market
	AsOf                       string   // time at which the market was read; empty: now
	CallAt                     int      // price in bps that the example call uses

	Tabs          []tab
	Chart         chart
	Outcome       *outcomePart
	Calls         int64
	BotCalls      string // empty: none
	Newest, Older []callRow
	Crowd         *crowdPart // nil without calls
	TopLine       string
	Sentiment     *sentimentPart
	Related       []marketRow
}

// tab is a link to a variant of the page. Here marks the variant that is shown.
type tab struct {
	Label, Name, URL string
	Here             bool
}

// Numbers of calls on the page of a market: read in total, and shown above the collapsed section.
const (
	callsRead  = maxMarks
	callsShown = 12 // the other calls are in a collapsed section
)

// knownFor is the time for which the page of a market that cannot be read shows the market that was read last.
const knownFor = time.Hour

// newKnownMarkets returns the cache of the markets that were read last.
func newKnownMarkets(now func() time.Time) *cache.Cache[protocol.MarketID, *marketv1.Market] {
	return cache.New(cache.Options[protocol.MarketID, *marketv1.Market]{TTL: knownFor, MaxKeys: 1024, Now: now})
}

// market handles GET /m/{marketId}, the page of a market. If the market cannot be read, the request fails; any other part may be
// missing.
func (s *server) market(c echo.Context) error {
	id, err := protocol.ParseMarketID(c.Param("marketId"))
	if err != nil {
		return market.ErrUnknown
	}
	return s.showMarket(c, http.StatusOK, id, s.newCall(c, id))
}

// showMarket renders the page of a market, with the state of the form that files a call. If the market cannot be read, it renders
// the page without the form, from the market that was read last, and stores the values of a sent form until the page opens again.
func (s *server) showMarket(c echo.Context, status int, id protocol.MarketID, form callForm) error {
	ctx := c.Request().Context()
	m, err := s.Ledger.Market(ctx, id)
	err = market.ReadError(err)
	g, asOf := site.NewPartReader(ctx, site.PartsTimeout), ""
	switch {
	case err == nil:
		s.known.Put(id, proto.CloneOf(m))
	case apperr.Of(err).Kind != apperr.Unavailable:
		return err
	default:
		if form.err != nil {
			if _, err := s.SaveDraft(c, site.MarketPath+string(id), form.typed()); err != nil {
				return err
			}
		}
		last, age, ok := s.known.Last(id)
		if !ok || age > knownFor {
			return err
		}
		g.Fail("market", err)
		m, asOf = proto.CloneOf(last), s.Now().Add(-age).UTC().Format("15:04 UTC")
	}
	v := s.Viewer(c)
	interval := intervalOf(c.QueryParam("interval"), m)
	history := site.CallPart(g, "history", s.Ledger.Catalogue.ListHistory, &cataloguev1.ListHistoryRequest{
		MarketId: string(id), Interval: string(interval),
	})
	ledger := site.CallPart(g, "ledger", s.Ledger.Signals.ListLedger, &signalv1.ListLedgerRequest{
		MarketId: string(id), Limit: callsRead,
	})
	crowd := site.CallPart(g, "crowd", s.Ledger.Signals.GetCrowd, &signalv1.GetCrowdRequest{
		MarketId: string(id), OperatorId: v.Session.UserID,
	})
	outcome := site.ReadPart(g, "outcome", func(ctx context.Context) (*resolutionv1.Outcome, error) {
		return s.Ledger.Outcome(ctx,
			id)
	})
	mood := site.CallPart(g, "sentiment", s.Ledger.Catalogue.GetSentiment, &cataloguev1.GetSentimentRequest{MarketId: string(id)})
	related := site.CallPart(g, "related", s.Ledger.Catalogue.GetRelated, &cataloguev1.GetRelatedRequest{MarketId: string(id)})
	unavailable := g.Wait()
	watched := s.watchedOf(ctx, v, m)

	p := s.marketOf(c, m)
	p.Watchable, p.Watched = watched != nil, watched[id]
	p.Unavailable = unavailable
	p.addStatus(m, outcome.Value, s.Now())
	p.Tabs = tabsOf(interval)
	p.Chart = newChart(chartInput{
		Market: m, Points: history.Value.GetPoints(), Calls: ledger.Value.GetSignals(), Own: crowd.Value.GetOwn(),
		Interval: interval, Now: s.Now(),
		Stepped: m.GetProvider() == string(protocol.Manual), Trading: m.GetStatus() == string(protocol.MarketOpen),
	})
	p.Calls = ledger.Value.GetYes() + ledger.Value.GetNo()
	rows := callsOf(ledger.Value.GetSignals(), map[string]*marketv1.Market{string(id): m})
	p.Newest, p.Older = rows[:min(len(rows), callsShown)], rows[min(len(rows), callsShown):]
	p.Crowd, p.TopLine = crowdOf(m, crowd.Value)
	people := crowd.Value.GetYes() + crowd.Value.GetNo()
	if bots := p.Calls - people; bots > 0 && crowd.Value != nil && !unavailable["ledger"] {
		p.BotCalls = format.Digits(people) + " by people, " + format.Digits(bots) + " by bots"
	}
	p.Sentiment = sentimentOf(mood.Value, p.YesLabel, p.NoLabel)
	p.Call = s.callPanelOf(c, m, &p, v, crowd.Value.GetOwn(), form)
	if p.AsOf = asOf; asOf != "" {
		p.Call = callPanel{Alert: p.Call.Alert, Why: "No call can be filed now. Try again in a minute."}
		if form.err != nil {
			p.Call.Why += " Your entries are stored for 15 minutes and shown when you open this page again."
		}
	}
	for handle, on := range s.liveNow(ctx) {
		if on == id {
			p.LiveBy = append(p.LiveBy, handle)
		}
	}
	slices.Sort(p.LiveBy)
	p.Related = relatedOf(related.Value.GetRelated())
	p.Description = p.card()
	return s.RenderParts(c, g, status, "market", p)
}

// intervalOf returns the interval of the chart from the query. The default is one day for an open market and all time for a
// closed or resolved market.
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

func (s *server) marketOf(c echo.Context, m *marketv1.Market) marketPage {
	id, unit := m.GetId(), m.GetVolumeUnit()
	p := marketPage{
		Layout: s.NewLayout(c, m.GetTitle(), "", "/m/"+id), ID: id, Question: m.GetTitle(), About: m.GetDescription(),
		Venue: format.VenueName(m.GetProvider()), Lane: format.TitleCase(m.GetLane()), Named: market.Labels(m) != nil, CallAt: maxPrice / 2,
		Volume: format.Amount(m.Volume, unit), Volume24h: format.Amount(m.Volume24H, "usd"), Liquidity: format.Amount(m.Liquidity, unit),
	}
	p.Wide, p.Nav, p.Feed = true, "markets", atomPath(site.MarketPath+id)
	p.AddPreview(s.HubURL, "market", p.ID)
	if m.GetProvider() == string(protocol.Manual) { // native markets have no order book
		p.Volume, p.Volume24h, p.Liquidity = "", "", ""
	} else {
		p.VenueURL = format.Link(m.GetUrl())
	}
	if m.ResolutionSource != nil {
		p.Source = format.Link(m.GetResolutionSource())
	}
	p.YesLabel, p.NoLabel = view.SideName(m, string(protocol.Yes)), view.SideName(m, string(protocol.No))
	if m.YesBps != nil {
		yes := format.ClampPrice(m.GetYesBps())
		p.Priced, p.Yes, p.No, p.YesPct = true, format.Cents(yes), format.Cents(maxPrice-yes), float64(yes)/100
		p.CallAt = min(max(yes, 1), maxPrice-1)
	}
	if end := ledgerclient.Time(m.GetEndDate()); !end.IsZero() {
		p.Ends, p.EndsISO, p.TimeLeft = format.When(end), protocol.Stamp(end), format.TimeLeft(end, s.Now())
	}
	return p
}

// card returns a one-line description of the market for link previews.
func (p *marketPage) card() string {
	text := p.Status.Label + "."
	if p.Priced {
		text = p.YesLabel + " " + p.Yes + ", " + p.NoLabel + " " + p.No + ". " + text
	}
	if !p.Unavailable["ledger"] {
		text += " " + format.CountOf(p.Calls, "call") + "."
	}
	if p.Ends != "" {
		text += " Ends " + p.Ends + "."
	}
	return text
}
