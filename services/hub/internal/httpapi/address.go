package httpapi

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/request"
)

// ourCookies is the prefix of the names of the cookies of sessions and of logins.
const ourCookies = "db_"

// line names a route.
type line struct{ method, path string }

// perAddress charges each request to the limit of its address unless its caller is authenticated.
func (s *Server) perAddress(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if err := s.enter(c); err != nil {
			return err
		}
		err := next(c)
		if request.ChargedTo(c).Found && (err == nil || apperr.Of(err).Kind != apperr.Unauthenticated) {
			return err
		}
		return request.ChargeUnknown(c, err)
	}
}

// enter charges a request to a limit of its address before the caller is resolved, so that a refused request costs no query and
// concurrent requests cannot exceed the limit. A credential that is known to be valid, on a route that accepts it, is not
// charged. Fault: rate_limited.
func (s *Server) enter(c echo.Context) error {
	t := request.Begin(c, s.Addresses)
	r, looked := c.Request(), s.lookedAt(c)
	if !carries(r) && !(looked.Has(caller.TakeCron) && (r.Header["X-Cron-Secret"] != nil || r.URL.Query().Has("secret"))) {
		return request.Charge(c, t.Address)
	}
	known := s.Callers.Known(caller.Request{
		Authorization: r.Header["Authorization"], AdminSecret: r.Header["X-Admin-Secret"],
		UID: request.Cookie(r, request.CookieUID), Sig: request.Cookie(r, request.CookieSig),
	})
	switch {
	case known == caller.Key && looked.Has(caller.TakeKey), known == caller.Session && looked.Has(caller.TakeSession):
		return nil
	case known == caller.Session: // on a page, or on a read without a credential
		return request.Charge(c, request.Strangers+t.Address, t.Address)
	}
	return request.Charge(c, request.Strangers+t.Address)
}

// carries reports whether a request has anything that can be a credential.
func carries(r *http.Request) bool {
	if r.Header["Authorization"] != nil || r.Header["X-Admin-Secret"] != nil {
		return true
	}
	for _, sent := range r.Cookies() {
		if strings.HasPrefix(sent.Name, ourCookies) {
			return true
		}
	}
	return false
}

// lookedAt returns the credentials that the route of a request accepts; none for pages, which resolve their visitors themselves,
// and without a route.
func (s *Server) lookedAt(c echo.Context) caller.Take {
	method := c.Request().Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	return s.takes[line{method, c.Path()}]
}

// settle refunds or keeps the charge of a request after Resolve. A caller that could not be resolved now stays charged to the
// address, unless its own limit has counted the request. Faults: err, and rate_limited.
func (s *Server) settle(c echo.Context, who caller.Caller, standing *caller.Standing, err error) error {
	void := err == nil && who.SessionErr == nil || err != nil && apperr.Of(err).Kind == apperr.Unauthenticated
	switch {
	case who.Kind == caller.Client: // its handler checks the credential
		return err
	case who.Kind != caller.Anonymous, standing != nil && !void:
		request.Refund(c)
		return err
	}
	return request.ChargeUnknown(c, err)
}
