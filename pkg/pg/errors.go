package pg

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/puddle/v2"

	"github.com/signalcast/signalcast/pkg/apperr"
)

// ErrUnavailable is the fault of a statement that Postgres rejected for a temporary reason, did not answer, or answered
// too late.
var ErrUnavailable = apperr.New(apperr.Unavailable, "db_unavailable", "the database is unavailable; retry in 1 s").
	With("retryAfterMs", 1000)

// Fault returns ErrUnavailable for an error of the driver after which a retry can succeed. It returns all other errors
// unchanged: faults, context.Canceled, pgx.ErrNoRows, and errors of statements. The HTTP layer answers errors of
// statements as internal errors.
func Fault(err error) error {
	var known *apperr.Fault
	switch {
	case err == nil, errors.Is(err, context.Canceled), errors.Is(err, pgx.ErrNoRows), errors.As(err, &known):
		return err
	case unavailable(err):
		return ErrUnavailable.Wrap(err)
	default:
		return err
	}
}

// IsUnique reports whether err is a violation of the named unique constraint.
func IsUnique(err error, constraint string) bool {
	var pgErr *pgconn.PgError
	return errors.As(err, &pgErr) && pgErr.Code == "23505" && pgErr.ConstraintName == constraint
}

// unavailable reports whether the operation that failed with err can succeed if it is retried.
func unavailable(err error) bool {
	var pgErr *pgconn.PgError
	var connectErr *pgconn.ConnectError
	if errors.As(err, &connectErr) {
		return true
	}
	if errors.As(err, &pgErr) {
		return unavailableCode(pgErr.Code)
	}
	return lost(err) || pgconn.SafeToRetry(err)
}

func unavailableCode(code string) bool {
	switch code {
	case "57P01", "57P02", "57P03", "57P04", "57P05", // shutdown, crash, starting up, dropped, idle timeout
		"57014",                   // statement_timeout
		"55P03",                   // lock_timeout
		"40001", "40P01", "25P03", // serialization, deadlock, idle in transaction
		"25006": // read-only: after a failover the connection is to a standby
		return true
	}
	// Class 08 is connection exceptions. Class 53 is insufficient resources (connections, memory, disk).
	return strings.HasPrefix(code, "08") || strings.HasPrefix(code, "53")
}

// lost reports whether err means that the connection failed or was closed, or that the response of Postgres arrived too late.
func lost(err error) bool {
	var netErr net.Error
	return errors.As(err, &netErr) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed) || errors.Is(err, context.DeadlineExceeded) ||
		errors.Is(err, context.Canceled) || errors.Is(err, puddle.ErrClosedPool) || pgconn.Timeout(err)
}
