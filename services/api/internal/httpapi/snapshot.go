package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/api/internal/feed"
	"github.com/signalcast/signalcast/services/api/internal/market"
)

// snapshot returns the snapshot frame of a public channel and its event number. The snapshot includes every event up to that
// number and may include later ones. Concurrent callers share one frame, which is cached for one second.
func (s *sockets) snapshot(ctx context.Context, c feed.Channel) (frame []byte, seq int64, err error) {
	p, err := s.snapshots.Get(ctx, string(c), func(ctx context.Context) ([]byte, error) {
		var body []byte
		err := s.lookup(ctx, s.states, func(ctx context.Context) error {
			// Read the number first: events that happen during the read follow with their own frames.
			head := s.Broker.Head()
			data, err := s.state(ctx, c)
			if err != nil {
				return err
			}
			body = strconv.AppendInt(nil, head, 10)
			body = append(body, '\n')
			body = append(body, encode(snapshotJSON{Op: "snapshot", Channel: string(c), Seq: head, At: protocol.Stamp(s.Now()), Data: data})...)
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

// state returns the snapshot data of a channel. This is the current state of a market, the largest moves for the channel
// "wire", and the totals for the channel "pulse". For any other channel it is the stored copy, or the value in
// emptySnapshots if there is no copy.
func (s *sockets) state(ctx context.Context, c feed.Channel) (any, error) {
	if id := c.MarketID(); id != "" {
		return s.market(ctx, id)
	}
	if c == feed.Wire {
		moves, _, err := s.Oracle.Moves(ctx, wireWindow, "", wireItems)
		out := wireSnapshotJSON{Items: make([]openapi.Move, 0, len(moves))}
		for i := range moves {
			out.Items = append(out.Items, showMove(s.HubURL, &moves[i]))
		}
		return out, err
	}
	if c == feed.Pulse { // the stored copy has the last published totals, which may be older
		t, err := s.Boards.Pulse(ctx)
		return showPulse(&t), err
	}
	last, _, err := s.Feed.FindCopy(ctx, c)
	if last.Data == nil {
		kind, _, _ := strings.Cut(string(c), ":")
		last.Data = emptySnapshots[kind]
	}
	return json.RawMessage(last.Data), err
}

// market returns the data of the snapshot of a market's channel. The status is unknown if the market does not exist or its
// venue is unavailable.
func (s *sockets) market(ctx context.Context, raw string) (any, error) {
	unknown := marketSnapshotJSON{Status: string(protocol.MarketUnknown)}
	id, err := protocol.ParseMarketID(raw)
	if err != nil {
		return unknown, nil
	}
	m, err := s.Markets.Get(ctx, id)
	if errors.Is(err, market.ErrNotFound) || errors.Is(err, market.ErrUnavailable) {
		return unknown, nil
	}
	if err != nil {
		return nil, err
	}
	out := marketSnapshotJSON{
		YesBps: openapi.Int(m.Yes), Status: string(m.Status), Yes: m.YesCount, No: m.NoCount, Viewers: int64(s.Viewers(ctx, raw)),
	}
	if names := m.Sides(); names[0] != "Yes" || names[1] != "No" {
		out.Sides = &openapi.MarketSides{Yes: names[0], No: names[1]}
	}
	return out, nil
}

// snapshot returns the snapshot frame of a channel and its event number. The snapshot of a private channel contains the handle
// and the permissions of the socket's key. The snapshots of other channels are shared between sockets.
func (k *socket) snapshot(ctx context.Context, c feed.Channel) (frame []byte, seq int64, err error) {
	if c.Owner() == "" {
		return k.all.snapshot(ctx, c)
	}
	k.mu.Lock()
	me := k.me
	k.mu.Unlock()
	seq = k.all.Broker.Head()
	return encode(snapshotJSON{
		Op: "snapshot", Channel: c.Shown(), Seq: seq, At: protocol.Stamp(k.all.Now()),
		Data: meSnapshotJSON{Handle: me.handle, Permissions: me.permissions},
	}), seq, nil
}

// lookup calls the function read as soon as a slot is free, with a time limit of readTimeout. It returns the error of read,
// or that of ctx if ctx ends first. Snapshots and missed events use separate slots, because a snapshot may wait for a venue.
func (s *sockets) lookup(ctx context.Context, slots chan struct{}, read func(context.Context) error) error {
	select {
	case slots <- struct{}{}:
		defer func() { <-slots }()
	case <-ctx.Done():
		return ctx.Err()
	}
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	return read(ctx)
}
