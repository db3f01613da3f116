package edge

import (
	"context"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/hub/internal/digest"
	"github.com/signalcast/signalcast/services/hub/internal/record"
)

// pulse is GET /api/network/pulse.
func (s *server) pulse(c echo.Context) error {
	err := s.pulses.Serve(c.Response(), c.Request(), "", func(ctx context.Context) ([]byte, error) {
		p, err := s.Records.Pulse(ctx)
		if err != nil {
			return nil, err
		}
		return web.Marshal(showPulse(&p))
	})
	if err != nil {
		return record.ErrPulse.Wrap(err)
	}
	return nil
}

func showPulse(p *record.Pulse) openapi.Pulse {
	out := openapi.Pulse{
		Weeks: make([]openapi.Pulse_Weeks, 0, len(p.Weeks)), LastIndependentWeek: orNull(p.LastIndependentWeek),
		Hub: openapi.Pulse_Hub{Resolutions28: p.Resolutions28}, GeneratedAt: syntax.Stamp(p.GeneratedAt),
		Totals: openapi.PulseTotals{
			Signals: p.Signals, IndependentSignals: p.Independent, HouseSignals: p.House, AutomatedSignals: p.Automated,
			Last7: p.Last7, Prev7: p.Prev7, IndependentOperators: p.IndependentOperators, IndependentActive28: p.IndependentActive28,
			HouseOperators: p.HouseOperators, Registered: p.Registered, Markets: p.Markets, Resolved: p.Won + p.Lost,
			Won: p.Won, Lost: p.Lost, Open: p.Open, ClvCount: p.ClvCount, BeatLine: p.BeatLine,
		},
	}
	for _, w := range p.Weeks {
		out.Weeks = append(out.Weeks, openapi.Pulse_Weeks{
			Ws: w.Start, Independent: w.Independent, House: w.House, Automated: w.Automated, ActiveIndependent: w.ActiveIndependent,
		})
	}
	// The north star is the last complete week; there is none before the first call.
	if n := len(p.Weeks); p.Signals > 0 && n > 1 {
		w := p.Weeks[n-2]
		out.NorthStar = &openapi.Pulse_NorthStar{
			WeekStart: w.Start, ScoredSignals: w.Independent, ActiveOperators: w.ActiveIndependent,
			WssAo: digest.WssAo(w.Independent, w.ActiveIndependent),
		}
	}
	return out
}
