package pages

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/protocol"
	cataloguev1 "github.com/signalcast/signalcast/proto/catalogue/v1"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/request"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
	"github.com/signalcast/signalcast/services/hub/internal/market"
)

const marketsPath = "/markets"

// Sizes of the page of markets.
const (
	rowsShown  = 40
	tilesShown = 12
)

// The orders of the list, the default first.
var sorts = [...]struct{ value, label string }{{"volume", "Volume"}, {"volume24h", "24 h volume"}, {"endDate", "Ending soon"}}

type marketsPage struct {
	frame
	Query      listing
	Lanes      []tab
	States     []tab
	Sorts      []choice
	Tiles      []tilePart
	Rows       []marketRow
	More, Back string // addresses of the next page and of the first one
	Clear      string // where the search has no words
	Advice     []string
}

type choice struct {
	Value, Label string
	Here         bool
}

type tilePart struct {
	URL, Label, Title, Lane string
	Yes, Move, Class        string
	Volume, Count           string
}

type marketRow struct {
	URL, Title, Venue, Lane string
	Yes                     string // percent
	YesPct                  float64
	Volume, Ends, EndsISO   string
	Status                  string
	Why                     string // of a related market
}

// listing is what a reader asked for; all of it is fit to be shown and sent on.
type listing struct {
	Text   string
	Lane   protocol.Lane // empty: every lane
	Closed bool
	Sort   string
	cursor string
}

// listingOf reads the query. What cannot be meant is the default, as it is on the
// JSON route.
func listingOf(c echo.Context) listing {
	l := listing{
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

// url is the address of a listing; defaults are left out.
func (l listing) url() string {
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
	if len(v) == 0 {
		return marketsPath
	}
	return marketsPath + "?" + v.Encode()
}

// with gives another listing from its beginning.
func (l listing) with(change func(*listing)) string {
	l.cursor = ""
	change(&l)
	return l.url()
}

// plain reports whether the listing has no filter and starts at the first page.
func (l listing) plain() bool { return l.Text == "" && l.Lane == "" && !l.Closed && l.cursor == "" }

// markets is GET /markets, over all venues.
func (s *site) markets(c echo.Context) error {
	l := listingOf(c)
	g := newGather(c.Request().Context(), partsWithin)
	rows, tiles := askFor(g, "markets", s.Ledger.Catalogue.FindMarkets, &cataloguev1.FindMarketsRequest{
		Text: l.Text, Lane: string(l.Lane), Closed: l.Closed, Sort: l.Sort, Limit: rowsShown, Cursor: l.cursor,
	}), &part[[]*cataloguev1.Tile]{}
	if l.plain() {
		tiles = ask(g, "tiles", func(ctx context.Context) ([]*cataloguev1.Tile, error) { return s.heatmap(ctx, g) })
	}
	away := g.done()
	p := marketsPage{
		frame: s.frame(c, l.title(), "Prediction markets of four venues, with prices and calls.", l.canonical()),
		Query: l, Lanes: l.lanes(), States: l.states(), Sorts: l.sorts(),
		Tiles: tilesOf(tiles.Value), Clear: l.with(func(l *listing) { l.Text = "" }), Advice: l.advice(),
	}
	p.Away, p.Wide, p.Here, p.Kind, p.Unlisted = away, true, "markets", "website", l.Text != "" || l.cursor != ""
	for _, m := range rows.Value.GetMarkets() {
		p.Rows = append(p.Rows, rowOf(m))
	}
	if cursor := rows.Value.GetNextCursor(); cursor != "" {
		next := l
		next.cursor = cursor
		p.More = next.url()
	}
	if l.cursor != "" {
		p.Back = l.with(func(*listing) {})
	}
	return s.renderParts(c, g, http.StatusOK, "markets", p)
}

// heatmap returns the tiles. If the pins cannot be read, it records that in g and returns the tiles without them.
func (s *site) heatmap(ctx context.Context, g *gather) ([]*cataloguev1.Tile, error) {
	tiles, err := view.ListTiles(ctx, s.Ledger.Catalogue, s.Pins, "")
	if tiles.Failed != nil {
		g.fail("pins", tiles.Failed)
	}
	return tiles.GetTiles(), err
}

func (l listing) title() string {
	switch {
	case l.Text != "":
		return "“" + l.Text + "” in markets"
	case l.Lane != "":
		return capital(l.Lane) + " markets"
	}
	return "Markets"
}

// canonical is the page that stands for this one.
func (l listing) canonical() string {
	return listing{Lane: l.Lane, Closed: l.Closed, Sort: sorts[0].value}.url()
}

func (l listing) lanes() []tab {
	tabs := []tab{{Label: "All", URL: l.with(func(l *listing) { l.Lane = "" }), Here: l.Lane == ""}}
	for _, lane := range protocol.Lanes {
		if lane.Filterable() {
			tabs = append(tabs, tab{Label: capital(lane), URL: l.with(func(l *listing) { l.Lane = lane }), Here: l.Lane == lane})
		}
	}
	return tabs
}

func (l listing) states() []tab {
	return []tab{
		{Label: "Open", URL: l.with(func(l *listing) { l.Closed = false }), Here: !l.Closed},
		{Label: "Closed", URL: l.with(func(l *listing) { l.Closed = true }), Here: l.Closed},
	}
}

func (l listing) sorts() []choice {
	var list []choice
	for _, s := range sorts {
		list = append(list, choice{s.value, s.label, s.value == l.Sort})
	}
	return list
}

// advice says what to try when nothing was found.
func (l listing) advice() []string {
	var list []string
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
	r := marketRow{
		URL: "/m/" + m.GetId(), Title: m.GetTitle(), Venue: venueWord(m.GetProvider()), Lane: capital(m.GetLane()),
		Volume: amount(m.Volume24H, "usd"), Status: closedWord(m),
	}
	if m.YesBps != nil {
		yes := bounded(m.GetYesBps())
		r.Yes, r.YesPct = percent(yes), float64(yes)/100
	}
	if end := m.GetEndDate(); end != nil {
		r.Ends, r.EndsISO = end.AsTime().Format("2 Jan 2006"), ledgerclient.Stamp(end)
	}
	return r
}

// strong is a move in a day, in bps, that is shown as a strong one.
const strong = 500

func tilesOf(list []*cataloguev1.Tile) []tilePart {
	list = list[:min(len(list), tilesShown)]
	out := make([]tilePart, 0, len(list))
	for _, t := range list {
		one := tilePart{
			URL: "/m/" + t.GetMarketId(), Label: t.GetLabel(), Title: t.GetTitle(), Lane: capital(t.GetLane()), Class: "flat",
			Volume: amount(&t.Volume24H, "usd"), Count: many(int64(t.GetMarketCount()), "market"),
		}
		if one.Label == one.Title {
			one.Label = one.Lane
		}
		if t.YesBps != nil {
			one.Yes = percent(bounded(t.GetYesBps()))
		}
		if t.Move24HBps != nil {
			move := t.GetMove24HBps()
			one.Move, one.Class = pointsOf(int(move)), wayOf(int64(move))
			if move >= strong || move <= -strong {
				one.Class += " strong"
			}
		}
		out = append(out, one)
	}
	return out
}
