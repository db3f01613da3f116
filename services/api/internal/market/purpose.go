package market

import (
	"context"
	"errors"
	"sync/atomic"
)

// Purpose says for whose sake a venue is asked. Requests to a venue are few, so
// each purpose has a part of them that the others cannot take.
type Purpose int

// The purposes, the most urgent last.
const (
	// ForReader: somebody asks for a market that is not kept. Anybody can name any
	// number of ids, so this is what waits first.
	ForReader Purpose = iota
	// ForWatch: a kept market is looked at and its price has grown old.
	ForWatch
	// ForCatalogue: the loops that keep markets fresh and find outcomes.
	ForCatalogue
	// ForConfirm: a call that was filed needs its second quote within seconds.
	ForConfirm
	// ForFiling: a call waits for word whether its market exists.
	ForFiling
	// Purposes is their number.
	Purposes = int(ForFiling) + 1
)

// ErrBusy is the cause of a venue_unavailable that is our own doing: as many
// questions as we may ask are being asked. It says nothing about the venue.
var ErrBusy = errors.New("our own limit of questions to the venue is used up")

// Busy is venue_unavailable for ErrBusy.
func Busy() error {
	return ErrUnavailable.Say("too many markets are being asked for at their venue").With("retryAfterMs", 1000).Wrap(ErrBusy)
}

type errandKey struct{}

// errand is what travels with a question to a venue.
type errand struct {
	purpose Purpose
	queued  *atomic.Bool
}

// WithPurpose notes for whose sake the venue is asked.
func WithPurpose(ctx context.Context, p Purpose) context.Context {
	return withErrand(ctx, p, new(atomic.Bool))
}

func withErrand(ctx context.Context, p Purpose, queued *atomic.Bool) context.Context {
	return context.WithValue(ctx, errandKey{}, errand{p, queued})
}

// PurposeOf reads the purpose; without one it is ForReader.
func PurposeOf(ctx context.Context) Purpose {
	e, _ := ctx.Value(errandKey{}).(errand)
	return e.purpose
}

// NoteQueued is called by a venue's client when a question has to wait for its
// turn, because that time must not be held against the venue.
func NoteQueued(ctx context.Context) {
	if e, ok := ctx.Value(errandKey{}).(errand); ok {
		e.queued.Store(true)
	}
}
