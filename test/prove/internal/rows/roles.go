package rows

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/signalcast/signalcast/pkg/localdb"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

// attempt is one statement that must be refused.
type attempt struct {
	what, role string // role: api_rw, hub_rw, or the owner api_migrator
	sql        string
	args       []any
}

// as connects as a role; the owner cannot log in, so the administrator becomes it.
func as(ctx context.Context, env *frame.Env, role string) (*pgx.Conn, error) {
	if role == "api_migrator" {
		conn, err := pgx.Connect(ctx, env.Stack.DatabaseURL)
		if err == nil {
			_, err = conn.Exec(ctx, "SET ROLE api_migrator; SET search_path = api")
		}
		return conn, err
	}
	password, err := env.Stack.Secret("databasePassword")
	if err != nil {
		return nil, err
	}
	url, err := localdb.WithUser(env.Stack.DatabaseURL, role, password)
	if err != nil {
		return nil, err
	}
	return pgx.Connect(ctx, url)
}

// refusals are the reasons for which the database may refuse an attempt: no right,
// or a row that would stand twice. Anything else is a mistake of ours.
var refusals = map[string]bool{"42501": true, "23505": true}

// refused counts the attempts that failed, each on a connection of its own.
func refused(ctx context.Context, env *frame.Env, seen *frame.Seen, list []attempt) (n int, err error) {
	for _, a := range list {
		conn, err := as(ctx, env, a.role)
		if err != nil {
			return n, fmt.Errorf("connect as %s: %w", a.role, err)
		}
		tag, err := conn.Exec(ctx, a.sql, a.args...)
		_ = conn.Close(ctx)
		var no *pgconn.PgError
		switch {
		case err == nil:
			seen.Wrong("%s could %s (%s)", a.role, a.what, tag)
		case errors.As(err, &no) && refusals[no.Code]:
			n++
		default:
			return n, fmt.Errorf("%s: %s: %w", a.role, a.what, err)
		}
	}
	return n, nil
}

// digest is a hash over every row of a table.
func digest(ctx context.Context, env *frame.Env, table string) (string, error) {
	return env.Text(ctx, "SELECT coalesce(md5(string_agg(md5(t::text), '' ORDER BY md5(t::text))), '') FROM api."+table+" t")
}

// digests is digest of several tables.
func digests(ctx context.Context, env *frame.Env, tables ...string) (map[string]string, error) {
	all := map[string]string{}
	for _, t := range tables {
		d, err := digest(ctx, env, t)
		if err != nil {
			return nil, err
		}
		all[t] = d
	}
	return all, nil
}
