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
	// Spotlight returns the stored spotlight, including an expired one.
	Spotlight(ctx context.Context) (StoredSpotlight, error)
	// ReplaceSpotlight replaces the spotlight if the stored one has this version. It returns the stored spotlight: s,
	// or the one that another hub stored first.
	ReplaceSpotlight(ctx context.Context, s Spotlight, version int64) (StoredSpotlight, error)
	// CountTapes returns the number of ready clips by market.
	CountTapes(ctx context.Context, ids []protocol.MarketID) (map[protocol.MarketID]int64, error)
	// Aired returns those of the handles that are approved and neither suspended nor hidden.
	Aired(ctx context.Context, handles []string) (map[string]bool, error)
}

// Deps holds the dependencies of a Service.
type Deps struct {
	Ledger   *ledgerclient.Client
	Live     func(context.Context) ([]livestream.Show, error) // live operators in any order
	Store    Store
	Programs programv1.ProgramReadServiceClient // of the clock; nil: there is no clock
	Now      func() time.Time
}

// Service provides the spotlight, the feed, bumpers, airings and the schedule.
type Service struct {
	Deps
}

// New builds a Service on its dependencies.
func New(d Deps) *Service { return &Service{d} }

// programme returns the default programme; nil without a clock.
func (s *Service) programme(ctx context.Context) (*programv1.Program, error) {
	if s.Programs == nil {
		return nil, nil
	}
	r, err := s.Programs.GetProgram(ctx, program.Query{Preset: "default", Limit: program.MaxLimit}.Request())
	return r.GetProgram(), err
}
