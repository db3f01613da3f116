package ingest

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// Service gives out streams and judges who pushes.
type Service struct {
	provider Provider
	store    Store
	newID    func() string
	now      func() time.Time
}

// NewService needs all of its parts.
func NewService(p Provider, s Store, newID func() string, now func() time.Time) *Service {
	return &Service{provider: p, store: s, newID: newID, now: now}
}

// tries is how often somebody else may be quicker.
const tries = 3

// Provision gives an approved operator a stream, or its stream a new key; the key
// before opens nothing from then on. The key is in the offer alone.
// Errors: ErrNotApproved, ErrAway, db_unavailable.
func (s *Service) Provision(ctx context.Context, handle protocol.Handle, label string, latency Latency) (Stream, Offer, error) {
	if err := s.approved(ctx, handle); err != nil {
		return Stream{}, Offer{}, err
	}
	for range tries {
		before, there, err := s.store.IngestStream(ctx, handle)
		if err != nil {
			return Stream{}, Offer{}, err
		}
		want := Want{Handle: handle, Label: label, Latency: latency}
		if there && before.Provider == s.provider.Name() {
			want.Before = &before
		}
		offer, err := s.provider.Provision(ctx, want)
		if err != nil {
			return Stream{}, Offer{}, err
		}
		kept := Stream{
			ID: before.ID, Handle: handle, Provider: s.provider.Name(), RemoteID: offer.RemoteID, KeyHash: hashOf(cmp.Or(offer.Secret, offer.Key)),
			HLSURL: offer.HLSURL, Label: label, Latency: latency, CreatedAt: before.CreatedAt, RotatedAt: s.now(), Version: before.Version + 1,
		}
		if !there {
			kept.ID, kept.CreatedAt = s.newID(), kept.RotatedAt
		}
		ok, err := s.store.KeepIngest(ctx, kept, before.Version)
		if err != nil {
			return Stream{}, Offer{}, err
		}
		if ok {
			offer.HLSURL = s.provider.Playback(kept)
			return kept, offer, nil
		}
		if offer.RemoteID != before.RemoteID {
			_ = s.provider.Withdraw(ctx, offer.RemoteID) // a stream that nobody knows takes no video
		}
	}
	return Stream{}, Offer{}, ErrAway
}

func (s *Service) approved(ctx context.Context, handle protocol.Handle) error {
	ok, err := s.store.Approved(ctx, handle)
	if err != nil {
		return err
	}
	if !ok {
		return ErrNotApproved
	}
	return nil
}

// Admit judges a push: the key must be that of the operator's stream now, and the
// operator approved now. Nothing is remembered, so a key that was replaced and an
// operator who was suspended stop with the next request. Errors: ErrKey,
// ErrNotApproved, db_unavailable.
func (s *Service) Admit(ctx context.Context, handle protocol.Handle, key string) error {
	if !IsKey(key) {
		return ErrKey
	}
	st, there, err := s.store.IngestByKey(ctx, hashOf(key))
	if err != nil {
		return err
	}
	if !there || st.Handle != handle {
		return ErrKey
	}
	return s.approved(ctx, handle)
}

// Playback returns where viewers find the stream that was provisioned for an operator, whether it plays or not; empty:
// there is none. Error: db_unavailable.
func (s *Service) Playback(ctx context.Context, handle protocol.Handle) (string, error) {
	st, there, err := s.store.IngestStream(ctx, handle)
	if err != nil || !there || st.Provider != s.provider.Name() {
		return "", err
	}
	return s.provider.Playback(st), nil
}

// keyPrefix begins every stream key.
const keyPrefix = "sk_"

// keyBytes is the number of random bytes of a key.
const keyBytes = 24

// newKey returns a random stream key.
func newKey() string {
	raw := make([]byte, keyBytes)
	_, _ = rand.Read(raw) // it never fails
	return keyPrefix + base64.RawURLEncoding.EncodeToString(raw)
}

// hashOf returns the SHA-256 of a key. Only the hash is stored.
func hashOf(key string) []byte {
	sum := sha256.Sum256([]byte(key))
	return sum[:]
}

// IsKey reports whether a text has the form of a stream key. Other texts are not looked up.
func IsKey(s string) bool {
	rest, ok := strings.CutPrefix(s, keyPrefix)
	if !ok || len(rest) != base64.RawURLEncoding.EncodedLen(keyBytes) {
		return false
	}
	return strings.Trim(rest, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") == ""
}
