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

// Maximum lengths of the lists of live and of recent sessions.
const (
	MaxLive   = 100
	MaxRecent = 12
)

// ErrNotApproved is returned for a request by a suspended operator.
var ErrNotApproved = apperr.New(apperr.Forbidden, "not_approved", "an administrator has suspended this operator")

// Session is a broadcast session of an operator. It is live while it is open and has a stream URL.
type Session struct {
	ID        string // the showId of the API, a UUIDv7
	Handle    protocol.Handle
	StartedAt time.Time
	LastBeat  time.Time
	EndedAt   time.Time         // zero: open
	MarketID  protocol.MarketID // market that the heartbeats name; empty: none
	OwnURL    string            // stream URL that a go-live message set; empty: none
	URL       string            // stream URL for viewers; empty: not live
	Aired     bool              // the session is or was live
	Viewers   int64             // number of viewers in the newest sample
	Peak      int64
	Signal    *Signal // overlay signal at the end of the session; nil: none
	WentLive  bool    // set by Beat: this heartbeat made the session live
}

// At returns the state of the session at the time now. If the last heartbeat is at least Life ago, the session has ended, even
// if its end is not stored yet.
func (s Session) At(now time.Time) Session {
	if s.EndedAt.IsZero() && !s.LastBeat.After(now.Add(-Life)) {
		s.EndedAt, s.Viewers = s.LastBeat.Add(Life), 0
	}
	return s
}

// Open reports whether the session exists and has not ended. It must be called on the result of At.
func (s Session) Open() bool { return s.ID != "" && s.EndedAt.IsZero() }

// Live reports whether viewers can watch the session. It must be called on the result of At.
func (s Session) Live() bool { return s.Open() && s.URL != "" }

// Length returns the duration of the session. For an open session, it is the duration until now.
func (s Session) Length(now time.Time) time.Duration {
	if s.EndedAt.IsZero() {
		return max(0, now.Sub(s.StartedAt))
	}
	return s.EndedAt.Sub(s.StartedAt)
}

// Beat is a heartbeat of an operator's client.
type Beat struct {
	Handle   protocol.Handle
	MarketID protocol.MarketID // empty: unchanged
	Bitrate  *int64            // kbit/s that the client reports; nil: unknown
	Viewers  *int64            // number that the client reports, only for comparison; nil: unknown
}

// Show is the live session of an operator in the live list.
type Show struct {
	ShowID    string
	Handle    protocol.Handle
	HLSURL    string
	Viewers   int64
	StartedAt time.Time
	MarketID  protocol.MarketID // market of the heartbeats, or else of the overlay signal; empty: none
	Signal    *Signal           // overlay signal; nil: none
	Approved  bool              // an administrator has approved the operator
}

// Signal is an overlay signal: the market that an operator discusses and shows over the video.
type Signal struct {
	MarketID protocol.MarketID
	Name     string
}

// Past is an ended session in the list of recent sessions.
type Past struct {
	ShowID             string
	Handle             protocol.Handle
	StartedAt, EndedAt time.Time
	Peak               int64
	Signal             *Signal // overlay signal at the end of the session; nil: none
	Approved           bool    // an administrator has approved the operator
}

// Values of State.Word.
const (
	StateIdle  = "idle"
	StateLive  = "live"
	StateEnded = "ended"
)

// State is the current broadcasting state of an operator.
type State struct {
	Word      string
	Session   Session // newest session; its ID is empty if there is none
	Stream    string  // stream URL, even while the operator is not live; empty: none
	Viewers   int64
	Approved  bool              // an administrator has approved the operator
	MarketID  protocol.MarketID // market of the session; empty: none
	UpdatedAt time.Time
}

// State returns the broadcasting state of an operator. It is live during a live session, ended for RecentSpan after a live
// session, and otherwise idle. A suspended operator is idle. Error: db_unavailable.
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

// watchable returns the stream URL of an operator who is not live: the URL of the provisioned stream, or else of the stream that
// the operator bound last. It returns "" if there is none.
func (s *Service) watchable(ctx context.Context, handle protocol.Handle) (string, error) {
	url, err := s.provisioned(ctx, handle)
	if err != nil || url != "" {
		return url, err
	}
	return s.Store.BoundTo(ctx, handle)
}
