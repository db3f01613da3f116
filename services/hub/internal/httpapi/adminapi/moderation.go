package adminapi

import (
	"context"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/request"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
	"github.com/signalcast/signalcast/services/hub/internal/moderation"
)

// maxTargetID is the maximum length, in characters, of the id of a moderated object.
const maxTargetID = 500

// adminName returns the name of the administrator from the X-Admin-Name header. It returns "admin" if the header is missing or
// not 1 to 64 characters on one line.
func adminName(r *http.Request) string {
	name := strings.TrimSpace(r.Header.Get("X-Admin-Name"))
	if !protocol.IsLine(name, 1, moderation.MaxName) {
		return "admin"
	}
	return name
}

// Moderate handles POST /api/admin/moderation, which hides or shows an object.
func (s *Server) Moderate(c echo.Context, o httpx.Object) error {
	d := moderation.Decision{
		Kind: o.Enum("kind", moderation.Kinds...), ID: o.String("id", maxTargetID, true), By: adminName(c.Request()),
	}
	d.Hidden = o.Enum("action", "hide", "show") == "hide"
	d.Reason = o.Text("reason", moderation.MaxReason, true, true)
	if err := o.Err(); err != nil {
		return err
	}
	d.ID = normalizeID(d.Kind, d.ID)
	a := request.AdminAction{Target: d.Kind + " " + d.ID, Detail: map[string]any{"hidden": d.Hidden, "reason": d.Reason, "by": d.By}}
	d, err := request.Audited(c, s.Audits, a, func(ctx context.Context) (moderation.Decision, error) {
		return s.Moderation.Decide(ctx, d)
	})
	s.Shared.Clear() // also after an error, because the decision may be stored
	return view.OK(c, openapi.ModerationDecided{
		Ok: true, Kind: d.Kind, ID: d.ID, Hidden: d.Hidden, Reason: d.Reason, By: d.By, At: protocol.Stamp(d.At),
	}, err)
}

// Moderated handles GET /api/admin/moderation, which lists the moderation decisions.
func (s *Server) Moderated(c echo.Context) error {
	list, err := request.Audited(c, s.Audits, request.AdminAction{}, s.Moderation.List)
	show := func(d moderation.Decision) openapi.Moderation {
		return openapi.Moderation{Kind: d.Kind, ID: d.ID, Hidden: d.Hidden, Reason: d.Reason, By: d.By, At: protocol.Stamp(d.At)}
	}
	return view.OK(c, openapi.ModerationList{Moderation: view.List(list, show)}, err)
}

// Report handles POST /api/reports, which stores an operator's report of an object for moderation.
func (s *Server) Report(c echo.Context, o httpx.Object) error {
	r := moderation.Report{
		Reporter: request.Caller(c).Operator.ID, Kind: o.Enum("kind", moderation.Kinds...), Thing: o.String("id", maxTargetID,
			true),
		Reason: o.Text("reason", moderation.MaxReason, true, true),
	}
	if err := o.Err(); err != nil {
		return err
	}
	r.Thing = normalizeID(r.Kind, r.Thing)
	return view.Created(c, openapi.Reported{Ok: true}, s.Moderation.Report(c.Request().Context(), r))
}

// normalizeID returns the id in the form that is stored. Market ids are unchanged; handles and UUIDs become lower case.
func normalizeID(kind, id string) string {
	if kind == "market" {
		return id
	}
	return strings.ToLower(id)
}
