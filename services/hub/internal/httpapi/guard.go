package httpapi

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/ratelimit"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
	"github.com/signalcast/signalcast/services/hub/internal/grant"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/mcp"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/oauthapi"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/request"
)

// guard returns a handler that resolves and checks the caller, and then runs the handler of the route. For protocol and agent
// routes, it also sets the WWW-Authenticate header if the credential is rejected.
func (s *Server) guard(r route) echo.HandlerFunc {
	return func(c echo.Context) error {
		err := s.admit(c, r)
		if err != nil && (r.cors == httpx.Protocol || r.agents) {
			s.challenge(c, r, err)
		}
		return err
	}
}

// admit resolves the caller of a request, charges the caller's rate limit, checks the caller's permission and runs the handler of
// the route. For an MCP route, it first checks the origin of the request.
func (s *Server) admit(c echo.Context, r route) error {
	if r.agents {
		if err := s.checkOrigin(c.Request(), r); err != nil {
			return err
		}
	}
	who, standing, err := s.Callers.Resolve(c.Request().Context(), s.credentials(c, r))
	if standing != nil {
		request.SetLimitHeaders(c.Response().Header(), *standing)
	}
	if err := s.settleCharge(c, who, standing, err); err != nil {
		return err
	}
	if err := s.permitted(c, who, r); err != nil {
		return err
	}
	if op := who.Operator; op != nil {
		if err := request.CheckOpen(c.Request(), *op); err != nil {
			return err
		}
	}
	if who.Renewed {
		s.settings.RenewSession(c)
	}
	request.SetCaller(c, who)
	err = r.handler(c)
	if r.inCall && err != nil {
		return s.afterCredential(c, who, err)
	}
	return err
}

// permitted checks that the caller may use the route. If the route has a scope, the caller needs that scope. Otherwise, only keys
// with the property Strict are restricted: they need the permission of the route. On MCP routes, the permission for the tool is
// checked later. Errors: insufficient_scope, and unauthenticated for a revoked key.
func (s *Server) permitted(c echo.Context, who caller.Caller, r route) error {
	if r.scope != "" {
		return grant.Permit(who, r.scope)
	}
	if !who.Strict || r.agents || who.Allows(r.permission) {
		return nil
	}
	if err := s.Callers.Confirm(c.Request().Context(), who); err != nil {
		return err
	}
	return grant.ErrInsufficientScope.With("required", r.permission)
}

// confirmTimeout is the time limit for checking the key of an invalid request.
const confirmTimeout = 500 * time.Millisecond

// afterCredential handles err, the error of a handler on a route where the ledger checks the operator key together with the
// write. If err can occur before the ledger checks the key, afterCredential checks the key now. For an invalid key, it returns
// unauthenticated, so that the response contains no details about the request. Otherwise, it returns err. A key that the ledger
// rejected is recorded, so that its next use fails early.
func (s *Server) afterCredential(c echo.Context, who caller.Caller, err error) error {
	switch apperr.Of(err).Kind {
	case apperr.Unauthenticated:
		return s.Callers.Refused(c.Request().Context(), who, err)
	case apperr.Invalid, apperr.TooLarge, apperr.Unsupported, apperr.NotFound:
		// A slow body may have used up the time of the request; its key is checked nevertheless.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Request().Context()), confirmTimeout)
		defer cancel()
		if refused := s.Callers.Confirm(ctx, who); refused != nil {
			return refused
		}
	}
	return err
}

