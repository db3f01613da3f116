package pages

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/protocol"
	cataloguev1 "github.com/signalcast/signalcast/proto/catalogue/v1"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/format"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/site"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/request"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
	"github.com/signalcast/signalcast/services/hub/internal/market"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
	"github.com/signalcast/signalcast/services/hub/internal/watch"
)

// Maximum numbers of markets and of heatmap tiles on the markets page.
const (
	rowsShown  = 40
	tilesShown = 12
)

const byVolume24h = "volume24h"

// sorts are the sort orders of the market list, the default first.
var sorts = [...]struct{ value, label string }{{"volume", "Volume"}, {byVolume24h, "24 h volume"}, {"endDate", "Ending soon"}}

type marketsPage struct {
	site.Layout
	Query             marketQuery
	Lanes             []tab
	States            []tab
	Sorts             []choice
	Tiles             []tilePart
	Rows              []marketRow
	Watchable         bool   // the rows have buttons that watch their markets
	Back              string // URL of the page
	VolumeLabel       string // name of the volume of the rows: the total, or that of 24 hours if the rows are sorted by it
	NextURL, FirstURL string // URLs of the next page and of the first one
	ClearURL          string // URL of the list without the search text
	Suggestions       []string
}

type choice struct {
	Value, Label string
	Here         bool
}

type tilePart struct {
	URL, Label, Title, Lane string
	Side                    string // name of the side YES; empty: YES
	Yes, Move, Class        string
	Volume, Markets         string
}

type marketRow struct {
	ID, URL            string
	Watched            bool
	Title, Venue, Lane string
	Side               string // name of the side YES; empty: YES
	Yes                string // percent
	YesPct             float64
	Volume, Volume24h  string
	Ends, EndsISO      string
	Status             string
	Calls              string
	Trend, TrendLabel  string // path of the prices of the last seven days, and its description; empty: fewer than two prices
	Relation           string // relation to the market whose page shows this row
}

// marketQuery is the query of the markets page. All of its values are valid.
type marketQuery struct {
	Text   string
	Lane   protocol.Lane // empty: every lane
	Closed bool
	Sort   string
	cursor string
	// Watching selects the markets that the visitor watches. The cursor is then the number of markets before the page, and the other
	// values are empty.
	Watching bool
}

// marketQueryOf reads the query of the markets page. Invalid values are replaced by their defaults.
func marketQueryOf(c echo.Context) marketQuery {
	if c.QueryParam("watching") == "true" {
		l := marketQuery{Sort: sorts[0].value, Watching: true}
		if from, err := strconv.Atoi(c.QueryParam("cursor")); err == nil && from > 0 && from < watch.MaxMarkets {
			l.cursor = strconv.Itoa(from)
		}
		return l
	}
	l := marketQuery{
		Text: strings.TrimSpace(market.CutText(c.QueryParam("q"))), Lane: protocol.LaneFilter(c.QueryParam("lane")),
		Closed: c.QueryParam("closed") == "true", Sort: sorts[0].value, cursor: request.Cursor(c.QueryParam("cursor")),
	}
	for _, s := range sorts {
		if s.value == c.QueryParam("sort") {
			l.Sort = s.value
		}
	}
	return l
}

// url returns the path and query of the markets page for l. Parameters with default values are left out.
func (l marketQuery) url() string {
	v := url.Values{}
	set := func(name, value string, given bool) {
		if given {
			v.Set(name, value)
		}
	}
	set("q", l.Text, l.Text != "")
	set("lane", strings.ToLower(string(l.Lane)), l.Lane != "")
	set("closed", "true", l.Closed)
	set("sort", l.Sort, l.Sort != sorts[0].value)
	set("cursor", l.cursor, l.cursor != "")
	set("watching", "true", l.Watching)
	if len(v) == 0 {
		return site.MarketsPath
	}
	return site.MarketsPath + "?" + v.Encode()
}

// firstPage returns the path and query of the first page of all markets for a copy of l that the function change has modified.
func (l marketQuery) firstPage(change func(*marketQuery)) string {
	l.cursor, l.Watching = "", false
	change(&l)
	return l.url()
}

// isDefault reports whether the query has no filter and selects the first page. Such a page shows the heatmap.
func (l marketQuery) isDefault() bool {
	return l.Text == "" && l.Lane == "" && !l.Closed && l.cursor == "" && !l.Watching
}

