package webhook

import (
	"context"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/feed"
)

// Store stores webhooks and their delivery logs. Each method is one transaction. Methods with an ownerID return not_found for a
// webhook of another operator.
type Store interface {
	// CreateWebhook stores a new webhook. Errors: limit_reached if the operator has MaxHooks webhooks, unauthenticated if the
	// key was revoked.
	CreateWebhook(ctx context.Context, h Hook) error
	ListWebhooks(ctx context.Context, ownerID string) ([]Hook, error)
	GetWebhook(ctx context.Context, ownerID, id string) (Hook, error)
	ChangeWebhook(ctx context.Context, ownerID, id string, c Change) (Hook, error)
	DeleteWebhook(ctx context.Context, ownerID, id string) error
	// RenewWebhook locks the webhook, calls renew, and stores the secrets that renew has set.
	RenewWebhook(ctx context.Context, ownerID, id string, renew func(*Hook)) (Hook, error)
	// TestWebhook returns the webhook, and whether a test delivery is allowed now: only one is allowed in the
	// duration every. If so, it stores now as the time of the last test.
	TestWebhook(ctx context.Context, ownerID, id string, now time.Time, every time.Duration) (Hook, bool, error)
	// ResendDelivery makes the next attempt of a pending delivery due at once. Errors: not_found, delivery_not_pending,
	// and rate_limited if an attempt of the webhook ended in the duration every before now.
	ResendDelivery(ctx context.Context, ownerID, id, deliveryID string, now time.Time, every time.Duration) (Hook, error)
	LogDelivery(ctx context.Context, d Delivery) error
	ListDeliveries(ctx context.Context, ownerID, id string, before int64, limit int) ([]Delivery, error)
	FeedHead(ctx context.Context) (int64, error)

	// ActiveWebhooks returns all active webhooks, to which the worker sends.
	ActiveWebhooks(ctx context.Context) ([]Hook, error)
	// BeginDelivery stores the pending delivery and the attempt of h, and returns the stored webhook. It returns false if the
	// webhook has changed.
	BeginDelivery(ctx context.Context, h Hook, after int64) (Hook, bool, error)
	CompleteDelivery(ctx context.Context, d Delivery) error
	FailDelivery(ctx context.Context, d Delivery, since, next time.Time, active bool, reason string) error
	// AdvanceWebhooks stores the cursors of webhooks that had nothing to send.
	AdvanceWebhooks(ctx context.Context, hooks []Hook) error
}

// Send sends one request to the URL of a webhook and returns the result.
type Send func(ctx context.Context, p Post) Outcome

// Draft is the input of Register: a new webhook.
type Draft struct {
	URL         string
	Channels    []string
	Types       []string
	Description *string
	Since       *int64 // start with the event after this number; nil: with the next new event
}

// Change is a change of a webhook. A nil member leaves the value unchanged, except Description if Described is true.
type Change struct {
	Active      *bool
	Channels    []feed.Channel
	Types       *[]feed.Type
	Described   bool // true: Description replaces the current value, also if nil
	Description *string
	URL         *string // must equal the current URL
	KeyID       string  // id of the key that makes the change
}

// Owner is the operator who owns webhooks, and the id of the key of the request.
type Owner struct{ ID, Handle, KeyID string }

// Service creates, changes, tests and deletes webhooks within their limits.
type Service struct {
	store   Store
	send    Send
	vault   *Vault
	allowed func(url string) bool
	now     func() time.Time
}

// NewService returns a Service that sends test deliveries with send and encrypts secrets with vault. allowed reports whether a
// URL may be registered.
func NewService(store Store, send Send, vault *Vault, allowed func(url string) bool, now func() time.Time) *Service {
	return &Service{store: store, send: send, vault: vault, allowed: allowed, now: now}
}

