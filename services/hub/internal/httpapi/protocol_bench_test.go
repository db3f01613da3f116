package httpapi_test

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/ratelimit"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
	"github.com/signalcast/signalcast/services/hub/internal/effect"
	"github.com/signalcast/signalcast/services/hub/internal/grant"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi"
	"github.com/signalcast/signalcast/services/hub/internal/message"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
	"github.com/signalcast/signalcast/services/hub/internal/postgres"
	"github.com/signalcast/signalcast/services/hub/internal/signal"
)

const (
	issuer    = hubURL + "/api/protocol/v1"
	callback  = "https://app.example.com/cb"
	codeProof = "the-verifier-of-the-tests-is-long-enough-43"
)

func newGrants(t testing.TB, store *postgres.Grants, now func() time.Time) *grant.Service {
	t.Helper()
	s, err := grant.New(grant.Deps{
		Store: store, Failures: caller.NewFailures(counters(t, now), "client"), Now: now,
		Settings: grant.Settings{
			Issuer: issuer, Resources: []string{issuer + "/mcp"},
			SuccessorKeys: [][]byte{[]byte("a-server-key-of-thirty-two-bytes")},
		},
	})
	must(t, err)
	return s
}

// authenticate adapts grants to caller.Tokens.
func authenticate(grants *grant.Service) caller.Tokens {
	return func(ctx context.Context, bearer, resource string) (caller.Delegate, error) {
		p, err := grants.Authenticate(ctx, bearer, resource)
		return caller.Delegate{UserID: operator.ID(p.UserID), AppID: p.AppID, GrantID: p.GrantID, Scopes: p.Scopes.Words()}, err
	}
}

// app has the id and the client secret of a registered app.
type app struct{ ID, Secret string }

// register registers an app of mara_k. members are names and JSON values that replace the defaults.
func (b *fixture) register(kind string, members ...string) app {
	b.t.Helper()
	body := map[string]any{
		"name": "Weather desk", "type": kind, "redirectUris": []string{callback}, "homepage": "https://weather.example",
		"scopes": []string{"profile:read", "signal:create", "offline_access"},
	}
	for i := 0; i < len(members); i += 2 {
		var v any
		must(b.t, json.Unmarshal([]byte(members[i+1]), &v))
		body[members[i]] = v
	}
	raw, err := json.Marshal(body)
	must(b.t, err)
	w := b.send("POST", "/api/dev/apps", string(raw), byLogin("mara_k"))
	want(b.t, w, 201, "")
	return app{ID: field(w, "clientId"), Secret: field(w, "clientSecret")}
}

