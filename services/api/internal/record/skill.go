package record

import (
	"context"
	"slices"
	"strings"

	"github.com/signalcast/signalcast/pkg/skill"
	"github.com/signalcast/signalcast/services/api/internal/operator"
)

// Tally is the number of counted calls of an operator in one lane with the same price and confidence.
type Tally struct {
	Lane string
	skill.Tally
}

// Skill is the measured skill of an operator. Report is nil if no call is counted.
type Skill struct {
	Operator operator.Operator
	Report   *skill.Report
	Lanes    []LaneReport // ordered by lane; empty if one lane was requested
}

// LaneReport is the measured skill of an operator in one lane.
type LaneReport struct {
	Lane   string
	Report skill.Report
}

// Skill measures the skill of an operator in one lane, or in all lanes if lane is empty. The window "28d" includes only calls
// resolved in the last 28 days; any other window includes all calls. Errors: not_found, db_unavailable, and those of
// skill.Sample.AddTally.
func (s *Service) Skill(ctx context.Context, handle, lane, window string) (Skill, error) {
	o, err := s.operators.Operator(ctx, handle, "")
	if err != nil {
		return Skill{}, err
	}
	out := Skill{Operator: o}
	var tallies []Tally
	if since := s.now().Add(-window28); window == "28d" {
		tallies, err = s.store.Tallies(ctx, o.ID, &since)
	} else {
		tallies, err = s.store.Tallies(ctx, o.ID, nil)
	}
	if err != nil {
		return Skill{}, err
	}
	var all skill.Sample
	lanes := map[string]*skill.Sample{}
	for _, t := range tallies {
		if lane != "" && t.Lane != lane {
			continue
		}
		if lanes[t.Lane] == nil {
			lanes[t.Lane] = new(skill.Sample)
		}
		for _, sample := range []*skill.Sample{&all, lanes[t.Lane]} {
			if err := sample.AddTally(t.Tally); err != nil {
				return Skill{}, err
			}
		}
	}
	if r, ok := all.Report(); ok {
		out.Report = &r
	}
	if lane != "" {
		return out, nil
	}
	for name, sample := range lanes {
		if r, ok := sample.Report(); ok {
			out.Lanes = append(out.Lanes, LaneReport{name, r})
		}
	}
	slices.SortFunc(out.Lanes, func(a, b LaneReport) int { return strings.Compare(a.Lane, b.Lane) })
	return out, nil
}
