package pages

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/hub/internal/market"
	"github.com/signalcast/signalcast/services/hub/internal/resolution"
	"github.com/signalcast/signalcast/services/hub/internal/signal"
)

type marketPage struct {
	frame
	ID, Question, About, Provider, Lane, StatusWord string
	Priced                                          bool
	Yes, No, YesLabel, NoLabel                      string
	YesPct                                          float64
	Ends, Volume                                    string
	Calls                                           int64
	CrowdLine, TopLine                              string
	Outcome                                         *outcomePart
	Signals                                         []callRow
}

type outcomePart struct {
	Word, Class, By, ProofURL, Disputed string
}

type callRow struct {
	ID, Who, Side, Class, Price, Result, At, AtISO string
}

// callsShown is the number of newest calls on a market's page.
const callsShown = 50

// market is GET /m/{marketId}.
func (s *site) market(c echo.Context) error {
	id, err := syntax.ParseMarketID(c.Param("marketId"))
	if err != nil {
		return market.ErrUnknown
	}
	ctx := c.Request().Context()
	m, err := s.Markets.Market(ctx, id)
	if err != nil {
		return err
	}
	ledger, err := s.Signals.MarketLedger(ctx, id, callsShown, "")
	if err != nil {
		return err
	}
	crowd, err := s.Signals.Crowd(ctx, id, "")
	if err != nil {
		return err
	}
	p := s.marketOf(m)
	p.Calls = ledger.Yes + ledger.No
	p.Signals = callsOf(ledger.Signals)
	p.CrowdLine, p.TopLine = crowdLines(crowd)
	p.Outcome = outcomeOf(s.outcome(ctx, id))
	return s.render(c, http.StatusOK, "market", p)
}

func (s *site) marketOf(m market.Market) marketPage {
	p := marketPage{
		frame: s.frame(m.Title, "Who called what on this market, and what came of it.", "/m/"+string(m.ID)),
		ID:    string(m.ID), Question: m.Title, About: m.Description, Provider: string(m.Provider), Lane: string(m.Lane),
		StatusWord: string(m.Status), YesLabel: "YES", NoLabel: "NO",
	}
	if m.Provider == syntax.Manual {
		p.Provider = "Signalcast"
	}
	if len(m.Outcomes) == 2 {
		p.YesLabel, p.NoLabel = m.Outcomes[0], m.Outcomes[1]
	}
	if m.Yes != nil {
		yes := int(*m.Yes)
		p.Priced, p.Yes, p.No, p.YesPct = true, percent(yes), percent(10000-yes), float64(yes)/100
	}
	if !m.EndDate.IsZero() {
		p.Ends = when(m.EndDate)
	}
	if m.Volume != nil && *m.Volume > 0 {
		p.Volume = usd(*m.Volume) + " " + strings.ToUpper(m.VolumeUnit)
	}
	return p
}

func callsOf(list []signal.Signal) []callRow {
	rows := make([]callRow, 0, len(list))
	for _, sig := range list {
		r := callRow{
			ID: sig.ID, Who: string(sig.PublicID), Side: string(sig.Direction), Class: sideClass(sig.Direction),
			Price: cents(int(sig.Price)), Result: strings.ToLower(statusWord(sig.Status)),
			At: sig.CreatedAt.UTC().Format("2 Jan, 15:04"), AtISO: syntax.Stamp(sig.CreatedAt),
		}
		if sig.Handle != "" {
			r.Who = "@" + sig.Handle
		}
		if sig.Score != nil && sig.Status != syntax.Void {
			r.Result = signed(int(*sig.Score))
		}
		rows = append(rows, r)
	}
	return rows
}

func crowdLines(c signal.Crowd) (crowd, top string) {
	if n := c.Yes + c.No; n > 0 {
		crowd = fmt.Sprintf("%d%% YES of %d", (200*c.Yes+n)/(2*n), n)
	}
	if c.Top != nil {
		top = strconv.Itoa(int(c.Top.YesPercent)) + "% YES of " + strconv.Itoa(int(c.Top.Sample))
	}
	return crowd, top
}

func outcomeOf(o *resolution.Outcome) *outcomePart {
	if o == nil {
		return nil
	}
	part := &outcomePart{Word: "No outcome yet", ProofURL: proof(o), Disputed: dispute(o)}
	if o.Outcome == nil {
		return part
	}
	part.Word, part.Class = "Resolved "+*o.Outcome, strings.ToLower(*o.Outcome)
	part.By = "by " + by(o) + ", " + when(o.ResolvedAt)
	return part
}
