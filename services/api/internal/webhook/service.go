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

// Store keeps webhooks. Each method is one transaction; those that take an owner
// fault with not_found for a webhook of somebody else.
type Store interface {
	// CreateWebhook faults with limit_reached, and with unauthenticated for a key that was
	// revoked meanwhile.
	CreateWebhook(ctx context.Context, h Hook) error
	ListWebhooks(ctx context.Context, ownerID string) ([]Hook, error)
	GetWebhook(ctx context.Context, ownerID, id string) (Hook, error)
	ChangeWebhook(ctx context.Context, ownerID, id string, c Change) (Hook, error)
	DeleteWebhook(ctx context.Context, ownerID, id string) error
	// RenewWebhook stores the secrets that renew gives the webhook; no other renewal
	// comes between.
	RenewWebhook(ctx context.Context, ownerID, id string, renew func(*Hook)) (Hook, error)
	// TestWebhook tells whether a test may be sent, and that it is.
	TestWebhook(ctx context.Context, ownerID, id string, now time.Time, every time.Duration) (Hook, bool, error)
	LogDelivery(ctx context.Context, d Delivery) error
	ListDeliveries(ctx context.Context, ownerID, id string, before int64, limit int) ([]Delivery, error)
	FeedHead(ctx context.Context) (int64, error)

	// ActiveWebhooks returns those that the worker sends to.
	ActiveWebhooks(ctx context.Context) ([]Hook, error)
	// BeginDelivery stores an attempt and returns the webhook as it is stored; false if it changed meanwhile.
	BeginDelivery(ctx context.Context, h Hook, after int64) (Hook, bool, error)
	TakenDelivery(ctx context.Context, d Delivery) error
	FailedDelivery(ctx context.Context, d Delivery, since, next time.Time, active bool, reason string) error
	// PassWebhooks stores how far webhooks were read that had nothing to send.
	PassWebhooks(ctx context.Context, hooks []Hook) error
}

// Send makes one request to an endpoint.
type Send func(ctx context.Context, p Post) Outcome

// Draft is what an operator registers.
type Draft struct {
	URL         string
	Channels    []string
	Types       []string
	Description *string
	Since       *int64 // nil: from now on
}

// Change is what is to be different; nil members stay.
type Change struct {
	Active      *bool
	Channels    []feed.Channel
	Types       *[]feed.Type
	Described   bool // Description holds, nil for none
	Description *string
	URL         *string // is to be what it is
	KeyID       string  // of the key that makes the change
}

// Owner is the operator whose webhooks are meant, and the key of the request.
type Owner struct{ ID, Handle, KeyID string }

// Service keeps the rules.
type Service struct {
	store   Store
	send    Send
	vault   *Vault
	allowed func(url string) bool
	now     func() time.Time
}

// NewService wires the subject. allowed reports whether a URL may be registered.
func NewService(store Store, send Send, vault *Vault, allowed func(url string) bool, now func() time.Time) *Service {
	return &Service{store: store, send: send, vault: vault, allowed: allowed, now: now}
}

// Channels reads names as their owner may ask for them. Faults: missing_channels,
// invalid_channels, unknown_channel.
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

// Types reads names of event types. Fault: invalid_types.
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

// ErrDescription refuses a long description.
var ErrDescription = apperr.New(apperr.Invalid, "invalid_description", "description has at most 200 characters").With("field", "description")

// Register makes a webhook. The secret is in this answer and nowhere else. Faults:
// invalid_url, missing_channels, invalid_channels, unknown_channel, invalid_types,
// invalid_description, future_cursor, limit_reached.
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

// List gives an operator's webhooks, oldest first.
func (s *Service) List(ctx context.Context, o Owner) ([]Hook, error) {
	return s.store.ListWebhooks(ctx, o.ID)
}

// Get gives one. Fault: not_found.
func (s *Service) Get(ctx context.Context, o Owner, id string) (Hook, error) {
	if !known(id) {
		return Hook{}, ErrNotFound
	}
	return s.store.GetWebhook(ctx, o.ID, id)
}

// Change makes it another one. Whatever is to be sent differently ends the delivery
// under way, and what it held is sent anew. Faults: not_found, invalid_description,
// invalid_url for an address that is not its own: whoever may verify what comes knows
// the secret, and another address is another receiver.
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

// Delete ends it. Fault: not_found.
func (s *Service) Delete(ctx context.Context, o Owner, id string) error {
	if !known(id) {
		return ErrNotFound
	}
	return s.store.DeleteWebhook(ctx, o.ID, id)
}

// Renew gives a new secret. The one before signs beside it for a day, and so does, to
// the end of its own day, the oldest of those before: an answer that was lost must not
// end the secret that is in use. Fault: not_found.
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

// Deliveries lists attempts below a line of the log, newest first. Fault: not_found.
func (s *Service) Deliveries(ctx context.Context, o Owner, id string, before int64, limit int) ([]Delivery, error) {
	if !known(id) {
		return nil, ErrNotFound
	}
	return s.store.ListDeliveries(ctx, o.ID, id, before, limit)
}

// Test sends a delivery without events at once, active or not. Faults: not_found,
// rate_limited.
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

func known(id string) bool {
	_, err := uuid.Parse(id)
	return err == nil && len(id) == 36
}
