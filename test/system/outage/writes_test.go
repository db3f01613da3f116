package outage

import (
	"net/http"
	"strconv"
	"testing"

	"github.com/signalcast/signalcast/test/system/stack"
)

// Every write that meets an unavailable database, or an unavailable api, answers 503 with the code of what is unavailable and
// the time of the next attempt.
func TestWritesNameWhatIsUnavailable(t *testing.T) {
	s := system(t)
	a := s.NewAuthor(t)
	for _, tc := range []struct {
		down, code string
		ofAPI      bool // routes of the api answer, too
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

// requireReachable waits until every hub reads from the api: hubs are ready before, since some answers do not need it.
func requireReachable(t *testing.T, s *stack.Stack, market string) {
	t.Helper()
	for _, hub := range s.AllHubs() {
		stack.Eventually(t, recoverWithin, hub+" reaches the api", func() bool {
			return stack.Get(t, hub+"/api/resolution/outcome?market="+market).Status == http.StatusOK
		})
	}
}
