package edge

import (
	"context"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/page"
	"github.com/signalcast/signalcast/pkg/skill"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/proto/openapi"
	recordv1 "github.com/signalcast/signalcast/proto/record/v1"
	"github.com/signalcast/signalcast/services/hub/internal/record"
)

// skillCaveats say what the numbers cannot bear; docs/method.md has the sizes.
var skillCaveats = []string{"calls_taken_as_independent", "holds_for_one_look"}

// skillQuery is the normal form of a question about skill.
type skillQuery struct {
	lane   syntax.Lane
	window string
}

var skillParams = params("lane", "window")

func readSkill(rawQuery string) skillQuery {
	v := page.Query(rawQuery, skillParams)
	q := skillQuery{syntax.LaneFilter(v[0]), "all"}
	if v[1] == "28d" {
		q.window = v[1]
	}
	return q
}

// skill is GET /api/operator/{handle}/skill.
func (s *server) skill(c echo.Context) error {
	handle, err := handleParam(c)
	if err != nil {
		return err
	}
	q := readSkill(c.Request().URL.RawQuery)
	return s.skills.Serve(c.Response(), c.Request(), joinKey(string(handle), string(q.lane), q.window), func(ctx context.Context) ([]byte, error) {
		found, err := s.Ledger.Records.GetSkill(ctx, &recordv1.GetSkillRequest{
			Handle: string(handle), Lane: string(q.lane), Window: q.window,
		})
		if err != nil {
			return nil, err
		}
		return web.Marshal(showSkill(q, found))
	})
}

func showSkill(q skillQuery, k *recordv1.GetSkillResponse) openapi.OperatorSkill {
	o := k.GetOperator()
	out := openapi.OperatorSkill{
		Handle: o.GetHandle(), OperatorPublicID: o.GetPublicId(), Tier: o.GetTier(), IsAi: isAI(o),
		Lane: orNull(string(q.lane)), Window: q.window, Version: k.GetVersion(),
		Lanes:   make([]openapi.OperatorSkill_Lanes, 0, len(k.GetLanes())),
		Caveats: skillCaveats, UpdatedAt: stamp(k.GetUpdatedAt()),
	}
	if k.GetReport() != nil {
		shown := showReport(record.ReportOf(k.GetReport()))
		out.Report = &shown
	}
	for _, l := range k.GetLanes() {
		out.Lanes = append(out.Lanes, openapi.OperatorSkill_Lanes{Lane: l.GetLane(), Report: showReport(record.ReportOf(l.GetReport()))})
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
		Bins: make([]openapi.Calibration_Bins, 0, len(c.Bins)),
	}
	for _, b := range c.Bins {
		out.Calibration.Bins = append(out.Calibration.Bins, openapi.Calibration_Bins{
			From: int64(b.From), To: int64(b.To), Calls: b.Calls, Wins: b.Wins, ConfidenceBps: int64(b.ConfidenceBps),
			HitBps: int64(b.HitBps), LowBps: int64(b.LowBps), HighBps: int64(b.HighBps),
		})
	}
	return out
}
