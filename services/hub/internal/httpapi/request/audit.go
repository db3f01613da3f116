package request

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"github.com/labstack/echo/v4"
	"google.golang.org/grpc"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/telemetry"
	"github.com/signalcast/signalcast/services/hub/internal/audit"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
)

// AdminAction describes an action of an administrator for the audit log.
type AdminAction struct {
	Target string // id of the object that the action changes or reads; empty: none
	Detail any    // stored as JSON; must not contain a secret
}

// resultTimeout is the time limit for writing the result entry. The entry is also written if the client has disconnected.
const resultTimeout = 2 * time.Second

// Audit writes the audit log. Each action of an administrator or of the scheduler has two entries: one before the action, and one
// with its result.
type Audit struct {
	Entries audit.Store
	Log     *slog.Logger
	Now     func() time.Time
	NewID   func() string
}

// Do writes the first audit entry of the action, calls the function do, and writes the entry with the result. It returns the
// error of that function. If the first entry cannot be written, Do returns the error of the store and does not call the function.
// If the second entry cannot be written, it logs the error.
func (s Audit) Do(c echo.Context, a AdminAction, do func(context.Context) error) error {
	ctx := c.Request().Context()
	detail, err := json.Marshal(a.Detail)
	if err != nil {
		return err
	}
	if a.Detail == nil {
		detail = []byte("{}")
	}
	entry := audit.Entry{
		ID: s.NewID(), At: s.Now(), Stage: audit.Asked, Actor: ActorName(Caller(c).Kind),
		Action: c.Request().Method + " " + c.Path(), Target: a.Target,
		RequestID: telemetry.RequestID(ctx), IP: c.RealIP(), Detail: detail,
	}
	if err := s.Entries.Add(ctx, entry); err != nil {
		return err
	}
	done := do(ctx)
	entry.ID, entry.At, entry.Stage, entry.Code = s.NewID(), s.Now(), audit.Answered, "ok"
	if done != nil {
		entry.Code = apperr.Of(done).Code
	}
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), resultTimeout)
	defer cancel()
	if err := s.Entries.Add(after, entry); err != nil {
		s.Log.ErrorContext(after, "audit entry not written", "action", entry.Action, "target", entry.Target,
			"request_id", entry.RequestID, "code", entry.Code, "error", err)
	}
	return done
}

// Audited is like Audit.Do, but also returns the result of the function do.
func Audited[R any](c echo.Context, s Audit, a AdminAction, do func(context.Context) (R, error)) (result R, err error) {
	err = s.Do(c, a, func(ctx context.Context) (err error) {
		result, err = do(ctx)
		return err
	})
	return result, err
}

// AuditedCall sends the request q with a gRPC method, as an audited action, and returns the response.
func AuditedCall[Q, R any](
	c echo.Context, s Audit, a AdminAction, call func(context.Context, Q, ...grpc.CallOption) (R, error), q Q,
) (R, error) {
	return Audited(c, s, a, func(ctx context.Context) (R, error) { return call(ctx, q) })
}

// ActorName returns the name of the caller in the audit log: cron for the scheduler, otherwise admin.
func ActorName(k caller.Kind) string {
	if k == caller.Cron {
		return "cron"
	}
	return "admin"
}
