package httpapi

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/request"
)

// cookiePrefix is the prefix of the names of all session and sign-in cookies except request.CookieBind.
const cookiePrefix = "db_"

// routeKey identifies a route by its method and path pattern.
type routeKey struct{ method, path string }

// limitByAddress is a middleware that charges a request to a rate limit of its IP address, unless the caller is authenticated.
// Error: rate_limited.
func (s *Server) limitByAddress(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if err := s.chargeAddress(c); err != nil {
			return err
		}
		err := next(c)
		if request.ChargeOf(c).Found && (err == nil || apperr.Of(err).Kind != apperr.Unauthenticated) {
			return err
		}
		return request.ChargeUnknown(c, err)
	}
}

// chargeAddress charges a request to a rate limit of its IP address before the caller is resolved. A request over the limit
// therefore costs no query, and concurrent requests cannot exceed the limit. If the credential is known to be valid and the route
// accepts it, the request is not charged. Error: rate_limited.
func (s *Server) chargeAddress(c echo.Context) error {
	t := request.Begin(c, s.Addresses)
	r, accepted := c.Request(), s.acceptedCredentials(c)
	if !hasCredential(r) && !(accepted.Has(caller.AcceptCron) && (r.Header["X-Cron-Secret"] != nil ||
		r.URL.Query().Has("secret"))) {
		return request.Charge(c, t.Address)
	}
	known := s.Callers.Known(caller.Request{
		Authorization: r.Header["Authorization"], AdminSecret: r.Header["X-Admin-Secret"],
		UID: request.Cookie(r, request.CookieUID), Sig: request.Cookie(r, request.CookieSig),
	})
	switch {
	case known == caller.Key && accepted.Has(caller.AcceptKey), known == caller.Session && accepted.Has(caller.AcceptSession):
		return nil
	case known == caller.Session: // a page or public read, whose route does not accept sessions
		return request.Charge(c, request.FailedAuth+t.Address, t.Address)
	}
	return request.Charge(c, request.FailedAuth+t.Address)
}

// hasCredential reports whether a request has an authorization header, an admin secret, or a cookie whose name starts with
// cookiePrefix.
func hasCredential(r *http.Request) bool {
	if r.Header["Authorization"] != nil || r.Header["X-Admin-Secret"] != nil {
		return true
	}
	for _, sent := range r.Cookies() {
		if strings.HasPrefix(sent.Name, cookiePrefix) {
			return true
		}
	}
	return false
}

// acceptedCredentials returns the kinds of credentials that the route of a request accepts. It returns none for HTML pages, which
// resolve their visitors themselves, and for requests without a route.
func (s *Server) acceptedCredentials(c echo.Context) caller.Accepted {
	method := c.Request().Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	return s.accepted[routeKey{method, c.Path()}]
}

// settleCharge decides whether the IP address of a request is charged. who, state and err are the results of Callers.Resolve.
//
// It refunds the charge if the caller is authenticated. If a dependency is unavailable and the caller is unknown, it refunds only
// if another limit has counted the request. It returns err, or rate_limited if the limit of the IP address is reached.
func (s *Server) settleCharge(c echo.Context, who caller.Caller, state *caller.RateLimitState, err error) error {
	determined := err == nil && who.SessionErr == nil || err != nil && apperr.Of(err).Kind == apperr.Unauthenticated
	switch {
	case who.Kind == caller.Client: // the handler checks the credential of an app
		return err
	case who.Kind != caller.Anonymous, state != nil && !determined:
		request.Refund(c)
		return err
	}
	return request.ChargeUnknown(c, err)
}
