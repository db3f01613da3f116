package system

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/test/system/stack"
)

// P22: an operator who is not approved is not on public screens, and the host of its stream is in no policy.
func TestUnapprovedOperatorsAreNotAired(t *testing.T) {
	t.Parallel()
	s := ledgerStack(t)
	o := s.NewOperator(t)
	market := s.NewNativeMarket(t, 5000, nil)
	goLive(t, s, o, market)
	stack.Get(t, s.Hub+"/api/streamers/live").Require(http.StatusOK)
	for _, path := range []string{"/tv", "/live/" + o.Handle, "/api/broadcast/spotlight"} {
		page := stack.Get(t, s.Hub+path)
		policy := page.Header.Get("Content-Security-Policy")
		if page.Contains("tracker.evil.example") || strings.Contains(policy, "tracker.evil.example") {
			t.Errorf("%s shows or allows the stream of an operator who is not approved", path)
		}
	}
}

// P22: suspension hides a live operator within 10 s and refuses new streams and overlays; calls stay.
func TestSuspendedOperatorsAreHidden(t *testing.T) {
	t.Parallel()
	s := ledgerStack(t)
	o := s.NewOperator(t)
	market := s.NewNativeMarket(t, 5000, nil)
	call := o.File(t, stack.Call(market, "YES", 5000)).Require(http.StatusOK).Text("id")
	setStreamer(t, s, o, "approved")
	goLive(t, s, o, market)
	setStreamer(t, s, o, "suspended")

	o.Do(t, http.MethodPost, s.Hub+"/api/m/"+market+"/streams", stack.Bearer(o.Key), stack.Body(stack.JSON{"url": "https://tracker2.evil.example/x.m3u8"})).Require(http.StatusForbidden)
	o.Do(t, http.MethodPost, s.Hub+"/api/streamer/signal", stack.Bearer(o.Key), stack.Body(stack.JSON{"marketId": market, "name": "Ostrava"})).Require(http.StatusForbidden)
	for _, path := range []string{"/api/m/" + market + "/streams", "/api/streamers/live", "/tv", "/api/streamer/signal?handle=" + o.Handle} {
		stack.Eventually(t, 10*time.Second, path+" without the suspended operator", func() bool {
			return !stack.Get(t, s.Hub+path).Contains("evil.example")
		})
	}
	s.Signal(t, call).Expect(stack.JSON{"callsign": o.Handle})
}

func setStreamer(t *testing.T, s *stack.Stack, o *stack.Operator, status string) {
	t.Helper()
	stack.Post(t, s.Hub+"/api/admin/streamers", s.Admin(), stack.Body(stack.JSON{"handle": o.Handle, "status": status})).Require(http.StatusOK)
}

// goLive binds a stream of a foreign host to a market and begins a session.
func goLive(t *testing.T, s *stack.Stack, o *stack.Operator, market string) {
	t.Helper()
	o.Do(t, http.MethodPost, s.Hub+"/api/m/"+market+"/streams", stack.Bearer(o.Key), stack.Body(stack.JSON{"url": "https://tracker.evil.example/x.m3u8"})).Require(http.StatusOK)
	o.Do(t, http.MethodPost, s.Hub+"/api/streamer/heartbeat", stack.Bearer(o.Key)).Require(http.StatusOK)
}

// P23: an administrator hides text; numbers stay.
func TestModerationHidesTextAndKeepsNumbers(t *testing.T) {
	t.Parallel()
	s := ledgerStack(t)
	o := s.NewOperator(t)
	market := s.NewNativeMarket(t, 5000, nil)
	const text = "an accusation against a neighbour"
	a := o.File(t, stack.Call(market, "YES", 5000).With("textTake", text)).Require(http.StatusOK)
	hide := stack.JSON{"kind": "signal", "id": a.Text("id"), "action": "hide", "reason": "defamation"}
	moderate := func(body stack.JSON) stack.Answer {
		return stack.Post(t, s.Hub+"/api/admin/moderation", s.Admin(), stack.Header("x-admin-name", "mara"), stack.Body(body))
	}
	stack.Post(t, s.Hub+"/api/admin/moderation", stack.Body(hide)).Require(http.StatusUnauthorized)
	moderate(hide.With("id", "01900000-0000-7000-8000-000000000000")).Require(http.StatusNotFound)
	moderate(hide).Require(http.StatusOK)
	surfaces := []string{
		s.Hub + "/api/signals/" + a.Text("id"), s.Hub + "/api/signals/feed?limit=100", s.Hub + "/u/" + o.Handle, a.Text("receiptUrl"),
		s.Hub + "/api/m/" + market + "/signals", s.API + "/api/v1/feed?limit=500",
	}
	for _, url := range surfaces {
		stack.Eventually(t, 10*time.Second, url+" without the hidden text", func() bool { return !stack.Get(t, url).Contains(text) })
	}
	s.Signal(t, a.Text("id")).Expect(stack.JSON{"priceAtPrediction": 5000, "direction": "YES"})
	moderate(hide.With("action", "show")).Require(http.StatusOK)
	stack.Eventually(t, 10*time.Second, "the text that is shown again", func() bool { return s.Signal(t, a.Text("id")).Contains(text) })
}
