package httpapi

import (
	"context"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/ratelimit"
)

// bearer returns the bearer token of a request, or an empty string if the header Authorization is absent. It returns
// unauthenticated if the header is malformed or occurs more than once, so that such requests are not handled as anonymous
// ones.
func bearer(c echo.Context) (string, error) {
	values := c.Request().Header["Authorization"]
	if len(values) == 0 {
		return "", nil
	}
	token, ok := protocol.Bearer(values)
	if !ok {
		return "", apperr.ErrCredentialMalformed
	}
	return token, nil
}

// adminHeader is the name of the request header that contains the admin secret.
const adminHeader = "X-Admin-Secret"

var (
	errForbidden = apperr.New(apperr.Forbidden, "forbidden",
		"a key can read only the record of its own operator; use the handle of the operator of the key")
	errWrongSecret = apperr.New(apperr.Forbidden, "forbidden",
		"the admin secret is wrong; send the ADMIN_SECRET of this installation once, in the header x-admin-secret")
	errNoAdmin = apperr.New(apperr.Forbidden, "forbidden",
		"this installation has no admin secret; an administrator must set ADMIN_SECRET")
)

// MaxFailures is the number of wrong admin secrets that are allowed for each IP address in one minute. Further admin requests
// from the address are then rejected.
const MaxFailures = 10

// admin returns nil if the request has the correct admin secret and no header Authorization. Errors: unauthenticated,
// forbidden, rate_limited. If no admin secret is configured, all requests are forbidden.
func (s *Server) admin(c echo.Context) error {
	h := c.Request().Header
	given := h[adminHeader]
	switch {
	case len(h["Authorization"]) > 0:
		return apperr.ErrCredentialWrongKind.WithText("this route accepts only the admin secret; omit the header Authorization")
	case !s.Admin.IsSet():
		return errNoAdmin
	case len(given) == 0:
		return apperr.ErrCredentialMissing.WithText("this route requires the admin secret in the header x-admin-secret")
	}
	ctx, address := c.Request().Context(), ratelimit.HashedKey(ratelimit.AddressKey(c.RealIP()))
	if wait := s.Failures.Wait(ctx, address); wait > 0 {
		return ratelimit.Decision{Limit: MaxFailures, RetryAfter: wait}.Fault()
	}
	if len(given) > 1 || !s.Admin.Match(given[0]) {
		if err := s.Failures.Allow(context.WithoutCancel(ctx), address).Fault(); err != nil {
			return err
		}
		return errWrongSecret
	}
	return nil
}
