package edge_test

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/hub/internal/edge"
	"github.com/signalcast/signalcast/services/hub/internal/memledger"
	"github.com/signalcast/signalcast/services/hub/internal/onair"
	"github.com/signalcast/signalcast/services/hub/internal/upstream"
)

// neverLive is a store without any session or overlay, for tests that store nothing.
type neverLive struct{ onair.Store }

func (neverLive) Overlay(context.Context, syntax.Handle, time.Time) (onair.Overlay, bool, error) {
	return onair.Overlay{}, false, nil
}

func (neverLive) SetOverlay(context.Context, onair.Overlay, time.Time) (time.Time, error) {
	return time.Time{}, memledger.ErrDB
}

func (neverLive) ClearOverlay(context.Context, syntax.Handle, time.Time) error {
	return memledger.ErrDB
}

func (neverLive) Beat(context.Context, onair.Start) (onair.Session, error) {
	return onair.Session{}, memledger.ErrDB
}

func (neverLive) End(context.Context, syntax.Handle, time.Time) (onair.Session, bool, error) {
	return onair.Session{}, false, memledger.ErrDB
}

func (neverLive) Hide(context.Context, syntax.Handle, bool, string, time.Time) error { return nil }

func (neverLive) Refresh(context.Context, syntax.Handle, string, time.Time) error { return nil }

func (neverLive) Last(context.Context, syntax.Handle) (onair.Session, bool, error) {
	return onair.Session{}, false, nil
}

func (neverLive) Find(context.Context, syntax.Handle, string) (onair.Session, bool, error) {
	return onair.Session{}, false, nil
}

func (neverLive) Live(context.Context, time.Time) ([]onair.Show, error) { return nil, nil }

func (neverLive) Streamer(context.Context, syntax.Handle) (onair.Streamer, error) {
	return onair.Streamer{Status: onair.Unregistered}, nil
}

func (neverLive) Count(context.Context, syntax.Handle) (int64, error) { return 0, nil }

func (neverLive) BoundTo(context.Context, syntax.Handle) (string, error) { return "", nil }

func (neverLive) ChooseLanes(context.Context, syntax.Handle, []string, time.Time) error { return nil }

func (neverLive) Recent(context.Context, time.Time) ([]onair.Past, error) { return nil, nil }

func (neverLive) Announce(context.Context, onair.Broadcast) error { return nil }

func (neverLive) Broadcast(context.Context, string) (onair.Broadcast, bool, error) {
	return onair.Broadcast{}, false, nil
}

// airStore is a store that can be put in the place of another one.
type airStore struct{ onair.Store }

// newOnAir is what happens on the air over a store.
func newOnAir(d *edge.Deps, store onair.Store, audience onair.Audience) *onair.Service {
	return onair.NewService(onair.Config{
		Store: store, Audience: audience, Records: d.Ledger.Records, People: d.Directory.(*upstream.Operators),
		Now: d.Now, NewID: (&sequence{}).next,
	})
}
