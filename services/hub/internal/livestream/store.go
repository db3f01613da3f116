package livestream

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// Start is a heartbeat or go-live request as the store receives it.
type Start struct {
	Beat
	At          time.Time
	NewID       string // id of the session if one is started
	Provisioned string // playback URL of the provisioned stream; empty: none
	// Only of a go-live request:
	OwnURL      string // stream URL; bound to the market, or of the session if there is no market
	Label       string
	BroadcastID string
	MessageID   string // idempotency key: a repeated message returns the session of the first one
}

// Store stores sessions, overlay signals, streamers and broadcasts, and publishes changes to the ledger in the same
// transaction. Error of all methods: db_unavailable.
type Store interface {
	// Overlay returns the overlay signal of an operator, and false if there is none.
	Overlay(ctx context.Context, handle protocol.Handle, now time.Time) (Overlay, bool, error)
	// SetOverlay stores a signal and returns its time, which is later than that of every earlier signal. Error:
	// ErrNotApproved.
	SetOverlay(ctx context.Context, o Overlay, until time.Time) (time.Time, error)
	// ClearOverlay removes the signal of an operator.
	ClearOverlay(ctx context.Context, handle protocol.Handle, now time.Time) error
	// OverlaySets returns how many signals an operator has set since a time.
	OverlaySets(ctx context.Context, handle protocol.Handle, from time.Time) (int64, error)

	// Beat extends the open session of an operator or starts one. An operator has at most one open session. Error:
	// ErrNotApproved.
	Beat(ctx context.Context, b Start) (Session, error)
	// End ends the open session now. It returns false if there was none.
	End(ctx context.Context, handle protocol.Handle, now time.Time) (Session, bool, error)
	// Refresh updates the stream URL of the open session.
	Refresh(ctx context.Context, handle protocol.Handle, provisioned string, now time.Time) error
	// Last returns the newest session of an operator, and false if there is none.
	Last(ctx context.Context, handle protocol.Handle) (Session, bool, error)
	// Find returns a session of an operator by its id, and false if there is none.
	Find(ctx context.Context, handle protocol.Handle, id string) (Session, bool, error)
	// Count returns the number of sessions of an operator.
	Count(ctx context.Context, handle protocol.Handle) (int64, error)

	// Live lists live sessions, most viewers first, at most MaxLive.
	Live(ctx context.Context, now time.Time) ([]Show, error)
	// Recent lists ended sessions, newest first.
	Recent(ctx context.Context, now time.Time) ([]Past, error)
	// Sweep ends sessions without heartbeats and clears expired signals. It returns the number of both.
	Sweep(ctx context.Context, now time.Time) (int, error)
	// Sample stores the numbers of viewers of sessions and publishes those that changed.
	Sample(ctx context.Context, list []Sample, now time.Time) error
	// Thin deletes samples and counts from before a time.
	Thin(ctx context.Context, before time.Time) error

	// Streamer returns the status and the lanes of an operator.
	Streamer(ctx context.Context, handle protocol.Handle) (Streamer, error)
	// Register adds a streamer that waits for approval. It returns the existing status and false if the operator was
	// already registered.
	Register(ctx context.Context, handle protocol.Handle, lanes []string, now time.Time) (Status, bool, error)
	// BoundTo returns the URL of the stream that an operator bound last; empty: none.
	BoundTo(ctx context.Context, handle protocol.Handle) (string, error)
	// ChooseLanes stores the lanes of an operator.
	ChooseLanes(ctx context.Context, handle protocol.Handle, lanes []string, now time.Time) error
	// Decide sets the status of an operator. A suspension ends the open session and clears the overlay signal. If the
	// status changed, the bound streams are published again.
	Decide(ctx context.Context, handle protocol.Handle, status Status, now time.Time) error
	// Hide hides the streams, clips and overlay of an operator, or shows them again, and publishes the change.
	// provisioned is the playback URL of the provisioned stream; empty: none.
	Hide(ctx context.Context, handle protocol.Handle, hidden bool, provisioned string, now time.Time) error

	// SessionWatched returns the sum of the samples of a session.
	SessionWatched(ctx context.Context, id string) (Watched, error)
	// Activity counts clips, views and new followers of an operator in a period.
	Activity(ctx context.Context, handle protocol.Handle, id operator.ID, from, to time.Time) (Activity, error)
	// Totals returns the totals of sessions and samples of an operator since a time.
	Totals(ctx context.Context, handle protocol.Handle, from, now time.Time) (Totals, error)
	// Series returns the newest steps with a session, at most most.
	Series(ctx context.Context, handle protocol.Handle, from time.Time, step time.Duration, most int) ([]Step, error)

	// Announce stores a broadcast. It does not change a stored one.
	Announce(ctx context.Context, b Broadcast) error
	// Broadcast returns a broadcast by its id, and false if there is none.
	Broadcast(ctx context.Context, id string) (Broadcast, bool, error)
}
