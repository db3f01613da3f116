package livestream

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
)

// Errors of requests that refer to an announced broadcast.
var (
	ErrNoBroadcast = apperr.New(apperr.NotFound, "not_found", "no such broadcast")
	ErrNotYours    = apperr.New(apperr.Forbidden, "forbidden", "the broadcast belongs to another operator")
)

// Broadcast is a broadcast that a signed message has announced.
type Broadcast struct {
	ID           string // UUID derived from the message
	Owner        string // denpaId
	Title        string
	MarketID     protocol.MarketID // empty: none
	StationID    string
	Lane         protocol.Lane
	ScheduledFor time.Time // zero: not scheduled
	CreatedAt    time.Time
}

// GoLive is a request, sent as a signed message, to start a session for a broadcast.
type GoLive struct {
	MessageID   string // idempotency key
	Owner       string // denpaId
	Handle      protocol.Handle
	BroadcastID string
	MarketID    protocol.MarketID // empty: the market of the broadcast
	URL         string            // URL of the HLS playlist
	Label       string
}

// Announced returns the announced broadcast with this id. If it belongs to another operator than owner, the error is
// ErrNotYours. Other errors: ErrNoBroadcast, db_unavailable.
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

// GoLive starts a session for a broadcast, or extends the open session of the operator. It also binds the stream to the market of
// the request, if there is one. Errors: ErrNotApproved, db_unavailable.
func (s *Service) GoLive(ctx context.Context, g GoLive) (showID string, err error) {
	start := Start{
		Beat:        Beat{Handle: g.Handle, MarketID: g.MarketID},
		BroadcastID: g.BroadcastID, MessageID: g.MessageID, Label: g.Label, OwnURL: g.URL,
	}
	session, err := s.beat(ctx, start)
	return session.ID, err
}
