package grant_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
	"github.com/signalcast/signalcast/services/hub/internal/grant"
	"github.com/signalcast/signalcast/services/hub/internal/postgres"
)

func TestMain(m *testing.M) { testkit.Main(m) }

const (
	issuer      = "https://hub.example/api/protocol/v1"
	mcp         = issuer + "/mcp"
	callback    = "https://app.example.com/cb"
	verifier    = "the-verifier-of-the-tests-is-long-enough-43"
	readTimeout = 30 * time.Second // long, because a busy test machine is slow
)

// noon is the initial time of the test clock.
var noon = time.Date(2026, 10, 10, 12, 0, 0, 0, time.UTC)

// rig is an authorization server with a test database and a test clock.
type rig struct {
	*grant.Service
	t     *testing.T
	clock *testkit.Clock
	db    testkit.Database
	admin *pgxpool.Pool
	rw    *pgxpool.Pool
	owner string
	user  grant.Visitor
}

func newRig(t *testing.T) *rig { return newRigWith(t, nil) }

func newRigWith(t *testing.T, retry *time.Duration) *rig {
	t.Helper()
	db := testkit.Postgres(t, postgres.Schema(""))
	r := &rig{
		t: t, db: db, clock: testkit.NewClock(noon), admin: testkit.Pool(t, db.Admin), rw: testkit.Pool(t, db.URL("hub_rw")), owner: newUser(),
		user: grant.Visitor{UserID: newUser(), Session: "session-one"},
	}
	r.Service = r.instance(retry)
	return r
}

// instance returns another server that uses the same database and its own connections.
func (r *rig) instance(retry *time.Duration) *grant.Service {
	store := postgres.NewGrants(testkit.Pool(r.t, r.db.URL("hub_rw")), readTimeout)
	return r.server(store, retry, serverKey)
}

const serverKey = "a-server-key-of-thirty-two-bytes"

func (r *rig) server(store *postgres.Grants, retry *time.Duration, keys ...string) *grant.Service {
	r.t.Helper()
	settings := grant.Settings{Issuer: issuer, Resources: []string{mcp}, RetryWindow: retry}
	for _, key := range keys {
		settings.SuccessorKeys = append(settings.SuccessorKeys, []byte(key))
	}
	s, err := grant.New(grant.Deps{Store: store, Failures: failures(r.t, r.clock.Now), Settings: settings, Now: r.clock.Now})
	if err != nil {
		r.t.Fatal(err)
	}
	return s
}

// failures returns a counter of failures that works without Redis.
func failures(t testing.TB, now func() time.Time) caller.Failures {
	redis := testkit.KV(t, "redis://127.0.0.1:1")
	return caller.NewFailures(caller.Counters{Redis: redis, Now: now, OnFallback: func(string) func() { return nil }}, "client")
}

func newUser() string { return uuid.Must(uuid.NewV7()).String() }

// client is an app with its secret.
type client struct {
	grant.App
	secret string
}

func (r *rig) app(kind grant.Kind, scopes ...string) client {
	r.t.Helper()
	return r.appAt(kind, callback, scopes...)
}

// appAt registers an app with this redirect URI. An administrator has reviewed the app.
func (r *rig) appAt(kind grant.Kind, redirectURI string, scopes ...string) client {
	r.t.Helper()
	if scopes == nil {
		scopes = []string{"profile:read", "signal:create", "offline_access"}
	}
	a, secret, err := r.Register(r.t.Context(), r.owner, grant.AppDraft{
		Name: "Weather desk", Kind: kind, RedirectURIs: []string{redirectURI}, Scopes: scopes,
	})
	if err != nil {
		r.t.Fatal(err)
	}
	if a, err = r.Trust(r.t.Context(), a.ID, true); err != nil {
		r.t.Fatal(err)
	}
	return client{a, secret}
}

