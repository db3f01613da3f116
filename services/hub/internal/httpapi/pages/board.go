package pages

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/skill"
	boardv1 "github.com/signalcast/signalcast/proto/board/v1"
	"github.com/signalcast/signalcast/services/hub/internal/board"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/format"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/site"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

const boardPath = "/board"

type boardPage struct {
	site.Layout
	Query                  board.Query
	ByEdge                 bool
	Orders, Tiers, Windows []tab
	Lanes                  []tab
	OrderText, TierText    string
	Heading                string
	Rows                   []boardRow
	Ticks                  []chartTick
	Updated                string
	JSON                   string
	AllURL                 string // URL of the leaderboard of all forecasters; empty if this page shows it
}

type boardRow struct {
	Rank, Name, Handle, BotLabel, Tier string
	Avatar                             site.Avatar
	Broadcast, Points, Trend           string
	WinRate, Record, Calls             string
	Edge                               *edgePlot // nil without a resolved call
	EdgeCalls                          string
	Live                               bool // the operator is live
}

// boardTiers are the selectable tiers of the leaderboard, with their labels and descriptions.
var boardTiers = [...]struct{ value, label, text string }{
	{"independent", "People", "Independent forecasters. House accounts and bots are excluded."},
	{"house", "House", "Accounts that the administrators of this service run."},
	{"automated", "Bots", "AI agents and bots. Rankings of people exclude them."},
	{"human", "People and house", "All forecasters except bots."},
	{"all", "All", "People, house accounts and bots. Bots are marked."},
}

// boardURL returns the path and query of the leaderboard page that shows the leaderboard of q.
func boardURL(q board.Query) string { return boardPath + boardQuery(q, board.ByEdge) }

// boardQuery returns the query string that selects the leaderboard of q, with its question mark. The default order of the page or route
// is order. Parameters with default values are left out.
func boardQuery(q board.Query, order string) string {
	v := url.Values{}
	for _, p := range [...]struct{ name, value, def string }{
		{"order", q.Order, order},
		{"operators", q.Operators, boardTiers[0].value},
		{"window", q.Window, "all"},
		{"lane", strings.ToLower(string(q.Lane)), ""},
	} {
		if p.value != p.def {
			v.Set(p.name, p.value)
		}
	}
	if len(v) == 0 {
		return ""
	}
	return "?" + v.Encode()
}

// board handles GET /board, the leaderboard page.
func (s *server) board(c echo.Context) error {
	q := board.ParseQuery(c.QueryParam("operators"), c.QueryParam("window"), c.QueryParam("lane"), cmp.Or(c.QueryParam("order"), board.ByEdge))
	g := site.NewPartReader(c.Request().Context(), site.PartsTimeout)
	b := site.CallPart(g, "board", s.Ledger.Boards.ListBroadcast, q.Request(board.Max))
	unavailable := g.Wait()
	p := boardPage{
		Layout: s.NewLayout(c, "Leaderboard", "Forecasters ranked by edge or by broadcast score.", boardURL(q)),
		Query:  q, ByEdge: q.Order == board.ByEdge,
		JSON: "/api/operator/leaderboard" + boardQuery(q, board.ByScore),
	}
	p.Unavailable, p.Wide, p.Nav, p.OGType = unavailable, true, "board", "website"
	p.addTabs()
	if widest := boardURL(board.Query{Operators: "all", Window: "all", Order: q.Order}); widest != boardURL(q) {
		p.AllURL = widest
	}
	p.Updated = format.When(ledgerclient.Time(b.Value.GetUpdatedAt()))
	p.Rows, p.Ticks = boardRows(b.Value.GetRows())
	live := s.liveNow(c.Request().Context())
	for i := range p.Rows {
		_, p.Rows[i].Live = live[p.Rows[i].Handle]
	}
	return s.RenderParts(c, g, http.StatusOK, "board", p)
}

// addTabs sets the heading, the explanations and the links to other leaderboards. Each link changes one parameter, but the link
// to the order by edge also selects all time.
func (p *boardPage) addTabs() {
	one := func(list *[]tab, label string, set func(*board.Query)) {
		q := p.Query
		set(&q)
		*list = append(*list, tab{Label: label, URL: boardURL(q), Here: q == p.Query})
	}
	one(&p.Orders, "By edge", func(q *board.Query) { q.Order, q.Window = board.ByEdge, "all" })
	one(&p.Orders, "By broadcast score", func(q *board.Query) { q.Order = board.ByScore })
	for _, t := range boardTiers {
		one(&p.Tiers, t.label, func(q *board.Query) { q.Operators = t.value })
		if t.value == p.Query.Operators {
			p.Heading, p.TierText = t.label, t.text
		}
	}
	if !p.ByEdge {
		one(&p.Windows, "All time", func(q *board.Query) { q.Window = "all" })
		one(&p.Windows, "28 days", func(q *board.Query) { q.Window = "28d" })
	}
	one(&p.Lanes, "All lanes", func(q *board.Query) { q.Lane = "" })
	for _, lane := range protocol.Lanes {
		if lane.Filterable() {
			one(&p.Lanes, format.TitleCase(lane), func(q *board.Query) { q.Lane = lane })
		}
	}
	p.OrderText = "Ranked by broadcast score, from 0 to 1,000: up to 500 for points, 300 for calls and takes, 200 for viewer minutes."
	if p.ByEdge {
		p.OrderText = "The edge is the win rate minus the average price, in percentage points (pp). Ranked by the lower bound " +
			"of its 95% confidence interval, so that a few lucky calls do not rank high."
	}
}

// boardRows returns the rows of a leaderboard, and the ticks of the scale of their edges.
func boardRows(list []*boardv1.Row) ([]boardRow, []chartTick) {
	reports := make([]*skill.Report, 0, len(list))
	for _, r := range list {
		if r.GetEdgeCalls() > 0 {
			reports = append(reports, reportOfEdge(r))
		}
	}
	scale := edgeAxis(reports...)
	rows := make([]boardRow, 0, len(list))
	for _, r := range list {
		o := r.GetOperator()
		row := boardRow{
			Rank: format.Digits(int64(r.GetRank())), Name: format.NameOf(o.GetDisplayName(), o.GetHandle()), Handle: o.GetHandle(),
			Avatar:   site.AvatarOf(operator.FromMessage(o)),
			BotLabel: botLabels[protocol.OperatorType(o.GetOperatorType())], Broadcast: format.Digits(int64(r.GetBroadcastScore())),
			Points: format.Signed(int(r.GetScore())), Trend: trendOf(r.GetScore()), WinRate: "–",
			Record: format.Grouped(r.GetWon()) + "–" + format.Grouped(r.GetLost()), Calls: format.Grouped(r.GetTotal()),
		}
		if tier := protocol.Tier(o.GetTier()); tier == protocol.House {
			row.Tier = tierLabels[tier].word
		}
		if r.GetWon()+r.GetLost() > 0 {
			row.WinRate = format.Digits(int64(r.GetAccuracy())) + "%"
		}
		if r.GetEdgeCalls() > 0 {
			edge := newEdgePlot(reportOfEdge(r), scale)
			row.Edge, row.EdgeCalls = &edge, format.Grouped(r.GetEdgeCalls())
		}
		rows = append(rows, row)
	}
	return rows, scale.ticks(format.PointsOf)
}

func reportOfEdge(r *boardv1.Row) *skill.Report {
	return &skill.Report{
		Calls: r.GetEdgeCalls(), EdgeBps: int(r.GetEdgeBps()), LowBps: int(r.GetEdgeLowBps()), HighBps: int(r.GetEdgeHighBps()),
	}
}
