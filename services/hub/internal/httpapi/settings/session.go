package settings

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/proto/openapi"
	operatorv1 "github.com/signalcast/signalcast/proto/operator/v1"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
	"github.com/signalcast/signalcast/services/hub/internal/follow"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/request"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
	"github.com/signalcast/signalcast/services/hub/internal/identityclaim"
	"github.com/signalcast/signalcast/services/hub/internal/livestream"
	"github.com/signalcast/signalcast/services/hub/internal/message"
	"github.com/signalcast/signalcast/services/hub/internal/notification"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
	"github.com/signalcast/signalcast/services/hub/internal/profile"
)

// Server has the handlers of the account settings: sessions, keys, follows, claims and profiles.
type Server struct {
	HubURL   string
	Origin   string // scheme and host of HubURL, as in the Origin header
	Secure   bool   // cookies have the Secure attribute
	Ledger   *ledgerclient.Client
	Callers  *caller.Service
	Sessions *caller.Sessions
	Messages *message.Service
	Follows  *follow.Service
	Claims   *identityclaim.Service
	Profiles *profile.Service
	OnAir    *livestream.Service
	Notices  notification.Store
	Now      func() time.Time
	Log      *slog.Logger
	// IdentityDetails verifies an identity token of the login who and returns the identity with the names from the token. Errors:
	// unauthenticated for a token of another person, identity_provider_unavailable.
	IdentityDetails func(ctx context.Context, who operator.Identity, token string) (operator.Identity, error)
}

// SignIn handles POST /api/auth/privy. It ignores the body. Names that the login lacks are taken from the identity token of the
// request, if there is one.
func (s *Server) SignIn(c echo.Context) error {
	if _, _, err := httpx.DecodeOptional(c, httpx.BodyLimit); err != nil {
		return err
	}
	who, err := s.withNames(c, request.Caller(c).Identity)
	if err != nil {
		return err
	}
	r, err := s.Ledger.OperatorWrites.SignIn(c.Request().Context(), who.SignInRequest())
	if err != nil {
		return err
	}
	op := operator.FromMessage(r.GetOperator())
	if err := s.StartSession(c, op, who.SignedInAt, ""); err != nil {
		return err
	}
	return httpx.OK(c, openapi.SignedIn{Ok: true, User: openapi.SignedIn_User{
		DenpaID: string(op.ID), OperatorPublicID: string(op.PublicID), Handle: string(op.Handle),
		DisplayName: op.DisplayName, IsNew: r.GetIsNew(),
	}})
}

// StartSession stores a session and sets its cookies. email is the encrypted address that the provider has verified; empty: none.
// Error: db_unavailable.
func (s *Server) StartSession(c echo.Context, op operator.Operator, signedInAt time.Time, email string) error {
	r := c.Request()
	cookies, err := s.Sessions.Start(r.Context(), op, signedInAt, caller.DeviceOf(r.UserAgent(), c.RealIP()), email)
	if err != nil {
		return err
	}
	s.setSession(c, cookies)
	return nil
}

// RenewSession sets the session cookies of the request again, with their whole lifetime and the signature of the first secret. The
// request must have a valid session. It forbids caching of the response.
func (s *Server) RenewSession(c echo.Context) {
	r := c.Request()
	c.Response().Header().Set("Cache-Control", "no-store")
	uid, bind := request.Cookie(r, request.CookieUID), request.Cookie(r, request.CookieBind)
	s.setSession(c, s.Sessions.Renewed(uid, bind))
}

func (s *Server) setSession(c echo.Context, cookies caller.SessionCookies) {
	s.setCookie(c, request.CookieUID, cookies.UID, caller.SessionLife)
	s.setCookie(c, request.CookieSig, cookies.Sig, caller.SessionLife)
	if cookies.Bind != "" && s.Secure {
		s.setCookie(c, request.CookieBind, cookies.Bind, caller.SessionLife)
	}
}

