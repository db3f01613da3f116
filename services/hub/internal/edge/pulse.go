package edge

import (
	"context"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/services/hub/internal/digest"
	"github.com/signalcast/signalcast/services/hub/internal/record"
)

type pulseJSON struct {
	Weeks               []weekJSON      `json:"weeks"`
	Totals              pulseTotalsJSON `json:"totals"`
	NorthStar           *northStarJSON  `json:"northStar"`
	LastIndependentWeek *string         `json:"lastIndependentWeek"`
	Hub                 pulseHubJSON    `json:"hub"`
	GeneratedAt         string          `json:"generatedAt"`
}

type weekJSON struct {
	Start             string `json:"ws"`
	Independent       int64  `json:"independent"`
	House             int64  `json:"house"`
	Automated         int64  `json:"automated"`
	ActiveIndependent int64  `json:"activeIndependent"`
}

type pulseTotalsJSON struct {
	Signals              int64 `json:"signals"`
	IndependentSignals   int64 `json:"independentSignals"`
	HouseSignals         int64 `json:"houseSignals"`
	AutomatedSignals     int64 `json:"automatedSignals"`
	Last7                int64 `json:"last7"`
	Prev7                int64 `json:"prev7"`
	IndependentOperators int64 `json:"independentOperators"`
	IndependentActive28  int64 `json:"independentActive28"`
	HouseOperators       int64 `json:"houseOperators"`
	Registered           int64 `json:"registered"`
	Markets              int64 `json:"markets"`
	Resolved             int64 `json:"resolved"`
	Won                  int64 `json:"won"`
	Lost                 int64 `json:"lost"`
	Open                 int64 `json:"open"`
	ClvCount             int64 `json:"clvCount"`
	BeatLine             int64 `json:"beatLine"`
}

type northStarJSON struct {
	WeekStart       string  `json:"weekStart"`
	ScoredSignals   int64   `json:"scoredSignals"`
	ActiveOperators int64   `json:"activeOperators"`
	WssAo           float64 `json:"wssAo"`
}

type pulseHubJSON struct {
	Resolutions28 int64 `json:"resolutions28"`
}

// pulse is GET /api/network/pulse.
func (s *server) pulse(c echo.Context) error {
	err := s.pulses.Serve(c.Response(), c.Request(), "", func(ctx context.Context) ([]byte, error) {
		p, err := s.ledgerRecords.Pulse(ctx)
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

func showPulse(p *record.Pulse) pulseJSON {
	out := pulseJSON{
		Weeks: make([]weekJSON, 0, len(p.Weeks)), LastIndependentWeek: orNull(p.LastIndependentWeek),
		Hub: pulseHubJSON{p.Resolutions28}, GeneratedAt: syntax.Stamp(p.GeneratedAt),
		Totals: pulseTotalsJSON{
			Signals: p.Signals, IndependentSignals: p.Independent, HouseSignals: p.House, AutomatedSignals: p.Automated,
			Last7: p.Last7, Prev7: p.Prev7, IndependentOperators: p.IndependentOperators, IndependentActive28: p.IndependentActive28,
			HouseOperators: p.HouseOperators, Registered: p.Registered, Markets: p.Markets, Resolved: p.Won + p.Lost,
			Won: p.Won, Lost: p.Lost, Open: p.Open, ClvCount: p.ClvCount, BeatLine: p.BeatLine,
		},
	}
	for _, w := range p.Weeks {
		out.Weeks = append(out.Weeks, weekJSON{w.Start, w.Independent, w.House, w.Automated, w.ActiveIndependent})
	}
	// The north star is the last complete week; there is none before the first call.
	if n := len(p.Weeks); p.Signals > 0 && n > 1 {
		w := p.Weeks[n-2]
		out.NorthStar = &northStarJSON{w.Start, w.Independent, w.ActiveIndependent, digest.WssAo(w.Independent, w.ActiveIndependent)}
	}
	return out
}
