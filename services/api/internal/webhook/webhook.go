package webhook

import (
	"slices"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/services/api/internal/feed"
)

// Limits of the webhooks of an operator.
const (
	MaxHooks       = 10 // per operator
	MaxChannels    = 20
	MaxURL         = 500
	MaxDescription = 200
	TestEvery      = 5 * time.Second    // interval of test deliveries of a webhook
	OldSecretFor   = 24 * time.Hour     // validity of a replaced secret
	KeepDeliveries = 7 * 24 * time.Hour // time for which the log keeps an attempt
	DeadAfter      = 3 * 24 * time.Hour // time of failures after which a webhook is deactivated
	MaxEvents      = 100                // events per delivery
	AnswerWithin   = 10 * time.Second   // time limit of a request
)

// Errors of webhooks that are reported to the client.
var (
	ErrNotFound  = apperr.New(apperr.NotFound, "not_found", "no such webhook")
	ErrLimit     = apperr.New(apperr.Conflict, "limit_reached", "limit of 10 webhooks reached; delete one first").With("limit", MaxHooks)
	ErrURL       = apperr.New(apperr.Invalid, "invalid_url", "url must be an https address of a public host, without a user or a fragment").With("field", "url")
	ErrChannels  = apperr.New(apperr.Invalid, "invalid_channels", "channels must be 1 to 20 different names").With("field", "channels")
	ErrNoChannel = apperr.New(apperr.Invalid, "missing_channels", "channels is required").With("field", "channels")
	ErrChannel   = apperr.New(apperr.Invalid, "unknown_channel", "unknown channel, or a channel without numbered events")
	ErrTypes     = apperr.New(apperr.Invalid, "invalid_types", "types must be different numbered event types").With("field", "types")
	ErrFuture    = apperr.New(apperr.Invalid, "future_cursor", "since must not be greater than the newest event number").With("field", "since")
	ErrFixedURL  = apperr.New(apperr.Invalid, "invalid_url", "url cannot be changed; register another webhook").With("field", "url")
	ErrTooSoon   = apperr.New(apperr.Limited, "rate_limited", "only one test delivery in 5 seconds is allowed").With("limit", 1)
)

// Hook is one webhook.
type Hook struct {
	ID          string // UUIDv7
	OwnerID     string
	KeyID       string // key that created or last changed it; empty: it is older than this record
	URL         string
	Channels    []feed.Channel // channel me as me:<handle>
	Types       []feed.Type    // empty: all
	Description *string
	Active      bool
	Reason      string // cause of the deactivation or of the last failure
	CreatedAt   time.Time
	Cursor      int64 // all events up to this number were accepted
	Revision    int   // increases when the events to send change

	Secret    []byte    // sealed
	OldSecret []byte    // sealed previous secrets that are still valid; nil: none
	OldUntil  time.Time // end of the validity of the previous secret

	// The pending delivery. DeliveryID is empty without one.
	DeliveryID   string
	Through      int64 // last event number of the delivery
	Attempt      int   // number of attempts so far
	FailingSince time.Time
	NextAt       time.Time // earliest time of the next attempt
}

// Wants reports whether events of a type on a channel are sent to the webhook.
func (h *Hook) Wants(c feed.Channel, t feed.Type) bool {
	return slices.Contains(h.Channels, c) && (len(h.Types) == 0 || slices.Contains(h.Types, t))
}

// Pick returns the links of a message on channels of the webhook.
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

// Outcome is the result of a request.
type Outcome struct {
	Status int    // 0: no response
	Error  string // empty: accepted
	Took   time.Duration
}

// Error codes of an Outcome.
const (
	FailedStatus   = "status"              // the status was not 2xx
	FailedRedirect = "redirect"            // the status was 3xx; redirects are not followed
	FailedTime     = "timeout"             // no response in ten seconds
	FailedAddress  = "address_not_allowed" // the host does not have a public address
	FailedSecret   = "secret"              // the secret cannot be decrypted; renew it
	FailedConnect  = "connect"             // the connection failed or broke
)

// Delivery is one attempt in the log.
type Delivery struct {
	Line    int64
	HookID  string
	ID      string
	First   int64 // 0: a test delivery, without events
	Last    int64
	Events  int
	Attempt int
	Outcome
	At time.Time
}

// waits lists the pauses after the first failures. Later pauses are one hour.
var waits = [...]time.Duration{
	5 * time.Second, 15 * time.Second, time.Minute, 5 * time.Minute, 15 * time.Minute, 30 * time.Minute,
}

// Backoff returns the pause after a failed attempt. chance, a random number from 0 to 1, varies the pauses of one hour by up
// to a tenth.
func Backoff(attempt int, chance float64) time.Duration {
	if attempt <= len(waits) {
		return waits[max(attempt, 1)-1]
	}
	return time.Duration((0.9 + 0.2*chance) * float64(time.Hour))
}

// Dead reports whether an endpoint has failed for DeadAfter.
func Dead(since, now time.Time) bool { return !now.Before(since.Add(DeadAfter)) }
