package oidc_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/oidc"
	"github.com/signalcast/signalcast/pkg/testkit"
)

type bundle struct {
	*issuer
	other    *issuer
	clock    *testkit.Clock
	verifier *oidc.Verifier
}

func setup(t *testing.T) *bundle {
	t.Helper()
	b := &bundle{issuer: newIssuer(t), other: newIssuer(t), clock: testkit.NewClock(noon)}
	b.verifier = oidc.NewVerifier(oidc.Config{Providers: []oidc.Provider{b.provider("main"), b.other.provider("second")}}, b.clock.Now)
	return b
}

func wantFault(t *testing.T, name string, err error, want *apperr.Fault) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: %v, want %s", name, err, want.Code)
	}
}

func TestGoodTokens(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.add(t, "key-2") // added later by a key rotation
	noKid := sign(t, jose.ES256, b.signer["key-1"], nil, validClaims())
	for name, token := range map[string]string{
		"plain":               b.sign(t, "key-1", validClaims()),
		"second key":          b.sign(t, "key-2", validClaims()),
		"no kid":              noKid,
		"audience list":       b.sign(t, "key-1", validClaims(set{"aud": []string{"else", "app"}})),
		"expired 59 s ago":    b.sign(t, "key-1", validClaims(set{"exp": noon.Unix() - 59})),
		"issued in 60 s":      b.sign(t, "key-1", validClaims(set{"iat": noon.Unix() + 60})),
		"valid from in 60 s":  b.sign(t, "key-1", validClaims(set{"nbf": noon.Unix() + 60})),
		"times with decimals": b.sign(t, "key-1", validClaims(set{"exp": float64(noon.Unix()) + 10.5})),
	} {
		s, err := b.verifier.Verify(t.Context(), token)
		if err != nil || s.Subject != "did:x:alice" || s.Issuer != "issuer-main" || s.Provider != "main" || !s.Primary ||
			s.SessionID != "s-1" || s.Name != "Alice A" || s.Username != "alice" || s.ExpiresAt.IsZero() {
			t.Errorf("%s: %+v %v", name, s, err)
		}
	}
	if n := b.fetched(); n != 1 {
		t.Errorf("%d key requests for keys that were all published at the first request, want 1", n)
	}
}

// forgeries returns invalid tokens by name. They are variations of the valid token honest.
func forgeries(t *testing.T, b *bundle, honest string) map[string]string {
	t.Helper()
	foreignKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	key := b.signer["key-1"]
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	public := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	parts := strings.Split(honest, ".")
	kid := set{"kid": "key-1"}
	ownToken := func(changes set) string { return b.sign(t, "key-1", validClaims(changes)) }
	return map[string]string{
		"empty":                        "",
		"two parts":                    parts[0] + "." + parts[1],
		"four parts":                   honest + ".x",
		"no JWT":                       "a.b.c",
		"payload no object":            parts[0] + "." + b64(`[]`) + "." + parts[2],
		"alg none":                     b64(set{"alg": "none"}) + "." + parts[1] + ".",
		"alg None":                     b64(set{"alg": "None", "kid": "key-1"}) + "." + parts[1] + "." + parts[2],
		"HS256 with the public key":    sign(t, jose.HS256, public, kid, validClaims()),
		"RS256, not configured":        sign(t, jose.RS256, rsaKey, kid, validClaims()),
		"foreign key":                  sign(t, jose.ES256, foreignKey, kid, validClaims()),
		"foreign key, unknown kid":     sign(t, jose.ES256, foreignKey, set{"kid": "key-9"}, validClaims()),
		"foreign key, no kid":          sign(t, jose.ES256, foreignKey, nil, validClaims()),
		"key in the header":            sign(t, jose.ES256, foreignKey, set{"kid": "key-1", "jwk": jose.JSONWebKey{Key: foreignKey.Public()}}, validClaims()),
		"keys address in the header":   sign(t, jose.ES256, foreignKey, set{"kid": "key-1", "jku": "http://127.0.0.1:1/"}, validClaims()),
		"HS256 with a secret of zeros": sign(t, jose.HS256, make([]byte, 32), kid, validClaims()),
		"unknown critical extension":   sign(t, jose.ES256, key, set{"kid": "key-1", "crit": []string{"x"}, "x": 1}, validClaims()),
		"certificate in the header":    sign(t, jose.ES256, foreignKey, set{"kid": "key-1", "x5c": []string{"AAAA"}}, validClaims()),
		"signature cut short":          honest[:len(honest)-2],
		"tampered payload":             parts[0] + "." + b64(validClaims(set{"sub": "did:x:bob"})) + "." + parts[2],
		"signature removed":            parts[0] + "." + parts[1] + ".",
		"other audience":               ownToken(set{"aud": "another"}),
		"no audience":                  ownToken(set{"aud": nil}),
		"unknown issuer":               ownToken(set{"iss": "issuer-x"}),
		"no issuer":                    ownToken(set{"iss": nil}),
		"key of the other provider":    ownToken(set{"iss": "issuer-second"}),
		"expired":                      ownToken(set{"exp": noon.Unix() - 61}),
		"no expiry":                    ownToken(set{"exp": nil}),
		"expiry overflows":             ownToken(set{"exp": 1e300}),
		"expiry is text":               ownToken(set{"exp": "tomorrow"}),
		"negative expiry":              ownToken(set{"exp": -1}),
		"not before in ten minutes":    ownToken(set{"nbf": noon.Unix() + 600}),
		"not before is text":           ownToken(set{"nbf": "now"}),
		"no subject":                   ownToken(set{"sub": nil}),
		"empty subject":                ownToken(set{"sub": ""}),
		"subject in another case":      ownToken(set{"sub": nil, "Sub": "did:x:alice"}),
		"subject is a number":          ownToken(set{"sub": 7}),
		"subject with a line break":    ownToken(set{"sub": "a\nb"}),
		"subject too long":             ownToken(set{"sub": strings.Repeat("a", 256)}),
		"issued in an hour":            ownToken(set{"iat": noon.Unix() + 3600}),
		"issued in 61 s":               ownToken(set{"iat": noon.Unix() + 61}),
		"no issue time":                ownToken(set{"iat": nil}),
		"no session":                   ownToken(set{"sid": nil}),
		"identity token":               ownToken(set{"linked_accounts": "[]"}),
		"identity token, no session":   ownToken(set{"linked_accounts": "[]", "sid": nil, "cr": "1790000000"}),
		"identity token, null member":  ownToken(set{"linked_accounts": jsonNull{}}),
		"too long":                     ownToken(set{"pad": strings.Repeat("x", 17<<10)}),
	}
}

