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

// Service provisions streams and checks stream keys.
type Service struct {
	provider Provider
	store    Store
	newID    func() string
	now      func() time.Time
}

// NewService builds a Service. All arguments are required.
func NewService(p Provider, s Store, newID func() string, now func() time.Time) *Service {
	return &Service{provider: p, store: s, newID: newID, now: now}
}

// tries is the maximum number of attempts to store a stream. An attempt fails if a concurrent request has changed the stream.
const tries = 3

// Provision creates the stream of an approved operator. If the operator already has a stream, Provision replaces its key, and the
// previous key becomes invalid. Only the returned offer contains the key. Errors: ErrNotApproved, ErrUnavailable, db_unavailable.
func (s *Service) Provision(ctx context.Context, handle protocol.Handle, label string, latency Latency) (Stream, Offer, error) {
	if err := s.approved(ctx, handle); err != nil {
		return Stream{}, Offer{}, err
	}
	for range tries {
		before, found, err := s.store.IngestStream(ctx, handle)
		if err != nil {
			return Stream{}, Offer{}, err
		}
		want := Want{Handle: handle, Label: label, Latency: latency}
		if found && before.Provider == s.provider.Name() {
			want.Before = &before
		}
		offer, err := s.provider.Provision(ctx, want)
		if err != nil {
			return Stream{}, Offer{}, err
		}
		created := Stream{
			ID: before.ID, Handle: handle, Provider: s.provider.Name(), RemoteID: offer.RemoteID, KeyHash: hashOf(cmp.Or(offer.Secret, offer.Key)),
			HLSURL: offer.HLSURL, Label: label, Latency: latency, CreatedAt: before.CreatedAt, RotatedAt: s.now(), Version: before.Version + 1,
		}
		if !found {
			created.ID, created.CreatedAt = s.newID(), created.RotatedAt
		}
		ok, err := s.store.StoreIngest(ctx, created, before.Version)
		if err != nil {
			return Stream{}, Offer{}, err
		}
		if ok {
			if want.Before != nil && before.RemoteID != "" && before.RemoteID != offer.RemoteID {
				// The previous stream is deleted only now, so that it stays usable if an earlier step fails. Best effort: without the
				// deletion, the video host still accepts its key, but no page plays the stream.
				_ = s.provider.Withdraw(ctx, before.RemoteID)
			}
			offer.HLSURL = s.provider.Playback(created)
			return created, offer, nil
		}
		if offer.RemoteID != before.RemoteID {
			_ = s.provider.Withdraw(ctx, offer.RemoteID) // best effort: the unused stream has no known key
		}
	}
	return Stream{}, Offer{}, ErrUnavailable
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

// Admit checks the stream key of an upload. It must be the current key of the operator's stream, and the operator must be
// approved. Nothing is cached, so a replaced key or a suspension takes effect with the next request. Errors: ErrKey,
// ErrNotApproved, db_unavailable.
func (s *Service) Admit(ctx context.Context, handle protocol.Handle, key string) error {
	if !IsKey(key) {
		return ErrKey
	}
	st, found, err := s.store.IngestByKey(ctx, hashOf(key))
	if err != nil {
		return err
	}
	if !found || st.Handle != handle {
		return ErrKey
	}
	return s.approved(ctx, handle)
}

// Playback returns the playback URL of the operator's provisioned stream, even if no video arrives. It returns "" if the operator
// has no stream at the configured provider. Error: db_unavailable.
func (s *Service) Playback(ctx context.Context, handle protocol.Handle) (string, error) {
	st, found, err := s.Stream(ctx, handle)
	if err != nil || !found {
		return "", err
	}
	return s.provider.Playback(st), nil
}

// Stream returns the operator's stream at the configured provider. It returns false if there is none. Error: db_unavailable.
func (s *Service) Stream(ctx context.Context, handle protocol.Handle) (Stream, bool, error) {
	st, found, err := s.store.IngestStream(ctx, handle)
	return st, found && st.Provider == s.provider.Name(), err
}

const keyPrefix = "sk_"

// keyBytes is the number of random bytes in a stream key.
const keyBytes = 24

func newKey() string {
	raw := make([]byte, keyBytes)
	_, _ = rand.Read(raw) // never fails
	return keyPrefix + base64.RawURLEncoding.EncodeToString(raw)
}

// hashOf returns the SHA-256 hash of a stream key. Only the hash is stored.
func hashOf(key string) []byte {
	sum := sha256.Sum256([]byte(key))
	return sum[:]
}

// IsKey reports whether s has the format of a stream key. Admit refuses other texts without a database query.
func IsKey(s string) bool {
	rest, ok := strings.CutPrefix(s, keyPrefix)
	if !ok || len(rest) != base64.RawURLEncoding.EncodedLen(keyBytes) {
		return false
	}
	return strings.Trim(rest, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") == ""
}
