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

// HubKey is the public half of a key with which the hub attests.
type HubKey struct {
	Kid       string
	Key       Key
	NotBefore time.Time
	NotAfter  time.Time // zero: not replaced yet
}

// covers reports that the key may have signed at that time.
func (k HubKey) covers(at time.Time) bool {
	return !at.Before(k.NotBefore) && (k.NotAfter.IsZero() || at.Before(k.NotAfter))
}

// HubKeys are the hub's own keys, the replaced ones too, so that what they
// attested can be verified for ever.
type HubKeys struct {
	keys    []HubKey // newest first
	private map[Key]ed25519.PrivateKey
}

// hubKeySetting is one entry of the setting.
type hubKeySetting struct {
	Seed      string // of a key that signs: 64 hexadecimal letters
	PublicKey string // of a key whose seed was thrown away
	NotBefore time.Time
	NotAfter  *time.Time
}

// ParseHubKeys reads the secret setting: a JSON list of {"seed", "notBefore",
// "notAfter"?}. A replaced key has notAfter; once its seed is thrown away the
// entry keeps "publicKey" in its place. The error never repeats the setting.
func ParseHubKeys(setting string) (*HubKeys, error) {
	var entries []hubKeySetting
	if json.Unmarshal([]byte(setting), &entries) != nil || len(entries) == 0 {
		return nil, errors.New(`hub keys: want a JSON list of {"seed","notBefore"}`)
	}
	ring := &HubKeys{private: map[Key]ed25519.PrivateKey{}}
	for i, e := range entries {
		if err := ring.add(e); err != nil {
			return nil, fmt.Errorf("hub key %d: %w", i+1, err)
		}
	}
	slices.SortStableFunc(ring.keys, func(a, b HubKey) int { return b.NotBefore.Compare(a.NotBefore) })
	if len(ring.private) == 0 {
		return nil, errors.New("hub keys: none of them has a seed")
	}
	return ring, nil
}

func (h *HubKeys) add(e hubKeySetting) error {
	if e.NotBefore.IsZero() {
		return errors.New("notBefore is missing")
	}
	key := Key(e.PublicKey)
	if e.Seed != "" {
		seed, err := hex.DecodeString(e.Seed)
		if err != nil || len(seed) != ed25519.SeedSize {
			return errors.New("the seed is not 64 hexadecimal letters")
		}
		private := ed25519.NewKeyFromSeed(seed)
		own := Key(hex.EncodeToString(private[ed25519.SeedSize:]))
		if key != "" && key != own {
			return errors.New("seed and publicKey do not belong together")
		}
		key = own
		h.private[key] = private
	}
	if _, err := ParseKey(string(key)); err != nil {
		return err
	}
	if _, twice := h.Find(key); twice {
		return errors.New("the key stands in the list twice")
	}
	sum := sha256.Sum256(key.bytes())
	k := HubKey{Kid: "hub_" + hex.EncodeToString(sum[:8]), Key: key, NotBefore: e.NotBefore.UTC()}
	if e.NotAfter != nil {
		if k.NotAfter = e.NotAfter.UTC(); !k.NotAfter.After(k.NotBefore) {
			return errors.New("notAfter is not after notBefore")
		}
	} else if e.Seed == "" {
		return errors.New("a key without seed was replaced: notAfter is missing")
	}
	h.keys = append(h.keys, k)
	return nil
}

// All lists the public halves, newest first.
func (h *HubKeys) All() []HubKey { return slices.Clone(h.keys) }

// Find gives the hub's key of that value.
func (h *HubKeys) Find(key Key) (HubKey, bool) {
	for _, k := range h.keys {
		if k.Key == key {
			return k, true
		}
	}
	return HubKey{}, false
}

var errNoHubKey = errors.New("no hub key is valid now")

// sign signs with the newest key that is valid at that time.
func (h *HubKeys) sign(at time.Time) (Key, func([]byte) []byte, error) {
	for _, k := range h.keys {
		if private := h.private[k.Key]; private != nil && k.covers(at) {
			return k.Key, func(data []byte) []byte { return ed25519.Sign(private, data) }, nil
		}
	}
	return "", nil, errNoHubKey
}