func TestForgedTokens(t *testing.T) {
	t.Parallel()
	b := setup(t)
	honest := b.sign(t, "key-1", validClaims())
	for name, token := range forgeries(t, b, honest) {
		_, err := b.verifier.Verify(t.Context(), token)
		wantFault(t, name, err, oidc.ErrUnauthenticated)
		want := apperr.Of(oidc.ErrUnauthenticated)
		if f := apperr.Of(err); f.Message != want.Message || len(f.Extra) != 1 || apperr.ReasonOf(f) != apperr.ReasonUnknown {
			if !strings.HasPrefix(name, "expired") || apperr.ReasonOf(f) != apperr.ReasonExpired {
				t.Errorf("%s: the error reveals the reason: %q, %v", name, f.Message, f.Extra)
			}
		}
	}
	if _, err := b.verifier.Verify(t.Context(), honest); err != nil {
		t.Errorf("the valid token was rejected: %v", err)
	}
}

type jsonNull struct{}

func (jsonNull) MarshalJSON() ([]byte, error) { return []byte("null"), nil }

func TestAnUnknownIssuerIsNeverContacted(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var hits atomic.Int32
	canary := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits.Add(1) }))
	defer canary.Close()
	for name, token := range map[string]string{
		"issuer":      b.sign(t, "key-1", validClaims(set{"iss": canary.URL})),
		"jku":         sign(t, jose.ES256, b.signer["key-1"], set{"jku": canary.URL}, validClaims(set{"iss": canary.URL})),
		"certificate": sign(t, jose.ES256, b.signer["key-1"], set{"x5u": canary.URL}, validClaims(set{"iss": canary.URL})),
	} {
		_, err := b.verifier.Verify(t.Context(), token)
		wantFault(t, name, err, oidc.ErrUnauthenticated)
	}
	if hits.Load() != 0 || b.fetched() != 0 {
		t.Errorf("%d requests to the unknown issuer and %d to the provider, want 0", hits.Load(), b.fetched())
	}
}

func TestProvidersAreApart(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s, err := b.verifier.Verify(t.Context(), b.other.sign(t, "key-1", validClaims(set{"iss": "issuer-second"})))
	if err != nil || s.Primary || s.Provider != "second" || s.Issuer != "issuer-second" {
		t.Errorf("subject %+v, error %v; want that of the second provider", s, err)
	}
}

