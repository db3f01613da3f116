package feed

import (
	"context"
	"errors"
	"fmt"
)

// maxRepairs is the maximum number of requests for missing events between two beats. If there are more, the client reconnects,
// which requests the events of all channels with few frames. Otherwise the client would send more frames than the server permits.
const maxRepairs = 8

var errTooManyRepairs = errors.New(
	"feed: more than 8 requests for missing events between two heartbeats; the client connects again")

// handleSnapshot delivers the snapshot of a channel. A channel without a read position continues after the snapshot.
func (l *connection) handleSnapshot(ctx context.Context, f frame) error {
	p := l.positions[f.Channel]
	if p == nil {
		return nil
	}
	seq := number(f.Seq)
	if !p.known {
		p.reset(seq, true)
	}
	return l.deliver(ctx, &Snapshot{Channel: f.Channel, Seq: seq, At: f.At, Data: f.Data})
}

// handleEvent delivers an event that has no number or is the next one of its channel. It drops a repeated event. If earlier
// events of the channel are missing, it requests them instead of delivering this one.
func (l *connection) handleEvent(ctx context.Context, f frame) error {
	p := l.positions[f.Channel]
	if p == nil {
		return nil
	}
	e := f.event()
	if !e.Numbered() {
		return l.deliver(ctx, e)
	}
	l.updateHead(e.Seq)
	switch p.classify(e.Seq, e.Prev) {
	case repeated:
		l.count(func(s *Stats) { s.Repeats++ })
		return nil
	case missing:
		return l.requestMissing(ctx, p, e)
	}
	tried, after := p.tries, p.at
	p.advance(e.Seq)
	if err := l.deliver(ctx, e); err != nil {
		return err
	}
	if tried > 0 {
		l.count(func(s *Stats) { s.Repaired++ })
		l.OnState(State{Phase: Repaired, Channel: e.Channel, After: after, Seq: e.Seq})
	}
	return nil
}

// requestMissing subscribes to the channel again to receive the events that are missing before e. It drops e and further events
// of the old subscription, because the new subscription sends them again. After maxTries requests, it calls deliverLost instead.
func (l *connection) requestMissing(ctx context.Context, p *position, e *Event) error {
	switch {
	case p.repair != "" && !p.answered:
		return nil
	case p.tries >= maxTries:
		return l.deliverLost(ctx, p, e)
	}
	if p.tries == 0 {
		l.count(func(s *Stats) { s.Holes++ })
		l.Logger.WarnContext(ctx, "feed events missing", "channel", e.Channel, "after", p.at, "seq", e.Seq)
		l.OnState(State{Phase: Hole, Channel: e.Channel, After: p.at, Seq: e.Seq})
	}
	p.tries++
	if l.repairs++; l.repairs > maxRepairs {
		return errTooManyRepairs
	}
	id, err := l.subscribe(ctx, []string{e.Channel})
	p.repair, p.answered, p.since = id, false, l.beats
	return err
}

// deliverLost delivers a Gap for missing events and then the event e. The client calls it if the server has not sent the missing
// events after maxTries requests.
func (l *connection) deliverLost(ctx context.Context, p *position, e *Event) error {
	l.count(func(s *Stats) { s.Lost++ })
	gap := &Gap{Channel: e.Channel, From: p.at, Oldest: e.Seq}
	p.advance(e.Seq)
	if err := l.deliver(ctx, gap); err != nil {
		return err
	}
	return l.deliver(ctx, e)
}

// handleGap delivers a Gap for events that the server no longer stores. The server then sends the events that it still stores.
func (l *connection) handleGap(ctx context.Context, f frame) error {
	p := l.positions[f.Channel]
	if p == nil {
		return nil
	}
	p.reset(f.Oldest-1, true)
	return l.deliver(ctx, &Gap{Channel: f.Channel, From: f.From, Oldest: f.Oldest})
}

// handleError delivers an error of the server. If the server has refused a channel, handleError also removes the channel from the
// client. If the position of a channel belongs to another feed, it resets the position.
func (l *connection) handleError(ctx context.Context, f frame) error {
	p := l.positions[f.Channel]
	if p != nil {
		switch f.Error {
		case "future_cursor": // the position belongs to another feed
			p.reset(number(l.head), l.head != nil)
		case "unknown_channel", "invalid_since": // the position is useless for a later run
			l.drop(f.Channel, true)
		case "unauthenticated", "limit_reached":
			l.drop(f.Channel, false)
		}
	}
	if err := l.deliver(ctx, &ServerError{Code: f.Error, Message: f.Message, Channel: f.Channel}); err != nil || len(l.positions) > 0 {
		return err
	}
	return fmt.Errorf("%w: %s", ErrNoChannel, f.Error)
}
