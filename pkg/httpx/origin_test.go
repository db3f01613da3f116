package httpx_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/signalcast/signalcast/pkg/httpx"
)

func TestSameOrigin(t *testing.T) {
	t.Parallel()
	const origin = "https://hub.example"
	for name, c := range map[string]struct {
		header http.Header
		same   bool
	}{
		"same origin":           {http.Header{"Origin": {origin}}, true},
		"Sec-Fetch-Site only":   {http.Header{"Sec-Fetch-Site": {"same-origin"}}, true},
		"neither":               {http.Header{}, false},
		"another scheme":        {http.Header{"Origin": {"http://hub.example"}}, false},
		"another port":          {http.Header{"Origin": {origin + ":8443"}}, false},
		"the Host header":       {http.Header{"Origin": {"https://example.com"}}, false}, // httptest sends Host: example.com
		"a longer name":         {http.Header{"Origin": {origin + ".evil.example"}}, false},
		"null":                  {http.Header{"Origin": {"null"}}, false},
		"empty":                 {http.Header{"Origin": {""}}, false},
		"foreign, fetch denies": {http.Header{"Origin": {"https://evil.example"}, "Sec-Fetch-Site": {"same-origin"}}, false},
		"two":                   {http.Header{"Origin": {origin, "https://evil.example"}}, false},
		"same site":             {http.Header{"Sec-Fetch-Site": {"same-site"}}, false},
		"cross site":            {http.Header{"Sec-Fetch-Site": {"cross-site"}}, false},
	} {
		r := httptest.NewRequest(http.MethodPost, "/", nil)
		r.Header = c.header
		if got := httpx.SameOrigin(r, origin); got != c.same {
			t.Errorf("%s: SameOrigin returned %v", name, got)
		}
	}
}
