package webhook

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/services/api/internal/feed"
)

// Limits of webhooks and of their deliveries.
const (
	MaxHooks       = 10                 // webhooks per operator
	MaxChannels    = 20                 // channels per webhook
	MaxURL         = 500                // bytes
	MaxDescription = 200                // characters
	TestEvery      = 5 * time.Second    // minimum time between two test deliveries of a webhook
	ResendEvery    = 5 * time.Second    // minimum time between an attempt of a webhook and a requested one
	OldSecretFor   = 24 * time.Hour     // time for which a replaced secret still signs
	KeepDeliveries = 7 * 24 * time.Hour // time after which an entry of the delivery log is deleted
	DeadAfter      = 3 * 24 * time.Hour // time without success after which a failing webhook is deactivated
	MaxEvents      = 100                // maximum number of events per delivery
	AnswerWithin   = 10 * time.Second   // time limit of a request, including its response
)

// Errors of webhook routes. Clients receive the codes and texts.
var (
	ErrNotFound = apperr.New(apperr.NotFound, "not_found", "no such webhook")
	ErrLimit    = apperr.New(apperr.Conflict, "limit_reached",
		"limit of 10 webhooks reached; delete one first").With("limit", MaxHooks)
	ErrURL = apperr.New(apperr.Invalid, "invalid_url",
		"url must be an https URL of a public host with at most 500 ASCII characters, without a user name or a fragment").
		With("field", "url")
	ErrChannels = apperr.New(apperr.Invalid, "invalid_channels",
		"channels must be 1 to 20 different channels").With("field", "channels")
	ErrNoChannel = apperr.New(apperr.Invalid, "missing_channels",
		"channels is required: 1 to 20 channel names").With("field", "channels")
	ErrChannel = apperr.New(apperr.Invalid, "unknown_channel",
		"each channel must exist and have events with a number (seq), such as signals; see docs/protocol/ws.md")
	ErrTypes = apperr.New(apperr.Invalid, "invalid_types",
		"types must be different event types that have a seq, such as signal.created").With("field", "types")
	ErrFuture = apperr.New(apperr.Invalid, "future_cursor",
		"since must be at most the newest event number (seq)").With("field", "since")
	ErrFixedURL = apperr.New(apperr.Invalid, "invalid_url", "url cannot be changed; register another webhook").With("field", "url")
	ErrTooSoon  = apperr.New(apperr.Limited, "rate_limited",
		"limit of one test delivery in 5 s reached; retry in 5 s").With("limit", 1)
	ErrResentTooSoon = apperr.New(apperr.Limited, "rate_limited",
		"the last attempt of the webhook is less than 5 s ago; retry in 5 s").With("limit", 1)
	ErrNoDelivery = apperr.New(apperr.NotFound, "not_found", "no such delivery of this webhook in the last 7 days")
)

// Hook is one webhook with its pending delivery.
type Hook struct {
	ID          string // UUIDv7
	OwnerID     string
	KeyID       string // id of the key that created or last changed the webhook; empty: not recorded
	URL         string
	Channels    []feed.Channel // a private channel as me:<handle>
	Types       []feed.Type    // empty: all types
	Description *string
	Active      bool
	Reason      string // cause of the deactivation or of the last failed attempt; empty: none
	CreatedAt   time.Time
	Cursor      int64 // all events up to this number were accepted or do not match
	Revision    int   // increases when a change concerns the events to send

	Secret    []byte    // sealed
	OldSecret []byte    // sealed previous secrets that are still valid; nil: none
	OldUntil  time.Time // end of the validity of the previous secret

	// The next members describe the pending delivery. DeliveryID is empty if there is none.
	DeliveryID   string
	Through      int64 // number of the last event that the delivery covers
	Attempt      int   // number of attempts that have started
	FailingSince time.Time
	NextAt       time.Time // earliest time of the next attempt; zero: now
}

// Wants reports whether the webhook receives events of type t on channel c.
func (h *Hook) Wants(c feed.Channel, t feed.Type) bool {
	return slices.Contains(h.Channels, c) && (len(h.Types) == 0 || slices.Contains(h.Types, t))
}

