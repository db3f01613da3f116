package view

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/hub/internal/livestream"
)

// liveTimeout is the time limit of LiveState.
const liveTimeout = 300 * time.Millisecond

// LiveState reports whether an operator is live, and whether an administrator approved a live operator as a streamer. It also
// returns the overlay signal of the operator, nil if none is set. If a value cannot be read in time, the operator is not live or
// has no signal.
func LiveState(ctx context.Context, onAir *livestream.Service, handle protocol.Handle) (live, approved bool, shown *openapi.AtomSignal) {
	ctx, cancel := context.WithTimeout(ctx, liveTimeout)
	defer cancel()
	show, live, _ := onAir.Shown(ctx, handle)
	if o, set, err := onAir.Overlay(ctx, handle); err == nil && set {
		shown = &openapi.AtomSignal{MarketID: string(o.MarketID), Name: o.Name, YesPct: o.YesPct, Slug: o.Slug}
	}
	return live, show.Approved, shown
}
