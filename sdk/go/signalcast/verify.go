package signalcast

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/signalcast/signalcast/sdk/go/feed"
)

// Errors of VerifyWebhook. The request is not a delivery of the webhook: do not process it, and answer 400.
var (
	// ErrWebhookSignature reports that no signature matches the body.
	ErrWebhookSignature = errors.New("signalcast: no signature matches the body; use the raw body and the newest secret")
	// ErrWebhookTime reports that the request differs by more than five minutes from the local clock.
	ErrWebhookTime = errors.New("signalcast: the request is more than 5 minutes older or newer than the local clock")
)

// WebhookPost is a verified delivery of a webhook.
type WebhookPost struct {
	WebhookID  uuid.UUID
	DeliveryID uuid.UUID // the same for all attempts of a delivery
	Attempt    int       // from 1
	// Events contains *feed.Event and *feed.Gap in the order of the feed. It is empty for a test delivery. A delivery can arrive
	// twice: skip events whose Seq you have already processed on the channel.
	Events []feed.Message
}

// maxAge is the maximum difference between the time of a webhook request and the local clock.
const maxAge = 5 * time.Minute

// VerifyWebhook checks the signature and the time of a webhook request and returns its content. signature is the header
// Signalcast-Signature. body must be the body exactly as received. The comparison takes constant time. Errors:
// ErrWebhookSignature, ErrWebhookTime, and an error for a body that is not a delivery.
func VerifyWebhook(secret, signature string, body []byte, now time.Time) (WebhookPost, error) {
	if secret == "" {
		return WebhookPost{}, errors.New("signalcast: the secret of the webhook is empty")
	}
	first, rest, _ := strings.Cut(signature, ",")
	stamp, _ := strings.CutPrefix(first, "t=")
	at, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil || len(stamp) > 12 || !signed(secret, stamp, rest, body) {
		return WebhookPost{}, ErrWebhookSignature
	}
	if now.Sub(time.Unix(at, 0)).Abs() > maxAge {
		return WebhookPost{}, ErrWebhookTime
	}
	var p struct {
		WebhookID  uuid.UUID         `json:"webhookId"`
		DeliveryID uuid.UUID         `json:"deliveryId"`
		Attempt    int               `json:"attempt"`
		Events     []json.RawMessage `json:"events"`
	}
	if err := json.Unmarshal(body, &p); err != nil {
		return WebhookPost{}, fmt.Errorf("signalcast: the body is not a delivery: %w", err)
	}
	if p.Events == nil {
		return WebhookPost{}, errors.New("signalcast: the body is not a delivery: it has no list of events")
	}
	post := WebhookPost{WebhookID: p.WebhookID, DeliveryID: p.DeliveryID, Attempt: p.Attempt}
	for _, raw := range p.Events {
		m, err := feed.ParseMessage(raw)
		if err != nil {
			return WebhookPost{}, fmt.Errorf("signalcast: the body is not a delivery: %w", err)
		}
		if m != nil {
			post.Events = append(post.Events, m)
		}
	}
	return post, nil
}

// signed reports whether one of the signatures in list is valid for the body. It compares all of them, each in constant time.
func signed(secret, stamp, list string, body []byte) bool {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(stamp + "."))
	mac.Write(body)
	want, valid := mac.Sum(nil), false
	for _, part := range strings.SplitN(list, ",", 8) {
		given, _ := strings.CutPrefix(part, "v1=")
		raw, err := hex.DecodeString(given)
		if err == nil && hmac.Equal(raw, want) {
			valid = true
		}
	}
	return valid
}

// ReadWebhook reads a webhook request and returns its content, like VerifyWebhook. now is the current time.
func ReadWebhook(r *http.Request, secret string, now time.Time) (WebhookPost, error) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxAnswer))
	if err != nil {
		return WebhookPost{}, fmt.Errorf("signalcast: read the body of the webhook request: %w", err)
	}
	return VerifyWebhook(secret, r.Header.Get("Signalcast-Signature"), body, now)
}
