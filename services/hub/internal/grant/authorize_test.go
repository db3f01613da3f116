package grant_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/services/hub/internal/grant"
)

// TestParametersOfAuthorize (S3) checks that the authorization endpoint refuses invalid values of PKCE parameters and of all
// others.
func TestParametersOfAuthorize(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := r.app(grant.Public)
	for name, c2 := range map[string]struct {
		pairs []string
		code  string
	}{
		"no challenge":        {[]string{"code_challenge", ""}, "invalid_request"},
		"no method":           {[]string{"code_challenge_method", ""}, "invalid_request"},
		"plain":               {[]string{"code_challenge_method", "plain"}, "invalid_request"},
		"lower case":          {[]string{"code_challenge_method", "s256"}, "invalid_request"},
		"challenge of 42":     {[]string{"code_challenge", strings.Repeat("a", 42)}, "invalid_request"},
		"challenge of 44":     {[]string{"code_challenge", strings.Repeat("a", 44)}, "invalid_request"},
		"challenge with =":    {[]string{"code_challenge", strings.Repeat("a", 42) + "="}, "invalid_request"},
		"no response type":    {[]string{"response_type", ""}, "invalid_request"},
		"implicit":            {[]string{"response_type", "token"}, "unsupported_response_type"},
		"hybrid":              {[]string{"response_type", "code id_token"}, "unsupported_response_type"},
		"fragment mode":       {[]string{"response_mode", "fragment"}, "invalid_request"},
		"request object":      {[]string{"request", "eyJ"}, "invalid_request"},
		"request uri":         {[]string{"request_uri", "https://evil.example/r"}, "invalid_request"},
		"unknown prompt":      {[]string{"prompt", "login"}, "invalid_request"},
		"two prompts":         {[]string{"prompt", "none consent"}, "invalid_request"},
		"unknown scope":       {[]string{"scope", "openid"}, "invalid_scope"},
		"two spaces":          {[]string{"scope", "profile:read  signal:create"}, "invalid_scope"},
		"scope of a message":  {[]string{"scope", "signal.create"}, "invalid_scope"},
		"scope not the app's": {[]string{"scope", "profile:read market:create"}, "invalid_scope"},
		"unknown resource":    {[]string{"resource", "https://evil.example/"}, "invalid_target"},
		"resource with slash": {[]string{"resource", mcp + "/"}, "invalid_target"},
		"resource with NUL":   {[]string{"resource", mcp + "\x00"}, "invalid_target"},
		"state of 5000":       {[]string{"state", strings.Repeat("x", 5000)}, "invalid_request"},
	} {
		a, err := r.Authorize(t.Context(), c.query(c2.pairs...), r.user)
		wantRefusal(t, name, a, err, c2.code)
	}
	if n := r.count("SELECT count(*) FROM hub.auth_requests"); n != 0 {
		t.Errorf("%d refused requests were stored", n)
	}
	for name, pairs := range map[string][]string{
		"plain request": nil, "query mode": {"response_mode", "query"}, "issuer as resource": {"resource", issuer}, "empty scope": {"scope", ""},
	} {
		if got := r.consent(c.query(pairs...)); got.Scopes.String() != "profile:read" || !got.ExpiresAt.Equal(noon.Add(10*time.Minute)) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if got := r.consent(c.query("scope", "offline_access signal:create profile:read signal:create")); got.Scopes.String() != "profile:read offline_access signal:create" {
		t.Errorf("scopes %s", got.Scopes)
	}
}

// TestRepeatedParameters (S7) checks that repeated parameters are refused, except resource with the same value.
func TestRepeatedParameters(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := r.app(grant.Public)
	for _, name := range []string{"response_type", "code_challenge", "code_challenge_method", "scope", "prompt", "state", "unheard_of"} {
		q := c.query("scope", "profile:read", "prompt", "consent", "unheard_of", "1")
		q.Add(name, q.Get(name))
		a, err := r.Authorize(t.Context(), q, r.user)
		wantRefusal(t, name, a, err, "invalid_request")
		if got := answer(t, a.Redirect).Has("state"); got == (name == "state") {
			t.Errorf("%s: state in the answer: %v", name, got)
		}
	}
	q := c.query()
	q.Add("client_id", c.ID)
	a, err := r.Authorize(t.Context(), q, r.user)
	if want(t, "client_id", err, "invalid_request"); a.Redirect != "" {
		t.Errorf("two client ids: %+v", a)
	}
	q = c.query()
	q["resource"] = []string{mcp, mcp}
	if got := r.consent(q); got.Resource != mcp {
		t.Errorf("the same resource twice: %+v", got)
	}
	q["resource"] = []string{mcp, issuer}
	a, err = r.Authorize(t.Context(), q, r.user)
	wantRefusal(t, "two resources", a, err, "invalid_target")

	for _, name := range []string{"code", "grant_type", "client_id", "code_verifier"} {
		f := c.redemption(r.code(c.query()))
		f.Values.Add(name, f.Values.Get(name))
		r.token("token: "+name, f, "invalid_request")
		f.Values.Set(name, f.Values.Get(name))
		if _, err := r.Token(t.Context(), f); err != nil {
			t.Errorf("%s once: %v", name, err)
		}
	}
}

// TestStateAndIssuer (S6) checks that each answer contains the issuer and the unchanged state.
func TestStateAndIssuer(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := r.app(grant.Public)
	for name, state := range map[string]string{
		"plain": "abc", "unicode": "zürich 東京 🦊", "2 KiB": strings.Repeat("é", 1024), "form": "a&b=c#d?e/f+g%20h",
		"any bytes": "\x00\xff\r\nLocation: x",
	} {
		consent := r.consent(c.query("state", state))
		yes, err := r.Decide(t.Context(), r.user, consent.Token, true)
		if err != nil {
			t.Fatal(err)
		}
		no, err := r.Decide(t.Context(), r.user, r.consent(c.query("state", state)).Token, false)
		if err != nil {
			t.Fatal(err)
		}
		bad, err := r.Authorize(t.Context(), c.query("state", state, "scope", "nonsense"), r.user)
		if err != nil {
			t.Fatal(err)
		}
		for what, to := range map[string]string{"yes": yes, "no": no, "bad": bad.Redirect} {
			q := answer(t, to)
			if q.Get("state") != state || q.Get("iss") != issuer || strings.ContainsAny(to, "\r\n\x00 ") || q.Has("code") != (what == "yes") {
				t.Errorf("%s, %s: %q", name, what, to)
			}
		}
		if q := answer(t, no); q.Get("error") != "access_denied" {
			t.Errorf("%v", q)
		}
	}
	to, err := r.Decide(t.Context(), r.user, r.consent(c.query("state", "")).Token, true)
	if err != nil || answer(t, to).Has("state") {
		t.Errorf("%s, %v", to, err)
	}
	tenant := r.appAt(grant.Public, callback+"?tenant=1")
	to, err = r.Decide(t.Context(), r.user, r.consent(tenant.query()).Token, true)
	if err != nil || !strings.HasPrefix(to, callback+"?tenant=1&code=dac_") {
		t.Errorf("%s, %v", to, err)
	}
}

// TestPromptNone (S10) checks that prompt=none shows no page and creates no grant.
func TestPromptNone(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := r.app(grant.Public)
	ask := func(who grant.Visitor, c client, pairs ...string) (grant.Answer, error) {
		return r.Authorize(t.Context(), c.query(append([]string{"prompt", "none"}, pairs...)...), who)
	}
	a, err := ask(grant.Visitor{}, c)
	wantRefusal(t, "not signed in", a, err, "login_required")
	a, err = ask(r.user, c)
	wantRefusal(t, "no grant", a, err, "consent_required")
	if n := r.count("SELECT (SELECT count(*) FROM hub.auth_requests) + (SELECT count(*) FROM hub.auth_codes) + (SELECT count(*) FROM hub.grants)"); n != 0 {
		t.Errorf("refused requests stored %d rows, want 0", n)
	}

	first := r.tokens(c, "scope", "profile:read offline_access")
	a, err = ask(r.user, c, "scope", "profile:read signal:create")
	wantRefusal(t, "more scopes", a, err, "consent_required")
	a, err = ask(r.user, c, "resource", mcp)
	wantRefusal(t, "another resource", a, err, "consent_required")
	a, err = ask(grant.Visitor{UserID: newUser(), Session: "x"}, c)
	wantRefusal(t, "another user", a, err, "consent_required")

	r.clock.Advance(time.Hour)
	a, err = ask(r.user, c, "scope", "profile:read")
	if err != nil || !answer(t, a.Redirect).Has("code") {
		t.Fatalf("%+v, %v", a, err)
	}
	again, err := r.Token(t.Context(), c.redemption(answer(t, a.Redirect).Get("code")))
	if err != nil || again.GrantID != first.GrantID || again.Scopes.String() != "profile:read" || again.RefreshToken != "" {
		t.Errorf("%+v, %v", again, err)
	}
	if n := r.count("SELECT count(*) FROM hub.grants"); n != 1 {
		t.Errorf("%d grants", n)
	}
	if l := r.listed(first.GrantID); !l.ExpiresAt.Equal(noon.Add(14 * 24 * time.Hour)) {
		t.Errorf("prompt=none extended the grant until %v", l.ExpiresAt)
	}

	a, err = ask(r.user, c)
	if err != nil {
		t.Fatal(err)
	}
	want(t, "revoke", r.RevokeGrant(t.Context(), r.user.UserID, first.GrantID, grant.ByUser), "")
	r.token("a code of a revoked grant", c.redemption(answer(t, a.Redirect).Get("code")), "invalid_grant")
	a, err = ask(r.user, c)
	wantRefusal(t, "revoked", a, err, "consent_required")
}

// TestPromptNoneNeedsAClaimedAddress checks that a public app with a loopback or private-scheme redirect URI always needs a
// decision of the user, because any program can receive such a redirect.
func TestPromptNoneNeedsAClaimedAddress(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for uri, code := range map[string]string{"http://127.0.0.1/cb": "consent_required", "com.example.app:/cb": "consent_required", callback + "2": ""} {
		c := r.appAt(grant.Public, uri)
		r.tokens(c)
		a, err := r.Authorize(t.Context(), c.query("prompt", "none"), r.user)
		if err != nil || answer(t, a.Redirect).Get("error") != code {
			t.Errorf("%s: %+v, %v", uri, a, err)
		}
	}
	c := r.appAt(grant.Confidential, "http://127.0.0.1/cb")
	r.tokens(c)
	a, err := r.Authorize(t.Context(), c.query("prompt", "none"), r.user)
	if err != nil || !answer(t, a.Redirect).Has("code") {
		t.Errorf("confidential: %+v, %v", a, err)
	}
}

func TestAnonymousVisitorSignsInFirst(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := r.app(grant.Public)
	for _, prompt := range []string{"", "consent"} {
		a, err := r.Authorize(t.Context(), c.query("prompt", prompt), grant.Visitor{})
		if err != nil || a != (grant.Answer{SignIn: true}) {
			t.Errorf("%+v, %v", a, err)
		}
	}
	a, err := r.Authorize(t.Context(), c.query("scope", "nonsense"), grant.Visitor{})
	wantRefusal(t, "a bad request", a, err, "invalid_scope")
}

// TestDecisionBelongsToItsSession (S9) checks that a decision is accepted once, and only in the session of its request. It tests
// the service without the consent page.
func TestDecisionBelongsToItsSession(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := r.app(grant.Public)
	token := r.consent(c.query()).Token
	for name, who := range map[string]grant.Visitor{
		"no user":         {Session: r.user.Session},
		"another user":    {UserID: newUser(), Session: r.user.Session},
		"another session": {UserID: r.user.UserID, Session: "session-two"},
		"no session":      {UserID: r.user.UserID},
	} {
		to, err := r.Decide(t.Context(), who, token, true)
		if want(t, name, err, "forbidden"); to != "" {
			t.Errorf("%s: %s", name, to)
		}
	}
	for _, other := range []string{"", "x", token + "x", token[:len(token)-1] + "_"} {
		_, err := r.Decide(t.Context(), r.user, other, true)
		want(t, other, err, "forbidden")
	}
	if _, err := r.Decide(t.Context(), r.user, token, true); err != nil {
		t.Errorf("the token of the session: %v", err)
	}
	_, err := r.Decide(t.Context(), r.user, token, true)
	want(t, "twice", err, "forbidden")

	token = r.consent(c.query()).Token
	got := codes(atOnce(t.Context(), 50, func(ctx context.Context, _ int) error {
		_, err := r.Decide(ctx, r.user, token, true)
		return err
	}))
	if got["ok"] != 1 || got["forbidden"] != 49 {
		t.Errorf("50 at once: %v", got)
	}
	token = r.consent(c.query()).Token
	r.clock.Advance(10 * time.Minute)
	_, err = r.Decide(t.Context(), r.user, token, true)
	want(t, "too late", err, "forbidden")
}

// TestAppChangesWhileThePageIsOpen checks that a decision uses the current state of an app if the app changed while the consent
// page was open.
func TestAppChangesWhileThePageIsOpen(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := r.app(grant.Public)
	moved := []string{callback + "/new"}
	less := []string{"profile:read"}
	token := r.consent(c.query("scope", "signal:create")).Token
	r.changed(c, grant.AppChange{Scopes: &less})
	to, err := r.Decide(t.Context(), r.user, token, true)
	if err != nil || answer(t, to).Get("error") != "invalid_scope" {
		t.Errorf("scopes: %s, %v", to, err)
	}
	token = r.consent(c.query()).Token
	r.changed(c, grant.AppChange{RedirectURIs: &moved})
	to, err = r.Decide(t.Context(), r.user, token, false)
	if want(t, "redirect URI", err, "invalid_request"); to != "" {
		t.Errorf("redirect URI: %s", to)
	}
	c.RedirectURIs = moved
	token = r.consent(c.query()).Token
	code := r.code(c.query())
	want(t, "disable", r.DisableApp(t.Context(), r.owner, c.ID), "")
	to, err = r.Decide(t.Context(), r.user, token, true)
	if want(t, "disabled", err, "invalid_request"); to != "" {
		t.Errorf("disabled: %s", to)
	}
	r.token("a code of a disabled app", c.redemption(code), "invalid_client")
}
