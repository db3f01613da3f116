package feed

import (
	"context"
	"errors"
)

// inBetween is how many holes are asked for between two beats; more of them are
// asked for all at once, by connecting again, so that the server's limit of frames holds.
const inBetween = 8

var errTooManyHoles = errors.New("too many holes, connecting again")

// snapshot hands the state of a channel on.
func (l *line) snapshot(ctx context.Context, f frame) error {
	p := l.places[f.Channel]
	if p == nil {
		return nil
	}
	seq := number(f.Seq)
	if !p.known {
		p.from(seq, true)
	}
	return l.give(ctx, &Snapshot{Channel: f.Channel, Seq: seq, At: f.At, Data: f.Data})
}

// event hands an event on if it is the next one of its channel.
func (l *line) event(ctx context.Context, f frame) error {
	p := l.places[f.Channel]
	if p == nil {
		return nil
	}
	e := &Event{Channel: f.Channel, Seq: number(f.Seq), Prev: number(f.Prev), Type: f.Type, At: f.At, Data: f.Data}
	if !e.Numbered() {
		return l.give(ctx, e)
	}
	l.heard(e.Seq)
	switch p.judge(e.Seq, e.Prev) {
	case repeated:
		l.count(func(s *Stats) { s.Repeats++ })
		return nil
	case missing:
		return l.hole(ctx, p, e)
	}
	tried, after := p.tries, p.at
	p.took(e.Seq)
	if err := l.give(ctx, e); err != nil {
		return err
	}
	if tried > 0 {
		l.count(func(s *Stats) { s.Repaired++ })
		l.OnState(State{Phase: Repaired, Channel: e.Channel, After: after, Seq: e.Seq})
	}
	return nil
}

// hole asks again for what is missing before an event. What comes before the answer
// is of the old subscription and comes again.
func (l *line) hole(ctx context.Context, p *place, e *Event) error {
	switch {
	case p.repair != "" && !p.answered:
		return nil
	case p.tries >= maxTries:
		return l.lost(ctx, p, e)
	}
	if p.tries == 0 {
		l.count(func(s *Stats) { s.Holes++ })
		l.Logger.WarnContext(ctx, "events of the feed are missing", "channel", e.Channel, "after", p.at, "seq", e.Seq)
		l.OnState(State{Phase: Hole, Channel: e.Channel, After: p.at, Seq: e.Seq})
	}
	p.tries++
	if l.asked++; l.asked > inBetween {
		return errTooManyHoles
	}
	id, err := l.ask(ctx, []string{e.Channel})
	p.repair, p.answered, p.since = id, false, l.beats
	return err
}

// lost passes on a Gap for a hole that the server does not fill, and then the event after it.
func (l *line) lost(ctx context.Context, p *place, e *Event) error {
	l.count(func(s *Stats) { s.Lost++ })
	gap := &Gap{Channel: e.Channel, From: p.at, Oldest: e.Seq}
	p.took(e.Seq)
	if err := l.give(ctx, gap); err != nil {
		return err
	}
	return l.give(ctx, e)
}

// gap passes on a Gap for events that the server no longer has. The stored events after it follow.
func (l *line) gap(ctx context.Context, f frame) error {
	p := l.places[f.Channel]
	if p == nil {
		return nil
	}
	p.from(f.Oldest-1, true)
	return l.give(ctx, &Gap{Channel: f.Channel, From: f.From, Oldest: f.Oldest})
}

// refused hands an error on and forgets a channel that cannot be had.
func (l *line) refused(ctx context.Context, f frame) error {
	p := l.places[f.Channel]
	if p != nil {
		switch f.Error {
		case "future_cursor": // the number was of another feed
			p.from(number(l.head), l.head != nil)
		case "unknown_channel", "invalid_since": // its number is of no use to another run
			l.forget(f.Channel, true)
		case "unauthenticated", "limit_reached":
			l.forget(f.Channel, false)
		}
	}
	return l.give(ctx, &ServerError{Code: f.Error, Message: f.Message, Channel: f.Channel})
}
