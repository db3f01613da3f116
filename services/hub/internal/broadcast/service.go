package broadcast

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/protocol"
	programv1 "github.com/signalcast/signalcast/proto/program/v1"
	"github.com/signalcast/signalcast/services/hub/internal/livestream"
	"github.com/signalcast/signalcast/services/hub/internal/program"
)

// Store stores the spotlight that all hubs share, and reads clips and streamers. Error of all methods: db_unavailable.
type Store interface {
	// Spotlight returns the stored spotlight, also after its time.
	Spotlight(ctx context.Context) (Held, error)
	// HoldSpotlight replaces the spotlight of that version and returns what is stored then: s, or what another hub stored
	// first.
	HoldSpotlight(ctx context.Context, s Spotlight, version int64) (Held, error)
	// CountTapes counts the clips of markets that can be watched.
	CountTapes(ctx context.Context, ids []protocol.MarketID) (map[protocol.MarketID]int64, error)
	// Aired returns those among handles that are approved and neither suspended nor hidden.
	Aired(ctx context.Context, handles []string) (map[string]bool, error)
}

// Deps are what a Service asks.
type Deps struct {
	Ledger   *ledgerclient.Client
	Live     func(context.Context) ([]livestream.Show, error) // the operators who are live, in any order
	Store    Store
	Programs programv1.ProgramReadServiceClient // of the clock; nil: there is no clock
	Now      func() time.Time
}

// Service answers the reads of the air.
type Service struct {
	Deps
}

// New returns a Service.
func New(d Deps) *Service { return &Service{d} }

// programme is the default programme, nil without a clock.
func (s *Service) programme(ctx context.Context) (*programv1.Program, error) {
	if s.Programs == nil {
		return nil, nil
	}
	r, err := s.Programs.GetProgram(ctx, program.Query{Preset: "default", Limit: program.MaxLimit}.Request())
	return r.GetProgram(), err
}
