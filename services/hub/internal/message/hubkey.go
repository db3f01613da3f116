package message

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

// HubKey is a public key of the hub for attestations, with the period in which it signs.
type HubKey struct {
	Kid       string
	Key       Key
	NotBefore time.Time
	NotAfter  time.Time // zero: no end is set
}

// covers reports whether the key is valid at the given time.
func (k HubKey) covers(at time.Time) bool {
	return !at.Before(k.NotBefore) && (k.NotAfter.IsZero() || at.Before(k.NotAfter))
}

// HubKeys holds the keys of the hub. It includes replaced keys, so that old attestations can still be verified.
type HubKeys struct {
	keys    []HubKey // newest first
	private map[Key]ed25519.PrivateKey
}

// hubKeySetting is an entry of the list in the setting HUB_KEYS.
type hubKeySetting struct {
	Seed      string // seed of a key that signs: 64 hexadecimal digits
	PublicKey string // of a replaced key whose seed was deleted
	NotBefore time.Time
	NotAfter  *time.Time
}

// ParseHubKeys parses the setting HUB_KEYS: a JSON list of objects with seed, notBefore and, for a replaced key, notAfter. An
// entry whose seed was deleted has publicKey instead of seed. At least one key must have a seed. Errors do not contain the
// setting.
func ParseHubKeys(setting string) (*HubKeys, error) {
	var entries []hubKeySetting
	if json.Unmarshal([]byte(setting), &entries) != nil || len(entries) == 0 {
		return nil, errors.New("the value must be a JSON list of at least one object with seed and notBefore")
	}
	keys := &HubKeys{private: map[Key]ed25519.PrivateKey{}}
	for i, e := range entries {
		if err := keys.add(e); err != nil {
			return nil, fmt.Errorf("hub key %d: %w", i+1, err)
		}
	}
	slices.SortStableFunc(keys.keys, func(a, b HubKey) int { return b.NotBefore.Compare(a.NotBefore) })
	if len(keys.private) == 0 {
		return nil, errors.New("at least one key must have a seed")
	}
	return keys, nil
}

func (h *HubKeys) add(e hubKeySetting) error {
	if e.NotBefore.IsZero() {
		return errors.New("notBefore is missing")
	}
	key := Key(e.PublicKey)
	if e.Seed != "" {
		seed, err := hex.DecodeString(e.Seed)
		if err != nil || len(seed) != ed25519.SeedSize {
			return errors.New("the seed must be 64 hexadecimal digits")
		}
		private := ed25519.NewKeyFromSeed(seed)
		own := Key(hex.EncodeToString(private[ed25519.SeedSize:]))
		if key != "" && key != own {
			return errors.New("publicKey is not the public key of the seed")
		}
		key = own
		h.private[key] = private
	}
	if key == "" {
		return errors.New("seed is missing; a replaced key may have publicKey instead")
	}
	if _, err := ParseKey(string(key)); err != nil {
		return err
	}
	if _, twice := h.Find(key); twice {
		return errors.New("the list contains the key twice")
	}
	sum := sha256.Sum256(key.bytes())
	k := HubKey{Kid: "hub_" + hex.EncodeToString(sum[:8]), Key: key, NotBefore: e.NotBefore.UTC()}
	if e.NotAfter != nil {
		if k.NotAfter = e.NotAfter.UTC(); !k.NotAfter.After(k.NotBefore) {
			return errors.New("notAfter must be after notBefore")
		}
	} else if e.Seed == "" {
		return errors.New("a key without a seed must have notAfter")
	}
	h.keys = append(h.keys, k)
	return nil
}

// All returns all public keys of the hub, newest first.
func (h *HubKeys) All() []HubKey { return slices.Clone(h.keys) }

// Find returns the hub key with this public key, or false if the hub has no such key.
func (h *HubKeys) Find(key Key) (HubKey, bool) {
	for _, k := range h.keys {
		if k.Key == key {
			return k, true
		}
	}
	return HubKey{}, false
}

var errNoHubKey = errors.New("no hub key is valid now")

// sign returns the newest key that has a seed and is valid at the given time, and a function that signs with this key. It returns
// errNoHubKey if there is no such key.
func (h *HubKeys) sign(at time.Time) (Key, func([]byte) []byte, error) {
	for _, k := range h.keys {
		if private := h.private[k.Key]; private != nil && k.covers(at) {
			return k.Key, func(data []byte) []byte { return ed25519.Sign(private, data) }, nil
		}
	}
	return "", nil, errNoHubKey
}
