package grant_test

import (
	"context"
	"testing"
	"time"

	"github.com/signalcast/signalcast/services/hub/internal/grant"
	"github.com/signalcast/signalcast/services/hub/internal/postgres"
)

// TestRefreshReuse (S13) checks that a refresh token is replaced on use. A reuse of the old token must revoke the grant and its
// access tokens.
func TestRefreshReuse(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := r.app(grant.Public)
	first := r.tokens(c)
	second, err := r.Token(t.Context(), c.refreshing(first.RefreshToken))
	if err != nil || second.RefreshToken == first.RefreshToken || second.AccessToken == first.AccessToken || second.GrantID != first.GrantID ||
		second.DenpaID != r.user.UserID || second.ExpiresIn != 15*time.Minute {
		t.Fatalf("%+v, %v", second, err)
	}
	third := r.issued(c.refreshing(second.RefreshToken))
	if !r.lives(first.AccessToken) || !r.lives(second.AccessToken) || !r.lives(third.AccessToken) {
		t.Error("a refresh revoked an access token")
	}
	r.token("reuse", c.refreshing(first.RefreshToken), "invalid_grant")
	for _, i := range []grant.Issued{first, second, third} {
		if r.lives(i.AccessToken) {
			t.Error("an access token is active after the reuse")
		}
		r.token("after reuse", c.refreshing(i.RefreshToken), "invalid_grant")
	}
	if by := r.revokedBy(first.GrantID); by != grant.ByRefreshReuse {
		t.Errorf("revoked by %q", by)
	}
}

// TestRefreshRetry (S14) checks that a retry within ten seconds returns the same successor while the successor is unused.
func TestRefreshRetry(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := r.app(grant.Confidential)
	first := r.tokens(c)
	second := r.issued(c.refreshing(first.RefreshToken))
	r.clock.Advance(10 * time.Second)
	again, err := r.Token(t.Context(), c.refreshing(first.RefreshToken))
	if err != nil || again.RefreshToken != second.RefreshToken || again.AccessToken == second.AccessToken || !r.lives(again.AccessToken) {
		t.Errorf("after 10 s: %+v, %v", again, err)
	}
	r.token("a retry that asks for more", c.refreshing(first.RefreshToken, "scope", "market:create"), "invalid_scope")
	if n := r.count("SELECT count(*) FROM hub.refresh_tokens"); n != 2 {
		t.Errorf("%d refresh tokens", n)
	}
	r.clock.Advance(time.Second)
	r.token("after 11 s", c.refreshing(first.RefreshToken), "invalid_grant")
	if r.lives(again.AccessToken) || r.revokedBy(first.GrantID) != grant.ByRefreshReuse {
		t.Error("the grant is active after a reuse at 11 s")
	}

	first = r.tokens(c)
	if second, err = r.Token(t.Context(), c.refreshing(first.RefreshToken)); err != nil {
		t.Fatal(err)
	}
	r.issued(c.refreshing(second.RefreshToken))
	r.token("within 10 s, but the successor was used", c.refreshing(first.RefreshToken), "invalid_grant")
	if by := r.revokedBy(first.GrantID); by != grant.ByRefreshReuse {
		t.Errorf("revoked by %q", by)
	}
}

// TestStrictRotation checks that with a retry window of 0 an immediate reuse revokes the grant.
func TestStrictRotation(t *testing.T) {
	t.Parallel()
	strict := time.Duration(0)
	r := newRigWith(t, &strict)
	c := r.app(grant.Public)
	first := r.tokens(c)
	r.issued(c.refreshing(first.RefreshToken))
	r.token("again", c.refreshing(first.RefreshToken), "invalid_grant")
	if r.lives(first.AccessToken) {
		t.Error("the grant is active")
	}
}

