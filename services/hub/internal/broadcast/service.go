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

// Store stores the spotlight that all hubs share, and reads clips and streamer profiles. Error of all methods: db_unavailable.
type Store interface {
	// Spotlight returns the stored spotlight, even if it has expired. Version is 0 if none is stored.
	Spotlight(ctx context.Context) (StoredSpotlight, error)
	// ReplaceSpotlight stores s if the stored spotlight still has this version. It returns the spotlight that is then stored: s,
	// or one that another hub has stored first.
	ReplaceSpotlight(ctx context.Context, s Spotlight, version int64) (StoredSpotlight, error)
	// CountTapes returns the number of ready clips of each market.
	CountTapes(ctx context.Context, ids []protocol.MarketID) (map[protocol.MarketID]int64, error)
	// Aired returns the set of given handles that are approved and neither suspended nor hidden.
	Aired(ctx context.Context, handles []string) (map[string]bool, error)
}

// Deps holds the dependencies of a Service.
type Deps struct {
	Ledger   *ledgerclient.Client
	Live     func(context.Context) ([]livestream.Show, error) // live operators in any order
	Store    Store
	Programs programv1.ProgramReadServiceClient // client of the clock service; nil without a clock
	Now      func() time.Time
}

// Service provides the spotlight, the feed, bumpers, airings and the schedule.
type Service struct {
	Deps
}

// New returns a Service with the dependencies d.
func New(d Deps) *Service { return &Service{d} }

// programme returns the default programme, or nil if the hub has no clock service.
func (s *Service) programme(ctx context.Context) (*programv1.Program, error) {
	if s.Programs == nil {
		return nil, nil
	}
	r, err := s.Programs.GetProgram(ctx, program.Query{Preset: "default", Limit: program.MaxLimit}.Request())
	return r.GetProgram(), err
}
