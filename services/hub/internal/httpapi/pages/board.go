package pages

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/skill"
	boardv1 "github.com/signalcast/signalcast/proto/board/v1"
	"github.com/signalcast/signalcast/services/hub/internal/board"
)

const boardPath = "/board"

type boardPage struct {
	frame
	Query                board.Query
	ByEdge               bool
	Orders, Who, Windows []tab
	Lanes                []tab
	OrderText, WhoText   string
	Heading              string
	Rows                 []boardRow
	Ticks                []chartTick
	Updated              string
	JSON                 string
	Everybody            string // leads to the widest board; empty: this is it
}

type boardRow struct {
	Rank, Name, Handle, Machine, Tier string
	Broadcast, Points, Way            string
	Right, Record, Calls              string
	Edge                              *span // nil: nothing is decided
	Decided                           string
}

// boardTiers are the boards that are told apart, and what is on each.
var boardTiers = [...]struct{ value, label, text string }{
	{"independent", "People", "Independent forecasters, not run by the administrators of this service."},
	{"house", "House", "Accounts that the administrators of this service run."},
	{"automated", "Bots", "AI agents and bots. Rankings of people exclude them."},
	{"human", "People and house", "All forecasters except bots."},
	{"all", "All", "People, house accounts and bots; bots are marked."},
}

// boardURL is the address of a board; defaults are left out.
func boardURL(q board.Query) string {
	v := url.Values{}
	for _, p := range [...]struct{ name, value, def string }{
		{"order", q.Order, board.ByScore},
		{"operators", q.Operators, boardTiers[0].value},
		{"window", q.Window, "all"},
		{"lane", strings.ToLower(string(q.Lane)), ""},
	} {
		if p.value != p.def {
			v.Set(p.name, p.value)
		}
	}
	if len(v) == 0 {
		return boardPath
	}
	return boardPath + "?" + v.Encode()
}

// board is GET /board.
func (s *site) board(c echo.Context) error {
	q := board.ParseQuery(c.QueryParam("operators"), c.QueryParam("window"), c.QueryParam("lane"), c.QueryParam("order"))
	g := newGather(c.Request().Context(), partsWithin)
	b := askFor(g, "board", s.Ledger.Boards.ListBroadcast, q.Request(board.Max))
	away := g.done()
	p := boardPage{
		frame: s.frame(c, "Board", "The best forecasters on prediction markets, and how much of it could be luck.", boardURL(q)),
		Query: q, ByEdge: q.Order == board.ByEdge,
		JSON: "/api/operator/leaderboard" + strings.TrimPrefix(boardURL(q), boardPath),
	}
	p.Away, p.Wide, p.Here, p.Kind = away, true, "board", "website"
	p.tabs()
	if widest := boardURL(board.Query{Operators: "all", Window: "all", Order: q.Order}); widest != boardURL(q) {
		p.Everybody = widest
	}
	p.Updated = when(ledgerclient.Time(b.Value.GetUpdatedAt()))
	p.fill(b.Value.GetRows())
	return s.renderParts(c, g, http.StatusOK, "board", p)
}

// tabs are the ways to the other boards, each with everything else as it is.
func (p *boardPage) tabs() {
	one := func(list *[]tab, label string, set func(*board.Query)) {
		q := p.Query
		set(&q)
		*list = append(*list, tab{Label: label, URL: boardURL(q), Here: q == p.Query})
	}
	one(&p.Orders, "By broadcast score", func(q *board.Query) { q.Order = board.ByScore })
	one(&p.Orders, "By edge", func(q *board.Query) { q.Order, q.Window = board.ByEdge, "all" })
	for _, t := range boardTiers {
		one(&p.Who, t.label, func(q *board.Query) { q.Operators = t.value })
		if t.value == p.Query.Operators {
			p.Heading, p.WhoText = t.label, t.text
		}
	}
	if !p.ByEdge {
		one(&p.Windows, "All time", func(q *board.Query) { q.Window = "all" })
		one(&p.Windows, "28 days", func(q *board.Query) { q.Window = "28d" })
	}
	one(&p.Lanes, "All lanes", func(q *board.Query) { q.Lane = "" })
	for _, lane := range protocol.Lanes {
		if lane.Filterable() {
			one(&p.Lanes, capital(lane), func(q *board.Query) { q.Lane = lane })
		}
	}
	p.OrderText = "Ranked by broadcast score, 0 to 1,000: half from points, half from activity and reach."
	if p.ByEdge {
		p.OrderText = "Ranked by the lower end of the 95% interval of the edge, so a few lucky calls do not rank high."
	}
}

func (p *boardPage) fill(rows []*boardv1.Row) {
	reports := make([]*skill.Report, 0, len(rows))
	for _, r := range rows {
		if r.GetEdgeCalls() > 0 {
			reports = append(reports, reportOfEdge(r))
		}
	}
	scale := spansOf(reports...)
	p.Ticks = scale.ticks(pointsOf)
	for _, r := range rows {
		o := r.GetOperator()
		row := boardRow{
			Rank: digits(int64(r.GetRank())), Name: nameOf(o.GetDisplayName(), o.GetHandle()), Handle: o.GetHandle(),
			Machine: machineWords[protocol.OperatorType(o.GetOperatorType())], Broadcast: digits(int64(r.GetBroadcastScore())),
			Points: signed(int(r.GetScore())), Way: wayOf(r.GetScore()), Right: "–",
			Record: grouped(r.GetWon()) + "–" + grouped(r.GetLost()), Calls: grouped(r.GetTotal()),
		}
		if tier := protocol.Tier(o.GetTier()); tier == protocol.House {
			row.Tier = tierWords[tier].word
		}
		if r.GetWon()+r.GetLost() > 0 {
			row.Right = digits(int64(r.GetAccuracy())) + "%"
		}
		if r.GetEdgeCalls() > 0 {
			edge := spanOf(reportOfEdge(r), scale)
			row.Edge, row.Decided = &edge, grouped(r.GetEdgeCalls())
		}
		p.Rows = append(p.Rows, row)
	}
}

func reportOfEdge(r *boardv1.Row) *skill.Report {
	return &skill.Report{
		Calls: r.GetEdgeCalls(), EdgeBps: int(r.GetEdgeBps()), LowBps: int(r.GetEdgeLowBps()), HighBps: int(r.GetEdgeHighBps()),
	}
}