// Pick returns the links of an event that are on channels of the webhook. It returns nil if the webhook does not receive the
// type of the event.
func (h *Hook) Pick(m *feed.Message) []feed.Link {
	var out []feed.Link
	for _, l := range m.Links {
		if h.Wants(l.Channel, m.Type) {
			out = append(out, l)
		}
	}
	return out
}

// Post is one request to the URL of a webhook.
type Post struct {
	URL        string
	DeliveryID string
	Signature  string
	Body       []byte
}

// notPending maps the reason of delivery_not_pending to its text. A delivery is pending until its endpoint accepts it.
var notPending = map[string]string{
	"accepted": "the endpoint accepted the delivery; only a failed one can be sent again",
	"test":     "a test delivery is not repeated; use POST /api/v1/webhooks/{id}/test",
	"replaced": "a change of the webhook ended the delivery; its events follow in a newer one",
	"inactive": "the webhook is inactive; activate it with PATCH and active: true, which sends the events again",
}

// ErrNotPending returns the error delivery_not_pending with a reason: accepted, test, replaced or inactive.
func ErrNotPending(reason string) error {
	return apperr.New(apperr.Conflict, "delivery_not_pending", notPending[reason]).With("reason", reason)
}

// Outcome is the result of a request to the URL of a webhook.
type Outcome struct {
	Status int    // HTTP status; 0: no response
	Error  string // one of the error codes; empty: accepted
	Detail string // cause of FailedConnect in words, without addresses; empty: unknown
	Took   time.Duration
}

// Message returns the error in words, for the owner of the webhook. It is empty if the delivery was accepted.
func (o Outcome) Message() string {
	switch o.Error {
	case "":
		return ""
	case FailedStatus:
		return "the endpoint answered " + strconv.Itoa(o.Status) + "; 2xx accepts a delivery"
	case FailedRedirect:
		return "the endpoint answered " + strconv.Itoa(o.Status) + "; redirects are not followed"
	case FailedTime:
		return "no answer within 10 s"
	case FailedAddress:
		return "the host has no public address"
	case FailedSecret:
		return "the secret cannot be decrypted; renew it"
	}
	return cmp.Or(o.Detail, "no HTTP answer was received")
}

// Error codes of an Outcome, which the owner of the webhook sees.
const (
	FailedStatus   = "status"              // the status was not 2xx
	FailedRedirect = "redirect"            // the status was 3xx; redirects are not followed
	FailedTime     = "timeout"             // no response in ten seconds
	FailedAddress  = "address_not_allowed" // the host does not have a public address
	FailedSecret   = "secret"              // the secret cannot be decrypted; renew it
	FailedConnect  = "connect"             // the connection failed or broke
)

// Delivery is an entry of the delivery log: one attempt.
type Delivery struct {
	Line    int64 // position in the log of all webhooks
	HookID  string
	ID      string
	First   int64 // number of the first event; 0: the delivery has no events
	Last    int64
	Events  int
	Attempt int
	Outcome
	At time.Time
}

// waits lists the pauses after the first failed attempts. All later pauses are about one hour.
var waits = [...]time.Duration{
	5 * time.Second, 15 * time.Second, time.Minute, 5 * time.Minute, 15 * time.Minute, 30 * time.Minute,
}

// Backoff returns the pause after the failure of the given attempt, counted from 1. chance is a random number from 0 to 1,
// which changes a pause of one hour by up to a tenth.
func Backoff(attempt int, chance float64) time.Duration {
	if attempt <= len(waits) {
		return waits[max(attempt, 1)-1]
	}
	return time.Duration((0.9 + 0.2*chance) * float64(time.Hour))
}

// Dead reports whether DeadAfter has passed since the attempts of a webhook began to fail, at the time since. The webhook
// must then be deactivated.
func Dead(since, now time.Time) bool { return !now.Before(since.Add(DeadAfter)) }
