package signer

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/signalcast/signalcast/cmd/signalcast/internal/settings"
)

// Key is a signer: what its file holds.
type Key struct {
	Kind      string  `json:"kind"`
	PublicKey string  `json:"publicKey"`
	Seed      string  `json:"seed"` // the secret
	DenpaID   string  `json:"denpaId"`
	AppID     *string `json:"appId"` // null: a signer of a passport's own
	Issuer    string  `json:"issuer"`
}

// New makes a key and keeps it in a new file.
func New(path string, k Key) (Key, error) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return k, err
	}
	k.Kind, k.PublicKey, k.Seed = "ed25519", hex.EncodeToString(public), hex.EncodeToString(private.Seed())
	raw, err := json.MarshalIndent(k, "", "  ")
	if err != nil {
		return k, err
	}
	file, err := settings.Claim(path)
	if err != nil {
		return k, err
	}
	return k, file.Keep(string(raw) + "\n")
}

// Open reads a key. A file that others may read is refused, and so is one whose public
// key is not that of its seed.
func Open(path string) (*Key, error) {
	raw, err := settings.Private(path)
	if err != nil {
		return nil, fmt.Errorf("--signer: %w", err)
	}
	k := &Key{}
	if json.Unmarshal(raw, k) != nil { // its error may show the content
		return nil, fmt.Errorf("%s holds no signer: make one with `signalcast signer new`", path)
	}
	private, err := k.private()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if hex.EncodeToString(private.Public().(ed25519.PublicKey)) != k.PublicKey {
		return nil, fmt.Errorf("%s: the public key is not that of the seed", path)
	}
	if k.DenpaID == "" || k.Issuer == "" {
		return nil, fmt.Errorf("%s names no passport or no issuer: make one with `signalcast signer new`", path)
	}
	return k, nil
}

func (k *Key) private() (ed25519.PrivateKey, error) {
	seed, err := hex.DecodeString(k.Seed)
	if err != nil || len(seed) != ed25519.SeedSize || k.Kind != "ed25519" {
		return nil, errors.New("there is no Ed25519 seed of 64 hexadecimal letters in it")
	}
	return ed25519.NewKeyFromSeed(seed), nil
}
