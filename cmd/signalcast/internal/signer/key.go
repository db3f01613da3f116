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

// Key is the content of the file of a signing key, including the secret seed.
type Key struct {
	Kind      string  `json:"kind"`
	PublicKey string  `json:"publicKey"`
	Seed      string  `json:"seed"` // the secret
	DenpaID   string  `json:"denpaId"`
	AppID     *string `json:"appId"` // id of the app; null if the key belongs to the passport itself
	Issuer    string  `json:"issuer"`
}

// New generates a key pair, adds it to k, and stores k in a new file at path. It returns k with the key pair. The caller must set
// the passport, the app and the issuer of k. New returns an error if the file exists.
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
	file, err := settings.CreateFile(path)
	if err != nil {
		return k, err
	}
	return k, file.Store(string(raw) + "\n")
}

// Open reads a key from its file. It returns an error if other users can read the file, if the public key and the seed do not
// match, or if the passport or the issuer is missing.
func Open(path string) (*Key, error) {
	raw, err := settings.Private(path)
	if err != nil {
		return nil, fmt.Errorf("--signer: %w", err)
	}
	k := &Key{}
	if json.Unmarshal(raw, k) != nil { // the error of json may contain the seed
		return nil, fmt.Errorf("%s contains no signing key; create one with `signalcast signer new`", path)
	}
	private, err := k.private()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if hex.EncodeToString(private.Public().(ed25519.PublicKey)) != k.PublicKey {
		return nil, fmt.Errorf("%s: publicKey does not belong to seed; create a key with `signalcast signer new`", path)
	}
	if k.DenpaID == "" || k.Issuer == "" {
		return nil, fmt.Errorf("%s: denpaId or issuer is missing; create a key with `signalcast signer new`", path)
	}
	return k, nil
}

func (k *Key) private() (ed25519.PrivateKey, error) {
	seed, err := hex.DecodeString(k.Seed)
	if err != nil || len(seed) != ed25519.SeedSize || k.Kind != "ed25519" {
		return nil, errors.New(
			"kind must be ed25519, and seed must be 64 hexadecimal digits; create a key with `signalcast signer new`")
	}
	return ed25519.NewKeyFromSeed(seed), nil
}
