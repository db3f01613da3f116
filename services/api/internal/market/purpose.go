package market

import (
	"context"
	"errors"
	"sync/atomic"
)

// Purpose is the reason for a request to a venue. Each purpose has a reserved share of the request limit, because the limit
// is small.
type Purpose int

// Purposes of requests to a venue, in ascending urgency.
const (
	// ForReader is a read of a market that is not stored. It is the least urgent purpose, because clients can invent any
	// number of market ids.
	ForReader Purpose = iota
	// ForWatch is a refresh of a stored market with an old price that a reader requested.
	ForWatch
	// ForCatalogue is a read by the background loops that refresh markets and find outcomes.
	ForCatalogue
	// ForConfirm is a read of the second quote of a call, which is due within seconds.
	ForConfirm
	// ForFiling is a check that the market of a waiting call exists.
	ForFiling
	// Purposes is the number of purposes.
	Purposes = int(ForFiling) + 1
)

// ErrBusy is the cause of a venue_unavailable error if this process has reached its limit of requests to the venue. The
// venue itself may be available.
var ErrBusy = errors.New("the limit of requests to the venue is reached")

// Busy returns a venue_unavailable error that wraps ErrBusy and asks the client to retry in 1 s.
func Busy() error {
	return ErrUnavailable.WithText("too many requests to the market's venue; retry in 1 s").With("retryAfterMs", 1000).Wrap(ErrBusy)
}

type requestKey struct{}

// request is stored in a context. It describes the requests to a venue that are made with this context.
type request struct {
	purpose Purpose
	queued  *atomic.Bool
}

// WithPurpose returns a context that contains the purpose of the requests to a venue that are made with it.
func WithPurpose(ctx context.Context, p Purpose) context.Context {
	return withRequest(ctx, p, new(atomic.Bool))
}

func withRequest(ctx context.Context, p Purpose, queued *atomic.Bool) context.Context {
	return context.WithValue(ctx, requestKey{}, request{p, queued})
}

// PurposeOf returns the purpose that a context carries, or ForReader if it carries none.
func PurposeOf(ctx context.Context) Purpose {
	r, _ := ctx.Value(requestKey{}).(request)
	return r.purpose
}

// NoteQueued records in the context that a request waits for the request limit of this process. The client of a venue must
// call it, because such a wait must not be reported as a failure of the venue.
func NoteQueued(ctx context.Context) {
	if r, ok := ctx.Value(requestKey{}).(request); ok {
		r.queued.Store(true)
	}
}
