package pages

import (
	"net/http"
	"slices"
	"strconv"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/ledgerclient"
	recordv1 "github.com/signalcast/signalcast/proto/record/v1"
	"github.com/signalcast/signalcast/services/hub/internal/digest"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/format"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/site"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
)

const pulsePath = "/pulse"

type pulsePage struct {
	site.Layout
	NorthStar           *northStar // nil without calls
	People, Others      weekPlot
	Weeks               []weekRow
	Last7, Change       string
	Figures             []figure
	Prices              *pricePlot // nil without counted calls
	BeatLine            string     // share of calls that beat the closing price
	LastWeek, UpdatedAt string
}

// northStar is the number of calls per active forecaster in the last complete week.
type northStar struct{ Value, Week, Calls, Operators string }

type weekRow struct{ Name, Start, People, Active, House, Bots string }

type figure struct{ Name, Value, Note string }

// pulse handles GET /pulse, the page with the weekly activity and the totals of the network.
func (s *server) pulse(c echo.Context) error {
	g := site.NewPartReader(c.Request().Context(), site.PartsTimeout)
	pulse := site.CallCached(g, "pulse", s.pulses, "", s.Ledger.Records.GetPulse, &recordv1.GetPulseRequest{})
	unavailable := g.Wait()
	p := pulsePage{Layout: s.NewLayout(c, "Activity", "Weekly activity on Signalcast.", pulsePath)}
	p.Unavailable, p.Wide, p.Nav, p.OGType = unavailable, true, "pulse", "website"
	p.addStatistics(pulse.Value)
	return s.RenderParts(c, g, http.StatusOK, "pulse", p)
}

func (p *pulsePage) addStatistics(r *recordv1.GetPulseResponse) {
	weeks := r.GetWeeks()
	if n := len(weeks); r.GetSignals() > 0 && n > 1 { // the JSON route has the same condition
		w := weeks[n-2]
		p.NorthStar = &northStar{
			strconv.FormatFloat(digest.WssAo(w.GetIndependent(), w.GetActiveIndependent()), 'f', -1, 64), weekName(w.GetStart()),
			format.CountOf(w.GetIndependent(), "call"), format.CountOf(w.GetActiveIndependent(), "person"),
		}
		if w.GetActiveIndependent() != 1 {
			p.NorthStar.Operators = format.Digits(w.GetActiveIndependent()) + " people"
		}
	}
	p.People = weeksOf(weeks, "Calls by people", layer{"people", func(w *recordv1.Week) int64 { return w.GetIndependent() }})
	p.Others = weeksOf(weeks, "Calls by house accounts and bots",
		layer{"house", func(w *recordv1.Week) int64 { return w.GetHouse() }}, layer{
			"bots",
			func(w *recordv1.Week) int64 { return w.GetAutomated() },
		})
	for _, w := range slices.Backward(weeks) {
		p.Weeks = append(p.Weeks, weekRow{
			weekName(w.GetStart()), w.GetStart(), format.Grouped(w.GetIndependent()), format.Grouped(w.GetActiveIndependent()),
			format.Grouped(w.GetHouse()),
			format.Grouped(w.GetAutomated()),
		})
	}
	p.Last7, p.Change = format.Grouped(r.GetLast7()), format.Signed(int(r.GetLast7()-r.GetPrev7()))
	p.Figures = []figure{
		{
			"Calls", format.Grouped(r.GetSignals()), format.Grouped(r.GetIndependentSignals()) + " by people, " + format.Grouped(r.GetHouseSignals()) +
				" by house accounts, " + format.Grouped(r.GetAutomatedSignals()) + " by bots",
		},
		{"People", format.Grouped(r.GetIndependentOperators()), "with at least one call; " +
			format.Grouped(r.GetIndependentActive28()) + " in the last 28 days"},
		{
			"Registered", format.Grouped(r.GetRegistered()), format.NounOf(r.GetRegistered(), "account") + ", including " +
				format.Grouped(r.GetHouseOperators()) + " " + format.NounOf(r.GetHouseOperators(), "house account"),
		},
		{"Markets", format.Grouped(r.GetMarkets()), "with at least one call"},
		{"Resolved calls", format.Grouped(r.GetWon() + r.GetLost()), format.Grouped(r.GetWon()) + " won, " + format.Grouped(r.GetLost()) + " lost"},
		{"Open calls", format.Grouped(r.GetOpen()), "waiting for an outcome"},
		{"Resolutions", format.Grouped(r.GetResolutions28()), format.NounOf(r.GetResolutions28(), "market") + " resolved in the last 28 days"},
	}
	p.Prices = pricesOf(r.GetPrices())
	if r.GetClvCount() > 0 {
		p.BeatLine = format.Digits(view.SharePercent(r.GetBeatLine(), r.GetClvCount())) + "%"
	}
	p.LastWeek, p.UpdatedAt = r.GetLastIndependentWeek(), format.When(ledgerclient.Time(r.GetGeneratedAt()))
	if p.LastWeek != "" {
		p.LastWeek = weekName(p.LastWeek)
	}
}