func TestFiftyForgedTokensCauseOneFetch(t *testing.T) {
	t.Parallel()
	b := setup(t)
	if _, err := b.verifier.Verify(t.Context(), b.sign(t, "key-1", validClaims())); err != nil {
		t.Fatal(err)
	}
	foreignKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	before := b.fetched()
	var group sync.WaitGroup
	for i := range 50 {
		token := sign(t, jose.ES256, foreignKey, set{"kid": "forged-" + string(rune('a'+i%26)) + string(rune('a'+i/26))}, validClaims())
		group.Go(func() {
			_, err := b.verifier.Verify(context.Background(), token)
			wantFault(t, "forged", err, oidc.ErrUnauthenticated)
		})
	}
	group.Wait()
	if n := b.fetched() - before; n > 1 {
		t.Errorf("50 forged tokens caused %d key requests, want 1", n)
	}
	b.clock.Advance(61 * time.Second)
	_, _ = b.verifier.Verify(t.Context(), sign(t, jose.ES256, foreignKey, set{"kid": "later"}, validClaims()))
	if n := b.fetched() - before; n > 2 {
		t.Errorf("%d key requests after one more minute, want at most 2", n)
	}
}

func TestNewKeyIsFoundAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	if _, err := b.verifier.Verify(t.Context(), b.sign(t, "key-1", validClaims())); err != nil {
		t.Fatal(err)
	}
	b.add(t, "key-2")
	if _, err := b.verifier.Verify(t.Context(), b.sign(t, "key-2", validClaims())); err != nil {
		t.Errorf("first rotation: %v", err)
	}
	b.add(t, "key-3")
	_, err := b.verifier.Verify(t.Context(), b.sign(t, "key-3", validClaims()))
	wantFault(t, "second rotation within the minute", err, oidc.ErrUnauthenticated)
	b.clock.Advance(time.Minute)
	if _, err := b.verifier.Verify(t.Context(), b.sign(t, "key-3", validClaims())); err != nil {
		t.Errorf("second rotation after a minute: %v", err)
	}
}

func TestAWithdrawnKeyDiesWithinMaxAge(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.add(t, "key-2")
	token := b.sign(t, "key-1", validClaims(set{"exp": noon.Unix() + 7200}))
	if _, err := b.verifier.Verify(t.Context(), token); err != nil {
		t.Fatal(err)
	}
	b.remove("key-1")
	b.clock.Advance(time.Hour)
	_, err := b.verifier.Verify(t.Context(), token)
	wantFault(t, "withdrawn", err, oidc.ErrUnauthenticated)
}

func TestCachedKeysDuringProviderOutage(t *testing.T) {
	t.Parallel()
	b := setup(t)
	token := b.sign(t, "key-1", validClaims(set{"exp": noon.Unix() + 7*86400}))
	if _, err := b.verifier.Verify(t.Context(), token); err != nil {
		t.Fatal(err)
	}
	b.set(http.StatusInternalServerError, []byte("down"))
	before := b.fetched()
	b.clock.Advance(2 * time.Hour)
	for range 20 {
		if _, err := b.verifier.Verify(t.Context(), token); err != nil {
			t.Errorf("after two hours: %v", err)
		}
	}
	if n := b.fetched() - before; n != 1 {
		t.Errorf("%d key requests during the outage, want 1", n)
	}
	b.clock.Advance(21*time.Hour + 59*time.Minute)
	if _, err := b.verifier.Verify(t.Context(), token); err != nil {
		t.Errorf("just below a day: %v", err)
	}
	b.clock.Advance(time.Minute)
	_, err := b.verifier.Verify(t.Context(), token)
	wantFault(t, "after a day", err, oidc.ErrUnavailable)
	b.set(0, nil)
	b.clock.Advance(31 * time.Second)
	if _, err := b.verifier.Verify(t.Context(), token); err != nil {
		t.Errorf("after the outage: %v", err)
	}
}

func TestNoKeysAtAll(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"500": "", "no JSON": "<html>", "empty": `{"keys":[]}`, "a secret": `{"keys":[{"kty":"oct","k":"AAAA","kid":"key-1"}]}`,
		"for encryption": `{"keys":[{"kty":"EC","crv":"P-256","use":"enc","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}]}`,
		"too large":      `{"keys":[` + strings.Repeat(" ", 65<<10) + `]}`,
	} {
		b := setup(t)
		status := 0
		if name == "500" {
			status = 500
		}
		b.set(status, []byte(body))
		token := b.sign(t, "key-1", validClaims())
		for range 10 {
			_, err := b.verifier.Verify(t.Context(), token)
			wantFault(t, name, err, oidc.ErrUnavailable)
		}
		if n := b.fetched(); n != 1 {
			t.Errorf("%s: %d key requests without a change of time, want 1", name, n)
		}
		b.set(0, nil)
		b.clock.Advance(2 * time.Second)
		if _, err := b.verifier.Verify(t.Context(), token); err != nil {
			t.Errorf("%s, then valid keys: %v", name, err)
		}
	}
}

func TestUnknownKeysAreIgnored(t *testing.T) {
	t.Parallel()
	b := setup(t)
	raw, err := b.keys[0].MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	b.set(0, []byte(`{"keys":[{"kty":"FUTURE","kid":"key-1"},7,`+string(raw)+`]}`))
	if _, err := b.verifier.Verify(t.Context(), b.sign(t, "key-1", validClaims())); err != nil {
		t.Error(err)
	}
}

