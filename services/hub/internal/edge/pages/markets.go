package pages

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/hub/internal/market"
)

const marketsPath = "/markets"

// Sizes of the page of markets.
const (
	rowsShown  = 40
	tilesShown = 12
	maxCursor  = 1024
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
	TilesAway  bool
	Rows       []marketRow
	RowsAway   bool
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
	Yes                     string
	YesPct                  float64
	Volume, Ends, EndsISO   string
	Status                  string
}

// listing is what a reader asked for; all of it is fit to be shown and sent on.
type listing struct {
	Text   string
	Lane   syntax.Lane // empty: every lane
	Closed bool
	Sort   string
	cursor string
}

// listingOf reads the query. What cannot be meant is the default, as it is on the
// JSON route.
func listingOf(c echo.Context) listing {
	l := listing{
		Text: strings.TrimSpace(market.CutText(c.QueryParam("q"))), Lane: syntax.LaneFilter(c.QueryParam("lane")),
		Closed: c.QueryParam("closed") == "true", Sort: sorts[0].value, cursor: c.QueryParam("cursor"),
	}
	for _, s := range sorts {
		if s.value == c.QueryParam("sort") {
			l.Sort = s.value
		}
	}
	if len(l.cursor) > maxCursor || strings.Trim(l.cursor, cursorLetters) != "" {
		l.cursor = ""
	}
	return l
}

// cursorLetters are those of a cursor.
const cursorLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_="

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

// plain tells that nobody looks for anything yet.
func (l listing) plain() bool { return l.Text == "" && l.Lane == "" && !l.Closed && l.cursor == "" }

const (
	partTiles = "tiles"
	partPins  = "pins"
	partRows  = "markets"
)

// markets is GET /markets, over all venues.
func (s *site) markets(c echo.Context) error {
	l := listingOf(c)
	var (
		page  market.Page
		tiles market.Heatmap
	)
	g := newGather(c.Request().Context())
	ask(g, partRows, &page, func(ctx context.Context) (market.Page, error) {
		return s.Catalogue.Find(ctx, market.Query{
			Text: l.Text, Lane: l.Lane, Closed: l.Closed, Sort: l.Sort, Limit: rowsShown, Cursor: l.cursor,
		})
	})
	if l.plain() {
		ask(g, partTiles, &tiles, func(ctx context.Context) (market.Heatmap, error) { return s.heatmap(ctx, g) })
	}
	g.done()
	p := marketsPage{
		frame: s.frame(c, l.title(), "Prediction markets of four venues, what they cost and who called what.", l.canonical()),
		Query: l, Lanes: l.lanes(), States: l.states(), Sorts: l.sorts(),
		Tiles: tilesOf(tiles), TilesAway: g.missing(partTiles), RowsAway: g.missing(partRows),
		Clear: l.with(func(l *listing) { l.Text = "" }), Advice: l.advice(),
	}
	p.Wide, p.Here, p.Kind, p.Unlisted = true, "markets", "website", l.Text != "" || l.cursor != ""
	for i := range page.Markets {
		p.Rows = append(p.Rows, s.rowOf(&page.Markets[i]))
	}
	if page.NextCursor != "" {
		next := l
		next.cursor = page.NextCursor
		p.More = next.url()
	}
	if l.cursor != "" {
		p.Back = l.with(func(*listing) {})
	}
	s.lessThanWhole(c, g)
	return s.render(c, http.StatusOK, "markets", p)
}

// heatmap is the tiles with the pinned ones first, under the words of their pins.
// Without its pins it is a heatmap all the same.
func (s *site) heatmap(ctx context.Context, g *gather) (market.Heatmap, error) {
	pins, err := s.Pins.Pins(ctx, market.MaxTiles)
	if err != nil {
		g.fail(partPins, err)
	}
	ids, labels := make([]syntax.MarketID, len(pins)), map[syntax.MarketID]string{}
	for i := range pins {
		ids[i] = pins[i].MarketID
		if pins[i].Label != nil {
			labels[pins[i].MarketID] = *pins[i].Label
		}
	}
	h, err := s.Catalogue.Tiles(ctx, "", ids)
	for i := range h.Tiles {
		if label, ok := labels[h.Tiles[i].MarketID]; ok {
			h.Tiles[i].Label = label
		}
	}
	return h, err
}

func (l listing) title() string {
	switch {
	case l.Text != "":
		return "“" + l.Text + "” in markets"
	case l.Lane != "":
		return laneWord(l.Lane) + " markets"
	}
	return "Markets"
}

// canonical is the page that stands for this one.
func (l listing) canonical() string {
	return listing{Lane: l.Lane, Closed: l.Closed, Sort: sorts[0].value}.url()
}

func (l listing) lanes() []tab {
	tabs := []tab{{Label: "All", URL: l.with(func(l *listing) { l.Lane = "" }), Here: l.Lane == ""}}
	for _, lane := range syntax.Lanes {
		if lane.Filterable() {
			tabs = append(tabs, tab{Label: laneWord(lane), URL: l.with(func(l *listing) { l.Lane = lane }), Here: l.Lane == lane})
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
		list = append(list, "Try fewer words, or only the beginning of one. The order does not matter, and one wrong letter does no harm.")
	}
	if l.Lane != "" {
		list = append(list, "Look in all lanes.")
	}
	if l.Closed {
		return append(list, "Look among the open markets.")
	}
	return append(list, "Look among the closed markets.")
}

func (s *site) rowOf(m *market.Market) marketRow {
	r := marketRow{URL: "/m/" + string(m.ID), Title: m.Title, Venue: venueWord(m.Provider), Lane: laneWord(m.Lane), Volume: amount(m.Volume24h, "usd")}
	if m.Yes != nil {
		yes := min(max(int(*m.Yes), 0), wholePrice)
		r.Yes, r.YesPct = percent(yes), float64(yes)/100
	}
	if !m.EndDate.IsZero() {
		r.Ends, r.EndsISO = m.EndDate.UTC().Format("2 Jan 2006"), syntax.Stamp(m.EndDate)
	}
	switch m.Status {
	case syntax.MarketResolved:
		r.Status = resolvedWord(m.ResolutionValue)
	case syntax.MarketClosed:
		r.Status = "Closed"
	}
	return r
}

// strong is a move in a day, in bps, that is shown as a strong one.
const strong = 500

func tilesOf(h market.Heatmap) []tilePart {
	list := h.Tiles[:min(len(h.Tiles), tilesShown)]
	out := make([]tilePart, 0, len(list))
	for i := range list {
		t := &list[i]
		one := tilePart{
			URL: "/m/" + string(t.MarketID), Label: t.Label, Title: t.Title, Lane: laneWord(t.Lane), Class: "flat",
			Volume: amount(&t.Volume24h, "usd"), Count: many(int64(t.Markets), "market"),
		}
		if t.Label == t.Title {
			one.Label = one.Lane
		}
		if t.Yes != nil {
			one.Yes = percent(min(max(*t.Yes, 0), wholePrice))
		}
		if t.Move != nil {
			one.Move = pointsOf(int(*t.Move))
			switch move := *t.Move; {
			case move >= strong:
				one.Class = "up strong"
			case move > 0:
				one.Class = "up"
			case move <= -strong:
				one.Class = "down strong"
			case move < 0:
				one.Class = "down"
			}
		}
		out = append(out, one)
	}
	return out
}
