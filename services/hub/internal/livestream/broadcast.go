package livestream

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
)

// Faults of broadcasts.
var (
	ErrNoBroadcast = apperr.New(apperr.NotFound, "not_found", "no such broadcast")
	ErrNotYours    = apperr.New(apperr.Forbidden, "forbidden", "it is somebody else's broadcast")
)

// Broadcast is one that a signed message announced.
type Broadcast struct {
	ID           string // a uuid that follows from its message
	Owner        string // denpaId
	Title        string
	MarketID     protocol.MarketID // empty: none
	StationID    string
	Lane         protocol.Lane
	ScheduledFor time.Time // zero: not said
	CreatedAt    time.Time
}

// GoLive starts a session for a broadcast.
type GoLive struct {
	MessageID   string // it is done once for each
	Owner       string // denpaId
	Handle      protocol.Handle
	BroadcastID string
	MarketID    protocol.MarketID // empty: that of the broadcast
	URL         string            // where it is watched
	Label       string
}

// Announced finds a broadcast of an owner. Errors: ErrNoBroadcast, ErrNotYours,
// db_unavailable.
func (s *Service) Announced(ctx context.Context, id, owner string) (Broadcast, error) {
	b, found, err := s.Store.Broadcast(ctx, id)
	switch {
	case err != nil:
		return b, err
	case !found:
		return b, ErrNoBroadcast
	case b.Owner != owner:
		return b, ErrNotYours
	}
	return b, nil
}

// GoLive opens a session, or goes on with the open one, and binds the stream to the
// market where there is one. Errors: ErrNotApproved, db_unavailable.
func (s *Service) GoLive(ctx context.Context, g GoLive) (showID string, err error) {
	start := Start{
		Beat:        Beat{Handle: g.Handle, MarketID: g.MarketID},
		BroadcastID: g.BroadcastID, MessageID: g.MessageID, Label: g.Label, OwnURL: g.URL,
	}
	session, err := s.beat(ctx, start)
	return session.ID, err
}
