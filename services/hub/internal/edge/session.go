package edge

import (
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/fault"
	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// The cookies of a session. The third binds the pair to the browser that signed in; its
// prefix keeps sibling hosts from setting it, so it exists over https only.
const (
	cookieUID  = "db_uid"
	cookieSig  = "db_sig"
	cookieBind = "__Host-db_bind"
)

// signIn is POST /api/auth/privy. A body may be there; nothing in it is used. An
// identity token beside the login lends its names.
func (s *server) signIn(c echo.Context) error {
	if _, _, err := web.DecodeOptional(c, web.BodyLimit); err != nil {
		return err
	}
	who, err := s.named(c, callerOf(c).Identity)
	if err != nil {
		return err
	}
	op, isNew, err := s.Operators.SignIn(c.Request().Context(), who)
	if err != nil {
		return err
	}
	if err := s.startSession(c, op, who.SignedInAt); err != nil {
		return err
	}
	return web.OK(c, openapi.SignedIn{Ok: true, User: openapi.SignedIn_User{
		DenpaID: string(op.ID), OperatorPublicID: string(op.PublicID), Handle: string(op.Handle),
		DisplayName: op.DisplayName, IsNew: isNew,
	}})
}

// startSession stores a session and sets its cookies. Fault: db_unavailable.
func (s *server) startSession(c echo.Context, op operator.Operator, signedInAt time.Time) error {
	cookies, err := s.Sessions.Start(c.Request().Context(), op, signedInAt)
	if err != nil {
		return err
	}
	s.setCookie(c, cookieUID, cookies.UID, caller.SessionLife)
	s.setCookie(c, cookieSig, cookies.Sig, caller.SessionLife)
	if cookies.Bind != "" {
		s.setCookie(c, cookieBind, cookies.Bind, caller.SessionLife)
	}
	return nil
}

var errAll = fault.New(fault.Invalid, "invalid_all", "all is true or left out").With("field", "all")

// signOut is DELETE /api/auth/privy: it ends the session on every replica within ten
// seconds; with all=true it ends every session of the operator. The first works without a
// session, too; a session must come from the hub's own origin.
func (s *server) signOut(c echo.Context) error {
	r := c.Request()
	signed, ok := s.Sessions.Read(cookie(r, cookieUID), cookie(r, cookieSig))
	if ok && !web.SameOrigin(r, s.Origin) {
		return caller.ErrForbidden.Say("a session acts from its own origin only")
	}
	var err error
	switch c.QueryParam("all") {
	case "", "false":
		err = s.endSession(c, signed, ok)
	case "true":
		err = s.endSessions(c, web.SameOrigin(r, s.Origin))
	default:
		err = errAll
	}
	if err != nil {
		return err
	}
	return web.OK(c, openapi.Ok{Ok: true})
}

// endSession ends the session of the request, if it carries one. The cookies are removed
// also when the store is unavailable: the browser may be shared. Fault: db_unavailable.
func (s *server) endSession(c echo.Context, signed caller.Signed, ok bool) (err error) {
	if ok {
		err = s.Sessions.End(c.Request().Context(), signed)
	}
	s.clearSession(c)
	return err
}

// endSessions ends every session of the operator whose session the request carries.
// Faults: unauthenticated, forbidden, rate_limited, and those of the stores.
func (s *server) endSessions(c echo.Context, sameOrigin bool) error {
	r := c.Request()
	who, standing, err := s.Callers.Resolve(r.Context(), caller.Request{
		Take: caller.TakeSession, UID: cookie(r, cookieUID), Sig: cookie(r, cookieSig), Bind: cookie(r, cookieBind),
		IP: c.RealIP(), Unsafe: true, SameOrigin: sameOrigin,
	})
	if standing != nil {
		showStanding(c.Response().Header(), *standing)
	}
	if err != nil {
		return err
	}
	s.somebody(c)
	// The version in the ledger is what ends them; the rows are marked so that
	// the table shows it.
	if err := s.Operators.EndSessions(r.Context(), who.Operator.ID); err != nil {
		return err
	}
	if err := s.Sessions.EndAll(r.Context(), who.Operator.ID); err != nil {
		s.Log.WarnContext(r.Context(), "ended sessions not marked", "error", err)
	}
	s.clearSession(c)
	return nil
}

// clearSession removes the cookies.
func (s *server) clearSession(c echo.Context) {
	for _, name := range []string{cookieUID, cookieSig, cookieBind} {
		if name != cookieBind || s.Secure {
			s.setCookie(c, name, "", -time.Second)
		}
	}
}

// whoAmI is GET /api/dev/whoami.
func (s *server) whoAmI(c echo.Context) error {
	op, err := s.owner(c)
	if err != nil {
		return err
	}
	return web.OK(c, openapi.WhoAmI{
		DenpaID: string(op.ID), OperatorPublicID: string(op.PublicID), Handle: string(op.Handle),
		DisplayName: op.DisplayName, OperatorType: string(op.Type), IsAi: op.IsAI(), Tier: string(op.Tier),
	})
}

// owner is the operator of a verified login, made at first sight.
func (s *server) owner(c echo.Context) (operator.Operator, error) {
	op, _, err := s.Operators.SignIn(c.Request().Context(), callerOf(c).Identity)
	return op, err
}

func (s *server) setCookie(c echo.Context, name, value string, life time.Duration) {
	http.SetCookie(c.Response(), &http.Cookie{
		Name: name, Value: value, Path: "/", MaxAge: int(life / time.Second),
		HttpOnly: true, Secure: s.Secure, SameSite: http.SameSiteLaxMode,
	})
}

// cookie is the value of the first cookie of that name, empty when none.
func cookie(r *http.Request, name string) string {
	found, err := r.Cookie(name)
	if err != nil {
		return ""
	}
	return found.Value
}
