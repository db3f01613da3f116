package edge_test

import (
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/limit"
	"github.com/signalcast/signalcast/services/hub/internal/edge"
)

// readyTargets are the reads that are answered from ready bytes.
var readyTargets = []string{
	"/api/signals/feed", "/api/operator/leaderboard", "/api/polymarket/featured", "/api/polymarket/featured?mode=resolving24h",
	"/api/oracle/featured?limit=3", "/api/fashion/signals", "/api/wire?window=1h", "/api/situations?lane=science", "/api/markets/airable?limit=7",
	"/api/broadcast/spotlight", "/api/broadcast/feed?types=take&limit=3", "/api/broadcast/bumpers", "/api/broadcast/influence?window=7d", "/api/broadcast/schedule?cat=music",
	"/api/broadcast/program", "/api/network/program?limit=3",
}

// TestReadyPagesSkipTheRouter: the second reader is answered before the router, with
// the very answer of the first; its address is counted all the same, and who has a
// credential is left to the router.
func TestReadyPagesSkipTheRouter(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.ledger.Program = programme()
	for _, target := range readyTargets {
		first, second := b.send("GET", target, ""), b.send("GET", target, "")
		if first.Header().Get("X-Request-Id") == "" || second.Header().Get("X-Request-Id") != "" {
			t.Errorf("%s: not answered by the front", target)
		}
		for _, name := range []string{"Cache-Control", "Content-Type", "Etag", "Access-Control-Allow-Origin", "Access-Control-Max-Age", "X-Content-Type-Options"} {
			if first.Header().Get(name) != second.Header().Get(name) {
				t.Errorf("%s: %s is %q, then %q", target, name, first.Header().Get(name), second.Header().Get(name))
			}
		}
		if first.Code != 200 || first.Body.String() != second.Body.String() {
			t.Errorf("%s: %d, another answer", target, first.Code)
		}
		want(t, b.send("GET", target, "", b.byKey()), 401, "unauthenticated")
	}
	few := setup(t, func(_ *edge.Config, d *edge.Deps) { d.Addresses = limit.NewLocal("hub", 2, time.Minute, d.Now) })
	for i, code := range []int{200, 200, 429} {
		if w := few.send("GET", "/api/wire", ""); w.Code != code {
			t.Errorf("read %d: %d", i+1, w.Code)
		}
	}
}