var errAll = apperr.New(apperr.Invalid, "invalid_all", "all must be true or false, or left out").With("field", "all")

// SignOut handles DELETE /api/auth/privy. It ends the session. With all=true, it ends every session of the operator, and fails
// without a session. A request with a session must come from the origin of the hub.
func (s *Server) SignOut(c echo.Context) error {
	r := c.Request()
	signed, err := s.Sessions.Read(request.Cookie(r, request.CookieUID), request.Cookie(r, request.CookieSig))
	ok := err == nil
	if ok && !httpx.SameOrigin(r, s.Origin) {
		return caller.ErrForbidden.WithText("a request with a session must have the Origin of this hub")
	}
	switch c.QueryParam("all") {
	case "", "false":
		err = s.EndSession(c, signed, ok)
	case "true":
		err = s.EndSessions(c, httpx.SameOrigin(r, s.Origin))
	default:
		err = errAll
	}
	return view.OK(c, openapi.Ok{Ok: true}, err)
}

// EndSession removes the session cookies. If ok is true, it first ends the session that signed names. It removes the cookies even
// if the store is unavailable, because other people may use the same browser. Error: db_unavailable.
func (s *Server) EndSession(c echo.Context, signed caller.Signed, ok bool) (err error) {
	if ok {
		err = s.Sessions.End(c.Request().Context(), signed)
	}
	s.clearSession(c)
	return err
}

// EndSessions ends every session of the operator of the request. Errors: unauthenticated, forbidden, rate_limited, and the errors
// of the stores.
func (s *Server) EndSessions(c echo.Context, sameOrigin bool) error {
	r := c.Request()
	who, standing, err := s.Callers.Resolve(r.Context(), caller.Request{
		Accept: caller.AcceptSession, UID: request.Cookie(r, request.CookieUID), Sig: request.Cookie(r, request.CookieSig),
		Bind: request.Cookie(r, request.CookieBind),
		IP:   c.RealIP(), Unsafe: true, SameOrigin: sameOrigin,
	})
	if standing != nil {
		request.SetLimitHeaders(c.Response().Header(), *standing)
	}
	if err != nil {
		return err
	}
	request.Refund(c)
	// The session version in the ledger invalidates the sessions. The rows are marked only for display.
	q := &operatorv1.EndSessionsRequest{OperatorId: string(who.Operator.ID)}
	if _, err := s.Ledger.OperatorWrites.EndSessions(r.Context(), q); err != nil {
		return err
	}
	if err := s.Sessions.EndAll(r.Context(), who.Operator.ID); err != nil {
		s.Log.WarnContext(r.Context(), "marking ended sessions failed", "error", err)
	}
	s.clearSession(c)
	return nil
}

// clearSession removes the session cookies from the browser.
func (s *Server) clearSession(c echo.Context) {
	for _, name := range []string{request.CookieUID, request.CookieSig, request.CookieBind} {
		if name != request.CookieBind || s.Secure {
			s.setCookie(c, name, "", -time.Second)
		}
	}
}

// WhoAmI handles GET /api/dev/whoami, the operator of a login.
func (s *Server) WhoAmI(c echo.Context) error {
	op, err := request.Owner(c, s.Ledger)
	return view.OK(c, openapi.WhoAmI{
		DenpaID: string(op.ID), OperatorPublicID: string(op.PublicID), Handle: string(op.Handle),
		DisplayName: op.DisplayName, OperatorType: string(op.Type), IsAi: op.IsAI(), Tier: string(op.Tier),
	}, err)
}

func (s *Server) setCookie(c echo.Context, name, value string, life time.Duration) {
	http.SetCookie(c.Response(), &http.Cookie{
		Name: name, Value: value, Path: "/", MaxAge: int(life / time.Second),
		HttpOnly: true, Secure: s.Secure, SameSite: http.SameSiteLaxMode,
	})
}
