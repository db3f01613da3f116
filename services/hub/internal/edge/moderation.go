package edge

import (
	"context"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/hub/internal/grant"
	"github.com/signalcast/signalcast/services/hub/internal/moderation"
)

// moderationRoutes are the decisions of administrators about text, and reports.
func (s *server) moderationRoutes() []route {
	return []route{
		{method: http.MethodGet, path: "/api/admin/moderation", who: admin, cache: cacheNever, handler: s.moderated},
		{method: http.MethodPost, path: "/api/admin/moderation", who: admin, handler: s.moderate},
		{method: http.MethodPost, path: "/api/reports", who: author, handler: s.report, permission: grant.Signal},
	}
}

type decidedJSON struct {
	OK bool `json:"ok"`
	openapi.Moderation
}

// maxThing is the longest id of a thing.
const maxThing = 500

// The actions of a decision.
const (
	actHide = "hide"
	actShow = "show"
)

// adminNameHeader names the administrator of a request, for the audit log.
const adminNameHeader = "X-Admin-Name"

// adminName returns the name that the request gives for its administrator; "admin" without
// one of 1 to 64 characters.
func adminName(r *http.Request) string {
	name := strings.TrimSpace(r.Header.Get(adminNameHeader))
	if !syntax.IsLine(name, 1, moderation.MaxName) {
		return "admin"
	}
	return name
}

// moderate is POST /api/admin/moderation.
func (s *server) moderate(c echo.Context) error {
	o, err := web.Decode(c, web.BodyLimit)
	if err != nil {
		return err
	}
	d := moderation.Decision{
		Kind: o.Enum("kind", moderation.Kinds...), ID: o.String("id", maxThing, true), By: adminName(c.Request()),
	}
	d.Hidden = o.Enum("action", actHide, actShow) == actHide
	d.Reason = o.Text("reason", moderation.MaxReason, true, true)
	if err := o.Err(); err != nil {
		return err
	}
	d.ID = thingID(d.Kind, d.ID)
	a := act{target: d.Kind + " " + d.ID, detail: map[string]any{"hidden": d.Hidden, "reason": d.Reason, "by": d.By}}
	err = s.audited(c, a, func(ctx context.Context) error {
		d, err = s.Moderation.Decide(ctx, d)
		return err
	})
	if err != nil {
		return err
	}
	return web.OK(c, decidedJSON{OK: true, Moderation: showDecision(&d)})
}

// moderated is GET /api/admin/moderation.
func (s *server) moderated(c echo.Context) error {
	var list []moderation.Decision
	err := s.audited(c, act{}, func(ctx context.Context) (err error) {
		list, err = s.Moderation.List(ctx)
		return err
	})
	if err != nil {
		return err
	}
	out := openapi.ModerationList{Moderation: make([]openapi.Moderation, 0, len(list))}
	for i := range list {
		out.Moderation = append(out.Moderation, showDecision(&list[i]))
	}
	return web.OK(c, out)
}

// report is POST /api/reports.
func (s *server) report(c echo.Context) error {
	o, err := web.Decode(c, web.BodyLimit)
	if err != nil {
		return err
	}
	r := moderation.Report{
		Reporter: callerOf(c).Operator.ID, Kind: o.Enum("kind", moderation.Kinds...), Thing: o.String("id", maxThing, true),
		Reason: o.Text("reason", moderation.MaxReason, true, true),
	}
	if err := o.Err(); err != nil {
		return err
	}
	r.Thing = thingID(r.Kind, r.Thing)
	if err := s.Moderation.Report(c.Request().Context(), r); err != nil {
		return err
	}
	return web.JSON(c, http.StatusCreated, openapi.Reported{Ok: true})
}

// thingID returns an id as it is stored: handles and uuids are lower case.
func thingID(kind, id string) string {
	if kind == "market" {
		return id
	}
	return strings.ToLower(id)
}

func showDecision(d *moderation.Decision) openapi.Moderation {
	return openapi.Moderation{Kind: d.Kind, ID: d.ID, Hidden: d.Hidden, Reason: d.Reason, By: d.By, At: syntax.Stamp(d.At)}
}