func challengeOf(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// query returns the parameters of a valid authorization request with changes. pairs are alternating names and values. An empty
// value removes the parameter.
func (c client) query(pairs ...string) url.Values {
	return with(url.Values{
		"response_type": {"code"}, "client_id": {c.ID}, "redirect_uri": {c.RedirectURIs[0]},
		"code_challenge": {challengeOf(verifier)}, "code_challenge_method": {"S256"}, "state": {"s1"},
	}, pairs...)
}

func with(v url.Values, pairs ...string) url.Values {
	for i := 0; i < len(pairs); i += 2 {
		if v.Set(pairs[i], pairs[i+1]); pairs[i+1] == "" {
			v.Del(pairs[i])
		}
	}
	return v
}

// form returns a request with the credentials of the client and further parameters. pairs are alternating names and values.
func (c client) form(pairs ...string) grant.Form {
	return grant.Form{Values: with(url.Values{"client_id": {c.ID}, "client_secret": {c.secret}}, pairs...), IP: "192.0.2.7"}
}

func (c client) redemption(code string, pairs ...string) grant.Form {
	return c.form(append([]string{
		"grant_type", "authorization_code", "code", code, "code_verifier", verifier, "redirect_uri", c.RedirectURIs[0],
	}, pairs...)...)
}

func (c client) refreshing(token string, pairs ...string) grant.Form {
	return c.form(append([]string{"grant_type", "refresh_token", "refresh_token", token}, pairs...)...)
}

// consent returns the consent page for a valid authorization request.
func (r *rig) consent(q url.Values) grant.Consent {
	r.t.Helper()
	a, err := r.Authorize(r.t.Context(), q, r.user)
	if err != nil || a.Consent == nil {
		r.t.Fatalf("no consent page: %+v, %v", a, err)
	}
	return *a.Consent
}

// code approves an authorization request as the user and returns the authorization code.
func (r *rig) code(q url.Values) string {
	r.t.Helper()
	to, err := r.Decide(r.t.Context(), r.user, r.consent(q).Token, true)
	if err != nil {
		r.t.Fatal(err)
	}
	return answer(r.t, to).Get("code")
}

// answer returns the query parameters of a redirect.
func answer(t *testing.T, redirect string) url.Values {
	t.Helper()
	u, err := url.Parse(redirect)
	if err != nil || redirect == "" {
		t.Fatalf("redirect %q: %v", redirect, err)
	}
	return u.Query()
}

// tokens runs a complete authorization with a change of its parameters and returns the issued tokens.
func (r *rig) tokens(c client, pairs ...string) grant.Issued {
	r.t.Helper()
	return r.issued(c.redemption(r.code(c.query(append([]string{"scope", c.Scopes.String()}, pairs...)...))))
}

// issued sends a form to the token endpoint and returns the successful answer.
func (r *rig) issued(f grant.Form) grant.Issued {
	r.t.Helper()
	got, err := r.Token(r.t.Context(), f)
	if err != nil {
		r.t.Fatal(err)
	}
	return got
}

// token sends a form to the token endpoint and checks the error code; "" means success.
func (r *rig) token(what string, f grant.Form, code string) {
	r.t.Helper()
	_, err := r.Token(r.t.Context(), f)
	want(r.t, what, err, code)
}

// changed applies a change to an app as its owner.
func (r *rig) changed(c client, change grant.AppChange) {
	r.t.Helper()
	_, err := r.ChangeApp(r.t.Context(), r.owner, c.ID, change)
	want(r.t, "change", err, "")
}

func (r *rig) lives(access string) bool {
	r.t.Helper()
	_, err := r.Authenticate(r.t.Context(), access, issuer)
	if err != nil && !errors.Is(err, grant.ErrUnauthenticated) {
		r.t.Fatal(err)
	}
	return err == nil
}

// revokedBy returns the reason for which a grant was revoked; empty if it was not.
func (r *rig) revokedBy(grantID string) grant.Reason {
	r.t.Helper()
	return r.listed(grantID).RevokedBy
}

func (r *rig) listed(grantID string) grant.Listed {
	r.t.Helper()
	list, err := r.ListGrants(r.t.Context(), r.user.UserID)
	if err != nil {
		r.t.Fatal(err)
	}
	i := slices.IndexFunc(list, func(l grant.Listed) bool { return l.ID == grantID })
	if i < 0 {
		r.t.Fatalf("no grant %s among %d", grantID, len(list))
	}
	return list[i]
}

func (r *rig) count(sql string, args ...any) int {
	r.t.Helper()
	var n int
	if err := r.admin.QueryRow(r.t.Context(), sql, args...).Scan(&n); err != nil {
		r.t.Fatalf("%s: %v", sql, err)
	}
	return n
}

// want checks the error code of err; "" means no error.
func want(t *testing.T, what string, err error, code string) {
	t.Helper()
	got := ""
	if err != nil {
		got = apperr.Of(err).Code
	}
	if got != code {
		t.Errorf("%s: %q, want %q (%v)", what, got, code, err)
	}
}

// wantRefusal checks that an answer redirects to the app with this error code.
func wantRefusal(t *testing.T, what string, a grant.Answer, err error, code string) {
	t.Helper()
	if err != nil || a.Consent != nil || a.SignIn || !strings.HasPrefix(a.Redirect, callback+"?") {
		t.Errorf("%s: %+v, %v", what, a, err)
		return
	}
	q := answer(t, a.Redirect)
	if q.Get("error") != code || q.Has("code") || q.Get("iss") != issuer || len(q["error"]) != 1 {
		t.Errorf("%s: %v, want %s", what, q, code)
	}
}

// atOnce runs do in n goroutines that start together and returns their errors.
func atOnce(ctx context.Context, n int, do func(ctx context.Context, i int) error) []error {
	errs := make([]error, n)
	start := make(chan struct{})
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			<-start
			errs[i] = do(ctx, i)
		})
	}
	close(start)
	all.Wait()
	return errs
}

func codes(errs []error) map[string]int {
	out := map[string]int{}
	for _, err := range errs {
		if err == nil {
			out["ok"]++
			continue
		}
		out[apperr.Of(err).Code]++
	}
	return out
}
