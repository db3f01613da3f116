package rows

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"strings"
	"time"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

// g4 tries to mint keys with everything that is no login: the other credentials, and
// forged tokens of an issuer whose keys the row holds, so that each is wrong in one
// thing alone.
var g4 = frame.Row{
	ID: "G4", Title: "a key cannot mint a key; only a good JWT can",
	Fault: frame.Fault{What: "a token is good for ever"},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		m, err := newMinting(ctx, env, seen)
		if err != nil {
			return nil, err
		}
		defer m.close()
		refused, tried := 0, 0
		others, err := m.others(ctx)
		if err != nil {
			return nil, err
		}
		forged, more, err := m.forged()
		if err != nil {
			return nil, err
		}
		for _, list := range [][]forgery{others, forged} {
			for _, f := range list {
				tried++
				if m.refuses(ctx, f) {
					refused++
				}
			}
		}
		for _, f := range more {
			m.refuses(ctx, f)
		}
		m.accepts(ctx)
		seen.Check(m.bird.hits.Load() == 0, "keys were fetched from where a token said")
		seen.OutOf(tried, refused)
		seen.Figure("beyondTheTable", len(more))
		seen.Volume("%d credentials and %d forged tokens at the doors of two services, %d more", len(others), len(forged), len(more))
		return seen, nil
	},
}

// minting are the doors where keys are made, in services that believe our issuer.
type minting struct {
	env    *frame.Env
	seen   *frame.Seen
	issuer *issuer
	bird   *canary
	doors  []string
	stop   []func()
}

// forgery is something that must mint nothing.
type forgery struct {
	name string
	as   client.Credential
}

func newMinting(ctx context.Context, env *frame.Env, seen *frame.Seen) (m *minting, err error) {
	m = &minting{env: env, seen: seen}
	defer func() {
		if err != nil {
			m.close()
		}
	}()
	if m.issuer, err = newIssuer(); err != nil {
		return m, err
	}
	m.stop = append(m.stop, m.issuer.close)
	if m.bird, err = newCanary(); err != nil {
		return m, err
	}
	m.stop = append(m.stop, m.bird.close)
	list, err := m.issuer.providers()
	if err != nil {
		return m, err
	}
	for service, path := range map[string]string{"hub": "/api/dev/keys", "api": "/api/v1/agent/keys"} {
		side, err := env.Stack.Side(ctx, service, map[string]string{"IDP_PROVIDERS": list})
		if err != nil {
			return m, err
		}
		m.stop = append(m.stop, side.Stop)
		m.doors = append(m.doors, side.URL+path)
	}
	return m, nil
}

func (m *minting) close() {
	for i := len(m.stop) - 1; i >= 0; i-- {
		m.stop[i]()
	}
}

// refuses wants a refusal at each door, and no key on record.
func (m *minting) refuses(ctx context.Context, f forgery) bool {
	before, err := m.env.Count(ctx, "SELECT count(*) FROM api.operator_keys")
	ok := err == nil
	for _, door := range m.doors {
		a := m.env.Client.Do(ctx, client.Request{URL: door, As: f.as, Body: map[string]any{"label": f.name}})
		if a.Status != http.StatusUnauthorized || a.Code() != "unauthenticated" {
			ok = false
			m.seen.Wrong("%s at %s: %.120s", f.name, door, a)
		}
	}
	after, err := m.env.Count(ctx, "SELECT count(*) FROM api.operator_keys")
	if err != nil || after != before {
		m.seen.Wrong("%s: %d keys before and %d after (%v)", f.name, before, after, err)
		return false
	}
	return ok
}

// accepts wants that a good token mints at each door: else refusing proves nothing.
func (m *minting) accepts(ctx context.Context) {
	good := signES256(m.issuer.key, m.issuer.head(nil), m.issuer.says("g4-good", nil))
	list := signES256(m.issuer.key, m.issuer.head(nil), m.issuer.says("g4-list", map[string]any{"aud": []string{"another", issuerAudience}}))
	for _, door := range m.doors {
		for _, as := range []client.Login{good, list} {
			a := m.env.Client.Do(ctx, client.Request{URL: door, As: as, Body: map[string]any{"label": "good"}})
			m.seen.Check(a.Status == http.StatusCreated, "a good token at %s: %.120s", door, a)
		}
	}
}