// TestServerKeyRotation checks that a server with a new key can repeat the answer to a retried refresh only if it also has the
// old key. Without the old key, it must refuse the retry, and the grant must stay active.
func TestServerKeyRotation(t *testing.T) {
	t.Parallel()
	const newKey = "another-server-key-of-32-letters"
	r := newRig(t)
	c := r.app(grant.Public)
	store := postgres.NewGrants(r.rw, readTimeout)
	first := r.tokens(c)
	second := r.issued(c.refreshing(first.RefreshToken))
	_, err := r.server(store, nil, newKey).Token(t.Context(), c.refreshing(first.RefreshToken))
	if want(t, "without the old key", err, "invalid_grant"); !r.lives(second.AccessToken) {
		t.Error("the grant was revoked")
	}
	both := r.server(store, nil, newKey, serverKey)
	again, err := both.Token(t.Context(), c.refreshing(first.RefreshToken))
	if err != nil || again.RefreshToken != second.RefreshToken {
		t.Errorf("%+v, %v", again, err)
	}
	third, err := both.Token(t.Context(), c.refreshing(second.RefreshToken))
	if err != nil {
		t.Fatal(err)
	}
	if again, err = r.server(store, nil, newKey).Token(t.Context(), c.refreshing(second.RefreshToken)); err != nil || again.RefreshToken != third.RefreshToken {
		t.Errorf("the first key did not derive the token: %+v, %v", again, err)
	}
	for name, s := range map[string]grant.Settings{
		"no key":    {Issuer: issuer},
		"short key": {Issuer: issuer, SuccessorKeys: [][]byte{[]byte(serverKey), []byte("short")}},
		"no issuer": {SuccessorKeys: [][]byte{[]byte(serverKey)}},
	} {
		if _, err := grant.New(grant.Deps{Settings: s}); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// TestConcurrentRefreshes (S14) checks that 20 and 50 concurrent refreshes at two servers create one successor.
func TestConcurrentRefreshes(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := r.app(grant.Public)
	other := r.instance(nil)
	token := r.tokens(c).RefreshToken
	for _, n := range []int{20, 50} {
		got := make([]grant.Issued, n)
		errs := codes(atOnce(t.Context(), n, func(ctx context.Context, i int) (err error) {
			s := r.Service
			if i%2 == 1 {
				s = other
			}
			got[i], err = s.Token(ctx, c.refreshing(token))
			return err
		}))
		next := map[string]bool{}
		for _, i := range got {
			next[i.RefreshToken] = true
		}
		if errs["ok"] != n || len(next) != 1 {
			t.Fatalf("%d at once: %v, %d successors", n, errs, len(next))
		}
		token = got[0].RefreshToken
	}
	if n := r.count("SELECT count(*) FROM hub.refresh_tokens WHERE used_at IS NULL"); n != 1 {
		t.Errorf("%d unused refresh tokens, want 1", n)
	}
}

// TestConcurrentStrictRefreshes checks that with a retry window of 0 no token is active after concurrent refreshes.
func TestConcurrentStrictRefreshes(t *testing.T) {
	t.Parallel()
	strict := time.Duration(0)
	r := newRigWith(t, &strict)
	c := r.app(grant.Public)
	first := r.tokens(c)
	won := make([]grant.Issued, 50)
	got := codes(atOnce(t.Context(), 50, func(ctx context.Context, i int) (err error) {
		won[i], err = r.Token(ctx, c.refreshing(first.RefreshToken))
		return err
	}))
	if got["ok"] != 1 || got["invalid_grant"] != 49 {
		t.Errorf("%v", got)
	}
	for _, w := range won {
		if w.AccessToken != "" && r.lives(w.AccessToken) {
			t.Error("the token of the successful request is active")
		}
	}
}

// TestRefreshIsBoundToItsClient (S15) checks that another client cannot use a refresh token, and that its attempt does
// not revoke the grant.
func TestRefreshIsBoundToItsClient(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c, public, conf := r.app(grant.Public), r.app(grant.Public), r.app(grant.Confidential)
	first := r.tokens(c)
	second := r.issued(c.refreshing(first.RefreshToken))
	r.clock.Advance(time.Minute)
	for _, stranger := range []client{public, conf} {
		for _, token := range []string{first.RefreshToken, second.RefreshToken} {
			r.token("another client", stranger.refreshing(token), "invalid_grant")
		}
	}
	if !r.lives(second.AccessToken) {
		t.Error("another client revoked the grant")
	}
	r.token("after the attempt of another client", c.refreshing(second.RefreshToken), "")
}

// TestLifetimes (S15) checks that a grant ends 14 or 180 days after the consent, regardless of refreshes. A refresh token must
// expire after 14 or 30 days without use.
func TestLifetimes(t *testing.T) {
	t.Parallel()
	for kind, life := range map[grant.Kind]struct{ idle, absolute int }{grant.Public: {14, 14}, grant.Confidential: {30, 180}} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			const day = 24 * time.Hour
			r := newRig(t)
			c := r.app(kind)
			got, unused := r.tokens(c), r.tokens(c)
			ends := noon.Add(time.Duration(life.absolute) * day)
			if l := r.listed(got.GrantID); !l.ExpiresAt.Equal(ends) {
				t.Errorf("expires at %v", l.ExpiresAt)
			}
			step := time.Duration(life.idle)*day - time.Second
			for at := noon.Add(step); at.Before(ends); at = at.Add(step) {
				r.clock.Set(at)
				next, err := r.Token(t.Context(), c.refreshing(got.RefreshToken))
				if err != nil {
					t.Fatalf("at %v: %v", at, err)
				}
				if left := ends.Sub(at); next.ExpiresIn != min(left, 15*time.Minute) {
					t.Errorf("an access token of %v with %v left", next.ExpiresIn, left)
				}
				got = next
				if at.Equal(noon.Add(step)) {
					r.clock.Set(noon.Add(time.Duration(life.idle) * day))
					r.token("unused", c.refreshing(unused.RefreshToken), "invalid_grant")
					r.clock.Set(at)
				}
			}
			r.clock.Set(ends.Add(-time.Second))
			if got, err := r.Token(t.Context(), c.refreshing(got.RefreshToken)); err != nil || !r.lives(got.AccessToken) {
				t.Errorf("a second before the end: %v", err)
			} else if r.clock.Set(ends); r.lives(got.AccessToken) {
				t.Error("an access token expires after its grant")
			}
			r.token("after the end", c.refreshing(got.RefreshToken), "invalid_grant")
		})
	}
}

