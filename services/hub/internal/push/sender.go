package push

import (
	"cmp"
	"context"
	"crypto/ecdh"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	webpush "github.com/SherClockHolmes/webpush-go"
	"golang.org/x/sync/errgroup"

	"github.com/signalcast/signalcast/pkg/dbtime"
	"github.com/signalcast/signalcast/pkg/safedial"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	"github.com/signalcast/signalcast/services/hub/internal/notification"
)

const (
	pollInterval  = time.Second
	maxAtOnce     = 50               // messages in one round
	maxParallel   = 8                // messages that are sent at the same time
	sendTime      = 10 * time.Second // time limit of one message
	maxAttempts   = 5
	retryAfter    = 30 * time.Second // delay after the first failed attempt; doubles with each attempt
	maxTitle      = 300              // characters of the title of a market
	maxReadAnswer = 4 << 10
)

// Key is the key pair that identifies this installation to push services (RFC 8292).
type Key struct{ private, public string }

// ParseKey returns the key pair of a private key: 32 bytes in base64url without padding. Errors do not contain the key.
func ParseKey(private string) (Key, error) {
	raw, err := base64.RawURLEncoding.DecodeString(private)
	if err != nil {
		return Key{}, errors.New("must be 32 bytes in base64url without padding")
	}
	key, err := ecdh.P256().NewPrivateKey(raw)
	if err != nil {
		return Key{}, errors.New("must be a private key of the curve P-256: 32 bytes in base64url without padding")
	}
	return Key{private: private, public: base64.RawURLEncoding.EncodeToString(key.PublicKey().Bytes())}, nil
}

// Sender sends the messages that wait. Only one process at a time should run it.
type Sender struct {
	store   notification.Outbox
	markets marketv1.MarketReadServiceClient
	client  *http.Client
	key     Key
	contact string // mailto or https URL of the administrators
	now     func() time.Time
	log     *slog.Logger
}

// NewSender returns a Sender with a key. contact is a mailto or https URL of the administrators, for the push services. The URLs of
// push services are untrusted: the Sender connects to public addresses only.
func NewSender(
	store notification.Outbox, markets marketv1.MarketReadServiceClient, key Key, contact string, now func() time.Time, log *slog.Logger,
) *Sender {
	return &Sender{
		store: store, markets: markets, client: safedial.Client(safedial.Options{Timeout: sendTime}), key: key, contact: contact, now: now, log: log,
	}
}

// PublicKey returns the public key, with which browsers subscribe.
func (s *Sender) PublicKey() string { return s.key.public }

// Run sends messages until ctx ends. After a failure it repeats the round. It logs the first of consecutive errors.
func (s *Sender) Run(ctx context.Context) error {
	failing := false
	for {
		n, err := s.Round(ctx)
		if err != nil && !failing && ctx.Err() == nil {
			s.log.WarnContext(ctx, "push messages delayed", "error", err)
		}
		if failing = err != nil; n == maxAtOnce && !failing {
			continue
		}
		if err := dbtime.Sleep(ctx, pollInterval); err != nil {
			return err
		}
	}
}

// Round sends the messages that are due, at most maxAtOnce, and returns their number. Errors: db_unavailable, those of the ledger.
func (s *Sender) Round(ctx context.Context) (int, error) {
	now := s.now()
	list, err := s.store.ListPush(ctx, now, now.Add(-notification.PushLife), maxAtOnce)
	if err != nil || len(list) == 0 {
		return 0, err
	}
	q := &marketv1.ListMarketsRequest{}
	for _, m := range list {
		q.Ids = append(q.Ids, string(m.Entry.MarketID))
	}
	markets, err := s.markets.ListMarkets(ctx, q)
	if err != nil {
		return 0, err
	}
	titles := map[string]string{}
	for _, m := range markets.GetMarkets() {
		titles[m.GetId()] = m.GetTitle()
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(maxParallel)
	for _, m := range list {
		g.Go(func() error { return s.deliver(ctx, m, titles[string(m.Entry.MarketID)]) })
	}
	return len(list), g.Wait()
}

// deliver sends one message and stores the result.
func (s *Sender) deliver(ctx context.Context, m notification.Message, title string) error {
	status, err := s.send(ctx, m, title)
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	ctx = context.WithoutCancel(ctx) // a stop after the answer must not repeat the message
	switch {
	case status == http.StatusNotFound, status == http.StatusGone:
		return s.store.EndPush(ctx, m)
	case err == nil && status < 300:
		return s.store.DeletePush(ctx, m)
	case err == nil && status < 500 && status != http.StatusTooManyRequests && status != http.StatusRequestTimeout,
		m.Attempts+1 >= maxAttempts:
		s.log.WarnContext(ctx, "push message dropped", "status", status, "attempts", m.Attempts+1)
		return s.store.DeletePush(ctx, m)
	}
	return s.store.DelayPush(ctx, m, s.now().Add(retryAfter<<m.Attempts))
}

// text returns the text of a notification about a call.
func text(e notification.Entry) string {
	if e.Kind == notification.CallVoid {
		return "Your call is void"
	}
	return "Your call " + e.Status
}

// send sends one message and returns the status of the push service.
func (s *Sender) send(ctx context.Context, m notification.Message, title string) (int, error) {
	var to webpush.Subscription
	if err := json.Unmarshal([]byte(m.Subscription), &to); err != nil {
		return http.StatusGone, err
	}
	if letters := []rune(title); len(letters) > maxTitle {
		title = string(letters[:maxTitle]) + "…"
	}
	body, err := json.Marshal(map[string]string{ // read by push-worker.js
		"id": m.Entry.ID, "kind": string(m.Entry.Kind), "title": cmp.Or(title, "Signalcast"), "text": text(m.Entry), "url": "/receipts/" + m.Entry.SignalID,
	})
	if err != nil {
		return 0, err
	}
	r, err := webpush.SendNotificationWithContext(ctx, body, &to, &webpush.Options{
		HTTPClient: s.client, TTL: int(notification.PushLife / time.Second), Subscriber: strings.TrimPrefix(s.contact, "mailto:"),
		// A message with the same topic replaces one that the push service has not delivered (RFC 8030 5.4).
		Topic: strings.ReplaceAll(m.Entry.ID, "-", ""), VAPIDPublicKey: s.key.public, VAPIDPrivateKey: s.key.private,
	})
	if err != nil {
		return 0, err
	}
	_, _ = io.CopyN(io.Discard, r.Body, maxReadAnswer) // only the status matters
	return r.StatusCode, errors.Join(r.Body.Close())
}
