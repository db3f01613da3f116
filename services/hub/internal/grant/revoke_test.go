package grant_test

import (
	"context"
	"testing"
	"time"

	"github.com/signalcast/signalcast/services/hub/internal/grant"
)

// TestRevocation (S16) checks that the revocation of a refresh token revokes its grant, and that of an access token only the
// token. Repeated requests and unknown or foreign tokens must change nothing.
func TestRevocation(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c, other := r.app(grant.Confidential), r.app(grant.Confidential)
	got := r.tokens(c)
	for _, token := range []string{got.AccessToken, got.RefreshToken, "x", "dat_", "drt_unknown", "dk_key", r.tokens(other).AccessToken[:46]} {
		want(t, "another client: "+token, r.Revoke(t.Context(), other.form("token", token, "token_type_hint", "access_token")), "")
	}
	if !r.lives(got.AccessToken) || r.revokedBy(got.GrantID) != "" {
		t.Fatal("another client revoked a token")
	}
	second := r.issued(c.refreshing(got.RefreshToken))
	for range 2 {
		want(t, "access", r.Revoke(t.Context(), c.form("token", got.AccessToken, "token_type_hint", "refresh_token")), "")
		if r.lives(got.AccessToken) || !r.lives(second.AccessToken) {
			t.Error("the request did not revoke exactly one access token")
		}
	}
	for range 2 {
		want(t, "refresh", r.Revoke(t.Context(), c.form("token", second.RefreshToken)), "")
		if r.lives(second.AccessToken) || r.revokedBy(got.GrantID) != grant.ByApp {
			t.Errorf("revoked by %q", r.revokedBy(got.GrantID))
		}
	}
	at := r.listed(got.GrantID).RevokedAt
	r.clock.Advance(time.Second)
	want(t, "again", r.Revoke(t.Context(), c.form("token", second.RefreshToken)), "")
	if now := r.listed(got.GrantID); !now.RevokedAt.Equal(at) {
		t.Errorf("the time of the revocation moved from %v to %v", at, now.RevokedAt)
	}
	r.token("refresh after", c.refreshing(second.RefreshToken), "invalid_grant")
	want(t, "no token", r.Revoke(t.Context(), c.form()), "invalid_request")

	public := r.app(grant.Public)
	mine := r.tokens(public)
	want(t, "public", r.Revoke(t.Context(), public.form("token", mine.RefreshToken)), "")
	if r.lives(mine.AccessToken) {
		t.Error("a public client cannot revoke")
	}
}

// TestIntrospection (S17) checks that only a confidential client can introspect tokens, and only its own tokens.
func TestIntrospection(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c, other, public := r.app(grant.Confidential), r.app(grant.Confidential), r.app(grant.Public)
	got := r.tokens(c, "resource", mcp)
	plain := r.tokens(c)
	ask := func(c client, token string) grant.Introspection {
		t.Helper()
		i, err := r.Introspect(t.Context(), c.form("token", token))
		if err != nil {
			t.Fatal(err)
		}
		return i
	}
	i := ask(c, got.AccessToken)
	if !i.Active || i.Scopes.String() != got.Scopes.String() || i.ClientID != c.ID || i.DenpaID != r.user.UserID || i.GrantID != got.GrantID ||
		!i.ExpiresAt.Equal(noon.Add(15*time.Minute)) || !i.IssuedAt.Equal(noon) || i.Issuer != issuer || i.Audience != mcp || i.TokenType != "Bearer" {
		t.Errorf("%+v", i)
	}
	if i = ask(c, plain.AccessToken); i.Audience != issuer {
		t.Errorf("%+v", i)
	}
	if i = ask(c, got.RefreshToken); !i.Active || i.TokenType != "" || !i.ExpiresAt.Equal(noon.Add(30*24*time.Hour)) {
		t.Errorf("%+v", i)
	}
	for _, token := range []string{got.AccessToken, got.RefreshToken} {
		if i := ask(other, token); i.Active || i.DenpaID != "" {
			t.Errorf("another client: %+v", i)
		}
	}
	mine := r.tokens(public)
	for _, token := range []string{"x", "dat_x", mine.AccessToken, c.secret, got.AccessToken[:46] + "_"} {
		if i := ask(c, token); i.Active {
			t.Errorf("%q: %+v", token, i)
		}
	}
	_, err := r.Introspect(t.Context(), public.form("token", mine.AccessToken))
	want(t, "public", err, "invalid_client")
	_, err = r.Introspect(t.Context(), c.form())
	want(t, "no token", err, "invalid_request")

	r.issued(c.refreshing(got.RefreshToken))
	if ask(c, got.RefreshToken).Active {
		t.Error("a used refresh token is active")
	}
	want(t, "revoke", r.Revoke(t.Context(), c.form("token", got.AccessToken)), "")
	if ask(c, got.AccessToken).Active {
		t.Error("a revoked token is active")
	}
	r.clock.Advance(15 * time.Minute)
	if ask(c, plain.AccessToken).Active {
		t.Error("an expired token is active")
	}
	if l := r.listed(plain.GrantID); !l.LastUsedAt.IsZero() {
		t.Error("the introspection counted as a use of the grant")
	}
}

