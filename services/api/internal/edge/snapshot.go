package edge

import (
	"bytes"
	"context"
	"strconv"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/api/internal/feed"
)

// snapshot gives the frame with which a channel begins, and its number: every
// event up to there is in it, later ones may be. Readers that come at once share
// one frame for a second.
func (s *sockets) snapshot(ctx context.Context, c feed.Channel) (frame []byte, seq int64, err error) {
	p, err := s.snapshots.Get(ctx, string(c), func(ctx context.Context) ([]byte, error) {
		var body []byte
		err := s.lookup(ctx, s.states, func(ctx context.Context) error {
			// The number first: what happens meanwhile comes as an event as well.
			head := s.Hub.Head()
			data, err := s.state(ctx, c)
			if err != nil {
				return err
			}
			body = strconv.AppendInt(nil, head, 10)
			body = append(body, '\n')
			body = append(body, encode(snapshotJSON{Op: "snapshot", Channel: c, Seq: head, At: syntax.Stamp(s.Now()), Data: data})...)
			return nil
		})
		return body, err
	})
	if err != nil {
		return nil, 0, err
	}
	number, frame, _ := bytes.Cut(p.Body(), []byte{'\n'})
	seq, err = strconv.ParseInt(string(number), 10, 64)
	return frame, seq, err
}

func (s *sockets) state(ctx context.Context, c feed.Channel) (any, error) {
	id := c.MarketID()
	if id == "" {
		return operatorSnapshotJSON{}, nil
	}
	m, err := s.Snapshots.MarketSnapshot(ctx, id)
	return marketSnapshotJSON(m), err
}

// lookup asks while only a few other sockets do. Snapshots and history have slots
// of their own: a snapshot may wait for a venue.
func (s *sockets) lookup(ctx context.Context, slots chan struct{}, read func(context.Context) error) error {
	select {
	case slots <- struct{}{}:
		defer func() { <-slots }()
	case <-ctx.Done():
		return ctx.Err()
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	return read(ctx)
}
