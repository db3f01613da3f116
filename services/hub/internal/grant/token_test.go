package grant_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/services/hub/internal/grant"
)

func TestTokenAnswer(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for kind, scope := range map[grant.Kind]string{grant.Public: "profile:read", grant.Confidential: "profile:read offline_access signal:create"} {
		c := r.app(kind)
		got := r.tokens(c, "scope", scope)
		again := strings.Contains(scope, "offline_access")
		if !strings.HasPrefix(got.AccessToken, "dat_") || len(got.AccessToken) != 47 || got.TokenType != "Bearer" || got.ExpiresIn != 15*time.Minute ||
			got.DenpaID != r.user.UserID || got.GrantID == "" || got.Scopes.String() != scope || got.Resource != "" {
			t.Errorf("%+v", got)
		}
		if again != strings.HasPrefix(got.RefreshToken, "drt_") || !again && got.RefreshToken != "" {
			t.Errorf("refresh token %q", got.RefreshToken)
		}
		p, err := r.Authenticate(t.Context(), got.AccessToken, issuer)
		if err != nil || p.UserID != r.user.UserID || p.AppID != c.ID || p.GrantID != got.GrantID || p.Scopes.String() != scope ||
			!p.ExpiresAt.Equal(noon.Add(15*time.Minute)) {
			t.Errorf("%+v, %v", p, err)
		}
	}
}

// TestVerifier (S3) checks the code verifier at the token endpoint. A failed attempt of the client of the code must use up the
// code.
func TestVerifier(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, kind := range []grant.Kind{grant.Public, grant.Confidential} {
		c := r.app(kind)
		for name, v := range map[string]struct{ verifier, code string }{
			"absent":     {"", "invalid_request"},
			"42":         {verifier[:42], "invalid_request"},
			"129":        {strings.Repeat("a", 129), "invalid_request"},
			"characters": {strings.Repeat("a", 42) + "!", "invalid_request"},
			"wrong":      {strings.Repeat("a", 43), "invalid_grant"},
			"challenge":  {challengeOf(verifier), "invalid_grant"},
		} {
			code := r.code(c.query())
			r.token(name, c.redemption(code, "code_verifier", v.verifier), v.code)
			r.token(name+", then the right one", c.redemption(code), "invalid_grant")
		}
		for _, good := range []string{verifier, strings.Repeat("a", 43), strings.Repeat("Z9-._~", 21) + "xy"} {
			r.token(good, c.redemption(r.code(c.query("code_challenge", challengeOf(good))), "code_verifier", good), "")
		}
	}
}

// TestProofIsMandatoryForAllClients (S3) checks that a client that authenticates with a secret must also use PKCE.
func TestProofIsMandatoryForAllClients(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, kind := range []grant.Kind{grant.Public, grant.Confidential} {
		c := r.app(kind)
		for name, pairs := range map[string][]string{
			"absent": {"code_challenge", "", "code_challenge_method", ""}, "no method": {"code_challenge_method", ""},
			"plain": {"code_challenge", verifier, "code_challenge_method", "plain"},
		} {
			a, err := r.Authorize(t.Context(), c.query(pairs...), r.user)
			wantRefusal(t, string(kind)+": "+name, a, err, "invalid_request")
		}
	}
}

// TestCodeIsBound (S4) checks that a code is valid once, for one minute, and only for its client, redirect URI and
// resource.
func TestCodeIsBound(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c, other := r.app(grant.Public), r.app(grant.Confidential)

	code := r.code(c.query())
	r.token("another client", other.redemption(code), "invalid_grant")
	r.token("after the attempt of another client", c.redemption(code), "")
	for name, f := range map[string]struct {
		pairs []string
		code  string
	}{
		"redirect uri":     {[]string{"redirect_uri", callback + "/"}, "invalid_grant"},
		"unnamed resource": {[]string{"resource", mcp}, "invalid_target"},
	} {
		code := r.code(c.query())
		r.token(name, c.redemption(code, f.pairs...), f.code)
		r.token(name+", then right", c.redemption(code), "invalid_grant")
	}
	code = r.code(c.query("resource", mcp))
	r.token("another resource", c.redemption(code, "resource", issuer), "invalid_target")
	two := c.redemption(r.code(c.query("resource", mcp)))
	two.Values["resource"] = []string{mcp, issuer}
	r.token("two resources", two, "invalid_target")
	for _, pairs := range [][]string{{"redirect_uri", ""}, {"resource", mcp}, nil} {
		got, err := r.Token(t.Context(), c.redemption(r.code(c.query("resource", mcp)), pairs...))
		if err != nil || got.Resource != mcp {
			t.Errorf("%v: %+v, %v", pairs, got, err)
		}
	}

	code = r.code(c.query())
	r.clock.Advance(time.Minute - time.Millisecond)
	r.token("just in time", c.redemption(code), "")
	code = r.code(c.query())
	r.clock.Advance(time.Minute)
	r.token("a minute", c.redemption(code), "invalid_grant")
	for _, no := range []string{"", "x", "dac_", newUser(), strings.Replace(code, "dac_", "dat_", 1)} {
		wantCode := "invalid_grant"
		if no == "" {
			wantCode = "invalid_request"
		}
		r.token("code "+no, c.redemption(no), wantCode)
	}
}