func challengeOf(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// authorizeURL returns the path of a valid authorization request. pairs are names and values of parameters to change; an empty
// value removes the parameter.
func (a app) authorizeURL(pairs ...string) string {
	v := url.Values{
		"response_type": {"code"}, "client_id": {a.ID}, "redirect_uri": {callback}, "state": {"s 1/é"},
		"code_challenge": {challengeOf(codeProof)}, "code_challenge_method": {"S256"},
		"scope": {"profile:read signal:create offline_access"},
	}
	for i := 0; i < len(pairs); i += 2 {
		v.Set(pairs[i], pairs[i+1])
		if pairs[i+1] == "" {
			v.Del(pairs[i])
		}
	}
	return "/protocol/authorize?" + v.Encode()
}

var hidden = regexp.MustCompile(`name="request" value="([^"]+)"`)

// consent opens the consent page at target and returns the hidden request value of its form.
func (b *fixture) consent(target string) string {
	b.t.Helper()
	w := b.send("GET", target, "", b.bySession())
	m := hidden.FindStringSubmatch(w.Body.String())
	if w.Code != 200 || m == nil {
		b.t.Fatalf("no consent page: %d %v %s", w.Code, w.Header(), w.Body)
	}
	return html.UnescapeString(m[1])
}

// post sends a form.
func (b *fixture) post(target string, form url.Values, headers ...header) *answer {
	return b.send("POST", target, form.Encode(), append([]header{contentType("application/x-www-form-urlencoded")}, headers...)...)
}

// approve approves an authorization request as mara_k and returns the URL to which the browser is redirected.
func (b *fixture) approve(target string) *url.URL {
	b.t.Helper()
	w := b.post("/protocol/authorize", url.Values{"request": {b.consent(target)}, "decision": {"approve"}}, b.bySession())
	if w.Code != http.StatusSeeOther {
		b.t.Fatalf("approve: %d %s", w.Code, w.Body)
	}
	to, err := url.Parse(w.Header().Get("Location"))
	must(b.t, err)
	return to
}

// redeem exchanges an authorization code for tokens. pairs are names and values of form members to change.
func (b *fixture) redeem(a app, code string, pairs ...string) *answer {
	form := url.Values{
		"grant_type": {"authorization_code"}, "code": {code}, "code_verifier": {codeProof}, "client_id": {a.ID}, "redirect_uri": {callback},
	}
	if a.Secret != "" {
		form.Set("client_secret", a.Secret)
	}
	for i := 0; i < len(pairs); i += 2 {
		form.Set(pairs[i], pairs[i+1])
	}
	return b.post("/api/protocol/v1/oauth/token", form)
}

// connect approves an authorization request of an app and returns its tokens.
func (b *fixture) connect(a app, pairs ...string) (access, refresh, grantID string) {
	b.t.Helper()
	w := b.redeem(a, b.approve(a.authorizeURL(pairs...)).Query().Get("code"))
	want(b.t, w, 200, "")
	return field(w, "access_token"), field(w, "refresh_token"), field(w, "grantId")
}

func bearer(token string) header { return with("Authorization", "Bearer "+token) }

// requireChallenge checks that the WWW-Authenticate header contains all words. Without words, it checks that the header is
// absent.
func requireChallenge(t testing.TB, w *answer, words ...string) {
	t.Helper()
	got := w.Header().Get("WWW-Authenticate")
	for _, word := range words {
		if !strings.Contains(got, word) {
			t.Errorf("%d: WWW-Authenticate is %q, without %s", w.Code, got, word)
		}
	}
	if len(words) == 0 && got != "" {
		t.Errorf("%d: WWW-Authenticate is %q", w.Code, got)
	}
}

const (
	signersPath  = "/api/protocol/v1/signers"
	messagesPath = "/api/protocol/v1/messages"
	hubSeed      = "4f1c9ad27be03658e1d4a7b09c3f62855d0e7a41b8c9f2e6370d5a4b1c8e9f07"
)

// keyLimit limits the messages of each signing key. It stores the counters in memory.
type keyLimit struct{ *ratelimit.Local }

func (l keyLimit) Allow(_ context.Context, key string) ratelimit.Decision { return l.Local.Allow(key) }

// wireMessages sets in d the dependencies of the routes for signed messages and attested calls.
func (b *fixture) wireMessages(d *httpapi.Deps) {
	b.t.Helper()
	keys, err := message.ParseHubKeys(`[{"seed":"` + hubSeed + `","notBefore":"2026-01-01T00:00:00Z"}]`)
	must(b.t, err)
	filer := signal.NewService(d.Ledger, d.NewID)
	d.Messages = message.NewService(message.Config{
		Issuer: issuer, Now: d.Now, NewID: d.NewID, Keys: keys, Store: b.store, Operators: d.Ledger.Operators, Moderation: d.Ledger.Moderation,
		Apply: (&effect.Effects{
			Ledger: d.Ledger, Filer: filer, Profiles: d.Accounts.Profiles, Air: d.OnAir, Videos: []string{"video.example"},
		}).Apply,
	})
	d.Creations = effect.NewService(effect.Config{
		Issuer: issuer, Now: d.Now, NewID: d.NewID, Ledger: d.Ledger, Filer: filer,
		Attester: d.Messages, Store: b.store,
	})
	d.Keys = keyLimit{ratelimit.NewLocal("message", message.PerMinute, time.Minute, d.Now)}
}

// signingKey is a signing key with the operator and app for which it signs.
type signingKey struct {
	b       *fixture
	private ed25519.PrivateKey
	denpaID string
	appID   any // id of the app; nil for a signer of the operator
	n       int // number of messages so far
}

// newSigningKey returns an unregistered signing key of mara_k. The name determines the key.
func (b *fixture) newSigningKey(name string) *signingKey {
	seed := sha256.Sum256([]byte(name))
	return &signingKey{b: b, private: ed25519.NewKeyFromSeed(seed[:]), denpaID: b.mara.GetId()}
}

func (p *signingKey) key() string { return hex.EncodeToString(p.private[32:]) }

// challenge requests a challenge for the registration of the key.
func (p *signingKey) challenge(by header) string {
	p.b.t.Helper()
	w := p.b.send("POST", signersPath+"/challenge", object("publicKey", p.key()), by)
	want(p.b.t, w, 200, "")
	return field(w, "challenge")
}

// registration returns a valid request to register the key.
func (p *signingKey) registration(challenge string, scopes ...string) string {
	p.b.t.Helper()
	owner := message.Owner{DenpaID: p.denpaID}
	if id, ok := p.appID.(string); ok {
		owner.AppID = id
	}
	expires := protocol.Stamp(p.b.clock.Now().Add(30 * 24 * time.Hour))
	proved, err := message.SignerProof(issuer, owner, message.SignerDraft{PublicKey: p.key(), Scopes: scopes, Challenge: challenge, ExpiresAt: expires})
	must(p.b.t, err)
	return object("publicKey", p.key(), "scopes", scopes, "label", "bot", "expiresAt", expires, "challenge", challenge, "proof", hex.EncodeToString(ed25519.Sign(p.private, proved)))
}

// register registers the key as a signer with these scopes.
func (p *signingKey) register(by header, scopes ...string) *answer {
	p.b.t.Helper()
	return p.b.send("POST", signersPath, p.registration(p.challenge(by), scopes...), by)
}

// signer returns a signing key that is registered for mara_k.
func (b *fixture) signer(name string, scopes ...string) *signingKey {
	b.t.Helper()
	p := b.newSigningKey(name)
	want(b.t, p.register(b.byKey(), scopes...), 201, "")
	return p
}

// object returns a JSON object as text. pairs are names and values of its members.
func object(pairs ...any) string {
	m := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i].(string)] = pairs[i+1]
	}
	raw, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// unsigned returns a message of the given type with the current time and a new nonce, without a signature.
