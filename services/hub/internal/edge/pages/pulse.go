package pages

import (
	"context"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/services/hub/internal/digest"
	"github.com/signalcast/signalcast/services/hub/internal/record"
)

const (
	pulsePath = "/pulse"
	partPulse = "pulse"
)

type pulsePage struct {
	frame
	Away           bool
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
	var pulse record.Pulse
	g := newGather(c.Request().Context())
	ask(g, partPulse, &pulse, func(ctx context.Context) (record.Pulse, error) { return s.pulses.get(ctx, "", s.Records.Pulse) })
	g.done()
	p := pulsePage{frame: s.frame(c, "Pulse", "How much is called on Signalcast, week by week.", pulsePath), Away: g.missing(partPulse)}
	p.Wide, p.Here, p.Kind = true, "pulse", "website"
	if !p.Away {
		p.fill(&pulse)
	}
	s.lessThanWhole(c, g)
	return s.render(c, http.StatusOK, "pulse", p)
}

func (p *pulsePage) fill(r *record.Pulse) {
	if n := len(r.Weeks); r.Signals > 0 && n > 1 { // as the JSON has it
		w := r.Weeks[n-2]
		p.Star = &starPart{
			strconv.FormatFloat(digest.WssAo(w.Independent, w.ActiveIndependent), 'f', -1, 64), weekName(w.Start),
			many(w.Independent, "call"), many(w.ActiveIndependent, "person"),
		}
		if w.ActiveIndependent != 1 {
			p.Star.Operators = digits(w.ActiveIndependent) + " people"
		}
	}
	p.People = weeksOf(r.Weeks, "Calls of people", layer{"people", func(w *record.Week) int64 { return w.Independent }})
	p.Others = weeksOf(r.Weeks, "Calls of the house and of machines",
		layer{"house", func(w *record.Week) int64 { return w.House }}, layer{"machines", func(w *record.Week) int64 { return w.Automated }})
	for i := len(r.Weeks) - 1; i >= 0; i-- {
		w := &r.Weeks[i]
		p.Weeks = append(p.Weeks, weekRow{
			weekName(w.Start), w.Start, grouped(w.Independent), grouped(w.ActiveIndependent), grouped(w.House), grouped(w.Automated),
		})
	}
	p.Last7, p.Way, p.Turn = grouped(r.Last7), wayOf(r.Last7-r.Prev7), signed(int(r.Last7-r.Prev7))
	p.Figures = []figure{
		{"Calls", grouped(r.Signals), grouped(r.Independent) + " of people, " + grouped(r.House) + " of the house, " + grouped(r.Automated) + " of machines"},
		{"People", grouped(r.IndependentOperators), "who have called; " + grouped(r.IndependentActive28) + " of them within 28 days"},
		{"Registered", grouped(r.Registered), "logins, " + grouped(r.HouseOperators) + " of them of the house"},
		{"Markets", grouped(r.Markets), "with a call"},
		{"Decided", grouped(r.Won + r.Lost), grouped(r.Won) + " won, " + grouped(r.Lost) + " lost"},
		{"Open", grouped(r.Open), "calls that wait for an outcome"},
		{"Outcomes", grouped(r.Resolutions28), "claimed within 28 days"},
	}
	if r.ClvCount > 0 {
		p.Beat = digits(sharePercent(r.BeatLine, r.ClvCount)) + "%"
	}
	p.LastWeek, p.Read = r.LastIndependentWeek, when(r.GeneratedAt)
	if p.LastWeek != "" {
		p.LastWeek = weekName(p.LastWeek)
	}
}
