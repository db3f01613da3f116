package livestream

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// Start is a heartbeat or a go-live request in the form that the store receives.
type Start struct {
	Beat
	At          time.Time
	NewID       string // id for a session that Beat starts
	Provisioned string // playback URL of the provisioned stream; empty: none
	// The fields below are set only for a go-live request.
	OwnURL      string // stream URL: of the market, or of the session if the request has no market
	Label       string
	BroadcastID string
	MessageID   string // idempotency key: a repeated message returns the first session
}

// Store stores sessions, overlay signals, streamer profiles and broadcasts. Error of all methods: db_unavailable.
type Store interface {
	// Overlay returns the overlay signal of an operator at the time now; false if there is none.
	Overlay(ctx context.Context, handle protocol.Handle, now time.Time) (Overlay, bool, error)
	// SetOverlay stores an overlay signal that expires at until. It returns the time of the signal, which is later than that of
	// every earlier signal. Error: ErrNotApproved.
	SetOverlay(ctx context.Context, o Overlay, until time.Time) (time.Time, error)
	// ClearOverlay deletes the overlay signal of an operator, if there is one.
	ClearOverlay(ctx context.Context, handle protocol.Handle, now time.Time) error
	// OverlaySets returns the number of overlay signals that an operator has set since from.
	OverlaySets(ctx context.Context, handle protocol.Handle, from time.Time) (int64, error)

	// Beat extends the open session of an operator, or starts one. An operator has at most one open session. Error:
	// ErrNotApproved.
	Beat(ctx context.Context, b Start) (Session, error)
	// End ends the open session of an operator at the time now. It returns false if there is none.
	End(ctx context.Context, handle protocol.Handle, now time.Time) (Session, bool, error)
	// Refresh updates the stream URL of the open session. provisioned is the playback URL of the provisioned stream; empty: none.
	Refresh(ctx context.Context, handle protocol.Handle, provisioned string, now time.Time) error
	// Last returns the newest session of an operator; false if there is none.
	Last(ctx context.Context, handle protocol.Handle) (Session, bool, error)
	// Find returns the session of an operator with this id; false if there is none.
	Find(ctx context.Context, handle protocol.Handle, id string) (Session, bool, error)
	// Count returns the number of sessions of an operator.
	Count(ctx context.Context, handle protocol.Handle) (int64, error)

	// Live lists live sessions, most viewers in the newest sample first, at most MaxLive.
	Live(ctx context.Context, now time.Time) ([]Show, error)
	// Recent lists sessions that ended within span, newest first, at most MaxRecent.
	Recent(ctx context.Context, now time.Time, span time.Duration) ([]Past, error)
	// Sweep ends sessions without heartbeats and clears expired overlay signals. It returns the total number of both.
	Sweep(ctx context.Context, now time.Time) (int, error)
	// Sample stores the numbers of viewers of sessions and publishes the numbers that have changed.
	Sample(ctx context.Context, list []Sample, now time.Time) error
	// ReportViewers publishes the time for which viewers watched each session. It publishes each sample once.
	ReportViewers(ctx context.Context, r ReportTimes) error
	// Thin deletes samples and counts of overlay signals from before a time.
	Thin(ctx context.Context, before time.Time) error

	// Streamer returns the streamer profile of an operator. Its status is Unregistered if there is no profile.
	Streamer(ctx context.Context, handle protocol.Handle) (Streamer, error)
	// Register adds a streamer profile that waits for approval, and returns Pending and true. If the operator is already
	// registered, it returns the existing status and false.
	Register(ctx context.Context, handle protocol.Handle, lanes []string, now time.Time) (Status, bool, error)
	// BoundTo returns the URL of the stream that an operator bound last; empty if there is none.
	BoundTo(ctx context.Context, handle protocol.Handle) (string, error)
	// ChooseLanes stores the lanes of an operator's streamer profile.
	ChooseLanes(ctx context.Context, handle protocol.Handle, lanes []string, now time.Time) error
	// Decide sets the streamer status of an operator. A suspension ends the open session and clears the overlay signal. If the
	// status has changed, Decide publishes the bound streams again.
	Decide(ctx context.Context, handle protocol.Handle, status Status, now time.Time) error
	// Hide hides the streams, clips and overlay of an operator, or shows them again if hidden is false. It publishes the change.
	// provisioned is the playback URL of the provisioned stream; empty: none.
	Hide(ctx context.Context, handle protocol.Handle, hidden bool, provisioned string, now time.Time) error

	// SessionWatched returns the sum of the viewer samples of a session.
	SessionWatched(ctx context.Context, id string) (Watched, error)
	// Activity counts the new clips, clip views and new followers of an operator in a period.
	Activity(ctx context.Context, handle protocol.Handle, id operator.ID, from, to time.Time) (Activity, error)
	// Totals returns the totals of an operator's sessions and viewer samples since from.
	Totals(ctx context.Context, handle protocol.Handle, from, now time.Time) (Totals, error)
	// Series returns the newest steps that have a session, at most most, oldest first.
	Series(ctx context.Context, handle protocol.Handle, from time.Time, step time.Duration, most int) ([]Step, error)

	// Announce stores a broadcast. It does nothing if a broadcast with the same id is stored.
	Announce(ctx context.Context, b Broadcast) error
	// Broadcast returns the broadcast with this id; false if there is none.
	Broadcast(ctx context.Context, id string) (Broadcast, bool, error)
}
