package reads

import (
	"context"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/httpcache"
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/skill"
	"github.com/signalcast/signalcast/proto/openapi"
	recordv1 "github.com/signalcast/signalcast/proto/record/v1"
	"github.com/signalcast/signalcast/services/hub/internal/digest"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
	"github.com/signalcast/signalcast/services/hub/internal/record"
)

// Pulse handles GET /api/network/pulse, the activity of the network by week and in total. Error: pulse_unavailable.
func (s *Server) Pulse(c echo.Context) error {
	err := view.Serve(c, s.pulsePages, "", func(ctx context.Context) ([]byte, error) {
		p, err := s.Ledger.Records.GetPulse(ctx, &recordv1.GetPulseRequest{})
		if err != nil {
			return nil, err
		}
		return httpx.Marshal(showPulse(p))
	})
	if err != nil {
		return record.ErrPulse.Wrap(err)
	}
	return nil
}

func showPulse(p *recordv1.GetPulseResponse) openapi.Pulse {
	weeks := p.GetWeeks()
	out := openapi.Pulse{
		Weeks: view.List(weeks, showWeek), LastIndependentWeek: httpx.OrNull(p.GetLastIndependentWeek()),
		Hub: openapi.Pulse_Hub{Resolutions28: p.GetResolutions28()}, GeneratedAt: ledgerclient.Stamp(p.GetGeneratedAt()),
		Totals: openapi.PulseTotals{
			Signals: p.GetSignals(), IndependentSignals: p.GetIndependentSignals(), HouseSignals: p.GetHouseSignals(),
			AutomatedSignals: p.GetAutomatedSignals(), Last7: p.GetLast7(), Prev7: p.GetPrev7(),
			IndependentOperators: p.GetIndependentOperators(), IndependentActive28: p.GetIndependentActive28(),
			HouseOperators: p.GetHouseOperators(), Registered: p.GetRegistered(), Markets: p.GetMarkets(),
			Resolved: p.GetWon() + p.GetLost(),
			Won:      p.GetWon(), Lost: p.GetLost(), Open: p.GetOpen(), ClvCount: p.GetClvCount(), BeatLine: p.GetBeatLine(),
		},
	}
	// The north star is a figure of the last complete week. It is null until the first call is filed.
	if n := len(weeks); p.GetSignals() > 0 && n > 1 {
		w := weeks[n-2]
		out.NorthStar = &openapi.Pulse_NorthStar{
			WeekStart: w.GetStart(), ScoredSignals: w.GetIndependent(), ActiveOperators: w.GetActiveIndependent(),
			WssAo: digest.WssAo(w.GetIndependent(), w.GetActiveIndependent()),
		}
	}
	return out
}

func showWeek(w *recordv1.Week) openapi.Pulse_Weeks {
	return openapi.Pulse_Weeks{
		Ws: w.GetStart(), Independent: w.GetIndependent(), House: w.GetHouse(), Automated: w.GetAutomated(),
		ActiveIndependent: w.GetActiveIndependent(),
	}
}

// skillCaveats are the codes of the known limits of a skill report. docs/method.md explains them.
var skillCaveats = []string{"calls_taken_as_independent", "holds_for_one_look"}

// skillQuery is a normalized query for a skill report. An empty lane means all lanes.
type skillQuery struct {
	lane   protocol.Lane
	window string
}

var skillParams = httpcache.Params("lane", "window")

func readSkill(rawQuery string) skillQuery {
	v := httpcache.Query(rawQuery, skillParams)
	q := skillQuery{protocol.LaneFilter(v[0]), "all"}
	if v[1] == "28d" {
		q.window = v[1]
	}
	return q
}

// Skill handles GET /api/operator/{handle}/skill, the skill report of an operator.
func (s *Server) Skill(c echo.Context, handle protocol.Handle) error {
	q := readSkill(c.Request().URL.RawQuery)
	key := httpcache.JoinKey(string(handle), string(q.lane), q.window)
	return view.Serve(c, s.skillPages, key, func(ctx context.Context) ([]byte, error) {
		found, err := s.Ledger.Records.GetSkill(ctx, &recordv1.GetSkillRequest{
			Handle: string(handle), Lane: string(q.lane), Window: q.window,
		})
		if err != nil {
			return nil, err
		}
		return httpx.Marshal(showSkill(q, found))
	})
}

func showSkill(q skillQuery, k *recordv1.GetSkillResponse) openapi.OperatorSkill {
	o := k.GetOperator()
	out := openapi.OperatorSkill{
		Handle: o.GetHandle(), OperatorPublicID: o.GetPublicId(), Tier: o.GetTier(), IsAi: view.IsAI(o),
		Lane: httpx.OrNull(string(q.lane)), Window: q.window, Version: k.GetVersion(),
		Lanes: view.List(k.GetLanes(), func(l *recordv1.LaneReport) openapi.OperatorSkill_Lanes {
			return openapi.OperatorSkill_Lanes{Lane: l.GetLane(), Report: showReport(record.ReportOf(l.GetReport()))}
		}),
		Caveats: skillCaveats, UpdatedAt: ledgerclient.Stamp(k.GetUpdatedAt()),
	}
	if k.GetReport() != nil {
		shown := showReport(record.ReportOf(k.GetReport()))
		out.Report = &shown
	}
	return out
}

func showReport(r *skill.Report) openapi.SkillReport {
	out := openapi.SkillReport{
		Calls: r.Calls, Wins: r.Wins, PriceBps: int64(r.PriceBps), EdgeBps: int64(r.EdgeBps), LowBps: int64(r.LowBps),
		HighBps: int64(r.HighBps),
		Chance:  openapi.SkillReport_Chance{Above: r.Above, Below: r.Below, TwoSided: r.TwoSided}, CallsNeeded: r.Needed,
		CallsNeededSure: r.NeededSure,
	}
	c := r.Calibration
	if c == nil {
		return out
	}
	out.Calibration = &openapi.Calibration{
		Calls: c.Calls, BrierBps: int64(c.BrierBps), MarketBrierBps: int64(c.MarketBrierBps),
		ReliabilityBps: int64(c.ReliabilityBps), ResolutionBps: int64(c.ResolutionBps),
		UncertaintyBps: int64(c.UncertaintyBps), WithinBps: int64(c.WithinBps),
		Bins: view.List(c.Bins, func(b skill.Bin) openapi.Calibration_Bins {
			return openapi.Calibration_Bins{
				From: int64(b.From), To: int64(b.To), Calls: b.Calls, Wins: b.Wins, ConfidenceBps: int64(b.ConfidenceBps),
				HitBps: int64(b.HitBps), LowBps: int64(b.LowBps), HighBps: int64(b.HighBps),
			}
		}),
	}
	return out
}
