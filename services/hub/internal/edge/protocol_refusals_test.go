package edge_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// A library for OAuth shows error_description and nothing else.
func TestTokenRoutesDescribeTheirRefusals(t *testing.T) {
	t.Parallel()
	b, _ := withDatabase(t)
	plain := func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }
	for _, path := range []string{tokenPath, revokePath, lookPath} {
		method, kind := b.send("GET", path, ""), b.send("POST", path, "x=1", plain)
		large := b.post(path, url.Values{"code": {strings.Repeat("x", 16<<10)}})
		want(t, method, 405, "method_not_allowed")
		want(t, kind, 415, "unsupported_media_type")
		want(t, large, 413, "payload_too_large")
		for _, w := range []*httptest.ResponseRecorder{method, kind, large} {
			if say := field(w, "error_description"); say == "" || say != field(w, "message") {
				t.Errorf("%s: %s", path, w.Body)
			}
		}
		if method.Header().Get("Allow") != "OPTIONS, POST" || !strings.Contains(field(kind, "message"), "x-www-form-urlencoded or application/json") {
			t.Errorf("%s: %v %s", path, method.Header(), kind.Body)
		}
	}
}
