package server

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/natefinch/atomic"
)

// maxKeys is the maximum number of keys that the issuer publishes at the same time. Older keys are dropped.
const maxKeys = 8

// keyring contains the signing keys of the issuer, which are stored in one file with mode 0600. The last key signs new tokens.
// The other keys stay published, so that tokens that they signed stay valid. It is safe for concurrent use.
type keyring struct {
	path string

	mu   sync.RWMutex
	keys []jose.JSONWebKey // private
	sign jose.Signer
}

// openKeys reads the keys from the file at path. If the file does not exist, openKeys creates it with a new key.
func openKeys(path string) (*keyring, error) {
	k := &keyring{path: path}
	raw, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		_, err := k.rotate(false)
		return k, err
	}
	var set jose.JSONWebKeySet
	if err == nil {
		err = errors.Join(os.Chmod(path, 0o600), json.Unmarshal(raw, &set))
	}
	if err == nil && len(set.Keys) == 0 {
		err = errors.New("the file contains no keys")
	}
	if err != nil {
		return nil, fmt.Errorf("key file %s cannot be read; remove it to start with a new key: %w", path, err)
	}
	return k, k.use(set.Keys)
}

// rotate adds a new signing key and returns its id. If drop is true, the older keys are no longer published, and tokens that
// they signed are no longer valid.
func (k *keyring) rotate(drop bool) (kid string, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", fmt.Errorf("generate key: %w", err)
	}
	fresh := jose.JSONWebKey{Key: key, KeyID: rand.Text(), Algorithm: string(jose.ES256), Use: "sig"}
	k.mu.Lock()
	defer k.mu.Unlock()
	var keys []jose.JSONWebKey
	if !drop {
		keys = append(keys, k.keys[max(len(k.keys)-maxKeys+1, 0):]...)
	}
	keys = append(keys, fresh)
	raw, err := json.Marshal(jose.JSONWebKeySet{Keys: keys})
	if err == nil {
		err = atomic.WriteFile(k.path, bytes.NewReader(raw)) // a new file has mode 0600
	}
	if err != nil {
		return "", fmt.Errorf("write key file: %w", err)
	}
	return fresh.KeyID, k.use(keys)
}

// use replaces the keys of the keyring. The last key in keys signs new tokens. The caller must hold the lock, unless no other
// goroutine uses the keyring yet.
func (k *keyring) use(keys []jose.JSONWebKey) error {
	last := keys[len(keys)-1]
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: last}, (&jose.SignerOptions{}).WithType("JWT"))
	if err != nil {
		return fmt.Errorf("use key: %w", err)
	}
	k.keys, k.sign = keys, signer
	return nil
}

// published returns the public parts of all keys, for the JWKS route.
func (k *keyring) published() jose.JSONWebKeySet {
	k.mu.RLock()
	defer k.mu.RUnlock()
	out := jose.JSONWebKeySet{}
	for _, key := range k.keys {
		out.Keys = append(out.Keys, key.Public())
	}
	return out
}

// token returns a JWT with these claims, signed with the last key.
func (k *keyring) token(claims map[string]any) (string, error) {
	k.mu.RLock()
	signer := k.sign
	k.mu.RUnlock()
	return jwt.Signed(signer).Claims(claims).Serialize()
}
