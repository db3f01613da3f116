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
	frame
	Star           *starPart // nil: nobody has called yet
	People, Others weekPlot
	Weeks          []weekRow
	Last7, Turn    string
	Way            string
	Figures        []figure
	Beat           string // how often the line moved the caller's way
	LastWeek, Read string
}

// starPart is the north star of the last whole week.
type starPart struct{ Value, Week, Calls, Operators string }

type weekRow struct{ Name, Start, People, Active, House, Machines string }

type figure struct{ Name, Value, Note string }

// pulse is GET /pulse: how the network stands.
func (s *site) pulse(c echo.Context) error {
	g := newGather(c.Request().Context(), partsWithin)
	pulse := askCached(g, "pulse", s.pulses, "", s.Ledger.Records.GetPulse, &recordv1.GetPulseRequest{})
	away := g.done()
	p := pulsePage{frame: s.frame(c, "Pulse", "Weekly activity on Signalcast.", pulsePath)}
	p.Away, p.Wide, p.Here, p.Kind = away, true, "pulse", "website"
	p.fill(pulse.Value)
	return s.renderParts(c, g, http.StatusOK, "pulse", p)
}

func (p *pulsePage) fill(r *recordv1.GetPulseResponse) {
	weeks := r.GetWeeks()
	if n := len(weeks); r.GetSignals() > 0 && n > 1 { // as the JSON has it
		w := weeks[n-2]
		p.Star = &starPart{
			strconv.FormatFloat(digest.WssAo(w.GetIndependent(), w.GetActiveIndependent()), 'f', -1, 64), weekName(w.GetStart()),
			many(w.GetIndependent(), "call"), many(w.GetActiveIndependent(), "person"),
		}
		if w.GetActiveIndependent() != 1 {
			p.Star.Operators = digits(w.GetActiveIndependent()) + " people"
		}
	}
	p.People = weeksOf(weeks, "Calls by people", layer{"people", func(w *recordv1.Week) int64 { return w.GetIndependent() }})
	p.Others = weeksOf(weeks, "Calls by house accounts and bots",
		layer{"house", func(w *recordv1.Week) int64 { return w.GetHouse() }}, layer{"machines", func(w *recordv1.Week) int64 { return w.GetAutomated() }})
	for _, w := range slices.Backward(weeks) {
		p.Weeks = append(p.Weeks, weekRow{
			weekName(w.GetStart()), w.GetStart(), grouped(w.GetIndependent()), grouped(w.GetActiveIndependent()), grouped(w.GetHouse()),
			grouped(w.GetAutomated()),
		})
	}
	p.Last7, p.Way, p.Turn = grouped(r.GetLast7()), wayOf(r.GetLast7()-r.GetPrev7()), signed(int(r.GetLast7()-r.GetPrev7()))
	p.Figures = []figure{
		{
			"Calls", grouped(r.GetSignals()), grouped(r.GetIndependentSignals()) + " by people, " + grouped(r.GetHouseSignals()) +
				" by house accounts, " + grouped(r.GetAutomatedSignals()) + " by bots",
		},
		{"People", grouped(r.GetIndependentOperators()), "with a call; " + grouped(r.GetIndependentActive28()) + " within 28 days"},
		{"Registered", grouped(r.GetRegistered()), "logins, " + grouped(r.GetHouseOperators()) + " of them house accounts"},
		{"Markets", grouped(r.GetMarkets()), "with a call"},
		{"Decided", grouped(r.GetWon() + r.GetLost()), grouped(r.GetWon()) + " won, " + grouped(r.GetLost()) + " lost"},
		{"Open", grouped(r.GetOpen()), "calls awaiting an outcome"},
		{"Outcomes", grouped(r.GetResolutions28()), "resolved within 28 days"},
	}
	if r.GetClvCount() > 0 {
		p.Beat = digits(view.SharePercent(r.GetBeatLine(), r.GetClvCount())) + "%"
	}
	p.LastWeek, p.Read = r.GetLastIndependentWeek(), when(ledgerclient.Time(r.GetGeneratedAt()))
	if p.LastWeek != "" {
		p.LastWeek = weekName(p.LastWeek)
	}
}