func TestAccessTokenExpires(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	got := r.tokens(r.app(grant.Public))
	r.clock.Advance(15*time.Minute - time.Millisecond)
	if !r.lives(got.AccessToken) {
		t.Error("the token expired before 15 minutes")
	}
	r.clock.Advance(time.Millisecond)
	if r.lives(got.AccessToken) {
		t.Error("the token is valid after 15 minutes")
	}
}

// TestSecondConsent checks that a consent with prompt=consent renews the existing grant if its scopes and its resource are the
// same. Every other consent must create a new grant.
func TestSecondConsent(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := r.app(grant.Public)
	first := r.tokens(c)
	second := r.tokens(c)
	if first.GrantID == second.GrantID || !r.lives(first.AccessToken) {
		t.Error("a second consent did not create a second grant")
	}
	r.clock.Advance(10 * time.Minute)
	for name, pairs := range map[string][]string{
		"fewer scopes":     {"scope", "profile:read", "prompt", "consent"},
		"another resource": {"resource", mcp, "prompt", "consent"},
	} {
		if got := r.tokens(c, pairs...); got.GrantID == first.GrantID || got.GrantID == second.GrantID {
			t.Errorf("%s: the same grant", name)
		}
	}
	third := r.tokens(c, "prompt", "consent")
	if third.GrantID != second.GrantID {
		t.Errorf("prompt=consent made grant %s", third.GrantID)
	}
	if l := r.listed(third.GrantID); !l.ExpiresAt.Equal(noon.Add(10*time.Minute + 14*24*time.Hour)) {
		t.Errorf("expires at %v", l.ExpiresAt)
	}
	if !r.lives(second.AccessToken) || !r.lives(third.AccessToken) {
		t.Error("the renewal revoked a token")
	}
	code := r.code(c.query("scope", c.Scopes.String(), "prompt", "consent"))
	want(t, "revoke", r.RevokeGrant(t.Context(), r.user.UserID, third.GrantID, grant.ByUser), "")
	r.token("the grant was revoked before its renewal", c.redemption(code), "invalid_grant")
}
