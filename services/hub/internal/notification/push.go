package notification

import (
	"context"
	"crypto/ecdh"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// Pushed lists the kinds that are also sent by web push.
var Pushed = []Kind{CallResolved, CallVoid}

const (
	// MaxSubscriptions is the maximum number of web push subscriptions of a user.
	MaxSubscriptions = 20
	// maxSubscription is the maximum number of bytes of a subscription.
	maxSubscription = 4096
	// PushLife is the time after an entry in which its message is sent and the push service stores it.
	PushLife = 24 * time.Hour
)

// ErrSubscription is the error of an invalid web push subscription.
var ErrSubscription = apperr.New(apperr.Invalid, "invalid_body", "the browser sent an invalid subscription; try again")

// ParseSubscription checks the JSON of a web push subscription from a browser and returns its canonical form. The URL must be https
// without credentials. Error: ErrSubscription.
func ParseSubscription(text string) (string, error) {
	var s struct {
		Endpoint string
		Keys     struct{ P256dh, Auth string }
	}
	if len(text) > maxSubscription || json.Unmarshal([]byte(text), &s) != nil {
		return "", ErrSubscription
	}
	u, err := url.Parse(s.Endpoint)
	if err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
		return "", ErrSubscription
	}
	key, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(s.Keys.P256dh, "="))
	if err != nil {
		return "", ErrSubscription
	}
	if _, err := ecdh.P256().NewPublicKey(key); err != nil {
		return "", ErrSubscription
	}
	if auth, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(s.Keys.Auth, "=")); err != nil || len(auth) != 16 {
		return "", ErrSubscription
	}
	out, err := json.Marshal(map[string]any{"endpoint": s.Endpoint, "keys": map[string]string{"p256dh": s.Keys.P256dh, "auth": s.Keys.Auth}})
	if err != nil || len(out) > maxSubscription {
		return "", ErrSubscription
	}
	return string(out), nil
}

// Message is an entry on its way to the browser of a session.
type Message struct {
	Entry        Entry
	User         operator.ID
	Session      time.Time // second of issue of the session
	Subscription string    // canonical form of ParseSubscription
	Attempts     int       // failed attempts
}

// Subscriptions stores the web push subscriptions of sessions. Error of its method: db_unavailable.
type Subscriptions interface {
	// SetPush stores the subscription of a session; empty: none. It removes the subscription from other sessions. It reports false and
	// changes nothing if the session has ended or the user has MaxSubscriptions others.
	SetPush(ctx context.Context, user operator.ID, session time.Time, subscription string) (bool, error)
}

// Outbox has the messages that wait. Error of all methods: db_unavailable.
type Outbox interface {
	// ListPush returns messages that are due at a time, the oldest first. It deletes those of entries before oldest.
	ListPush(ctx context.Context, now, oldest time.Time, limit int) ([]Message, error)
	// DeletePush deletes a message that was sent or failed.
	DeletePush(ctx context.Context, m Message) error
	// DelayPush stores a failed attempt. The message is due again at a time.
	DelayPush(ctx context.Context, m Message, due time.Time) error
	// EndPush deletes a subscription and its messages.
	EndPush(ctx context.Context, m Message) error
}
