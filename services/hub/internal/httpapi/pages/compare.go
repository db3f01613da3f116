package pages

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/skill"
	recordv1 "github.com/signalcast/signalcast/proto/record/v1"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/format"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/site"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
	"github.com/signalcast/signalcast/services/hub/internal/identityclaim"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
	"github.com/signalcast/signalcast/services/hub/internal/record"
)

const (
	comparePath   = "/compare"
	callsInPage   = 100
	callsSearched = 500 // calls of each forecaster among which common markets are searched
	commonShown   = 50  // calls on the same markets
)

type comparePage struct {
	site.Layout
	A, B   string            // handles as they were typed
	Errors map[string]string // error texts by field
	Sides  []comparedSide    // two forecasters, or none
	Rows   []comparedRow
	Ticks  []chartTick
	Common []commonMarket
	Cut    bool // older calls were not searched
}

// comparedSide is one of the two forecasters.
type comparedSide struct {
	Handle, Name string
	Avatar       site.Avatar
	Edge         *edgePlot        // nil without a resolved call
	Calibration  *calibrationPlot // nil without a stated confidence
}

// comparedRow is one number of both forecasters.
type comparedRow struct{ Name, A, B string }

// commonMarket is a market that both forecasters have called.
type commonMarket struct {
	Title, URL string
	A, B       callRow
}

// compare handles GET /compare, which shows the records of the forecasters in the parameters a and b next to each other. Without
// both, it shows a form.
func (s *server) compare(c echo.Context) error {
	p := comparePage{A: compared(c, "a"), B: compared(c, "b"), Errors: map[string]string{}}
	status, accounts := http.StatusOK, []identityclaim.Account{}
	for field, handle := range map[string]string{"a": p.A, "b": p.B} {
		if handle == "" {
			continue
		}
		account, err := s.accountOf(c.Request().Context(), handle)
		switch {
		case errors.Is(err, operator.ErrUnknown):
			p.Errors[field], status = "No forecaster is called @"+handle+".", http.StatusNotFound
		case err != nil:
			return err
		}
		accounts = append(accounts, account)
	}
	if p.A != "" && p.A == p.B {
		p.Errors = map[string]string{"b": "Name another forecaster than @" + p.A + "."}
		status = http.StatusBadRequest
	}
	g := site.NewPartReader(c.Request().Context(), site.PartsTimeout)
	p.Layout = s.NewLayout(c, "Compare forecasters", "The records of two forecasters next to each other.", comparePath)
	p.Wide, p.OGType, p.Unlisted = true, "website", p.A+p.B != ""
	if len(p.Errors) > 0 || len(accounts) < 2 {
		p.Unavailable = g.Wait()
		return s.Render(c, status, "compare", p)
	}
	if string(accounts[0].Handle) != p.A {
		accounts[0], accounts[1] = accounts[1], accounts[0]
	}
	a, b := s.readCompared(g, accounts[0]), s.readCompared(g, accounts[1])
	p.Unavailable = g.Wait()
	p.fill(a, b)
	own := map[string]*signalv1.Signal{}
	for _, call := range b.calls.Value {
		own[call.GetMarketId()] = call
	}
	var ofA, ofB []*signalv1.Signal
	for _, call := range a.calls.Value {
		if other := own[call.GetMarketId()]; other != nil && len(ofA) < commonShown {
			ofA, ofB = append(ofA, call), append(ofB, other)
		}
	}
	named := s.marketsOf(c.Request().Context(), view.List(ofA, (*signalv1.Signal).GetMarketId)...)
	rowsA, rowsB := callsOf(ofA, named), callsOf(ofB, named)
	for i, call := range ofA {
		id := call.GetMarketId()
		p.Common = append(p.Common, commonMarket{cmp.Or(named[id].GetTitle(), rowsA[i].Title), site.MarketPath + id, rowsA[i], rowsB[i]})
	}
	p.Cut = len(a.calls.Value) == callsSearched || len(b.calls.Value) == callsSearched
	return s.RenderParts(c, g, status, "compare", p)
}

