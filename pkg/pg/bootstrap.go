package pg

import (
	"context"
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/signalcast/signalcast/pkg/dbtime"
)

func (s Schema) owner() string  { return s.Name + "_migrator" }
func (s Schema) writer() string { return s.Name + "_rw" }

func quote(name string) string { return pgx.Identifier{name}.Sanitize() }

// bootstrap creates the schema s, its owner <Name>_migrator and its writer <Name>_rw if they do not exist, and sets the
// password of the writer. The owner cannot log in. The writer has no rights on tables until a migration grants them.
func bootstrap(ctx context.Context, conn *pgx.Conn, s Schema) error {
	verifier, err := scramVerifier(s.Password)
	if err != nil {
		return err
	}
	owner, writer, schema := quote(s.owner()), quote(s.writer()), quote(s.Name)
	steps := []string{
		createRole(owner + " NOLOGIN"),
		createRole(writer + " LOGIN"),
		// Statements appear in logs and statistics, so they contain the verifier and not the password.
		"ALTER ROLE " + writer + " LOGIN NOCREATEDB NOCREATEROLE NOINHERIT PASSWORD '" + verifier + "'",
		// pg_temp is last, so that a temporary table cannot hide a real one.
		"ALTER ROLE " + writer + " SET search_path = " + schema + ", pg_temp",
		`DO $$ BEGIN IF NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
			GRANT ` + owner + ` TO CURRENT_USER; END IF; END $$`,
		"CREATE SCHEMA IF NOT EXISTS " + schema + " AUTHORIZATION " + owner,
		"REVOKE ALL ON SCHEMA " + schema + " FROM PUBLIC",
		"REVOKE CREATE ON SCHEMA " + schema + " FROM " + writer,
		"GRANT USAGE ON SCHEMA " + schema + " TO " + writer,
		"REVOKE CREATE ON SCHEMA public FROM PUBLIC",
	}
	for _, step := range steps {
		if err := execShared(ctx, conn, step); err != nil {
			return err
		}
	}
	return nil
}

func createRole(definition string) string {
	return `DO $$ BEGIN CREATE ROLE ` + definition + `;
		EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$`
}

// execShared executes a statement and repeats it up to 50 times after a conflict. Roles belong to the whole server, and
// the migrations of two databases on one server do not share a lock.
func execShared(ctx context.Context, conn *pgx.Conn, sql string) error {
	for n := 0; ; n++ {
		_, err := conn.Exec(ctx, sql)
		var pgErr *pgconn.PgError
		if err == nil || n == 50 || !errors.As(err, &pgErr) {
			return err
		}
		switch pgErr.Code {
		case "XX000", "40001", "55P03", "23505": // "tuple concurrently updated" has the code XX000
			_ = dbtime.Sleep(ctx, 10*time.Millisecond)
		default:
			return err
		}
	}
}

// scramVerifier returns the value that Postgres stores for a SCRAM-SHA-256 password (RFC 5803).
func scramVerifier(password string) (string, error) {
	const rounds = 4096
	salt := make([]byte, 16)
	_, _ = rand.Read(salt)
	key, err := pbkdf2.Key(sha256.New, password, salt, rounds, sha256.Size)
	if err != nil {
		return "", fmt.Errorf("derive verifier: %w", err)
	}
	sign := func(text string) []byte {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(text))
		return mac.Sum(nil)
	}
	stored := sha256.Sum256(sign("Client Key"))
	b64 := base64.StdEncoding.EncodeToString
	return fmt.Sprintf("SCRAM-SHA-256$%d:%s$%s:%s", rounds, b64(salt), b64(stored[:]), b64(sign("Server Key"))), nil
}
