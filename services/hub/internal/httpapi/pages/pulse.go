package pages

import (
	"net/http"
	"slices"
	"strconv"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/ledgerclient"
	recordv1 "github.com/signalcast/signalcast/proto/record/v1"
	"github.com/signalcast/signalcast/services/hub/internal/digest"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
)

const pulsePath = "/pulse"

type pulsePage struct {
	layout
	NorthStar           *northStar // nil without calls
	People, Others      weekPlot
	Weeks               []weekRow
	Last7, Change       string
	Trend               string
	Figures             []figure
	BeatLine            string // share of calls that beat the closing price
	LastWeek, UpdatedAt string
}

// northStar is the number of calls per active forecaster in the last complete week.
type northStar struct{ Value, Week, Calls, Operators string }

type weekRow struct{ Name, Start, People, Active, House, Bots string }

type figure struct{ Name, Value, Note string }

// pulse handles GET /pulse, the page with the weekly activity and the totals of the network.
func (s *site) pulse(c echo.Context) error {
	g := newPartReader(c.Request().Context(), partsTimeout)
	pulse := callCached(g, "pulse", s.pulses, "", s.Ledger.Records.GetPulse, &recordv1.GetPulseRequest{})
	unavailable := g.wait()
	p := pulsePage{layout: s.newLayout(c, "Activity", "Weekly activity on Signalcast.", pulsePath)}
	p.Unavailable, p.Wide, p.Nav, p.OGType = unavailable, true, "pulse", "website"
	p.addStatistics(pulse.Value)
	return s.renderParts(c, g, http.StatusOK, "pulse", p)
}

func (p *pulsePage) addStatistics(r *recordv1.GetPulseResponse) {
	weeks := r.GetWeeks()
	if n := len(weeks); r.GetSignals() > 0 && n > 1 { // the JSON route has the same condition
		w := weeks[n-2]
		p.NorthStar = &northStar{
			strconv.FormatFloat(digest.WssAo(w.GetIndependent(), w.GetActiveIndependent()), 'f', -1, 64), weekName(w.GetStart()),
			countOf(w.GetIndependent(), "call"), countOf(w.GetActiveIndependent(), "person"),
		}
		if w.GetActiveIndependent() != 1 {
			p.NorthStar.Operators = digits(w.GetActiveIndependent()) + " people"
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
			weekName(w.GetStart()), w.GetStart(), grouped(w.GetIndependent()), grouped(w.GetActiveIndependent()),
			grouped(w.GetHouse()),
			grouped(w.GetAutomated()),
		})
	}
	p.Last7, p.Trend, p.Change = grouped(r.GetLast7()), trendOf(r.GetLast7()-r.GetPrev7()), signed(int(r.GetLast7()-r.GetPrev7()))
	p.Figures = []figure{
		{
			"Calls", grouped(r.GetSignals()), grouped(r.GetIndependentSignals()) + " by people, " + grouped(r.GetHouseSignals()) +
				" by house accounts, " + grouped(r.GetAutomatedSignals()) + " by bots",
		},
		{"People", grouped(r.GetIndependentOperators()), "with at least one call; " +
			grouped(r.GetIndependentActive28()) + " in the last 28 days"},
		{
			"Registered", grouped(r.GetRegistered()), nounOf(r.GetRegistered(), "account") + ", including " +
				grouped(r.GetHouseOperators()) + " " + nounOf(r.GetHouseOperators(), "house account"),
		},
		{"Markets", grouped(r.GetMarkets()), "with at least one call"},
		{"Resolved calls", grouped(r.GetWon() + r.GetLost()), grouped(r.GetWon()) + " won, " + grouped(r.GetLost()) + " lost"},
		{"Open calls", grouped(r.GetOpen()), "waiting for an outcome"},
		{"Resolutions", grouped(r.GetResolutions28()), nounOf(r.GetResolutions28(), "market") + " resolved in the last 28 days"},
	}
	if r.GetClvCount() > 0 {
		p.BeatLine = digits(view.SharePercent(r.GetBeatLine(), r.GetClvCount())) + "%"
	}
	p.LastWeek, p.UpdatedAt = r.GetLastIndependentWeek(), when(ledgerclient.Time(r.GetGeneratedAt()))
	if p.LastWeek != "" {
		p.LastWeek = weekName(p.LastWeek)
	}
}