// markets handles GET /markets, the page with the markets of all venues.
func (s *server) markets(c echo.Context) error {
	l, v := marketQueryOf(c), s.Viewer(c)
	if l.Watching {
		who, ok, err := s.RequireViewer(c, l.url())
		if !ok {
			return err
		}
		v = who
	}
	g := site.NewPartReader(c.Request().Context(), site.PartsTimeout)
	rows := site.ReadPart(g, "markets", func(ctx context.Context) (*cataloguev1.FindMarketsResponse, error) {
		if l.Watching {
			from, _ := strconv.Atoi(l.cursor)
			list, more, err := s.watchedMarkets(ctx, operator.ID(v.Session.UserID), from)
			r := &cataloguev1.FindMarketsResponse{Markets: list}
			if more {
				r.NextCursor = strconv.Itoa(from + watchedShown)
			}
			return r, err
		}
		return s.Ledger.Catalogue.FindMarkets(ctx, &cataloguev1.FindMarketsRequest{
			Text: l.Text, Lane: string(l.Lane), Closed: l.Closed, Sort: l.Sort, Limit: rowsShown, Cursor: l.cursor,
		})
	})
	tiles := &site.Part[[]*cataloguev1.Tile]{}
	if l.isDefault() {
		tiles = site.ReadPart(g, "tiles", func(ctx context.Context) ([]*cataloguev1.Tile, error) { return s.heatmap(ctx, g) })
	}
	unavailable := g.Wait()
	p := marketsPage{
		Layout: s.NewLayout(c, l.title(), "Prediction markets with prices and calls.", l.canonical()),
		Query:  l, Lanes: l.lanes(), States: l.states(v.Session.UserID != ""), Sorts: l.sorts(),
		Tiles: s.tilesOf(c.Request().Context(), tiles.Value), Suggestions: l.suggestions(),
		ClearURL: l.firstPage(func(l *marketQuery) { l.Text = "" }),
	}
	p.Unavailable, p.Wide, p.Nav, p.OGType, p.Unlisted = unavailable, true, "markets", "website", l.Text != "" || l.cursor != "" || l.Watching
	watched := s.watchedOf(c.Request().Context(), v, rows.Value.GetMarkets()...)
	p.Watchable, p.Back = watched != nil, l.url()
	trends := s.trendsOf(c.Request().Context(), rows.Value.GetMarkets())
	for _, m := range rows.Value.GetMarkets() {
		row := rowOf(m)
		row.Watched = watched[protocol.MarketID(m.GetId())]
		row.addTrend(trends[m.GetId()])
		if l.Sort == byVolume24h {
			row.Volume = row.Volume24h
		}
		p.Rows = append(p.Rows, row)
	}
	p.VolumeLabel = "Volume"
	if l.Sort == byVolume24h {
		p.VolumeLabel = "24 h volume"
	}
	if cursor := rows.Value.GetNextCursor(); cursor != "" {
		next := l
		next.cursor = cursor
		p.NextURL = next.url()
	}
	if l.cursor != "" {
		first := l
		first.cursor = ""
		p.FirstURL = first.url()
	}
	return s.RenderParts(c, g, http.StatusOK, "markets", p)
}

// heatmap returns the tiles of the heatmap. If the pinned markets cannot be read, it records the error in g and returns the other
// tiles.
func (s *server) heatmap(ctx context.Context, g *site.PartReader) ([]*cataloguev1.Tile, error) {
	tiles, err := view.ListTiles(ctx, s.Ledger.Catalogue, s.Pins, "")
	if tiles.Failed != nil {
		g.Fail("pins", tiles.Failed)
	}
	return tiles.GetTiles(), err
}

func (l marketQuery) title() string {
	switch {
	case l.Watching:
		return "Watched markets"
	case l.Text != "":
		return "Search: " + l.Text
	case l.Lane != "":
		return format.TitleCase(l.Lane) + " markets"
	}
	return "Markets"
}

// canonical returns the path that search engines should index, without search text, sort order and cursor.
func (l marketQuery) canonical() string {
	return marketQuery{Lane: l.Lane, Closed: l.Closed, Sort: sorts[0].value}.url()
}

func (l marketQuery) lanes() []tab {
	tabs := []tab{{Label: "All", URL: l.firstPage(func(l *marketQuery) { l.Lane = "" }), Here: l.Lane == ""}}
	for _, lane := range protocol.Lanes {
		if lane.Filterable() {
			tabs = append(tabs, tab{
				Label: format.TitleCase(lane), URL: l.firstPage(func(l *marketQuery) { l.Lane = lane }),
				Here: l.Lane == lane,
			})
		}
	}
	return tabs
}

// states returns the links to open and closed markets and, for a visitor with a session, to the markets that the visitor watches.
func (l marketQuery) states(signedIn bool) []tab {
	list := []tab{
		{Label: "Open", URL: l.firstPage(func(l *marketQuery) { l.Closed = false }), Here: !l.Closed && !l.Watching},
		{Label: "Closed", URL: l.firstPage(func(l *marketQuery) { l.Closed = true }), Here: l.Closed},
	}
	if signedIn {
		watched := marketQuery{Sort: sorts[0].value, Watching: true}
		list = append(list, tab{Label: "Watching", URL: watched.url(), Here: l.Watching})
	}
	return list
}

