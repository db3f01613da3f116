package grant_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/hub/internal/grant"
)

// signer registers a signing key under a grant. The key repeats pair, a byte of two hexadecimal digits.
func (r *rig) signer(pair string, c client, grantID string) {
	r.t.Helper()
	if err := r.addSigner(r.t.Context(), strings.Repeat(pair, 32), c, grantID); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) addSigner(ctx context.Context, key string, c client, grantID string) error {
	_, err := r.rw.Exec(ctx, `INSERT INTO signers (public_key, denpa_id, app_id, grant_id, scopes, label, created_at)
		VALUES ($1, $2, $3, $4, '{signal:create}', '', $5)`, key, r.user.UserID, c.ID, grantID, noon)
	return err
}

func TestListOfGrants(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := r.app(grant.Public)
	logo := "https://example.com/logo.png"
	r.changed(c, grant.AppChange{LogoURL: &logo})
	first := r.tokens(c)
	r.clock.Advance(time.Minute)
	second := r.tokens(c, "resource", mcp, "scope", "profile:read")
	r.signer("aa", c, first.GrantID)
	r.signer("bb", c, first.GrantID)
	if _, err := r.admin.Exec(t.Context(), "UPDATE hub.signers SET revoked_at = now(), revoked_by = 'user' WHERE public_key LIKE 'bb%'"); err != nil {
		t.Fatal(err)
	}
	want(t, "revoke", r.RevokeGrant(t.Context(), r.user.UserID, second.GrantID, grant.ByOwner), "")
	list, err := r.ListGrants(t.Context(), r.user.UserID)
	if err != nil || len(list) != 2 || list[0].ID != first.GrantID {
		t.Fatalf("the active grant is not the first: %+v, %v", list, err)
	}
	a, b := list[0], list[1]
	if a.App.ID != c.ID || a.App.Name != c.Name || a.App.LogoURL != logo || a.UserID != r.user.UserID || a.Scopes.String() != c.Scopes.String() || a.Resource != "" ||
		!a.CreatedAt.Equal(noon) || !a.RevokedAt.IsZero() || len(a.Signers) != 1 || a.Signers[0] != strings.Repeat("aa", 32) {
		t.Errorf("%+v", a)
	}
	if b.Resource != mcp || b.Scopes.String() != "profile:read" || !b.RevokedAt.Equal(noon.Add(time.Minute)) || b.RevokedBy != grant.ByOwner || len(b.Signers) != 0 {
		t.Errorf("%+v", b)
	}
	if list, err = r.ListGrants(t.Context(), newUser()); err != nil || len(list) != 0 {
		t.Errorf("another user sees %+v, %v", list, err)
	}
	third := r.tokens(c)
	p, err := r.Authenticate(t.Context(), first.AccessToken, issuer)
	if err != nil {
		t.Fatal(err)
	}
	if list, err = r.OwnGrant(t.Context(), p); err != nil || len(list) != 1 || list[0].ID != first.GrantID {
		t.Errorf("an app token sees %+v, %v", list, err)
	}
	want(t, "another grant of the same app", r.RevokeOwnGrant(t.Context(), p, third.GrantID), "not_found")
	want(t, "its own", r.RevokeOwnGrant(t.Context(), p, first.GrantID), "")
	if r.revokedBy(first.GrantID) != grant.ByApp || !r.lives(third.AccessToken) {
		t.Error("the app token did not revoke exactly its grant")
	}
}

func TestRevokingAGrant(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := r.app(grant.Public)
	got := r.tokens(c)
	for _, id := range []string{"", "x", newUser()} {
		want(t, id, r.RevokeGrant(t.Context(), r.user.UserID, id, grant.ByUser), "not_found")
		if live, err := r.Live(t.Context(), id); live || err != nil {
			t.Errorf("%q: %v, %v", id, live, err)
		}
	}
	want(t, "another user", r.RevokeGrant(t.Context(), newUser(), got.GrantID, grant.ByUser), "not_found")
	if live, err := r.Live(t.Context(), got.GrantID); !live || err != nil || !r.lives(got.AccessToken) {
		t.Fatalf("another user revoked the grant: %v", err)
	}
	for range 2 {
		want(t, "its user", r.RevokeGrant(t.Context(), r.user.UserID, got.GrantID, grant.ByUser), "")
		r.clock.Advance(time.Second)
		want(t, "again", r.RevokeGrant(t.Context(), r.user.UserID, got.GrantID, grant.ByOwner), "")
	}
	if live, err := r.Live(t.Context(), got.GrantID); live || err != nil {
		t.Errorf("%v, %v", live, err)
	}
	if l := r.listed(got.GrantID); !l.RevokedAt.Equal(noon) || l.RevokedBy != grant.ByUser {
		t.Errorf("%+v", l)
	}
	other := r.tokens(c)
	r.clock.Advance(14 * 24 * time.Hour)
	if live, err := r.Live(t.Context(), other.GrantID); live || err != nil {
		t.Errorf("expired: %v, %v", live, err)
	}
}

