package edge

import (
	"context"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/proto/openapi"
	recordv1 "github.com/signalcast/signalcast/proto/record/v1"
	"github.com/signalcast/signalcast/services/hub/internal/digest"
	"github.com/signalcast/signalcast/services/hub/internal/record"
)

// pulse is GET /api/network/pulse.
func (s *server) pulse(c echo.Context) error {
	err := s.pulses.Serve(c.Response(), c.Request(), "", func(ctx context.Context) ([]byte, error) {
		p, err := s.Ledger.Records.GetPulse(ctx, &recordv1.GetPulseRequest{})
		if err != nil {
			return nil, err
		}
		return web.Marshal(showPulse(p))
	})
	if err != nil {
		return record.ErrPulse.Wrap(err)
	}
	return nil
}

func showPulse(p *recordv1.GetPulseResponse) openapi.Pulse {
	weeks := p.GetWeeks()
	out := openapi.Pulse{
		Weeks: make([]openapi.Pulse_Weeks, 0, len(weeks)), LastIndependentWeek: orNull(p.GetLastIndependentWeek()),
		Hub: openapi.Pulse_Hub{Resolutions28: p.GetResolutions28()}, GeneratedAt: stamp(p.GetGeneratedAt()),
		Totals: openapi.PulseTotals{
			Signals: p.GetSignals(), IndependentSignals: p.GetIndependentSignals(), HouseSignals: p.GetHouseSignals(),
			AutomatedSignals: p.GetAutomatedSignals(), Last7: p.GetLast7(), Prev7: p.GetPrev7(),
			IndependentOperators: p.GetIndependentOperators(), IndependentActive28: p.GetIndependentActive28(),
			HouseOperators: p.GetHouseOperators(), Registered: p.GetRegistered(), Markets: p.GetMarkets(), Resolved: p.GetWon() + p.GetLost(),
			Won: p.GetWon(), Lost: p.GetLost(), Open: p.GetOpen(), ClvCount: p.GetClvCount(), BeatLine: p.GetBeatLine(),
		},
	}
	for _, w := range weeks {
		out.Weeks = append(out.Weeks, openapi.Pulse_Weeks{
			Ws: w.GetStart(), Independent: w.GetIndependent(), House: w.GetHouse(), Automated: w.GetAutomated(),
			ActiveIndependent: w.GetActiveIndependent(),
		})
	}
	// The north star is the last complete week; there is none before the first call.
	if n := len(weeks); p.GetSignals() > 0 && n > 1 {
		w := weeks[n-2]
		out.NorthStar = &openapi.Pulse_NorthStar{
			WeekStart: w.GetStart(), ScoredSignals: w.GetIndependent(), ActiveOperators: w.GetActiveIndependent(),
			WssAo: digest.WssAo(w.GetIndependent(), w.GetActiveIndependent()),
		}
	}
	return out
}
