package livestream

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// Start is a heartbeat as it is stored.
type Start struct {
	Beat
	At          time.Time
	NewID       string // of the session that it starts, if it does
	Provisioned string // where the provisioned stream is watched; empty: there is none
	// Of a go-live:
	OwnURL      string // it is bound to the market; without a market it is the session's own
	Label       string
	BroadcastID string
	MessageID   string // once done, it answers the session of the first time
}

// Store stores sessions, overlay signals, streamers and broadcasts, and publishes changes to the ledger in the same
// transaction. Error of all methods: db_unavailable.
type Store interface {
	// Overlay returns the signal over the picture of an operator.
	Overlay(ctx context.Context, handle protocol.Handle, now time.Time) (Overlay, bool, error)
	// SetOverlay returns the stored time, which is later than that of every signal before. Error: ErrNotApproved.
	SetOverlay(ctx context.Context, o Overlay, until time.Time) (time.Time, error)
	// ClearOverlay removes the signal.
	ClearOverlay(ctx context.Context, handle protocol.Handle, now time.Time) error
	// OverlaySets counts how often a signal was set.
	OverlaySets(ctx context.Context, handle protocol.Handle, from time.Time) (int64, error)

	// Beat extends the open session or starts one; there is never more than one. Error: ErrNotApproved.
	Beat(ctx context.Context, b Start) (Session, error)
	// End ends the open session now. It returns false if there was none.
	End(ctx context.Context, handle protocol.Handle, now time.Time) (Session, bool, error)
	// Refresh updates where the viewers of an open session are sent.
	Refresh(ctx context.Context, handle protocol.Handle, provisioned string, now time.Time) error
	// Last returns the newest session of an operator.
	Last(ctx context.Context, handle protocol.Handle) (Session, bool, error)
	// Find returns a session of an operator.
	Find(ctx context.Context, handle protocol.Handle, id string) (Session, bool, error)
	// Count returns the number of sessions of an operator.
	Count(ctx context.Context, handle protocol.Handle) (int64, error)

	// Live lists who is on the air, the most watched first, MaxLive at most.
	Live(ctx context.Context, now time.Time) ([]Show, error)
	// Recent lists the sessions that ended, the newest first.
	Recent(ctx context.Context, now time.Time) ([]Past, error)
	// Sweep ends sessions without heartbeats and removes signals whose time is over. It returns the number of both.
	Sweep(ctx context.Context, now time.Time) (int, error)
	// Sample stores how many watch each session, and publishes what changed.
	Sample(ctx context.Context, list []Sample, now time.Time) error
	// Thin deletes samples and counts that are older.
	Thin(ctx context.Context, before time.Time) error

	// Streamer returns the status and the lanes of an operator.
	Streamer(ctx context.Context, handle protocol.Handle) (Streamer, error)
	// Register adds a streamer who waits for approval. It returns false if there was one.
	Register(ctx context.Context, handle protocol.Handle, lanes []string, now time.Time) (Status, bool, error)
	// BoundTo returns the newest stream that an operator has bound; empty: none.
	BoundTo(ctx context.Context, handle protocol.Handle) (string, error)
	// ChooseLanes stores the lanes of an operator.
	ChooseLanes(ctx context.Context, handle protocol.Handle, lanes []string, now time.Time) error
	// Decide ends the open session and clears the overlay of a suspended operator, and publishes its bound streams again
	// if the status changed.
	Decide(ctx context.Context, handle protocol.Handle, status Status, now time.Time) error
	// Hide withholds the streams, clips and overlay of an operator, or shows them again, and publishes the change.
	// provisioned is where the provisioned stream is watched; empty: there is none.
	Hide(ctx context.Context, handle protocol.Handle, hidden bool, provisioned string, now time.Time) error

	// SessionWatched adds up the samples of a session.
	SessionWatched(ctx context.Context, id string) (Watched, error)
	// Around counts what happened from one time up to another.
	Around(ctx context.Context, handle protocol.Handle, who operator.ID, from, to time.Time) (Around, error)
	// Stretch adds up the sessions and samples of a time.
	Stretch(ctx context.Context, handle protocol.Handle, from, now time.Time) (Stretch, error)
	// Series returns the newest steps in which there was a session, most at most.
	Series(ctx context.Context, handle protocol.Handle, from time.Time, step time.Duration, most int) ([]Step, error)

	// Announce stores a broadcast. One that is stored remains as it is.
	Announce(ctx context.Context, b Broadcast) error
	// Broadcast returns a broadcast.
	Broadcast(ctx context.Context, id string) (Broadcast, bool, error)
}