// TestLastUsed checks that the last use of a grant is written at most once a minute, regardless of the number of uses.
func TestLastUsed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	got := r.tokens(r.app(grant.Public))
	used := func() time.Time { return r.listed(got.GrantID).LastUsedAt }
	if !used().IsZero() {
		t.Errorf("used before it was: %v", used())
	}
	for _, step := range []struct{ at, shown time.Duration }{
		{time.Second, time.Second},
		{2 * time.Second, time.Second},
		{60 * time.Second, time.Second},
		{61 * time.Second, 61 * time.Second},
		{120 * time.Second, 61 * time.Second},
		{5 * time.Minute, 5 * time.Minute},
	} {
		r.clock.Set(noon.Add(step.at))
		errs := codes(atOnce(t.Context(), 50, func(ctx context.Context, _ int) error {
			_, err := r.Authenticate(ctx, got.AccessToken, issuer)
			return err
		}))
		if errs["ok"] != 50 || !used().Equal(noon.Add(step.shown)) {
			t.Errorf("at %v: %v, used at %v", step.at, errs, used().Sub(noon))
		}
	}
	row := "SELECT xmin::text::bigint FROM hub.grants WHERE id = $1"
	before := r.count(row, got.GrantID)
	if !r.lives(got.AccessToken) || r.count(row, got.GrantID) != before {
		t.Error("a second use within a minute wrote the row")
	}
	r.clock.Advance(time.Minute)
	if !r.lives(got.AccessToken) || r.count(row, got.GrantID) == before {
		t.Error("a use after a minute did not write the row, so the check above detects nothing")
	}
}

// TestUseDoesNotWait checks that a token is authenticated without waiting for a lock on its grant.
func TestUseDoesNotWait(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	got := r.tokens(r.app(grant.Public))
	tx, err := r.admin.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }()
	if _, err := tx.Exec(t.Context(), "SELECT FROM hub.grants WHERE id = $1 FOR UPDATE", got.GrantID); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if _, err := r.Authenticate(ctx, got.AccessToken, issuer); err != nil {
		t.Errorf("authentication waited for the lock: %v", err)
	}
}

// TestRevocationEndsSigners checks that the revocation of a grant revokes its signers in the same transaction. No concurrent
// registration may leave an active signer.
func TestRevocationEndsSigners(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := r.app(grant.Public)
	for round := range 5 {
		got := r.tokens(c)
		r.signer(fmt.Sprintf("%02x", round), c, got.GrantID)
		errs := atOnce(t.Context(), 50, func(ctx context.Context, i int) error {
			if i == 20 {
				return r.RevokeGrant(ctx, r.user.UserID, got.GrantID, grant.ByUser)
			}
			return r.addSigner(ctx, fmt.Sprintf("%062x%02x", 1000*(round+1)+i, round), c, got.GrantID)
		})
		if errs[20] != nil {
			t.Fatal(errs[20])
		}
		if n := r.count("SELECT count(*) FROM hub.signers WHERE grant_id = $1 AND revoked_at IS NULL", got.GrantID); n != 0 {
			t.Errorf("%d active signers of a revoked grant, want 0", n)
		}
		if n := r.count("SELECT count(*) FROM hub.signers WHERE grant_id = $1 AND revoked_by = 'grant'", got.GrantID); n == 0 {
			t.Error("no signer was revoked")
		}
		if err := r.addSigner(t.Context(), fmt.Sprintf("%064x", round), c, got.GrantID); err == nil || !strings.Contains(err.Error(), "40001") {
			t.Errorf("registering a signer of a revoked grant: %v, want SQLSTATE 40001", err)
		}
	}
}

