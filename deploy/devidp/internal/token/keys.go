package token

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/go-jose/go-jose/v4"
)

// maxKeys bounds the keys that stay published after rotations.
const maxKeys = 8

// Keys are the issuer's keys, kept in one file that only its owner may read.
// The last one signs; the others stay published so that tokens live on. It is
// safe for concurrent use.
type Keys struct {
	path string

	mu   sync.RWMutex
	keys []jose.JSONWebKey // private
	sign jose.Signer
}

// OpenKeys reads the key file or makes one with a fresh key.
func OpenKeys(path string) (*Keys, error) {
	k := &Keys{path: path}
	raw, err := os.ReadFile(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		_, err := k.Rotate(false)
		return k, err
	case err != nil:
		return nil, fmt.Errorf("read key file: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, fmt.Errorf("protect key file: %w", err)
	}
	var set jose.JSONWebKeySet
	if err := json.Unmarshal(raw, &set); err != nil {
		return nil, fmt.Errorf("key file %s cannot be read; remove it to start anew: %w", path, err)
	}
	if len(set.Keys) == 0 {
		return nil, fmt.Errorf("key file %s holds no keys; remove it to start anew", path)
	}
	return k, k.use(set.Keys)
}

// Rotate makes a new signing key and gives its id. With drop the older keys are
// no longer published and their tokens die.
func (k *Keys) Rotate(drop bool) (kid string, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", fmt.Errorf("make key: %w", err)
	}
	var id [9]byte
	if _, err := rand.Read(id[:]); err != nil {
		return "", fmt.Errorf("make key id: %w", err)
	}
	kid = base64.RawURLEncoding.EncodeToString(id[:])
	fresh := jose.JSONWebKey{Key: key, KeyID: kid, Algorithm: string(jose.ES256), Use: "sig"}
	k.mu.Lock()
	defer k.mu.Unlock()
	var keys []jose.JSONWebKey
	if !drop {
		keys = append(keys, k.keys[max(len(k.keys)-maxKeys+1, 0):]...)
	}
	keys = append(keys, fresh)
	if err := k.save(keys); err != nil {
		return "", err
	}
	return kid, k.use(keys)
}

// save replaces the file in one step.
func (k *Keys) save(keys []jose.JSONWebKey) error {
	raw, err := json.Marshal(jose.JSONWebKeySet{Keys: keys})
	if err != nil {
		return fmt.Errorf("write key file: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(k.path), ".keys-*") // made with mode 0600
	if err != nil {
		return fmt.Errorf("write key file: %w", err)
	}
	_, err = f.Write(raw)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), k.path)
	}
	if err != nil {
		return fmt.Errorf("write key file: %w", errors.Join(err, os.Remove(f.Name())))
	}
	return nil
}

func (k *Keys) use(keys []jose.JSONWebKey) error {
	last := keys[len(keys)-1]
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: last}, (&jose.SignerOptions{}).WithType("JWT"))
	if err != nil {
		return fmt.Errorf("use key: %w", err)
	}
	k.keys, k.sign = keys, signer
	return nil
}

// Published gives the public keys.
func (k *Keys) Published() jose.JSONWebKeySet {
	k.mu.RLock()
	defer k.mu.RUnlock()
	out := jose.JSONWebKeySet{}
	for _, key := range k.keys {
		out.Keys = append(out.Keys, key.Public())
	}
	return out
}

func (k *Keys) compact(claims any) (string, error) {
	payload, err := json.Marshal(claims)
	if err != nil {
		return "", err
	}
	k.mu.RLock()
	signer := k.sign
	k.mu.RUnlock()
	jws, err := signer.Sign(payload)
	if err != nil {
		return "", fmt.Errorf("sign: %w", err)
	}
	return jws.CompactSerialize()
}
