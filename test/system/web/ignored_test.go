package web

import (
	"net/http"
	"strings"
	"testing"

	"github.com/signalcast/signalcast/test/system/stack"
)

// TestIgnoredParametersAreNamed checks that lenient reads of all three hosts name the query parameters that they ignore, also in
// answers from a cache, and that pages of other origins can read the names.
func TestIgnoredParametersAreNamed(t *testing.T) {
	t.Parallel()
	s, crowd, open := webStack(t), stack.NewCrowd(20), map[string]bool{}
	for _, c := range []struct{ host, target, want string }{
		{"hub", "/api/markets?limit=5000&lane=nope", "limit, lane"},
		{"hub", "/api/markets?limit=5&lane=sport&sort=closes&status=open", ""},
		{"hub", "/api/polymarket/markets?lanes=SPORTS&cursor=zzz&limit=abc", "lanes, cursor, limit"},
		{"hub", "/api/polymarket/markets?lane=OTHER", "lane"},
		{"hub", "/api/situations?window=2h&limit=0", "window, limit"},
		{"hub", "/api/operator/leaderboard?operators=unknown&order=edge", "operators"},
		{"api", "/api/aura/top?limit=101&lane=SCIENCE", "limit"},
		{"api", "/api/v1/signals?status=open&page=2", "status, page"},
		{"clock", "/program/timeline?limit=401&lane=sports", "limit, lane"},
		{"clock", "/program/now?lane=sports&preset=best", "preset"},
	} {
		for range 2 { // the second answer may come from a cache
			a := crowd.Retry(t, http.MethodGet, s.Base(c.host, 0)+c.target, fromOrigin("https://evil.example", http.MethodGet))
			if got := a.Header.Get("X-Ignored"); a.Status != http.StatusOK || got != c.want {
				t.Errorf("GET %s%s: status %d, X-Ignored %q; want 200, %q", c.host, c.target, a.Status, got, c.want)
			}
			if a.Header.Get("Access-Control-Allow-Origin") == "*" {
				open[c.host] = true
				if exposed := a.Header.Get("Access-Control-Expose-Headers"); !strings.Contains(exposed, "X-Ignored") {
					t.Errorf("GET %s%s does not expose X-Ignored: %q", c.host, c.target, exposed)
				}
			}
		}
	}
	if len(open) != 3 {
		t.Errorf("reads of %v are open to other origins; want reads of three hosts", open)
	}
}
