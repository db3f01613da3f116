package edge

import (
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/services/api/internal/operator"
)

// ErrUnauthenticated refuses a credential that is missing, broken, or of a kind
// that the route does not take.
var ErrUnauthenticated = web.ErrUnauthenticated

const (
	keyBody  = 43 // base64url of 32 bytes
	maxLogin = 8 << 10
)

// bearer is the one well-formed bearer credential of a request; empty when the
// request carries none. Anything else is unauthenticated, never anonymous.
func bearer(c echo.Context) (string, error) {
	values := c.Request().Header["Authorization"]
	if len(values) == 0 {
		return "", nil
	}
	scheme, token, ok := strings.Cut(values[0], " ")
	if len(values) > 1 || !ok || !strings.EqualFold(scheme, "Bearer") || token == "" {
		return "", ErrUnauthenticated
	}
	return token, nil
}

// isKey tells whether a text has the form of an operator key.
func isKey(s string) bool {
	for _, prefix := range [...]string{operator.PrefixKey, operator.PrefixAgent} {
		if body, ok := strings.CutPrefix(s, prefix); ok {
			return len(body) == keyBody && isBase64URL(body)
		}
	}
	return false
}

// isLogin tells whether a text has the form of a signed token.
func isLogin(s string) bool {
	parts := strings.Split(s, ".")
	return len(s) <= maxLogin && len(parts) == 3 && isBase64URL(parts[0]) && isBase64URL(parts[1]) && isBase64URL(parts[2])
}

// isCredential tells whether a text begins as one of our secrets or tokens do.
func isCredential(s string) bool {
	for _, prefix := range [...]string{operator.PrefixKey, operator.PrefixAgent, "dat_", "drt_"} {
		if strings.HasPrefix(s, prefix) {
			return true
		}
	}
	return isLogin(s)
}

func isBase64URL(s string) bool {
	for i := range len(s) {
		c := s[i]
		alnum := c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !alnum && c != '-' && c != '_' {
			return false
		}
	}
	return s != ""
}
