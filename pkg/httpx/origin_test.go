package httpx_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/httpx"
)

func TestSameOrigin(t *testing.T) {
	t.Parallel()
	const ours = "https://hub.example"
	for name, c := range map[string]struct {
		header http.Header
		same   bool
	}{
		"ours":                  {http.Header{"Origin": {ours}}, true},
		"fetch says so":         {http.Header{"Sec-Fetch-Site": {"same-origin"}}, true},
		"neither":               {http.Header{}, false},
		"another scheme":        {http.Header{"Origin": {"http://hub.example"}}, false},
		"another port":          {http.Header{"Origin": {ours + ":8443"}}, false},
		"the host of the call":  {http.Header{"Origin": {"https://example.com"}}, false}, // httptest asks example.com
		"a longer name":         {http.Header{"Origin": {ours + ".evil.example"}}, false},
		"null":                  {http.Header{"Origin": {"null"}}, false},
		"empty":                 {http.Header{"Origin": {""}}, false},
		"foreign, fetch denies": {http.Header{"Origin": {"https://evil.example"}, "Sec-Fetch-Site": {"same-origin"}}, false},
		"two":                   {http.Header{"Origin": {ours, "https://evil.example"}}, false},
		"same site":             {http.Header{"Sec-Fetch-Site": {"same-site"}}, false},
		"cross site":            {http.Header{"Sec-Fetch-Site": {"cross-site"}}, false},
	} {
		r := httptest.NewRequest(http.MethodPost, "/", nil)
		r.Header = c.header
		if got := httpx.SameOrigin(r, ours); got != c.same {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestAnonymous(t *testing.T) {
	t.Parallel()
	b := setup(t, httpx.Route{
		Method: http.MethodGet, Path: "/nobody", Who: []string{"public"},
		Handler: httpx.Anonymous(func(c echo.Context) error { return c.NoContent(http.StatusNoContent) }),
	})
	for name, c := range map[string]struct {
		values []string
		status int
	}{
		"nothing": {nil, 204}, "a bearer": {[]string{"Bearer x"}, 401}, "empty": {[]string{""}, 401}, "another scheme": {[]string{"Basic YTpi"}, 401},
	} {
		r := httptest.NewRequest(http.MethodGet, "/nobody", nil)
		for _, v := range c.values {
			r.Header.Add("Authorization", v)
		}
		w := httptest.NewRecorder()
		b.ServeHTTP(w, r)
		if w.Code != c.status || w.Code == 401 && w.Header().Get("WWW-Authenticate") != "Bearer" {
			t.Errorf("%s: %d %v", name, w.Code, w.Header())
		}
	}
}