// credentials returns the input of Callers.Resolve: the kinds of credentials that the route accepts, the credentials of the
// request, and properties of the request such as its IP address. It leaves out cookies and secrets that the route does not
// accept.
func (s *Server) credentials(c echo.Context, r route) caller.Request {
	req := c.Request()
	out := caller.Request{
		Accept:        r.who,
		Public:        r.publicRead(),
		InCall:        r.inCall && r.scope == "", // to check a scope, the permissions of the key are needed before the write
		Resource:      s.HubURL + oauthapi.Base,
		Authorization: req.Header["Authorization"],
		IP:            ratelimit.AddressKey(c.RealIP()),
	}
	if r.resource != "" {
		out.Resource = r.resource
	}
	if r.who.Has(caller.AcceptSession) {
		out.UID, out.Sig = request.Cookie(req, request.CookieUID), request.Cookie(req, request.CookieSig)
		out.Bind = request.Cookie(req, request.CookieBind)
		out.Unsafe = req.Method != http.MethodGet && req.Method != http.MethodHead
		out.SameOrigin = httpx.SameOrigin(req, s.Origin)
	}
	if r.who.Has(caller.AcceptAdmin) {
		out.AdminSecret = req.Header["X-Admin-Secret"]
		if len(out.AdminSecret) == 0 && (r.who.Has(caller.AcceptSession) || r.who.Has(caller.AcceptKey)) {
			out.Accept &^= caller.AcceptAdmin // without a secret, the other credentials of the route are used
		}
	}
	if r.who.Has(caller.AcceptCron) {
		if req.ContentLength != 0 { // a request with a body requires the admin secret
			out.Accept &^= caller.AcceptCron
		}
		if out.CronSecret = req.Header["X-Cron-Secret"]; len(out.CronSecret) == 0 {
			out.CronSecret = req.URL.Query()["secret"]
		}
	}
	return out
}

// challenge sets the WWW-Authenticate header of a response that rejects a missing, invalid or insufficient credential (RFC 6750).
// Other errors get no header. On protocol routes with Bearer tokens, the header also names the metadata that says where to get a
// token (RFC 9728).
func (s *Server) challenge(c echo.Context, r route, err error) {
	f := apperr.Of(err)
	var params []string
	var bare *mcp.Refusal
	switch {
	case errors.As(err, &bare):
		params = append(params, `scope="`+bare.Needs+`"`)
	case f.Kind == apperr.Unauthenticated && r.who.Has(caller.AcceptClient):
		c.Response().Header()["Www-Authenticate"] = []string{`Basic realm="signalcast"`}
		return
	case f.Kind == apperr.Unauthenticated && len(c.Request().Header["Authorization"]) > 0:
		params = append(params, `error="invalid_token"`)
	case f.Kind == apperr.Unauthenticated:
	case f.Code == grant.ErrInsufficientScope.Code:
		params = append(params, `error="insufficient_scope"`)
		if scope, ok := f.Extra["required"].(string); ok {
			params = append(params, `scope="`+scope+`"`)
		}
	default:
		return
	}
	if path, ok := strings.CutPrefix(cmp.Or(r.resource, s.HubURL+oauthapi.Base), s.HubURL); ok && r.cors == httpx.Protocol {
		params = append(params, `resource_metadata="`+s.HubURL+"/.well-known/oauth-protected-resource"+path+`"`)
	}
	c.Response().Header()["Www-Authenticate"] = []string{"Bearer " + strings.Join(params, ", ")}
}

// Errors of checkOrigin.
var (
	errForeignOrigin = caller.ErrForbidden.WithText(
		"requests from web pages of other origins are not allowed; use a page of this hub")
	errForeignHost = caller.ErrForbidden.WithText("a request to a loopback address must have a loopback host in the header Host; " +
		"behind a proxy, set AGENT_ANY_HOST=true")
)

// checkOrigin rejects requests that a browser sends for a page of another origin. Routes for app tokens accept any origin,
// because a browser never adds the token by itself. Unless AnyHost is set, a request that arrives at a loopback address must name
// a loopback host. This blocks DNS rebinding, where a foreign host name resolves to this machine. Error: forbidden.
func (s *Server) checkOrigin(r *http.Request, rt route) error {
	if !s.AnyHost {
		local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
		if ok && isLoopback(local.String()) && !isLoopback(r.Host) {
			return errForeignHost
		}
	}
	origins := r.Header["Origin"]
	if rt.cors != httpx.Protocol && len(origins) > 0 && (len(origins) > 1 || origins[0] != s.Origin) {
		return errForeignOrigin
	}
	return nil
}

// isLoopback reports whether an IP address or host name, with or without a port, refers to this machine.
func isLoopback(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = strings.TrimSuffix(strings.TrimPrefix(hostport, "["), "]")
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}

// publicRead reports whether the route is a read without a required credential. It accepts every valid credential.
func (r route) publicRead() bool {
	return r.method == http.MethodGet && r.who.Has(caller.AcceptNone) && !r.who.Has(caller.AcceptClient)
}
