package httpx_test

import (
	"net/http"
	"testing"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/httpx"
)

// TestAnswersToCredentialsArePrivate checks that no shared cache may store the response to a request with a credential, and that
// other directives remain.
func TestAnswersToCredentialsArePrivate(t *testing.T) {
	t.Parallel()
	for rule, want := range map[string]string{
		"public, s-maxage=60, stale-while-revalidate=300":            "private",
		"public, max-age=0, s-maxage=60, stale-while-revalidate=300": "private, max-age=0",
		"public, no-cache":                    "private, no-cache",
		"public, max-age=31536000, immutable": "private, max-age=31536000, immutable",
		"no-store":                            "no-store",
		"":                                    "no-store",
	} {
		b := setup(t, httpx.Route{
			Method: http.MethodGet, Path: "/cached", Cache: rule,
			Handler: func(c echo.Context) error { return c.NoContent(http.StatusNoContent) },
		})
		if got := b.do("GET", "/cached", "Authorization", "Bearer x").Header().Get("Cache-Control"); got != want {
			t.Errorf("%q with a credential: %q, want %q", rule, got, want)
		}
		if got := b.do("GET", "/cached").Header().Get("Cache-Control"); rule != "" && got != rule {
			t.Errorf("%q without a credential: %q, want it unchanged", rule, got)
		}
	}
}
