package edge_test

import (
	"net/http"
	"testing"
	"time"
)

// FuzzBodies: whatever stands in a body, the answer is ours and no 5xx.
func FuzzBodies(f *testing.F) {
	b := setup(f)
	id := b.file("YES", 3150, b.byKey())
	routes := []struct {
		path string
		who  header
	}{
		{"/api/predictions", b.byKey()},
		{"/api/signals/" + id + "/events", b.byKey()},
		{"/api/dev/keys", byLogin("mara_k")},
		{"/api/auth/privy", byLogin("mara_k")},
		{"/api/resolution/finalize", byAdmin()},
		{"/api/resolution/dispute", byAdmin()},
		{"/api/admin/resolve-signals", byAdmin()},
		{"/api/admin/markets", byAdmin()},
		{"/api/admin/operators", byAdmin()},
	}
	for _, body := range []string{
		fullDraft, `{"type":"take","payload":{"url":"https://v.example/1"}}`, `{"label":"x","permissions":["read"]}`,
		`{"marketId":"native-0000000001","verdict":"YES","proofUrl":"https://r.example"}`, `{"marketId":"701122","disputed":true}`,
		`{"marketId":"701122","outcome":"NO"}`, `{"question":"Will it rain on Sunday?","cutoffAt":"2026-11-30T23:00:00Z","lane":"TECH"}`,
		`{"handle":"mara_k","house":true}`, `[]`, `{"a":"\ud800"}`, `{"marketId":1e400}`, `{"priceAtPrediction":-0}`,
		"{\"marketId\":\"\u0663\"}", `{"type":"confidence","payload":{"confidence":9223372036854775808}}`, `{"cutoffAt":"0000-00-00T00:00:00Z"}`,
	} {
		for i := range routes {
			f.Add(uint(i), body)
		}
	}
	f.Fuzz(func(t *testing.T, i uint, body string) {
		if body == "" {
			return // no body is another request
		}
		r := routes[i%uint(len(routes))]
		b.clock.Advance(time.Minute)
		if w := b.send("POST", r.path, body, r.who); w.Code >= http.StatusInternalServerError {
			t.Errorf("%s %q: %d %s", r.path, body, w.Code, w.Body)
		}
	})
}
