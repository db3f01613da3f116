package edge

import (
	"context"
	"encoding/json"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/fault"
	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/services/hub/internal/audit"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
)

// act is what an admin asks for.
type act struct {
	target string
	detail any // shown as JSON; holds no secret
}

// answerTime bounds the second entry, which is written even when the caller
// has left.
const answerTime = 2 * time.Second

// audited writes down that an act was asked for, does it, and writes down how
// it ended. What cannot be written down is not done: db_unavailable.
func (s *server) audited(c echo.Context, a act, do func(context.Context) error) error {
	ctx := c.Request().Context()
	detail, err := json.Marshal(a.detail)
	if err != nil {
		return err
	}
	if a.detail == nil {
		detail = []byte("{}")
	}
	entry := audit.Entry{
		ID: s.NewID(), At: s.Now(), Stage: audit.Asked, Actor: actorName(callerOf(c).Kind),
		Action: c.Request().Method + " " + c.Path(), Target: a.target,
		RequestID: web.RequestID(ctx), IP: c.RealIP(), Detail: detail,
	}
	if err := s.Audit.Add(ctx, entry); err != nil {
		return err
	}
	done := do(ctx)
	entry.ID, entry.At, entry.Stage, entry.Code = s.NewID(), s.Now(), audit.Answered, "ok"
	if done != nil {
		entry.Code = fault.Of(done).Code
	}
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), answerTime)
	defer cancel()
	if err := s.Audit.Add(after, entry); err != nil {
		s.Log.ErrorContext(after, "audit entry lost", "action", entry.Action, "target", entry.Target,
			"request_id", entry.RequestID, "code", entry.Code, "error", err)
	}
	return done
}

func actorName(k caller.Kind) string {
	if k == caller.Cron {
		return "cron"
	}
	return "admin"
}
