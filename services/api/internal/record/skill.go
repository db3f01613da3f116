package record

import (
	"context"
	"slices"
	"strings"

	"github.com/signalcast/signalcast/pkg/skill"
	"github.com/signalcast/signalcast/services/api/internal/operator"
)

// Tally is a number of decided calls in one lane at one price and confidence.
type Tally struct {
	Lane string
	skill.Tally
}

// Skill is the measured skill of an operator. Report is nil without a decided call.
type Skill struct {
	Operator operator.Operator
	Report   *skill.Report
	Lanes    []LaneReport // ordered by name; only if no lane was requested
}

// LaneReport is the measured skill in one lane.
type LaneReport struct {
	Lane   string
	Report skill.Report
}

// Skill measures the calls of an operator in one lane, or in all lanes if lane is empty. The window is "28d" or all time.
// Errors: not_found, those of package skill.
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
