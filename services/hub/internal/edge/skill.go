package edge

import (
	"context"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/page"
	"github.com/signalcast/signalcast/pkg/skill"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/services/hub/internal/record"
)

type skillJSON struct {
	Handle           string          `json:"handle"`
	OperatorPublicID string          `json:"operatorPublicId"`
	Tier             string          `json:"tier"`
	IsAI             bool            `json:"isAi"`
	Lane             *string         `json:"lane"`
	Window           string          `json:"window"`
	Version          string          `json:"version"`
	Report           *reportJSON     `json:"report"`
	Lanes            []laneSkillJSON `json:"lanes"`
	Caveats          []string        `json:"caveats"`
	UpdatedAt        string          `json:"updatedAt"`
}

type laneSkillJSON struct {
	Lane   string     `json:"lane"`
	Report reportJSON `json:"report"`
}

type reportJSON struct {
	Calls           int64            `json:"calls"`
	Wins            int64            `json:"wins"`
	PriceBps        int              `json:"priceBps"`
	EdgeBps         int              `json:"edgeBps"`
	LowBps          int              `json:"lowBps"`
	HighBps         int              `json:"highBps"`
	Chance          chanceJSON       `json:"chance"`
	CallsNeeded     *int64           `json:"callsNeeded"`
	CallsNeededSure *int64           `json:"callsNeededSure"`
	Calibration     *calibrationJSON `json:"calibration"`
}

type chanceJSON struct {
	Above    float64 `json:"above"`
	Below    float64 `json:"below"`
	TwoSided float64 `json:"twoSided"`
}

type calibrationJSON struct {
	Calls          int64     `json:"calls"`
	BrierBps       int       `json:"brierBps"`
	MarketBrierBps int       `json:"marketBrierBps"`
	ReliabilityBps int       `json:"reliabilityBps"`
	ResolutionBps  int       `json:"resolutionBps"`
	UncertaintyBps int       `json:"uncertaintyBps"`
	WithinBps      int       `json:"withinBps"`
	Bins           []binJSON `json:"bins"`
}

type binJSON struct {
	From          int   `json:"from"`
	To            int   `json:"to"`
	Calls         int64 `json:"calls"`
	Wins          int64 `json:"wins"`
	ConfidenceBps int   `json:"confidenceBps"`
	HitBps        int   `json:"hitBps"`
	LowBps        int   `json:"lowBps"`
	HighBps       int   `json:"highBps"`
}

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
		found, err := s.ledgerRecords.Skill(ctx, handle, q.lane, q.window)
		if err != nil {
			return nil, err
		}
		return web.Marshal(showSkill(q, &found))
	})
}

func showSkill(q skillQuery, k *record.Skill) skillJSON {
	out := skillJSON{
		Handle: string(k.Operator.Handle), OperatorPublicID: string(k.Operator.PublicID), Tier: string(k.Operator.Tier), IsAI: k.Operator.IsAI(),
		Lane: orNull(string(q.lane)), Window: q.window, Version: k.Version, Lanes: make([]laneSkillJSON, 0, len(k.Lanes)),
		Caveats: skillCaveats, UpdatedAt: syntax.Stamp(k.UpdatedAt),
	}
	if k.Report != nil {
		shown := showReport(k.Report)
		out.Report = &shown
	}
	for i := range k.Lanes {
		out.Lanes = append(out.Lanes, laneSkillJSON{k.Lanes[i].Lane, showReport(&k.Lanes[i].Report)})
	}
	return out
}

func showReport(r *skill.Report) reportJSON {
	out := reportJSON{
		Calls: r.Calls, Wins: r.Wins, PriceBps: r.PriceBps, EdgeBps: r.EdgeBps, LowBps: r.LowBps, HighBps: r.HighBps,
		Chance: chanceJSON{r.Above, r.Below, r.TwoSided}, CallsNeeded: r.Needed, CallsNeededSure: r.NeededSure,
	}
	c := r.Calibration
	if c == nil {
		return out
	}
	out.Calibration = &calibrationJSON{
		Calls: c.Calls, BrierBps: c.BrierBps, MarketBrierBps: c.MarketBrierBps, ReliabilityBps: c.ReliabilityBps, ResolutionBps: c.ResolutionBps,
		UncertaintyBps: c.UncertaintyBps, WithinBps: c.WithinBps, Bins: make([]binJSON, 0, len(c.Bins)),
	}
	for _, b := range c.Bins {
		out.Calibration.Bins = append(out.Calibration.Bins, binJSON(b))
	}
	return out
}
