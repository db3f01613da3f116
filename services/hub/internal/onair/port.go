package onair

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// Streams knows the streams that were provisioned. A stream that is bound to a market
// counts beside them.
type Streams interface {
	// Playback is where the provisioned stream of an operator is watched; false: there is none.
	Playback(ctx context.Context, handle string) (hlsURL string, ok bool, err error)
}

// NoStreams is where nothing is provisioned.
type NoStreams struct{}

// Playback implements Streams.
func (NoStreams) Playback(context.Context, string) (string, bool, error) { return "", false, nil }

// Audience counts who watches, and may be away: then nobody is counted.
type Audience interface {
	// See notes that a viewer watches, one of at most PerAddress at an address, and
	// gives how many do.
	See(ctx context.Context, handle syntax.Handle, viewer, address string, now time.Time) (int64, error)
	// Count gives how many watch each, in the order asked.
	Count(ctx context.Context, handles []syntax.Handle, now time.Time) ([]int64, error)
}

// Start is a heartbeat as it is kept.
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

// Overlays keeps the signals over pictures.
type Overlays interface {
	Overlay(ctx context.Context, handle syntax.Handle, now time.Time) (Overlay, bool, error)
	// SetOverlay gives the time that was kept: later than that of every signal before.
	// Fault: ErrNotApproved.
	SetOverlay(ctx context.Context, o Overlay, until time.Time) (time.Time, error)
	ClearOverlay(ctx context.Context, handle syntax.Handle, now time.Time) error
	// OverlaySets is how often a signal was set.
	OverlaySets(ctx context.Context, handle syntax.Handle, from time.Time) (int64, error)
}

// Sessions keeps sessions.
type Sessions interface {
	// Beat keeps the open session going or starts one; there is never more than one.
	// Fault: ErrNotApproved.
	Beat(ctx context.Context, b Start) (Session, error)
	// End ends the open session now; false: there was none.
	End(ctx context.Context, handle syntax.Handle, now time.Time) (Session, bool, error)
	// Refresh looks again where the viewers of an open session are sent.
	Refresh(ctx context.Context, handle syntax.Handle, provisioned string, now time.Time) error
	// Last finds the newest session of an operator.
	Last(ctx context.Context, handle syntax.Handle) (Session, bool, error)
	// Find finds a session of an operator.
	Find(ctx context.Context, handle syntax.Handle, id string) (Session, bool, error)
	// Count is how many sessions an operator had.
	Count(ctx context.Context, handle syntax.Handle) (int64, error)
}

// Lists is who is on the air, and was.
type Lists interface {
	// Live lists who is on the air, the most watched first, MaxLive at most.
	Live(ctx context.Context, now time.Time) ([]Show, error)
	// Recent lists who went off the air, the newest first.
	Recent(ctx context.Context, now time.Time) ([]Past, error)
	// Sweep ends what has no heartbeat any more and takes away signals that came to
	// their end; it gives how many of each.
	Sweep(ctx context.Context, now time.Time) (int, error)
	// Sample notes how many watch each session, and tells listeners what changed.
	Sample(ctx context.Context, list []Sample, now time.Time) error
	// Thin forgets samples and counts that are older.
	Thin(ctx context.Context, before time.Time) error
}

// Streamers keeps where operators stand.
type Streamers interface {
	Streamer(ctx context.Context, handle syntax.Handle) (Streamer, error)
	Register(ctx context.Context, handle syntax.Handle, lanes []string, now time.Time) (Status, bool, error)
	// BoundTo is the newest stream that an operator has bound; empty: none.
	BoundTo(ctx context.Context, handle syntax.Handle) (string, error)
	ChooseLanes(ctx context.Context, handle syntax.Handle, lanes []string, now time.Time) error
	// Decide ends the open session and clears the overlay of a suspended operator, and
	// publishes its bound streams again when the status changed.
	Decide(ctx context.Context, handle syntax.Handle, status Status, now time.Time) error
	// Hide withholds the streams, clips and overlay of an operator, or shows them again, and
	// publishes the change. provisioned is where the provisioned stream is watched; empty: there
	// is none.
	Hide(ctx context.Context, handle syntax.Handle, hidden bool, provisioned string, now time.Time) error
}

// Figures adds up what was kept.
type Figures interface {
	SessionWatched(ctx context.Context, id string) (Watched, error)
	// Around counts what happened from one time up to another.
	Around(ctx context.Context, handle syntax.Handle, who operator.ID, from, to time.Time) (Around, error)
	Stretch(ctx context.Context, handle syntax.Handle, from, now time.Time) (Stretch, error)
	Series(ctx context.Context, handle syntax.Handle, from time.Time, step time.Duration, most int) ([]Step, error)
}

// Broadcasts keeps what signed messages announced.
type Broadcasts interface {
	// Announce leaves one that is there as it is.
	Announce(ctx context.Context, b Broadcast) error
	Broadcast(ctx context.Context, id string) (Broadcast, bool, error)
}

// Store keeps all of it, and tells the ledger in the same transaction. Fault of all:
// db_unavailable.
type Store interface {
	Overlays
	Sessions
	Lists
	Streamers
	Figures
	Broadcasts
}
