package localdb

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// startOnce starts the server and checks that it serves this data directory. After a crash the server accepts
// connections only when its recovery is complete. The timeout is ten minutes, because a server that is killed during
// its recovery has to start the recovery again. Errors: errPortTaken, errStillRunning, or the reason why the server did
// not start.
func (p *Postgres) startOnce(ctx context.Context) error {
	cmd := p.cluster.command(p.port, p.cfg)
	err := p.startReady(ctx, cmd, syscall.SIGINT, 10*time.Minute, func(ctx context.Context) error {
		var dir string
		err := withConn(ctx, p.url, func(ctx context.Context, conn *pgx.Conn) error {
			return conn.QueryRow(ctx, "SHOW data_directory").Scan(&dir)
		})
		if err == nil && !sameDir(dir, p.cluster.data) {
			return errPortTaken
		}
		return err
	})
	switch {
	case err == nil:
		return nil
	case strings.Contains(err.Error(), "could not bind"):
		return errPortTaken
	case strings.Contains(err.Error(), "pre-existing shared memory block"):
		return errStillRunning
	}
	return fmt.Errorf("start postgres: %w", err)
}

func sameDir(a, b string) bool {
	realA, errA := filepath.EvalSymlinks(a)
	realB, errB := filepath.EvalSymlinks(b)
	return a == b || (errA == nil && errB == nil && realA == realB)
}

func withConn(ctx context.Context, url string, do func(context.Context, *pgx.Conn) error) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	return do(ctx, conn)
}

// checkServer returns an error if the server is unavailable or older than minPostgres.
func checkServer(ctx context.Context, url string) error {
	return withConn(ctx, url, func(ctx context.Context, conn *pgx.Conn) error {
		var raw string
		if err := conn.QueryRow(ctx, "SHOW server_version_num").Scan(&raw); err != nil {
			return err
		}
		n, err := strconv.Atoi(raw)
		if err != nil {
			return fmt.Errorf("server version %q: %w", raw, err)
		}
		if n/10000 < minPostgres {
			return fmt.Errorf("the server is PostgreSQL %d; at least %d is required", n/10000, minPostgres)
		}
		return nil
	})
}

// EnsureDatabase creates a database with the given name if it does not exist. It returns the URL of the database.
func EnsureDatabase(ctx context.Context, adminURL, name string) (string, error) {
	err := withConn(ctx, adminURL, func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, "CREATE DATABASE "+pgx.Identifier{name}.Sanitize())
		var pgErr *pgconn.PgError
		// Two processes may create the database at the same time. Both codes mean that it exists.
		if errors.As(err, &pgErr) && (pgErr.Code == "42P04" || pgErr.Code == "23505") {
			return nil
		}
		return err
	})
	if err != nil {
		return "", fmt.Errorf("create database %s: %w", name, err)
	}
	return WithDatabase(adminURL, name)
}

// WithDatabase returns rawURL with name as its database. The error does not contain the URL.
func WithDatabase(rawURL, name string) (string, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return "", errors.New("the database URL is invalid")
	}
	u.Path = "/" + name
	return u.String(), nil
}

// WithUser returns rawURL with another user and password. The error does not contain the URL.
func WithUser(rawURL, user, password string) (string, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return "", errors.New("the database URL is invalid")
	}
	u.User = url.UserPassword(user, password)
	return u.String(), nil
}
