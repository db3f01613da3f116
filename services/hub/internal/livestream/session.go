package livestream

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
)

// Times of a session.
const (
	// Life is how long a session stays open without a heartbeat.
	Life = 45 * time.Second
	// BeatEvery is how often a client is asked to send one.
	BeatEvery = 15 * time.Second
	// RecentSpan is how long an ended session is among the recent ones.
	RecentSpan = 24 * time.Hour
)

// Sizes of the live list.
const (
	MaxLive   = 100
	MaxRecent = 12
)

// ErrNotApproved refuses a suspended operator.
var ErrNotApproved = apperr.New(apperr.Forbidden, "not_approved", "an admin has suspended this operator")

// Session is one stay on the air.
type Session struct {
	ID        string // the showId: a uuid v7
	Handle    protocol.Handle
	StartedAt time.Time
	LastBeat  time.Time
	EndedAt   time.Time         // zero: it is open
	MarketID  protocol.MarketID // that the heartbeats speak of; empty: none
	OwnURL    string            // named by its go-live
	URL       string            // where its viewers are sent; empty: nowhere, so it is not live
	Aired     bool              // it was live at some time
	Viewers   int64             // at the newest sample
	Peak      int64
	Signal    *Signal // over its picture when it ended
	WentLive  bool    // with the heartbeat that this is the answer to
}

// At is the session as it stands at a time: one whose heartbeats have stopped has
// ended 45 seconds behind the last, whether that was noted or not.
func (s Session) At(now time.Time) Session {
	if s.EndedAt.IsZero() && !s.LastBeat.After(now.Add(-Life)) {
		s.EndedAt, s.Viewers = s.LastBeat.Add(Life), 0
	}
	return s
}

// Open reports a session that has not ended; ask it of At.
func (s Session) Open() bool { return s.ID != "" && s.EndedAt.IsZero() }

// Live reports a session that viewers can watch; ask it of At.
func (s Session) Live() bool { return s.Open() && s.URL != "" }

// Length is how long it went, or goes.
func (s Session) Length(now time.Time) time.Duration {
	if s.EndedAt.IsZero() {
		return max(0, now.Sub(s.StartedAt))
	}
	return s.EndedAt.Sub(s.StartedAt)
}

// Beat is one heartbeat.
type Beat struct {
	Handle   protocol.Handle
	MarketID protocol.MarketID // empty: what was said before stands
	Bitrate  *int64            // kbit a second, as the client says
	Viewers  *int64            // as the client says; for comparison alone
}

// Show is an operator that can be watched now.
type Show struct {
	ShowID    string
	Handle    protocol.Handle
	HLSURL    string
	Viewers   int64
	StartedAt time.Time
	MarketID  protocol.MarketID // of the heartbeats, else of the signal; empty: none
	Signal    *Signal           // over its picture; nil: none
	Approved  bool              // by an administrator
}

// Signal names what an operator speaks of.
type Signal struct {
	MarketID protocol.MarketID
	Name     string
}

// Past is a session that has ended.
type Past struct {
	ShowID             string
	Handle             protocol.Handle
	StartedAt, EndedAt time.Time
	Peak               int64
	Signal             *Signal // when it ended
	Approved           bool    // by an administrator
}

// Values of State.Word.
const (
	StateIdle  = "idle"
	StateLive  = "live"
	StateEnded = "ended"
)

// State is what an operator broadcasts now.
type State struct {
	Word      string
	Session   Session // the newest one; without an id there was none
	Stream    string  // address of the stream, also while the operator is not live; empty: none
	Viewers   int64
	Approved  bool              // by an administrator
	MarketID  protocol.MarketID // market on the air; empty: none
	UpdatedAt time.Time
}

// State returns what an operator broadcasts: live, ended for 24 hours after a session that was live, otherwise idle. A suspended
// operator is idle. Error: db_unavailable.
func (s *Service) State(ctx context.Context, handle protocol.Handle) (State, error) {
	now := s.Now()
	out := State{Word: StateIdle, UpdatedAt: now}
	streamer, err := s.Store.Streamer(ctx, handle)
	if err != nil || streamer.Status == Suspended {
		return out, err
	}
	out.Approved = streamer.Status == Approved
	last, found, err := s.Last(ctx, handle)
	out.Session = last
	if err != nil {
		return out, err
	}
	if found {
		out.UpdatedAt = last.LastBeat
	}
	switch {
	case last.Live():
		out.Word, out.Stream, out.Viewers = StateLive, last.URL, s.Viewers(ctx, handle)
	case found && !last.Open():
		out.UpdatedAt = last.EndedAt
		if last.Aired && last.EndedAt.After(now.Add(-RecentSpan)) {
			out.Word = StateEnded
		}
	}
	if last.Open() {
		out.MarketID = last.MarketID
		if o, set, err := s.Overlay(ctx, handle); err != nil {
			return out, err
		} else if set && out.MarketID == "" {
			out.MarketID = o.MarketID
		}
	}
	if out.Stream == "" {
		out.Stream, err = s.watchable(ctx, handle)
	}
	return out, err
}

// watchable returns the address of the stream of an operator who is not live: of the provisioned stream or the one bound last.
func (s *Service) watchable(ctx context.Context, handle protocol.Handle) (string, error) {
	url, err := s.provisioned(ctx, handle)
	if err != nil || url != "" {
		return url, err
	}
	return s.Store.BoundTo(ctx, handle)
}
