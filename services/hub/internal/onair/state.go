package onair

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/syntax"
)

// The words of a state.
const (
	StateIdle  = "idle"
	StateLive  = "live"
	StateEnded = "ended"
)

// State is how a stream stands.
type State struct {
	Word      string
	Session   Session // the newest one as it stands now; without an id there was none
	Stream    string  // where it is watched, or would be; empty: there is nothing
	Viewers   int64
	Approved  bool            // by an administrator
	MarketID  syntax.MarketID // what is spoken of; empty: nothing
	UpdatedAt time.Time
}

// State returns what an operator broadcasts: live, ended for 24 hours after a session that
// was live, else idle. A suspended operator is idle. Fault: db_unavailable.
func (s *Service) State(ctx context.Context, handle syntax.Handle) (State, error) {
	now := s.now()
	out := State{Word: StateIdle, UpdatedAt: now}
	streamer, err := s.store.Streamer(ctx, handle)
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

// watchable is where an operator who is not live would be watched.
func (s *Service) watchable(ctx context.Context, handle syntax.Handle) (string, error) {
	url, err := s.provisioned(ctx, handle)
	if err != nil || url != "" {
		return url, err
	}
	return s.store.BoundTo(ctx, handle)
}
