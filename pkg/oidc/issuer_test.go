package oidc_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/signalcast/signalcast/pkg/oidc"
)

var noon = time.Date(2026, 10, 10, 12, 0, 0, 0, time.UTC)

// issuer is an identity provider on 127.0.0.1 whose responses a test can change.
type issuer struct {
	url string

	mu      sync.Mutex
	keys    []jose.JSONWebKey // public
	signer  map[string]*ecdsa.PrivateKey
	fetches int
	status  int
	body    []byte        // response instead of the keys
	hang    chan struct{} // delays responses until it is closed
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	i := &issuer{signer: map[string]*ecdsa.PrivateKey{}}
	srv := httptest.NewServer(i)
	t.Cleanup(srv.Close)
	i.url = srv.URL
	i.add(t, "key-1")
	return i
}

func (i *issuer) add(t *testing.T, kid string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.signer[kid] = key
	i.keys = append(i.keys, jose.JSONWebKey{Key: key.Public(), KeyID: kid, Algorithm: "ES256", Use: "sig"})
}

func (i *issuer) remove(kid string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	var left []jose.JSONWebKey
	for _, k := range i.keys {
		if k.KeyID != kid {
			left = append(left, k)
		}
	}
	i.keys = left
}

func (i *issuer) set(status int, body []byte) {
	i.mu.Lock()
	i.status, i.body = status, body
	i.mu.Unlock()
}

func (i *issuer) fetched() int { i.mu.Lock(); defer i.mu.Unlock(); return i.fetches }

func (i *issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	hang := i.hang
	i.mu.Unlock()
	if hang != nil {
		select {
		case <-hang:
		case <-r.Context().Done():
			return
		}
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if strings.HasSuffix(r.URL.Path, "/openid-configuration") {
		_, _ = fmt.Fprintf(w, `{"issuer":%q,"jwks_uri":%q}`, i.url, i.url+"/jwks.json")
		return
	}
	i.fetches++
	if i.status != 0 {
		w.WriteHeader(i.status)
	}
	if i.body != nil {
		_, _ = w.Write(i.body)
		return
	}
	_ = json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: i.keys})
}

func (i *issuer) provider(name string) oidc.Provider {
	return oidc.Provider{Name: name, Issuer: "issuer-" + name, Audience: "app", JWKSURL: i.url + "/jwks.json", Algs: []string{"ES256"}}
}

type set map[string]any

// validClaims returns the claims of a valid token with changes. A change to nil removes a claim.
func validClaims(change ...set) set {
	c := set{
		"iss": "issuer-main", "aud": "app", "sub": "did:x:alice", "sid": "s-1", "name": "Alice A", "preferred_username": "alice",
		"iat": noon.Unix() - 10, "exp": noon.Unix() + 3600,
	}
	for _, ch := range change {
		maps.Copy(c, ch)
	}
	maps.DeleteFunc(c, func(_ string, v any) bool { return v == nil })
	return c
}

func (i *issuer) sign(t *testing.T, kid string, c set) string {
	t.Helper()
	i.mu.Lock()
	key := i.signer[kid]
	i.mu.Unlock()
	return sign(t, jose.ES256, key, set{"kid": kid, "typ": "JWT"}, c)
}

// sign returns a token with any header. key must fit the algorithm.
func sign(t *testing.T, alg jose.SignatureAlgorithm, key any, header, c set) string {
	t.Helper()
	opts := &jose.SignerOptions{}
	for name, value := range header {
		if value != nil {
			opts = opts.WithHeader(jose.HeaderKey(name), value)
		}
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: key}, opts)
	if err != nil {
		t.Fatal(err)
	}
	payload, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	jws, err := signer.Sign(payload)
	if err != nil {
		t.Fatal(err)
	}
	token, err := jws.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func b64(v any) string {
	raw, ok := v.(string)
	if !ok {
		text, _ := json.Marshal(v)
		raw = string(text)
	}
	return base64.RawURLEncoding.EncodeToString([]byte(raw))
}