// TestCodeReplay (S4) checks that the replay of a redeemed code revokes the grant. A replay of a code that was not redeemed, or
// by another client, must revoke nothing.
func TestCodeReplay(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c, other := r.app(grant.Public), r.app(grant.Public)
	code := r.code(c.query("scope", "profile:read offline_access"))
	got := r.issued(c.redemption(code))
	r.token("another client", other.redemption(code), "invalid_grant")
	if !r.lives(got.AccessToken) {
		t.Error("the replay of another client revoked the grant")
	}
	r.clock.Advance(time.Hour - time.Minute) // long after the code has expired
	next := r.issued(c.refreshing(got.RefreshToken))
	r.token("replay", c.redemption(code), "invalid_grant")
	if r.lives(next.AccessToken) || r.revokedBy(got.GrantID) != grant.ByCodeReplay {
		t.Errorf("after the replay: %q", r.revokedBy(got.GrantID))
	}
	r.token("refresh after the replay", c.refreshing(next.RefreshToken), "invalid_grant")

	// The failed use of a code that renews a grant is not a replay.
	kept := r.tokens(c)
	burnt := r.code(c.query("scope", c.Scopes.String(), "prompt", "consent"))
	for range 3 {
		r.token("wrong verifier", c.redemption(burnt, "code_verifier", strings.Repeat("x", 50)), "invalid_grant")
	}
	if !r.lives(kept.AccessToken) {
		t.Error("a used code revoked the grant that it was to renew")
	}
}

// TestConcurrentRedemption (S5) checks that of fifty concurrent attempts exactly one receives tokens. The others are
// replays, so the tokens are revoked afterwards.
func TestConcurrentRedemption(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := r.app(grant.Public)
	other := r.instance(nil)
	for range 4 {
		code := r.code(c.query())
		won := make([]grant.Issued, 50)
		got := codes(atOnce(t.Context(), 50, func(ctx context.Context, i int) (err error) {
			s := r.Service
			if i%2 == 1 {
				s = other
			}
			won[i], err = s.Token(ctx, c.redemption(code))
			return err
		}))
		if got["ok"] != 1 || got["invalid_grant"] != 49 {
			t.Errorf("%v", got)
		}
		for _, w := range won {
			if w.AccessToken != "" && (r.lives(w.AccessToken) || r.revokedBy(w.GrantID) != grant.ByCodeReplay) {
				t.Errorf("the token of the successful attempt is active: %q", r.revokedBy(w.GrantID))
			}
		}
	}
	if n := r.count("SELECT count(*) FROM hub.grants"); n != 4 {
		t.Errorf("%d grants of 4 codes", n)
	}
}