// Channels returns the channels with the given names, for a webhook of the operator with this handle. The name "me" selects
// the private channel of the operator. Errors: missing_channels without a name; invalid_channels for more than MaxChannels
// or repeated names; unknown_channel for an unknown name or a channel without numbered events.
func Channels(names []string, handle string) ([]feed.Channel, error) {
	if len(names) == 0 {
		return nil, ErrNoChannel
	}
	if len(names) > MaxChannels {
		return nil, ErrChannels
	}
	out := make([]feed.Channel, 0, len(names))
	for _, name := range names {
		c, ok := feed.ParseChannel(name)
		if c == feed.Me {
			c = feed.MeChannel(handle)
		}
		if !ok || c.Types() == nil {
			return nil, ErrChannel.With("channel", name)
		}
		if slices.Contains(out, c) {
			return nil, ErrChannels
		}
		out = append(out, c)
	}
	return out, nil
}

// Types returns the event types with the given names. Error: invalid_types for a repeated name, or for a name that is not a
// type of numbered events.
func Types(names []string) ([]feed.Type, error) {
	out := make([]feed.Type, 0, len(names))
	for _, name := range names {
		t, ok := feed.ParseType(name)
		if !ok || slices.Contains(out, t) {
			return nil, ErrTypes
		}
		out = append(out, t)
	}
	return out, nil
}

// ErrDescription is returned for a description that is too long.
var ErrDescription = apperr.New(apperr.Invalid, "invalid_description", "description must be at most 200 characters").With("field", "description")

// Register creates a webhook. It returns the secret, which later reads do not return. Errors: invalid_url, missing_channels,
// invalid_channels, unknown_channel, invalid_types, invalid_description, future_cursor, limit_reached, unauthenticated.
func (s *Service) Register(ctx context.Context, o Owner, d Draft) (h Hook, secret string, err error) {
	if !s.allowed(d.URL) {
		return Hook{}, "", ErrURL
	}
	h = Hook{
		ID: uuid.Must(uuid.NewV7()).String(), OwnerID: o.ID, KeyID: o.KeyID, URL: d.URL, Description: d.Description, Active: true, Revision: 1,
		CreatedAt: s.now().UTC().Truncate(time.Millisecond),
	}
	if h.Channels, err = Channels(d.Channels, o.Handle); err != nil {
		return Hook{}, "", err
	}
	if h.Types, err = Types(d.Types); err != nil {
		return Hook{}, "", err
	}
	if d.Description != nil && utf8.RuneCountInString(*d.Description) > MaxDescription {
		return Hook{}, "", ErrDescription
	}
	if h.Cursor, err = s.store.FeedHead(ctx); err != nil {
		return Hook{}, "", err
	}
	if d.Since != nil {
		if *d.Since > h.Cursor {
			return Hook{}, "", ErrFuture
		}
		h.Cursor = *d.Since
	}
	secret = newSecret()
	h.Secret = s.vault.Seal(h.ID, secret)
	if err := s.store.CreateWebhook(ctx, h); err != nil {
		return Hook{}, "", err
	}
	return h, secret, nil
}

// List returns the webhooks of an operator, oldest first.
func (s *Service) List(ctx context.Context, o Owner) ([]Hook, error) {
	return s.store.ListWebhooks(ctx, o.ID)
}

// Get returns a webhook of the operator. Error: not_found.
func (s *Service) Get(ctx context.Context, o Owner, id string) (Hook, error) {
	if !known(id) {
		return Hook{}, ErrNotFound
	}
	return s.store.GetWebhook(ctx, o.ID, id)
}

// Change changes a webhook of the operator. If it sets the channels or types, or activates the webhook, the pending delivery
// ends. Its events are then sent again in a new one. Errors: not_found, unauthenticated, invalid_description, and
// invalid_url if the URL differs. A new URL could belong to another receiver, who must not get requests with the same
// secret.
func (s *Service) Change(ctx context.Context, o Owner, id string, c Change) (Hook, error) {
	if !known(id) {
		return Hook{}, ErrNotFound
	}
	if c.Description != nil && utf8.RuneCountInString(*c.Description) > MaxDescription {
		return Hook{}, ErrDescription
	}
	if c.URL != nil {
		h, err := s.store.GetWebhook(ctx, o.ID, id)
		if err != nil {
			return Hook{}, err
		}
		if *c.URL != h.URL {
			return Hook{}, ErrFixedURL
		}
	}
	c.KeyID = o.KeyID
	return s.store.ChangeWebhook(ctx, o.ID, id, c)
}