func (p *signingKey) unsigned(kind string, payload map[string]any) map[string]any {
	p.n++
	return map[string]any{
		"version": 1, "type": kind, "denpaId": p.denpaID, "appId": p.appID, "timestamp": p.b.clock.Now().UnixMilli(),
		"nonce": fmt.Sprintf("nonce-of-a-test-%06d", p.n), "payload": payload,
		"signer": map[string]any{"kind": "ed25519", "publicKey": p.key()},
	}
}

// sign returns the message m with its signature, which covers the prefix, the issuer and the message.
func (p *signingKey) sign(m map[string]any, prefix, issuer string) string {
	p.b.t.Helper()
	raw, err := json.Marshal(m)
	must(p.b.t, err)
	canonical, err := message.Canonical(raw)
	must(p.b.t, err)
	m["signature"] = hex.EncodeToString(ed25519.Sign(p.private, []byte(prefix+"\n"+issuer+"\n"+string(canonical))))
	raw, _ = json.Marshal(m)
	delete(m, "signature")
	return string(raw)
}

// write returns a valid signed message.
func (p *signingKey) write(kind string, payload map[string]any) string {
	p.b.t.Helper()
	return p.sign(p.unsigned(kind, payload), message.MessagePrefix, issuer)
}

// call returns the message payload of a YES call at 3150 bps.
func call(market string) map[string]any {
	return map[string]any{"marketId": market, "position": "YES", "priceBps": 3150}
}

// reason checks the status, the code and the member reason of an error. The reason distinguishes errors with the same code.
func reason(t testing.TB, w *answer, status int, code, why string) {
	t.Helper()
	want(t, w, status, code, "reason="+why)
}