// TestScopesNeverGrow (S11) checks that scopes stay within what the app has registered and the user has granted.
func TestScopesNeverGrow(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := r.app(grant.Public)
	got := r.tokens(c, "scope", "profile:read offline_access")
	r.token("more than granted", c.refreshing(got.RefreshToken, "scope", "profile:read signal:create"), "invalid_scope")
	r.token("unknown", c.refreshing(got.RefreshToken, "scope", "nonsense"), "invalid_scope")
	narrow, err := r.Token(t.Context(), c.refreshing(got.RefreshToken, "scope", "profile:read"))
	if err != nil || narrow.Scopes.String() != "profile:read" {
		t.Fatalf("%+v, %v", narrow, err)
	}
	p, err := r.Authenticate(t.Context(), narrow.AccessToken, issuer)
	if err != nil || p.Scopes.String() != "profile:read" {
		t.Errorf("%+v, %v", p, err)
	}
	whole, err := r.Token(t.Context(), c.refreshing(narrow.RefreshToken))
	if err != nil || whole.Scopes.String() != "profile:read offline_access" {
		t.Errorf("the grant lost scopes: %+v, %v", whole, err)
	}

	wide := r.tokens(c)
	less := []string{"profile:read", "offline_access"}
	r.changed(c, grant.AppChange{Scopes: &less})
	if p, err = r.Authenticate(t.Context(), wide.AccessToken, issuer); err != nil || p.Scopes.Has(grant.SignalCreate) {
		t.Errorf("after the app removed the scope: %+v, %v", p, err)
	}
	next, err := r.Token(t.Context(), c.refreshing(wide.RefreshToken))
	if err != nil || next.Scopes.String() != "profile:read offline_access" {
		t.Errorf("%+v, %v", next, err)
	}
	none := []string{"profile:read"}
	r.changed(c, grant.AppChange{Scopes: &none})
	r.token("offline_access removed from the app", c.refreshing(next.RefreshToken), "unauthorized_client")
}

// TestScopesShrinkBeforeRedemption checks that a code grants only the scopes that the app still has.
func TestScopesShrinkBeforeRedemption(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := r.app(grant.Public)
	code := r.code(c.query("scope", "profile:read signal:create"))
	last := r.code(c.query("scope", "signal:create"))
	less := []string{"profile:read"}
	r.changed(c, grant.AppChange{Scopes: &less})
	got, err := r.Token(t.Context(), c.redemption(code))
	if err != nil || got.Scopes.String() != "profile:read" {
		t.Errorf("%+v, %v", got, err)
	}
	r.token("no scope left", c.redemption(last), "invalid_grant")
}

// TestRedemptionLosesToTheEndOfTheApp checks the redemption of a code whose app is disabled between the authentication of the
// client and the lock. The code must be used up and create no grant.
func TestRedemptionLosesToTheEndOfTheApp(t *testing.T) {
	t.Parallel()
	state := grant.CodeState{
		Code: grant.Code{AppID: "app", Scopes: grant.Scopes{grant.ProfileRead}, Challenge: challengeOf(verifier), ExpiresAt: noon.Add(time.Minute)},
		App:  grant.App{ID: "app", Kind: grant.Public, Scopes: grant.Scopes{grant.ProfileRead}},
	}
	attempt := grant.Redemption{AppID: "app", Verifier: verifier, GrantID: "g", Now: noon}
	if outcome := state.Redeem(attempt); outcome.Err != nil || outcome.NewGrant == nil {
		t.Fatalf("before: %+v", outcome)
	}
	state.App.DisabledAt = noon
	outcome := state.Redeem(attempt)
	if want(t, "after", outcome.Err, "invalid_grant"); outcome.NewGrant != nil || outcome.Access != nil || !outcome.UseUp {
		t.Errorf("after: %+v", outcome)
	}
}

func TestGrantTypes(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := r.app(grant.Confidential)
	for kind, code := range map[string]string{"": "invalid_request", "password": "unsupported_grant_type", "client_credentials": "unsupported_grant_type"} {
		r.token(kind, c.form("grant_type", kind), code)
	}
	r.token("no refresh token", c.refreshing(""), "invalid_request")
}

// TestTokenIsItsUsers (S26) checks that no parameter of a request changes the user of a token.
func TestTokenIsItsUsers(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := r.app(grant.Public)
	victim := newUser()
	injected := []string{"user_id", victim, "userId", victim, "denpaId", victim, "handle", "victim", "sub", victim, "grantId", victim, "login_hint", victim}
	code := r.code(c.query(append([]string{"scope", "profile:read offline_access"}, injected...)...))
	got := r.issued(c.redemption(code, injected...))
	next := r.issued(c.refreshing(got.RefreshToken, injected...))
	for _, issued := range []grant.Issued{got, next} {
		p, err := r.Authenticate(t.Context(), issued.AccessToken, issuer)
		if err != nil || p.UserID != r.user.UserID || issued.DenpaID != r.user.UserID {
			t.Errorf("%+v, %v", p, err)
		}
	}
	if n := r.count("SELECT count(*) FROM hub.grants WHERE user_id = $1", victim); n != 0 {
		t.Errorf("%d grants of the victim", n)
	}
}
