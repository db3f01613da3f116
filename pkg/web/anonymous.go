package web

import (
	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/fault"
)

// ErrUnauthenticated refuses a credential that is missing, broken, or of a kind
// that the route does not take.
var ErrUnauthenticated = fault.New(fault.Unauthenticated, "unauthenticated", "a valid credential is required")

// Anonymous serves a route that takes no credential: one that carries any bearer
// is refused, so that nobody believes that it was read. Fault: ErrUnauthenticated.
func Anonymous(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if len(c.Request().Header["Authorization"]) > 0 {
			return ErrUnauthenticated
		}
		return next(c)
	}
}
