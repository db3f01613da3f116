package market

import (
	"context"
	"errors"
	"sync/atomic"
)

// Purpose is the reason of a request to a venue. The request limit is small, so each purpose has a reserved share of
// it.
type Purpose int

// Purposes of requests to a venue, the most urgent last.
const (
	// ForReader is a read of a market that is not stored. Clients can name any number of ids, so this purpose waits
	// first.
	ForReader Purpose = iota
	// ForWatch is a refresh of a stored market that a reader requested and whose price is old.
	ForWatch
	// ForCatalogue is a read by the loops that refresh markets and find outcomes.
	ForCatalogue
	// ForConfirm is a read of the second quote of a call, which is due within seconds.
	ForConfirm
	// ForFiling is a check that the market of a waiting call exists.
	ForFiling
	// Purposes is the number of purposes.
	Purposes = int(ForFiling) + 1
)

// ErrBusy is the cause of a venue_unavailable error that this process causes: its limit of requests to the venue is
// reached. It does not mean that the venue is unavailable.
var ErrBusy = errors.New("the limit of requests to the venue is reached")

// Busy returns a venue_unavailable error with the cause ErrBusy.
func Busy() error {
	return ErrUnavailable.Say("too many reads of markets at their venue; retry in 1 s").With("retryAfterMs", 1000).Wrap(ErrBusy)
}

type requestKey struct{}

// request is the data of a request to a venue that its context carries.
type request struct {
	purpose Purpose
	queued  *atomic.Bool
}

// WithPurpose returns a context that carries the purpose of a request to a venue.
func WithPurpose(ctx context.Context, p Purpose) context.Context {
	return withRequest(ctx, p, new(atomic.Bool))
}

func withRequest(ctx context.Context, p Purpose, queued *atomic.Bool) context.Context {
	return context.WithValue(ctx, requestKey{}, request{p, queued})
}

// PurposeOf returns the purpose in a context. The default is ForReader.
func PurposeOf(ctx context.Context) Purpose {
	r, _ := ctx.Value(requestKey{}).(request)
	return r.purpose
}

// NoteQueued records that a request waits for the request limit of this process. A venue's client must call it, because
// such a wait must not be reported as a failure of the venue.
func NoteQueued(ctx context.Context) {
	if r, ok := ctx.Value(requestKey{}).(request); ok {
		r.queued.Store(true)
	}
}