// Delete deletes a webhook of the operator. Error: not_found.
func (s *Service) Delete(ctx context.Context, o Owner, id string) error {
	if !known(id) {
		return ErrNotFound
	}
	return s.store.DeleteWebhook(ctx, o.ID, id)
}

// Renew replaces the secret of a webhook and returns the new secret. Requests are also signed with two older secrets: with the
// replaced one for OldSecretFor, and with the oldest valid one until it expires. If a client loses the response of a renewal and
// renews again, the secret that it uses is therefore still valid. Error: not_found.
func (s *Service) Renew(ctx context.Context, o Owner, id string) (h Hook, secret string, err error) {
	if !known(id) {
		return Hook{}, "", ErrNotFound
	}
	secret = newSecret()
	h, err = s.store.RenewWebhook(ctx, o.ID, id, func(h *Hook) { s.vault.renew(h, secret, s.now().UTC()) })
	if err != nil {
		return Hook{}, "", err
	}
	return h, secret, nil
}

// Deliveries returns up to limit entries of the delivery log of a webhook, newest first. If before is not 0, it returns only
// entries with a Line smaller than before. Error: not_found.
func (s *Service) Deliveries(ctx context.Context, o Owner, id string, before int64, limit int) ([]Delivery, error) {
	if !known(id) {
		return nil, ErrNotFound
	}
	return s.store.ListDeliveries(ctx, o.ID, id, before, limit)
}

// Test sends a delivery without events, even if the webhook is inactive, and returns its result. Errors: not_found, and
// rate_limited if less than TestEvery has passed since the last test.
func (s *Service) Test(ctx context.Context, o Owner, id string) (Delivery, error) {
	if !known(id) {
		return Delivery{}, ErrNotFound
	}
	now := s.now().UTC()
	h, allowed, err := s.store.TestWebhook(ctx, o.ID, id, now, TestEvery)
	if err != nil {
		return Delivery{}, err
	}
	if !allowed {
		return Delivery{}, ErrTooSoon.With("retryAfterMs", TestEvery.Milliseconds())
	}
	d := Delivery{HookID: id, ID: uuid.Must(uuid.NewV7()).String(), Attempt: 1, At: now.Truncate(time.Millisecond)}
	body := Body(id, d.ID, 1, [][]byte{[]byte(`{"op":"test","at":"` + protocol.Stamp(now) + `"}`)})
	signature, err := s.vault.Signature(&h, now, body)
	if err != nil {
		return Delivery{}, err
	}
	d.Outcome = s.send(ctx, Post{URL: h.URL, DeliveryID: d.ID, Signature: signature, Body: body})
	return d, s.store.LogDelivery(ctx, d)
}

// Resend makes the next attempt of the pending delivery due at once, and returns the webhook. The worker makes this attempt
// within about one second and in place of the scheduled one. Events after the delivery still wait until it is accepted. An
// attempt in progress is not repeated. Errors: not_found; delivery_not_pending; rate_limited if the last attempt of the webhook
// ended less than ResendEvery ago.
func (s *Service) Resend(ctx context.Context, o Owner, id, deliveryID string) (Hook, error) {
	if !known(id) {
		return Hook{}, ErrNotFound
	}
	if !known(deliveryID) {
		return Hook{}, ErrNoDelivery
	}
	return s.store.ResendDelivery(ctx, o.ID, id, deliveryID, s.now().UTC(), ResendEvery)
}

func known(id string) bool {
	_, err := uuid.Parse(id)
	return err == nil && len(id) == 36
}
