package livestream

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
)

// Time limits of live sessions.
const (
	// Life is the time for which a session stays open after its last heartbeat.
	Life = 45 * time.Second
	// BeatEvery is the interval at which clients send heartbeats.
	BeatEvery = 15 * time.Second
	// RecentSpan is the time for which an ended session is listed as recent.
	RecentSpan = 24 * time.Hour
)

// Maximum numbers of live and of recent sessions in the live list.
const (
	MaxLive   = 100
	MaxRecent = 12
)

// ErrNotApproved is the error of a suspended operator.
var ErrNotApproved = apperr.New(apperr.Forbidden, "not_approved", "an admin has suspended this operator")

// Session is a live session of an operator.
type Session struct {
	ID        string // showId: a UUIDv7
	Handle    protocol.Handle
	StartedAt time.Time
	LastBeat  time.Time
	EndedAt   time.Time         // zero: open
	MarketID  protocol.MarketID // market of the heartbeats; empty: none
	OwnURL    string            // stream URL set by its go-live message
	URL       string            // stream URL for viewers; empty: the session is not live
	Aired     bool              // the session was live at some time
	Viewers   int64             // in the newest sample
	Peak      int64
	Signal    *Signal // overlay signal when the session ended
	WentLive  bool    // set by Beat: the heartbeat made the session live
}

// At returns the session in its state at a time: a session without a heartbeat for Life has ended, even if its end is
// not stored yet.
func (s Session) At(now time.Time) Session {
	if s.EndedAt.IsZero() && !s.LastBeat.After(now.Add(-Life)) {
		s.EndedAt, s.Viewers = s.LastBeat.Add(Life), 0
	}
	return s
}

// Open reports whether the session has not ended. Call it on the result of At.
func (s Session) Open() bool { return s.ID != "" && s.EndedAt.IsZero() }

// Live reports whether viewers can watch the session. Call it on the result of At.
func (s Session) Live() bool { return s.Open() && s.URL != "" }

// Length returns the duration of the session, until now if it is open.
func (s Session) Length(now time.Time) time.Duration {
	if s.EndedAt.IsZero() {
		return max(0, now.Sub(s.StartedAt))
	}
	return s.EndedAt.Sub(s.StartedAt)
}

// Beat is a heartbeat of a live operator.
type Beat struct {
	Handle   protocol.Handle
	MarketID protocol.MarketID // empty: unchanged
	Bitrate  *int64            // kbit/s as reported by the client; nil: unknown
	Viewers  *int64            // as reported by the client; only for comparison
}

// Show is an operator who is live.
type Show struct {
	ShowID    string
	Handle    protocol.Handle
	HLSURL    string
	Viewers   int64
	StartedAt time.Time
	MarketID  protocol.MarketID // market of the heartbeats, else of the overlay signal; empty: none
	Signal    *Signal           // overlay signal; nil: none
	Approved  bool              // approved by an administrator
}

// Signal is the market that an operator discusses, shown over the video.
type Signal struct {
	MarketID protocol.MarketID
	Name     string
}

// Past is an ended session in the list of recent ones.
type Past struct {
	ShowID             string
	Handle             protocol.Handle
	StartedAt, EndedAt time.Time
	Peak               int64
	Signal             *Signal // overlay signal when the session ended
	Approved           bool    // approved by an administrator
}

// Values of State.Word, the broadcasting state of an operator.
const (
	StateIdle  = "idle"
	StateLive  = "live"
	StateEnded = "ended"
)

// State is the current broadcasting state of an operator.
type State struct {
	Word      string
	Session   Session // newest session; its id is empty without a session
	Stream    string  // stream URL, also while the operator is not live; empty: none
	Viewers   int64
	Approved  bool              // approved by an administrator
	MarketID  protocol.MarketID // market of the session; empty: none
	UpdatedAt time.Time
}

// State returns the broadcasting state of an operator: live, ended for 24 hours after a live session, otherwise idle. A
// suspended operator is idle. Error: db_unavailable.
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

// watchable returns the stream URL of an operator who is not live: of the provisioned stream, else of the one bound
// last.
func (s *Service) watchable(ctx context.Context, handle protocol.Handle) (string, error) {
	url, err := s.provisioned(ctx, handle)
	if err != nil || url != "" {
		return url, err
	}
	return s.Store.BoundTo(ctx, handle)
}
