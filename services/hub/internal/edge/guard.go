package edge

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/fault"
	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
	"github.com/signalcast/signalcast/services/hub/internal/grant"
)

const callerKey = "caller"

// guard resolves the caller before the handler and shows where it stands in
// its limit. A key that the ledger refuses inside the act is remembered.
func (s *server) guard(r route) echo.HandlerFunc {
	return func(c echo.Context) error {
		err := s.admit(c, r)
		if err != nil && (r.cors == web.Protocol || r.agents) {
			s.challenge(c, r, err)
		}
		return err
	}
}

func (s *server) admit(c echo.Context, r route) error {
	if r.agents {
		if err := s.reached(c.Request(), r); err != nil {
			return err
		}
	}
	who, standing, err := s.Callers.Resolve(c.Request().Context(), s.credentials(c, r))
	if standing != nil {
		showStanding(c.Response().Header(), *standing)
	}
	if err := s.settle(c, who, standing, err); err != nil {
		return err
	}
	if err := s.permitted(c, who, r); err != nil {
		return err
	}
	c.Set(callerKey, who)
	err = r.handler(c)
	if r.inCall && err != nil {
		return s.afterCredential(c, who, err)
	}
	return err
}

// permitted holds app tokens and keys to the scope of a route, and strict keys to its
// permission. Faults: insufficient_scope, unauthenticated for a key that is revoked.
func (s *server) permitted(c echo.Context, who caller.Caller, r route) error {
	if r.scope != "" {
		return permit(who, r.scope)
	}
	if !who.Strict || r.agents || who.Allows(r.permission) {
		return nil
	}
	if err := s.Callers.Confirm(c.Request().Context(), who); err != nil {
		return err
	}
	return grant.ErrInsufficientScope.With("required", r.permission)
}

// afterCredential lets no mistake in a request be told to a key that the ledger
// has not checked: the act that would have checked it was not reached. What the
// ledger itself answered behind its check stays as it is.
func (s *server) afterCredential(c echo.Context, who caller.Caller, err error) error {
	switch fault.Of(err).Kind {
	case fault.Unauthenticated:
		s.Callers.Refused(who)
	case fault.Invalid, fault.TooLarge, fault.Unsupported, fault.NotFound:
		if refused := s.Callers.Confirm(c.Request().Context(), who); refused != nil {
			return refused
		}
	}
	return err
}

// callerOf is who the guard found.
func callerOf(c echo.Context) caller.Caller {
	who, _ := c.Get(callerKey).(caller.Caller)
	return who
}

func (s *server) credentials(c echo.Context, r route) caller.Request {
	req := c.Request()
	out := caller.Request{
		Take:          r.who,
		InCall:        r.inCall && r.scope == "", // a scope wants the permissions before the call
		Resource:      s.HubURL + protocolBase,
		Authorization: req.Header["Authorization"],
		IP:            addressKey(c.RealIP()),
	}
	if r.resource != "" {
		out.Resource = r.resource
	}
	if r.who.Has(caller.TakeSession) {
		out.UID, out.Sig, out.Bind = cookie(req, cookieUID), cookie(req, cookieSig), cookie(req, cookieBind)
		out.Unsafe = req.Method != http.MethodGet && req.Method != http.MethodHead
		out.SameOrigin = web.SameOrigin(req, s.Origin)
	}
	if r.who.Has(caller.TakeAdmin) {
		out.AdminSecret = req.Header["X-Admin-Secret"]
		if len(out.AdminSecret) == 0 && (r.who.Has(caller.TakeSession) || r.who.Has(caller.TakeKey)) {
			out.Take &^= caller.TakeAdmin // who shows no secret asks as somebody else may
		}
	}
	if r.who.Has(caller.TakeCron) {
		if req.ContentLength != 0 { // a body takes the admin secret
			out.Take &^= caller.TakeCron
		}
		if out.CronSecret = req.Header["X-Cron-Secret"]; len(out.CronSecret) == 0 {
			out.CronSecret = req.URL.Query()["secret"]
		}
	}
	return out
}