func (l marketQuery) sorts() []choice {
	var list []choice
	for _, s := range sorts {
		list = append(list, choice{s.value, s.label, s.value == l.Sort})
	}
	return list
}

// suggestions returns hints for a search that found no market.
func (l marketQuery) suggestions() []string {
	var list []string
	if l.Watching {
		return []string{"Press the star of a market to watch it. You will find it here."}
	}
	if l.Text != "" {
		list = append(list, "Try fewer words. Word order and small typos do not matter.")
	}
	if l.Lane != "" {
		list = append(list, "Search all lanes.")
	}
	if l.Closed {
		return append(list, "Search open markets.")
	}
	return append(list, "Search closed markets.")
}

func rowOf(m *marketv1.Market) marketRow {
	unit := m.GetVolumeUnit()
	r := marketRow{
		ID: m.GetId(), URL: "/m/" + m.GetId(), Title: m.GetTitle(), Venue: format.VenueName(m.GetProvider()), Lane: format.TitleCase(m.GetLane()),
		Volume: format.Amount(m.Volume, unit), Volume24h: format.Amount(m.Volume24H, unit), Status: closedLabel(m),
		Calls: format.CountOf(m.GetYes()+m.GetNo(), "call"),
	}
	if market.Labels(m) != nil {
		r.Side = view.SideName(m, string(protocol.Yes))
	}
	if m.YesBps != nil {
		yes := format.ClampPrice(m.GetYesBps())
		r.Yes, r.YesPct = format.Cents(yes), float64(yes)/100
	}
	if end := m.GetEndDate(); end != nil {
		r.Ends, r.EndsISO = end.AsTime().Format("2 Jan 2006"), ledgerclient.Stamp(end)
	}
	return r
}

// trendsOf returns the prices of the last seven days of markets in bps, by id and oldest first. It reads all at once. If they cannot
// be read within titlesTimeout, the result is empty; the rows then have no chart.
func (s *server) trendsOf(ctx context.Context, list []*marketv1.Market) map[string][]int32 {
	if len(list) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, titlesTimeout)
	defer cancel()
	r, err := s.Ledger.Catalogue.ListTrends(ctx, &cataloguev1.ListTrendsRequest{MarketIds: view.List(list, (*marketv1.Market).GetId)})
	if err != nil {
		return nil
	}
	out := map[string][]int32{}
	for _, t := range r.GetTrends() {
		out[t.GetMarketId()] = t.GetYesBps()
	}
	return out
}

// addTrend adds the chart of the prices of YES, given oldest first. It adds nothing for fewer than two prices.
func (r *marketRow) addTrend(prices []int32) {
	if len(prices) < 2 {
		return
	}
	line := make([]sample, len(prices))
	for i, p := range prices {
		line[i] = sample{float64(i), float64(format.ClampPrice(p))}
	}
	low, high := bounds(line, sample.value)
	r.Trend = linePath(line, axis{end: float64(len(line) - 1)}, priceAxis(line), false)
	r.TrendLabel = "Last 7 days: low " + format.Cents(int(low)) + ", high " + format.Cents(int(high))
}

// strongMove is the minimum 24-hour move in bps that is highlighted.
const strongMove = 500

// tilesOf returns the tiles of the heatmap, with the names of the sides of their markets.
func (s *server) tilesOf(ctx context.Context, list []*cataloguev1.Tile) []tilePart {
	list = list[:min(len(list), tilesShown)]
	named := s.marketsOf(ctx, view.List(list, (*cataloguev1.Tile).GetMarketId)...)
	out := make([]tilePart, 0, len(list))
	for _, t := range list {
		one := tilePart{
			URL: "/m/" + t.GetMarketId(), Label: t.GetLabel(), Title: t.GetTitle(), Lane: format.TitleCase(t.GetLane()), Class: "flat",
			Volume: format.Amount(&t.Volume24H, "usd"), Markets: format.CountOf(int64(t.GetMarketCount()), "market"),
		}
		if one.Label == one.Title {
			one.Label = one.Lane
		}
		if t.YesBps != nil {
			one.Yes = format.Cents(format.ClampPrice(t.GetYesBps()))
			if m := named[t.GetMarketId()]; market.Labels(m) != nil {
				one.Side = view.SideName(m, string(protocol.Yes))
			}
		}
		if t.Move24HBps != nil {
			move := t.GetMove24HBps()
			one.Move, one.Class = format.PointsOf(int(move)), trendOf(int64(move))
			if move >= strongMove || move <= -strongMove {
				one.Class += " strong"
			}
		}
		out = append(out, one)
	}
	return out
}