func TestRequestsToAHungProviderTimeOut(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.hang = make(chan struct{})
	defer close(b.hang)
	token := b.sign(t, "key-1", validClaims())
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err := b.verifier.Verify(ctx, token)
	wantFault(t, "caller with a short timeout", err, oidc.ErrUnavailable)
	if took := time.Since(start); took > time.Second {
		t.Errorf("a timeout of 50 ms took %v", took)
	}
	_, err = b.verifier.Verify(t.Context(), token)
	wantFault(t, "caller without a timeout", err, oidc.ErrUnavailable)
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("the request timeout of 3 s took %v", took)
	}
}

// TestRedirectedKeysAreNotRead checks that redirects of the key URL are not followed.
func TestRedirectedKeysAreNotRead(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	redirects := httptest.NewServer(http.RedirectHandler(i.url+"/jwks.json", http.StatusFound))
	defer redirects.Close()
	provider := i.provider("main")
	provider.JWKSURL = redirects.URL
	v := oidc.NewVerifier(oidc.Config{Providers: []oidc.Provider{provider}}, testkit.NewClock(noon).Now)
	_, err := v.Verify(t.Context(), i.sign(t, "key-1", validClaims()))
	wantFault(t, "redirected keys", err, oidc.ErrUnavailable)
	if n := i.fetched(); n != 0 {
		t.Errorf("the redirect was followed %d times; want 0", n)
	}
}

func TestDiscovery(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	row := oidc.Provider{Name: "oidc", Issuer: i.url, Audience: "app", Algs: []string{"ES256"}}
	v := oidc.NewVerifier(oidc.Config{Providers: []oidc.Provider{row}}, testkit.NewClock(noon).Now)
	if _, err := v.Verify(t.Context(), i.sign(t, "key-1", validClaims(set{"iss": i.url}))); err != nil {
		t.Error(err)
	}
	row.Issuer = i.url + "/other" // its discovery document contains another issuer
	v = oidc.NewVerifier(oidc.Config{Providers: []oidc.Provider{row}}, testkit.NewClock(noon).Now)
	_, err := v.Verify(t.Context(), i.sign(t, "key-1", validClaims(set{"iss": row.Issuer})))
	wantFault(t, "document of another issuer", err, oidc.ErrUnavailable)
}

func TestConcurrentVerificationsShareOneKeyRequest(t *testing.T) {
	t.Parallel()
	b := setup(t)
	token := b.sign(t, "key-1", validClaims())
	var group sync.WaitGroup
	for range 50 {
		group.Go(func() {
			if _, err := b.verifier.Verify(context.Background(), token); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if n := b.fetched(); n != 1 {
		t.Errorf("%d key requests, want 1", n)
	}
}

func TestConfig(t *testing.T) {
	t.Parallel()
	const fine = `{"name":"a","issuer":"privy.io","audience":"app","jwksURL":"https://x/jwks"}`
	c, err := oidc.ParseConfig(`[` + fine + `,{"name":"b","issuer":"https://idp.example","audience":"app","algs":["RS256"],"walletsFrom":"claim:wallets.list"}]`)
	if err != nil || len(c.Providers) != 2 || c.Providers[0].Algs[0] != "ES256" || c.Providers[0].WalletsFrom != oidc.WalletsNone {
		t.Fatalf("configuration %+v, error %v", c, err)
	}
	for _, bad := range []string{
		``, `{}`, `[]`, `[` + fine + `] []`, `[` + fine + `,` + fine + `]`,
		`[{"name":"a","issuer":"privy.io","audience":"app"}]`,
		`[{"name":"","issuer":"https://i","audience":"app"}]`,
		`[{"name":"a","issuer":"https://i","audience":""}]`,
		`[{"name":"a","issuer":"https://i","audience":"app","algs":["HS256"]}]`,
		`[{"name":"a","issuer":"https://i","audience":"app","algs":["none"]}]`,
		`[{"name":"a","issuer":"https://i","audience":"app","jwksURL":"file:///keys"}]`,
		`[{"name":"a","issuer":"https://i","audience":"app","walletsFrom":"usersAPI"}]`,
		`[{"name":"a","issuer":"https://i","audience":"app","walletsFrom":"claim:"}]`,
		`[{"name":"a","issuer":"https://i","audience":"app","jwksUrl2":"https://x"}]`,
	} {
		if _, err := oidc.ParseConfig(bad); err == nil {
			t.Errorf("%s was accepted", bad)
		}
	}
	_, err = oidc.ParseConfig(`[{"name":"","issuer":"x","audience":"app","algs":["none"]}]`)
	for _, part := range []string{"name, issuer", "algs", "jwksURL"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("error %v does not contain %s", err, part)
		}
	}
}
