package rows

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net"
	"net/http"
	"time"

	"github.com/signalcast/signalcast/test/prove/client"
)

// issuer is an identity provider of our own, whose keys we hold: it can sign what no
// provider would.
type issuer struct {
	url       string
	key, gone *ecdsa.PrivateKey // the published one, and one that was taken back
	server    *http.Server
	served    chan struct{}
}

const (
	issuerAudience = "rows"
	issuerKey      = "now"
)

func newIssuer() (*issuer, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &issuer{url: "http://" + ln.Addr().String(), served: make(chan struct{})}
	if s.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err == nil {
		s.gone, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	}
	if err != nil {
		_ = ln.Close()
		return nil, err
	}
	s.server = &http.Server{ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]any{"keys": []any{jwkOf(s.key, issuerKey)}})
	})}
	go func() {
		defer close(s.served)
		_ = s.server.Serve(ln) // it ends when it is closed
	}()
	return s, nil
}

func (s *issuer) close() {
	_ = s.server.Close()
	<-s.served
}

// providers is this one alone, for IDP_PROVIDERS.
func (s *issuer) providers() (string, error) {
	raw, err := json.Marshal([]map[string]any{{
		"name": "rows", "issuer": s.url, "audience": issuerAudience, "jwksURL": s.url + "/jwks.json", "algs": []string{"ES256"},
	}})
	return string(raw), err
}

// point is the public key as its two coordinates.
func point(key *ecdsa.PrivateKey) (x, y []byte) {
	raw, err := key.PublicKey.Bytes() // 4, x, y
	if err != nil {
		return nil, nil
	}
	return raw[1:33], raw[33:]
}

func jwkOf(key *ecdsa.PrivateKey, kid string) map[string]any {
	x, y := point(key)
	return map[string]any{
		"kty": "EC", "crv": "P-256", "alg": "ES256", "use": "sig", "kid": kid,
		"x": base64.RawURLEncoding.EncodeToString(x), "y": base64.RawURLEncoding.EncodeToString(y),
	}
}

// head is the header of a good token with changes; a nil value takes a member out.
func (s *issuer) head(change map[string]any) map[string]any {
	return changed(map[string]any{"alg": "ES256", "typ": "JWT", "kid": issuerKey}, change)
}

// says are the claims of a good token with changes.
func (s *issuer) says(subject string, change map[string]any) map[string]any {
	now := time.Now()
	return changed(map[string]any{
		"iss": s.url, "aud": issuerAudience, "sub": subject, "sid": "session-1", "preferred_username": subject,
		"iat": now.Unix(), "exp": now.Add(time.Hour).Unix(),
	}, change)
}

func changed(all, change map[string]any) map[string]any {
	maps.Copy(all, change)
	for name, value := range change {
		if value == nil {
			delete(all, name)
		}
	}
	return all
}

// unsigned is the part of a token that is signed.
func unsigned(head, claims map[string]any) string {
	h, _ := json.Marshal(head) // plain values
	c, _ := json.Marshal(claims)
	return base64.RawURLEncoding.EncodeToString(h) + "." + base64.RawURLEncoding.EncodeToString(c)
}

// signES256 signs with a key.
func signES256(key *ecdsa.PrivateKey, head, claims map[string]any) client.Login {
	text := unsigned(head, claims)
	sum := sha256.Sum256([]byte(text))
	r, s, err := ecdsa.Sign(rand.Reader, key, sum[:])
	if err != nil {
		return ""
	}
	mac := make([]byte, 64)
	r.FillBytes(mac[:32])
	s.FillBytes(mac[32:])
	return client.Login(text + "." + base64.RawURLEncoding.EncodeToString(mac))
}

// signHS256 signs with a shared secret.
func signHS256(secret []byte, head, claims map[string]any) client.Login {
	text := unsigned(head, claims)
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(text))
	return client.Login(text + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil)))
}