// others are the good credentials of every other kind.
func (m *minting) others(ctx context.Context) ([]forgery, error) {
	p, err := signUp(ctx, m.env, "g4-owner", 1)
	if err != nil {
		return nil, err
	}
	older, err := mintWith(ctx, m.env, m.env.Stack.API+"/api/v1/agent/keys", p.login, nil)
	if err != nil {
		return nil, err
	}
	app, err := newApp(ctx, m.env, p.login, "public", everyScope...)
	if err != nil {
		return nil, err
	}
	g, err := grantTo(ctx, m.env, app, p.session, strings.Join(everyScope, " "))
	if err != nil {
		return nil, err
	}
	return []forgery{
		{"a key", p.keys[0].Key},
		{"an older key", older.Key},
		{"an app's token", byBearer(g.Access)},
		{"a session", p.session},
		{"the admin secret", m.env.Admin()},
	}, nil
}

// forged lists tokens that are wrong in one thing, those of the table first.
func (m *minting) forged() (table, more []forgery, err error) {
	s := m.issuer
	thief, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	der, err := x509.MarshalPKIXPublicKey(&s.key.PublicKey)
	if err != nil {
		return nil, nil, err
	}
	x, y := point(s.key)
	now := time.Now()
	good, who := s.head(nil), s.says("g4-forged", nil)
	signed := func(head, claims map[string]any) client.Login {
		return signES256(s.key, s.head(head), s.says("g4-forged", claims))
	}
	stolen := func(head map[string]any) client.Login { return signES256(thief, s.head(head), who) }
	hs := s.head(map[string]any{"alg": "HS256"})
	whole := string(signES256(s.key, good, who))
	table = []forgery{
		{"alg none", client.Login(unsigned(s.head(map[string]any{"alg": "none"}), who) + ".")},
		{"alg none with a signature", client.Login(unsigned(s.head(map[string]any{"alg": "none"}), who) + whole[strings.LastIndex(whole, "."):])},
		{"HS256 with the public key", signHS256(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), hs, who)},
		{"another audience", signed(nil, map[string]any{"aud": "another"})},
		{"another issuer", signed(nil, map[string]any{"iss": m.bird.url("http")})},
		{"an unknown key", stolen(map[string]any{"kid": "thief"})},
		{"the right name on another key", stolen(nil)},
		{"run out", signed(nil, map[string]any{"iat": now.Add(-2 * time.Hour).Unix(), "exp": now.Add(-2 * time.Minute).Unix()})},
		{"of the future", signed(nil, map[string]any{"iat": now.Add(2 * time.Minute).Unix()})},
		{"cut short", client.Login(whole[:len(whole)-2])},
		{"a payload that is not coded", signed(map[string]any{"b64": false, "crit": []string{"b64"}}, nil)},
		{"its own key in its head", stolen(map[string]any{"kid": nil, "jwk": jwkOf(thief, issuerKey)})},
		{"the address of its own keys", stolen(map[string]any{"kid": "thief", "jku": m.bird.url("http")})},
		{"a key that was taken back", signES256(s.gone, s.head(map[string]any{"kid": "before"}), who)},
	}
	head, rest, _ := strings.Cut(whole, ".")
	_, mac, _ := strings.Cut(rest, ".")
	_, foreign, _ := strings.Cut(unsigned(good, s.says("g4-victim", nil)), ".")
	more = []forgery{
		{"HS256 with the bytes of the public key", signHS256(append(append([]byte{4}, x...), y...), hs, who)},
		{"HS256 with nothing", signHS256(nil, hs, who)},
		{"the claims of somebody else", client.Login(head + "." + foreign + "." + mac)},
		{"nobody's", signed(nil, map[string]any{"sub": nil})},
		{"without a session", signed(nil, map[string]any{"sid": nil})},
		{"without an end", signed(nil, map[string]any{"exp": nil})},
		{"an end beyond all numbers", signed(nil, map[string]any{"exp": 1e300})},
		{"not good yet", signed(nil, map[string]any{"nbf": now.Add(10 * time.Minute).Unix()})},
		{"an identity token", signed(nil, map[string]any{"linked_accounts": "[]"})},
		{"no issuer", signed(nil, map[string]any{"iss": nil})},
		{"a certificate of its own", stolen(map[string]any{"x5u": m.bird.url("http"), "x5c": []string{"AAAA"}})},
		{"an extension that nobody knows", signed(map[string]any{"crit": []string{"x"}, "x": 1}, nil)},
		{"four parts", client.Login(whole + ".x")},
	}
	return table, more, nil
}