// TestBearer (S22) checks that only an access token is accepted as a bearer token. It tests the service without an HTTP route.
func TestBearer(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := r.app(grant.Confidential)
	got := r.tokens(c)
	code := r.code(c.query())
	for _, bearer := range []string{
		"", "dat_", got.RefreshToken, code, c.secret, c.ID, got.AccessToken + "=", got.AccessToken + " ", " " + got.AccessToken,
		"DAT_" + got.AccessToken[4:], "dat_" + got.RefreshToken[4:], "dk_" + got.AccessToken[4:], got.AccessToken[:46], got.AccessToken + "\x00",
	} {
		_, err := r.Authenticate(t.Context(), bearer, issuer)
		want(t, bearer, err, "unauthenticated")
	}
	if !r.lives(got.AccessToken) {
		t.Error("a valid access token is refused")
	}
}

// TestResource (S24) checks that a token is valid only for its resource. A token without a resource must be valid only for the
// issuer.
func TestResource(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := r.app(grant.Public)
	for _, named := range []string{"", issuer, mcp} {
		got := r.tokens(c, "resource", named)
		if got.Resource != named {
			t.Errorf("%+v", got)
		}
		next := r.issued(c.refreshing(got.RefreshToken, "resource", named))
		for _, token := range []string{got.AccessToken, next.AccessToken} {
			for wanted, good := range map[string]bool{issuer: named != mcp, mcp: named == mcp, issuer + "/other": false} {
				p, err := r.Authenticate(t.Context(), token, wanted)
				if (err == nil) != good || good && p.Resource != named {
					t.Errorf("for %q at %q: %+v, %v", named, wanted, p, err)
				}
			}
		}
		other := mcp
		if named == mcp {
			other = issuer
		}
		r.token("refresh for another resource", c.refreshing(next.RefreshToken, "resource", other), "invalid_target")
	}
	only := []string{mcp}
	r.changed(c, grant.AppChange{AllowedResources: &only})
	a, err := r.Authorize(t.Context(), c.query("resource", issuer), r.user)
	wantRefusal(t, "a resource that the app does not use", a, err, "invalid_target")
	if got := r.consent(c.query("resource", mcp)); got.Resource != mcp {
		t.Errorf("%+v", got)
	}
}

// TestRevocationAppliesAtEveryServer (S25) checks that a revocation applies to the next request at every server.
func TestRevocationAppliesAtEveryServer(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := r.app(grant.Public)
	servers := []*grant.Service{r.Service, r.instance(nil)}
	for i, end := range []func(g grant.Issued) error{
		func(g grant.Issued) error {
			return servers[0].RevokeGrant(t.Context(), r.user.UserID, g.GrantID, grant.ByUser)
		},
		func(g grant.Issued) error { return servers[1].Revoke(t.Context(), c.form("token", g.RefreshToken)) },
		func(g grant.Issued) error { return servers[0].Revoke(t.Context(), c.form("token", g.AccessToken)) },
		func(grant.Issued) error { return servers[1].DisableApp(t.Context(), r.owner, c.ID) },
	} {
		got := r.tokens(c)
		use := func() []error {
			return atOnce(t.Context(), 50, func(ctx context.Context, i int) error {
				_, err := servers[i%2].Authenticate(ctx, got.AccessToken, issuer)
				return err
			})
		}
		if before := codes(use()); before["ok"] != 50 {
			t.Errorf("request %d before the revocation: %v", i, before)
		}
		if err := end(got); err != nil {
			t.Fatal(err)
		}
		if after := codes(use()); after["unauthenticated"] != 50 {
			t.Errorf("request %d after the revocation: %v", i, after)
		}
	}
}