// TestOnlyHashesAreStored (S19) checks that the database contains no secret with which a reader could authenticate.
func TestOnlyHashesAreStored(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	conf, public := r.app(grant.Confidential), r.app(grant.Public)
	second, err := r.RenewSecret(t.Context(), r.owner, conf.ID, false)
	if err != nil {
		t.Fatal(err)
	}
	secrets := []string{conf.secret, second, verifier, r.user.Session}
	for _, c := range []client{conf, public} {
		secrets = append(secrets, r.consent(c.query()).Token, r.code(c.query()))
		consent := r.consent(c.query("scope", c.Scopes.String()))
		to, err := r.Decide(t.Context(), r.user, consent.Token, true)
		if err != nil {
			t.Fatal(err)
		}
		code := answer(t, to).Get("code")
		first := r.issued(c.redemption(code))
		next := r.issued(c.refreshing(first.RefreshToken))
		secrets = append(secrets, consent.Token, code, first.AccessToken, first.RefreshToken, next.AccessToken, next.RefreshToken)
	}
	dump := r.dump()
	for _, table := range []string{"apps", "auth_requests", "auth_codes", "grants", "access_tokens", "refresh_tokens"} {
		if len(dump[table]) == 0 {
			t.Errorf("table %s is empty, so the search for secrets there finds nothing", table)
		}
	}
	for table, text := range dump {
		for _, s := range secrets {
			body := s[strings.IndexByte(s, '_')+1:]
			for _, form := range []string{s, body, fmt.Sprintf("%x", s), fmt.Sprintf("%x", body)} {
				if strings.Contains(text, form) {
					t.Errorf("table %s contains %q", table, s)
				}
			}
		}
	}
	if !strings.Contains(dump["apps"], conf.ID) {
		t.Error("the dump lacks the id of an app")
	}
}

// dump returns the rows of each table of the hub: the name of the table maps to the rows as text.
func (r *rig) dump() map[string]string {
	r.t.Helper()
	rows, err := r.admin.Query(r.t.Context(), "SELECT tablename FROM pg_tables WHERE schemaname = 'hub'")
	if err != nil {
		r.t.Fatal(err)
	}
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		r.t.Fatal(err)
	}
	out := make(map[string]string, len(tables))
	for _, table := range tables {
		var text string
		if err := r.admin.QueryRow(r.t.Context(), "SELECT coalesce(string_agg(t::text, E'\n'), '') FROM hub."+pgx.Identifier{table}.Sanitize()+" t").Scan(&text); err != nil {
			r.t.Fatal(err)
		}
		out[table] = text
	}
	return out
}

// TestSweep checks that the sweep deletes expired requests, codes and tokens. It must not delete a redeemed code while a replay
// of the code must be detected.
func TestSweep(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := r.app(grant.Confidential)
	r.consent(c.query())
	r.code(c.query())
	code := r.code(c.query("scope", c.Scopes.String()))
	first := r.issued(c.redemption(code))
	r.issued(c.refreshing(first.RefreshToken))
	sweep := func(at time.Duration, gone int64) {
		t.Helper()
		r.clock.Set(noon.Add(at))
		if n, err := r.Sweep(t.Context()); err != nil || n != gone {
			t.Errorf("at %v: %d rows, %v; want %d", at, n, err, gone)
		}
	}
	sweep(time.Hour, 0)
	sweep(time.Hour+10*time.Minute+time.Second, 2) // the request and the code that was not redeemed
	sweep(2*time.Hour, 2)                          // two access tokens
	r.token("replay", c.redemption(code), "invalid_grant")
	if r.revokedBy(first.GrantID) != grant.ByCodeReplay {
		t.Errorf("a replay after the sweep: %q", r.revokedBy(first.GrantID))
	}
	sweep(3*time.Hour, 1) // the redeemed code
	sweep(31*24*time.Hour, 2)
	if r.listed(first.GrantID).RevokedAt.IsZero() {
		t.Error("the sweep deleted a grant")
	}
}

// TestDatabaseUnavailable checks that without the database each method fails with db_unavailable and no token is accepted.
func TestDatabaseUnavailable(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := r.app(grant.Confidential)
	got := r.tokens(c)
	r.db = testkit.Database{Admin: "postgres://postgres@127.0.0.1:1/none"}
	s := r.instance(nil)
	_, err := s.Authenticate(t.Context(), got.AccessToken, issuer)
	want(t, "authenticate", err, "db_unavailable")
	_, err = s.Token(t.Context(), c.refreshing(got.RefreshToken))
	want(t, "token", err, "db_unavailable")
	a, err := s.Authorize(t.Context(), c.query(), r.user)
	if want(t, "authorize", err, "db_unavailable"); a.Redirect != "" {
		t.Errorf("%+v", a)
	}
	_, _, err = s.Register(t.Context(), r.owner, draft(callback))
	want(t, "register", err, "db_unavailable")
	_, err = s.ListGrants(t.Context(), r.user.UserID)
	want(t, "list", err, "db_unavailable")
	if _, err := s.Sweep(t.Context()); apperr.Of(err).Kind != apperr.Unavailable {
		t.Errorf("sweep: %v", err)
	}
}
