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

	"github.com/signalcast/signalcast/pkg/fault"
)

// ErrUnavailable is what every lost, refused or late answer of Postgres becomes.
var ErrUnavailable = fault.New(fault.Unavailable, "db_unavailable", "The database cannot be reached, try again shortly.").
	With("retryAfterMs", 1000)

// Fault turns an error of the driver into the fault a caller may see. Faults,
// context.Canceled and pgx.ErrNoRows pass through; an error it does not know is
// returned as it is and becomes internal at the edge.
func Fault(err error) error {
	var known *fault.Fault
	switch {
	case err == nil, errors.Is(err, context.Canceled), errors.Is(err, pgx.ErrNoRows), errors.As(err, &known):
		return err
	case unavailable(err):
		return ErrUnavailable.Wrap(err)
	default:
		return err
	}
}

// InDoubt tells whether the statement or commit behind a failed call may have
// taken effect all the same: the caller must read again before it answers.
func InDoubt(err error) bool {
	var done *settled
	var refused *pgconn.ConnectError
	if err == nil || errors.As(err, &done) || errors.As(err, &refused) || pgconn.SafeToRetry(err) {
		return false
	}
	var pgErr *pgconn.PgError
	if errors.As(err, &pgErr) {
		// An ordinary error rolled the statement back; a fatal one cut the
		// connection and says nothing about a commit on its way.
		return pgErr.SeverityUnlocalized == "FATAL" || pgErr.SeverityUnlocalized == "PANIC"
	}
	return lost(err)
}

// IsUnique tells whether err is a violation of the named unique constraint.
func IsUnique(err error, constraint string) bool {
	var pgErr *pgconn.PgError
	return errors.As(err, &pgErr) && pgErr.Code == "23505" && pgErr.ConstraintName == constraint
}

// settled marks an error after which nothing was committed for certain.
type settled struct{ err error }

func (s *settled) Error() string { return s.err.Error() }
func (s *settled) Unwrap() error { return s.err }

// unavailable tells whether trying again later can help.
func unavailable(err error) bool {
	var pgErr *pgconn.PgError
	var refused *pgconn.ConnectError
	if errors.As(err, &refused) {
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
		"25006": // read-only: a failover has left us on the standby
		return true
	}
	// 08 connection, 53 out of connections, memory or disk
	return strings.HasPrefix(code, "08") || strings.HasPrefix(code, "53")
}

// lost tells whether the answer never came.
func lost(err error) bool {
	var netErr net.Error
	return errors.As(err, &netErr) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed) || errors.Is(err, context.DeadlineExceeded) ||
		errors.Is(err, context.Canceled) || errors.Is(err, puddle.ErrClosedPool) || pgconn.Timeout(err)
}
