package edge_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
	"github.com/signalcast/signalcast/services/hub/internal/grant"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
	"github.com/signalcast/signalcast/services/hub/internal/postgres"
)

const (
	issuer    = hubURL + "/api/protocol/v1"
	callback  = "https://app.example.com/cb"
	codeProof = "the-verifier-of-the-tests-is-long-enough-43"
)

// grantStore is the store of delegated sign-in: empty until a test gives it a
// database.
type grantStore struct {
	grant.Apps
	grant.Codes
	grant.Tokens
	grant.Grants
}

func (g *grantStore) FindApp(ctx context.Context, id string) (*grant.App, error) {
	if g.Apps == nil {
		return nil, nil
	}
	return g.Apps.FindApp(ctx, id)
}

func (g *grantStore) ListApps(ctx context.Context, ownerID string) ([]grant.App, error) {
	if g.Apps == nil {
		return nil, nil
	}
	return g.Apps.ListApps(ctx, ownerID)
}

func (g *grantStore) UseAccess(ctx context.Context, hash grant.Hash, now time.Time) (*grant.TokenState, error) {
	if g.Tokens == nil {
		return nil, nil
	}
	return g.Tokens.UseAccess(ctx, hash, now)
}

func newGrants(t testing.TB, store *grantStore, now func() time.Time) *grant.Service {
	t.Helper()
	s, err := grant.New(grant.Deps{
		Apps: store, Codes: store, Tokens: store, Grants: store, Now: now,
		Settings: grant.Settings{
			Issuer: issuer, Resources: []string{issuer + "/mcp"},
			SuccessorKeys: [][]byte{[]byte("a-server-key-of-thirty-two-bytes")},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

type grantTokens struct{ grants *grant.Service }

func (g grantTokens) Authenticate(ctx context.Context, bearer, resource string) (caller.Delegate, error) {
	p, err := g.grants.Authenticate(ctx, bearer, resource)
	return caller.Delegate{UserID: operator.ID(p.UserID), AppID: p.AppID, GrantID: p.GrantID, Scopes: p.Scopes.Words()}, err
}

// withDatabase is a front door, pages included, whose sign-in is kept in Postgres.
func withDatabase(t testing.TB, options ...option) (*bench, testkit.Database) {
	t.Helper()
	b := setup(t, options...)
	db := testkit.Postgres(t, postgres.Schema(""))
	store := postgres.NewGrants(testkit.Pool(t, db.URL("hub_rw")), 30*time.Second)
	*b.grants = grantStore{Apps: store, Codes: store, Tokens: store, Grants: store}
	b.mountPages()
	return b, db
}

// app is a registered app.
type app struct{ ID, Secret string }

// register makes an app of mara's by the front door.
func (b *bench) register(kind string, members ...string) app {
	b.t.Helper()
	body := map[string]any{
		"name": "Weather desk", "type": kind, "redirectUris": []string{callback}, "homepage": "https://weather.example",
		"scopes": []string{"profile:read", "signal:create", "offline_access"},
	}
	for i := 0; i < len(members); i += 2 {
		var v any
		if err := json.Unmarshal([]byte(members[i+1]), &v); err != nil {
			b.t.Fatal(err)
		}
		body[members[i]] = v
	}
	raw, err := json.Marshal(body)
	if err != nil {
		b.t.Fatal(err)
	}
	w := b.send("POST", "/api/dev/apps", string(raw), byLogin("mara_k"))
	want(b.t, w, 201, "")
	return app{ID: field(w, "clientId"), Secret: field(w, "clientSecret")}
}

func challengeOf(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// asking is a good authorization request; pairs change it, an empty value removes.
func (a app) asking(pairs ...string) string {
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

// consent opens the page and gives what its form carries.
func (b *bench) consent(target string) string {
	b.t.Helper()
	w := b.send("GET", target, "", b.bySession())
	m := hidden.FindStringSubmatch(w.Body.String())
	if w.Code != 200 || m == nil {
		b.t.Fatalf("no consent page: %d %v %s", w.Code, w.Header(), w.Body)
	}
	return html.UnescapeString(m[1])
}

// post sends a form; who sends it says the headers.
func (b *bench) post(target string, form url.Values, headers ...header) *httptest.ResponseRecorder {
	typed := func(r *http.Request) { r.Header.Set("Content-Type", "application/x-www-form-urlencoded") }
	return b.send("POST", target, form.Encode(), append([]header{typed}, headers...)...)
}

// approve is the whole visit of the user; it gives the address that the browser is
// sent to.
func (b *bench) approve(target string) *url.URL {
	b.t.Helper()
	w := b.post("/protocol/authorize", url.Values{"request": {b.consent(target)}, "decision": {"approve"}}, b.bySession())
	if w.Code != http.StatusSeeOther {
		b.t.Fatalf("approve: %d %s", w.Code, w.Body)
	}
	to, err := url.Parse(w.Header().Get("Location"))
	if err != nil {
		b.t.Fatal(err)
	}
	return to
}

// redeem turns a code into tokens.
func (b *bench) redeem(a app, code string, pairs ...string) *httptest.ResponseRecorder {
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

// connect is the whole way of an app to its tokens.
func (b *bench) connect(a app, pairs ...string) (access, refresh, grantID string) {
	b.t.Helper()
	w := b.redeem(a, b.approve(a.asking(pairs...)).Query().Get("code"))
	want(b.t, w, 200, "")
	return field(w, "access_token"), field(w, "refresh_token"), field(w, "grantId")
}

func bearer(token string) header { return with("Authorization", "Bearer "+token) }

// says checks the way in that a refusal names.
func says(t testing.TB, w *httptest.ResponseRecorder, words ...string) {
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
