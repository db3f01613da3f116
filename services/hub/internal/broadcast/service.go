package broadcast

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/syntax"
	programv1 "github.com/signalcast/signalcast/proto/program/v1"
	"github.com/signalcast/signalcast/services/hub/internal/program"
)

// Tapes counts clips that can be watched. Fault: db_unavailable.
type Tapes interface {
	CountTapes(ctx context.Context, ids []syntax.MarketID) (map[syntax.MarketID]int64, error)
}

// Streamers reads whose streams and clips are public. Fault: db_unavailable.
type Streamers interface {
	// Aired returns those among handles that are approved and neither suspended nor hidden.
	Aired(ctx context.Context, handles []string) (map[string]bool, error)
}

// Deps are what a Service asks.
type Deps struct {
	Ledger     *ledgerclient.Client
	Stage      Stage
	Spotlights Spotlights
	Programs   programv1.ProgramReadServiceClient // of the clock; nil: there is no clock
	Tapes      Tapes
	Streamers  Streamers
	Now        func() time.Time
}

// Service answers the reads of the air.
type Service struct {
	Deps
}

// New returns a Service.
func New(d Deps) *Service { return &Service{d} }

// contentLanes are the content lanes of the lanes of the programme.
var contentLanes = map[string]syntax.Lane{
	"sports": syntax.LaneSport, "music": syntax.LaneMusic, "film": syntax.LaneEntertainment, "tv": syntax.LaneEntertainment,
	"fashion": syntax.LaneCulture, "culture": syntax.LaneCulture, "crypto": syntax.LaneCrypto, "politics": syntax.LanePolitics,
	"news": syntax.LaneWorld, "science": syntax.LaneScience, "tech": syntax.LaneTech, "economy": syntax.LaneEconomy,
}

// ContentLane is the content lane of a lane of the programme; OTHER for one that is none.
func ContentLane(key string) syntax.Lane {
	if l, ok := contentLanes[key]; ok {
		return l
	}
	return syntax.LaneOther
}

// programme is the default programme, nil without a clock.
func (s *Service) programme(ctx context.Context) (*programv1.Program, error) {
	if s.Programs == nil {
		return nil, nil
	}
	r, err := s.Programs.GetProgram(ctx, program.Query{Preset: "default", Limit: program.MaxLimit}.Request())
	return r.GetProgram(), err
}
