package onair

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/syntax"
)

// Figures of viewers.
const (
	// ViewLife is how long one is counted that does not ask again.
	ViewLife = 45 * time.Second
	// ViewEvery is how often a viewer is asked to.
	ViewEvery = 20 * time.Second
	// PerAddress is how many viewers of one stream an address may be.
	PerAddress  = 20
	MaxViewerID = 64
)

// View notes that somebody watches and gives how many do. Nobody watches who is not
// live, and nobody is counted while the counter is away. viewer and address are names
// that say nothing about whom they are of. Fault: db_unavailable.
func (s *Service) View(ctx context.Context, handle syntax.Handle, viewer, address string) (int64, error) {
	_, live, err := s.Shown(ctx, handle)
	if err != nil || !live {
		return 0, err
	}
	n, err := s.audience.See(ctx, handle, viewer, address, s.now())
	if err != nil {
		return 0, nil //nolint:nilerr // an audience that is away is nobody
	}
	return n, nil
}

// Sweep ends what has no heartbeat any more and takes away signals that came to their
// end. One process does it at a time. Fault: db_unavailable.
func (s *Service) Sweep(ctx context.Context) (int, error) {
	n, err := s.store.Sweep(ctx, s.now())
	if n > 0 {
		s.forget()
	}
	return n, err
}
