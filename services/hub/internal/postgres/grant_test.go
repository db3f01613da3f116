package postgres_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/hub/internal/grant"
	"github.com/signalcast/signalcast/services/hub/internal/postgres"
)

// signIn is a store of grants in which an app and one grant are stored.
type signIn struct {
	*postgres.Grants
	db    testkit.Database
	pool  *pgxpool.Pool
	app   grant.App
	grant grant.Grant
}

var signInAt = time.Date(2026, 9, 18, 12, 0, 0, 0, time.UTC)

func newSignIn(t *testing.T) signIn {
	t.Helper()
	db := testkit.Postgres(t, postgres.Schema(""))
	s := signIn{db: db, pool: testkit.Pool(t, db.URL("hub_rw"))}
	s.Grants = postgres.NewGrants(s.pool, 30*time.Second)
	secret := grant.Hash{1, 2, 3}
	s.app = grant.App{
		ID: newID(), OwnerID: newID(), Kind: grant.Confidential, Name: "App", RedirectURIs: []string{"https://app.example/cb"},
		Scopes: grant.Scopes{grant.ProfileRead, grant.OfflineAccess}, Secret: &secret, CreatedAt: signInAt,
	}
	if err := s.AddApp(t.Context(), s.app, 20); err != nil {
		t.Fatal(err)
	}
	s.grant = grant.Grant{
		ID: newID(), UserID: newID(), AppID: s.app.ID, Scopes: s.app.Scopes, CreatedAt: signInAt, ExpiresAt: signInAt.Add(time.Hour),
	}
	code := grant.Code{
		Hash: grant.Hash{9}, AppID: s.app.ID, UserID: s.grant.UserID, Scopes: s.app.Scopes, Consented: true,
		CreatedAt: signInAt, ExpiresAt: signInAt.Add(time.Minute),
	}
	if err := s.AddCode(t.Context(), code); err != nil {
		t.Fatal(err)
	}
	err := s.Redeem(t.Context(), code.Hash, signInAt, func(st grant.CodeState) grant.Outcome {
		if st.App.ID != s.app.ID || st.Grant != nil || st.Code.UserID != s.grant.UserID || !st.Code.ExpiresAt.Equal(code.ExpiresAt) {
			t.Errorf("%+v", st)
		}
		return grant.Outcome{UseUp: true, NewGrant: &s.grant, GrantID: s.grant.ID, Access: s.token(1), Refresh: s.token(2)}
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func newID() string { return uuid.Must(uuid.NewV7()).String() }

func (s signIn) token(n byte) *grant.Token {
	return &grant.Token{Hash: grant.Hash{n}, GrantID: s.grant.ID, Scopes: s.app.Scopes, CreatedAt: signInAt, ExpiresAt: signInAt.Add(time.Hour)}
}

// TestAppIsStored checks that a stored app is read unchanged, including nulls and empty lists.
func TestAppIsStored(t *testing.T) {
	t.Parallel()
	s := newSignIn(t)
	got, err := s.FindApp(t.Context(), s.app.ID)
	if err != nil || got == nil || *got.Secret != *s.app.Secret || got.OldSecret != nil || !got.OldSecretUntil.IsZero() || !got.DisabledAt.IsZero() ||
		got.CreatedAt != signInAt || got.Scopes.String() != s.app.Scopes.String() || len(got.AllowedResources) != 0 {
		t.Fatalf("%+v, %v", got, err)
	}
	if none, err := s.FindApp(t.Context(), newID()); none != nil || err != nil {
		t.Errorf("%+v, %v", none, err)
	}
	if g, err := s.GetGrant(t.Context(), s.grant.ID); err != nil || g == nil || g.UserID != s.grant.UserID || !g.LastUsedAt.IsZero() || g.RevokedBy != "" {
		t.Errorf("%+v, %v", g, err)
	}
	if none, err := s.GetGrant(t.Context(), newID()); none != nil || err != nil {
		t.Errorf("%+v, %v", none, err)
	}
}

// TestTurnIsAtomic checks that a turn that fails in the database stores nothing, and that a turn with an error of its own stores
// its changes.
func TestTurnIsAtomic(t *testing.T) {
	t.Parallel()
	s := newSignIn(t)
	count := func(sql string) (n int) {
		t.Helper()
		if err := s.pool.QueryRow(t.Context(), sql).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	next := grant.Hash{3}
	err := s.Refresh(t.Context(), grant.Hash{2}, signInAt, func(grant.RefreshState) grant.Outcome {
		return grant.Outcome{GrantID: s.grant.ID, Rotate: &next, Access: s.token(1), Refresh: s.token(3)} // token 1 exists already
	})
	if err == nil || count("SELECT count(*) FROM refresh_tokens WHERE used_at IS NULL") != 1 || count("SELECT count(*) FROM refresh_tokens") != 1 {
		t.Errorf("a failed turn stored changes: %v", err)
	}
	refusal := errors.New("no")
	err = s.Refresh(t.Context(), grant.Hash{2}, signInAt, func(st grant.RefreshState) grant.Outcome {
		if st.Successor != nil || st.Grant.ID != s.grant.ID || st.App.Kind != grant.Confidential {
			t.Errorf("%+v", st)
		}
		return grant.Outcome{Revoke: grant.ByRefreshReuse, GrantID: s.grant.ID, Err: refusal}
	})
	if !errors.Is(err, refusal) || count("SELECT count(*) FROM grants WHERE revoked_by = 'refresh_reuse'") != 1 {
		t.Errorf("a turn with a refusal did not revoke the grant: %v", err)
	}
	for name, ask := range map[string]func(grant.Hash) error{
		"code": func(h grant.Hash) error {
			return s.Redeem(t.Context(), h, signInAt, func(grant.CodeState) grant.Outcome {
				t.Error("the rule was called for an unknown code")
				return grant.Outcome{}
			})
		},
		"token": func(h grant.Hash) error {
			return s.Refresh(t.Context(), h, signInAt, func(grant.RefreshState) grant.Outcome {
				t.Error("the rule was called for an unknown token")
				return grant.Outcome{}
			})
		},
	} {
		if err := ask(grant.Hash{77}); !errors.Is(err, grant.ErrInvalidGrant) {
			t.Errorf("unknown %s: %v", name, err)
		}
	}
}

// TestGrantEndsAfterItsMessages checks that the revocation time of a grant's signers is later than each stored message, even if
// the clock of another hub is ahead.
func TestGrantEndsAfterItsMessages(t *testing.T) {
	t.Parallel()
	s := newSignIn(t)
	key, ahead := strings.Repeat("ab", 32), signInAt.Add(2*time.Second)
	for _, step := range []struct {
		sql  string
		args []any
	}{
		{`INSERT INTO signers (public_key, denpa_id, app_id, grant_id, scopes, label, created_at)
			VALUES ($1, $2, $3, $4, '{signal:create}', '', $5)`, []any{key, s.grant.UserID, s.app.ID, s.grant.ID, signInAt}},
		{
			`INSERT INTO messages (id, type, denpa_id, public_key, nonce, body, attested, status, attempt, received_at, tried_at)
			VALUES ($1, 'signal.create', $2, $3, 'nonce-of-16-chars', '{}', false, 'pending', $4, $5, $5)`,
			[]any{"msg_" + key, s.grant.UserID, key, newID(), ahead},
		},
	} {
		if _, err := s.pool.Exec(t.Context(), step.sql, step.args...); err != nil {
			t.Fatal(err)
		}
	}
	if found, err := s.RevokeGrant(t.Context(), s.grant.UserID, s.grant.ID, grant.ByUser, signInAt); !found || err != nil {
		t.Fatal(found, err)
	}
	var after bool
	if err := s.pool.QueryRow(t.Context(), "SELECT revoked_at > $2 FROM signers WHERE public_key = $1", key, ahead).Scan(&after); err != nil || !after {
		t.Errorf("the message is later than the revocation of its signer: %v", err)
	}
}

// TestGrantsCannotBeForged checks that the role hub_rw cannot delete grants, undo revocations or store plaintext
// secrets.
func TestGrantsCannotBeForged(t *testing.T) {
	t.Parallel()
	s := newSignIn(t)
	for _, sql := range []string{"DELETE FROM grants", "DELETE FROM apps", "TRUNCATE grants CASCADE", "DROP TABLE apps"} {
		refused(t, s.db.URL("hub_rw"), sql)
	}
	for _, sql := range []string{
		"UPDATE access_tokens SET hash = 'dat_plaintext'",
		"UPDATE refresh_tokens SET hash = 'drt_plaintext'",
		"UPDATE apps SET secret_hash = 'das_plaintext'",
		"UPDATE apps SET secret_hash = NULL",
		"UPDATE auth_codes SET hash = 'dac_plaintext'",
		"UPDATE grants SET revoked_at = now()",
		"UPDATE grants SET revoked_at = now(), revoked_by = 'unknown'",
		"UPDATE refresh_tokens SET used_at = now()",
	} {
		if _, err := s.pool.Exec(t.Context(), sql); err == nil || !strings.Contains(err.Error(), "23514") {
			t.Errorf("%s: %v", sql, err)
		}
	}
}
