package webhook

import (
	"slices"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/services/api/internal/feed"
)

// Bounds of what an operator may have.
const (
	MaxHooks       = 10 // of an operator
	MaxChannels    = 20
	MaxURL         = 500
	MaxDescription = 200
	TestEvery      = 5 * time.Second    // test deliveries of a webhook
	OldSecretFor   = 24 * time.Hour     // after a renewal
	KeepDeliveries = 7 * 24 * time.Hour // in the log
	DeadAfter      = 3 * 24 * time.Hour // of failures
	MaxEvents      = 100                // of a delivery
	AnswerWithin   = 10 * time.Second   // what takes longer has failed
)

// Expected failures.
var (
	ErrNotFound  = apperr.New(apperr.NotFound, "not_found", "no such webhook")
	ErrLimit     = apperr.New(apperr.Conflict, "limit_reached", "an operator has at most ten webhooks").With("limit", MaxHooks)
	ErrURL       = apperr.New(apperr.Invalid, "invalid_url", "url must be an https address of a public host, without a user or a fragment").With("field", "url")
	ErrChannels  = apperr.New(apperr.Invalid, "invalid_channels", "channels are 1 to 20 names, each once").With("field", "channels")
	ErrNoChannel = apperr.New(apperr.Invalid, "missing_channels", "channels is required").With("field", "channels")
	ErrChannel   = apperr.New(apperr.Invalid, "unknown_channel", "there is no such channel with numbered events")
	ErrTypes     = apperr.New(apperr.Invalid, "invalid_types", "types are numbered event types, each once").With("field", "types")
	ErrFuture    = apperr.New(apperr.Invalid, "future_cursor", "since is above the newest number").With("field", "since")
	ErrFixedURL  = apperr.New(apperr.Invalid, "invalid_url", "url stays what it is: register another webhook").With("field", "url")
	ErrTooSoon   = apperr.New(apperr.Limited, "rate_limited", "one test delivery in five seconds").With("limit", 1)
)

// Hook is one webhook.
type Hook struct {
	ID          string // uuid v7
	OwnerID     string
	KeyID       string // of the key that made or last changed it; empty: from before keys were recorded
	URL         string
	Channels    []feed.Channel // the owner's own as me:<handle>
	Types       []feed.Type    // empty: all
	Description *string
	Active      bool
	Reason      string // why it is not active, or why the last delivery failed
	CreatedAt   time.Time
	Cursor      int64 // number through which everything was taken
	Revision    int   // goes up when other events are to be sent

	Secret    []byte    // sealed
	OldSecret []byte    // sealed, with the oldest that still signs beside it; nil: none
	OldUntil  time.Time // of the one before

	// The delivery under way; DeliveryID is empty without one.
	DeliveryID   string
	Through      int64 // its last number
	Attempt      int   // made so far
	FailingSince time.Time
	NextAt       time.Time // not tried before
}

// Wants tells whether events of a type on a channel are for the webhook.
func (h *Hook) Wants(c feed.Channel, t feed.Type) bool {
	return slices.Contains(h.Channels, c) && (len(h.Types) == 0 || slices.Contains(h.Types, t))
}

// Pick gives those links of a message that the webhook is to be told of.
func (h *Hook) Pick(m *feed.Message) []feed.Link {
	var out []feed.Link
	for _, l := range m.Links {
		if h.Wants(l.Channel, m.Type) {
			out = append(out, l)
		}
	}
	return out
}

// Post is one request to an endpoint.
type Post struct {
	URL        string
	DeliveryID string
	Signature  string
	Body       []byte
}

// Outcome is what came of it.
type Outcome struct {
	Status int    // 0: no answer
	Error  string // empty: taken
	Took   time.Duration
}

// The reasons that an outcome names.
const (
	FailedStatus   = "status"              // an answer that is not 2xx
	FailedRedirect = "redirect"            // redirects are not followed
	FailedTime     = "timeout"             // no answer in ten seconds
	FailedAddress  = "address_not_allowed" // the host is not on the public internet
	FailedSecret   = "secret"              // renew it: it can no longer be read
	FailedConnect  = "connect"             // no connection, or it broke
)

// Delivery is a line of the log: one attempt.
type Delivery struct {
	Line    int64
	HookID  string
	ID      string
	First   int64 // 0: without events
	Last    int64
	Events  int
	Attempt int
	Outcome
	At time.Time
}

// waits are the pauses behind the first failures; further ones come after an hour.
var waits = [...]time.Duration{
	5 * time.Second, 15 * time.Second, time.Minute, 5 * time.Minute, 15 * time.Minute, 30 * time.Minute,
}

// Backoff is the pause behind the attempt that failed; chance, from 0 to 1, spreads
// the long ones by a tenth to either side.
func Backoff(attempt int, chance float64) time.Duration {
	if attempt <= len(waits) {
		return waits[max(attempt, 1)-1]
	}
	return time.Duration((0.9 + 0.2*chance) * float64(time.Hour))
}

// Dead tells whether an endpoint has failed for too long.
func Dead(since, now time.Time) bool { return !now.Before(since.Add(DeadAfter)) }
