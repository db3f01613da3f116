package outage

import (
	"net/http"
	"strconv"
	"testing"

	"github.com/signalcast/signalcast/test/system/stack"
)

// TestWritesNameTheUnavailableDependency checks every write route while the database or the api is unavailable. The answer must
// have status 503, Retry-After, and an error code that names the unavailable dependency.
func TestWritesNameTheUnavailableDependency(t *testing.T) {
	s := system(t)
	a := s.NewAuthor(t)
	for _, tc := range []struct {
		down, code string
		ofAPI      bool // the routes of the api can still answer
	}{
		{"postgres", "db_unavailable", true},
		{"api", "signal_service_unavailable", false},
	} {
		t.Run(tc.down, func(t *testing.T) {
			up := s.Down(t, tc.down)
			for i, w := range s.WriteRoutes(a) {
				if w.Service == "hub" || tc.ofAPI {
					t.Run(w.Name, func(t *testing.T) {
						base := s.HubAt(i)
						if w.Service == "api" {
							base = s.API
						}
						answer := a.Do(t, w.Method, base+w.Path, w.Sets(nil)...).RequireError(http.StatusServiceUnavailable, tc.code)
						if after := answer.Header.Get("Retry-After"); !positive(after) {
							t.Errorf("Retry-After is %q; want seconds, at least 1", after)
						}
						if cache := answer.Header.Get("Cache-Control"); cache != "no-store" {
							t.Errorf("Cache-Control is %q; want no-store", cache)
						}
					})
				}
			}
			up()
			requireReachable(t, s, a.Market)
		})
	}
}

func positive(seconds string) bool {
	n, err := strconv.Atoi(seconds)
	return err == nil && n >= 1
}

// requireReachable waits until every hub can read from the api. Hubs report ready earlier, because they can answer some
// requests without the api.
func requireReachable(t *testing.T, s *stack.Stack, market string) {
	t.Helper()
	for _, hub := range s.AllHubs() {
		stack.Eventually(t, recoverWithin, hub+" to reach the api", func() bool {
			return stack.Get(t, hub+"/api/resolution/outcome?market="+market).Status == http.StatusOK
		})
	}
}