// comparedParts are the parts of the page for one forecaster.
type comparedParts struct {
	account identityclaim.Account
	record  *site.Part[*recordv1.GetOperatorRecordResponse]
	skill   *site.Part[*recordv1.GetSkillResponse]
	calls   *site.Part[[]*signalv1.Signal]
}

// readCompared starts to read the record, the statistics and the newest calls of a forecaster.
func (s *server) readCompared(g *site.PartReader, a identityclaim.Account) comparedParts {
	ledger, handle := s.Ledger.Records, string(a.Handle)
	return comparedParts{
		account: a,
		record:  site.CallPart(g, "record", ledger.GetOperatorRecord, record.Request(a.Handle, 0, 0)),
		skill: site.CallCached(g, "skill", s.skills, handle, ledger.GetSkill, &recordv1.GetSkillRequest{
			Handle: handle, Window: "all",
		}),
		calls: site.ReadPart(g, "calls", func(ctx context.Context) (out []*signalv1.Signal, err error) {
			for cursor, more := "", true; more && len(out) < callsSearched; {
				r, err := ledger.ListCalls(ctx, &recordv1.ListCallsRequest{Handle: handle, Limit: callsInPage, Cursor: cursor})
				if err != nil {
					return nil, err
				}
				cursor, out = r.GetNextCursor(), append(out, r.GetSignals()...)
				more = cursor != ""
			}
			return out, nil
		}),
	}
}

// fill sets the numbers of two forecasters. Both edges have the same axis.
func (p *comparePage) fill(both ...comparedParts) {
	var reports [2]*skill.Report
	for i, one := range both {
		if reports[i] = record.ReportOf(one.skill.Value.GetReport()); reports[i] == nil {
			reports[i] = &skill.Report{}
		}
	}
	scale := edgeAxis(reports[:]...)
	p.Ticks = scale.ticks(format.PointsOf)
	var numbers [2]map[string]string
	for i, one := range both {
		handle := string(one.account.Handle)
		side := comparedSide{
			Handle: handle, Name: format.NameOf(one.account.DisplayName, handle),
			Avatar: site.AvatarOf(one.account.Operator),
		}
		numbers[i] = map[string]string{}
		if r := one.record.Value; r != nil {
			sum := summaryOf(r, nil)
			numbers[i] = map[string]string{
				"Points": sum.Score, "Rank by points": sum.Rank, "Calls": sum.Total, "Won": sum.Won, "Lost": sum.Lost, "Void": sum.Void,
				"Open": sum.Pending,
			}
		}
		if sk := skillOf(reports[i]); sk != nil {
			edge := newEdgePlot(reports[i], scale)
			side.Edge, side.Calibration = &edge, calibrationOf(reports[i].Calibration)
			numbers[i]["Edge (pp)"], numbers[i]["95% interval (pp)"] = edge.Edge, edge.Low+" to "+edge.High
			numbers[i]["Expected win rate"], numbers[i]["Actual win rate"] = sk.ExpectedWinRate, sk.WinRate
		}
		if c := side.Calibration; c != nil {
			numbers[i]["Brier score"], numbers[i]["Brier score of the price"] = c.BrierScore, c.MarketBrierScore
		}
		p.Sides = append(p.Sides, side)
	}
	for _, name := range comparedNumbers {
		if a, b := numbers[0][name], numbers[1][name]; a != "" || b != "" {
			p.Rows = append(p.Rows, comparedRow{name, a, b})
		}
	}
}

// comparedNumbers are the names of the rows of the page, in order.
var comparedNumbers = []string{
	"Points", "Rank by points", "Calls", "Won", "Lost", "Void", "Open", "Edge (pp)", "95% interval (pp)",
	"Expected win rate", "Actual win rate", "Brier score", "Brier score of the price",
}

// compared returns the handle in a query parameter in lower case, without an @ before it.
func compared(c echo.Context, name string) string {
	return strings.ToLower(strings.TrimPrefix(strings.TrimSpace(c.QueryParam(name)), "@"))
}
