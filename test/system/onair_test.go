package system

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/test/system/stack"
)

// P22: an operator who is not approved is not on public screens, and the host of its stream is in no policy. The
// stream of an approved operator, which began later, is shown.
func TestUnapprovedOperatorsAreNotAired(t *testing.T) {
	t.Parallel()
	s := ledgerStack(t)
	unapproved, approved := s.NewOperator(t), s.NewOperator(t)
	const refusedHost, shownHost = "unapproved.evil.example", "approved.video.example"
	goLive(t, s, unapproved, s.NewNativeMarket(t, 5000, nil), refusedHost)
	setStreamer(t, s, approved, "approved")
	goLive(t, s, approved, s.NewNativeMarket(t, 5000, nil), shownHost)
	stack.Get(t, s.Hub+"/api/streamers/live").Require(http.StatusOK)
	for _, path := range []string{"/tv", "/live/" + approved.Handle} {
		stack.Eventually(t, 10*time.Second, path+" with the stream of the approved operator", func() bool {
			return screenNames(t, s, path, shownHost)
		})
	}
	for _, path := range []string{"/tv", "/live/" + unapproved.Handle, "/api/broadcast/spotlight"} {
		if screenNames(t, s, path, refusedHost) {
			t.Errorf("%s shows or allows the stream of an operator who is not approved", path)
		}
	}
}

// screenNames reports whether an answer or its policy contains a host. The test fails unless the status is 200.
func screenNames(t *testing.T, s *stack.Stack, path, host string) bool {
	t.Helper()
	page := stack.Get(t, s.Hub+path).Require(http.StatusOK)
	return page.Contains(host) || strings.Contains(page.Header.Get("Content-Security-Policy"), host)
}

// P22: suspension hides a live operator within 10 s and refuses new streams and overlays; calls stay.
func TestSuspendedOperatorsAreHidden(t *testing.T) {
	t.Parallel()
	s := ledgerStack(t)
	o := s.NewOperator(t)
	market := s.NewNativeMarket(t, 5000, nil)
	call := o.File(t, stack.Call(market, "YES", 5000)).Require(http.StatusOK).Text("id")
	const host, overlay = "suspended.evil.example", "Overlay of a suspended operator"
	setStreamer(t, s, o, "approved")
	goLive(t, s, o, market, host)
	setOverlay := func() stack.Answer {
		return o.Do(t, http.MethodPost, s.Hub+"/api/streamer/signal", stack.Bearer(o.Key), stack.Body(stack.JSON{"marketId": market, "name": overlay}))
	}
	setOverlay().Require(http.StatusOK)
	surfaces := map[string]string{
		"/api/m/" + market + "/streams": host, "/api/streamers/live": host, "/tv": host, "/live/" + o.Handle: host,
		"/api/streamer/signal?handle=" + o.Handle: overlay,
	}
	for path, text := range surfaces {
		stack.Eventually(t, 10*time.Second, path+" with the live operator", func() bool { return screenNames(t, s, path, text) })
	}
	setStreamer(t, s, o, "suspended")

	o.Do(t, http.MethodPost, s.Hub+"/api/m/"+market+"/streams", stack.Bearer(o.Key), stack.Body(stack.JSON{"url": "https://second." + host + "/x.m3u8"})).Require(http.StatusForbidden)
	setOverlay().Require(http.StatusForbidden)
	for path, text := range surfaces {
		stack.Eventually(t, 10*time.Second, path+" without the suspended operator", func() bool { return !screenNames(t, s, path, text) })
	}
	s.Signal(t, call).Expect(stack.JSON{"callsign": o.Handle})
}

func setStreamer(t *testing.T, s *stack.Stack, o *stack.Operator, status string) {
	t.Helper()
	stack.Post(t, s.Hub+"/api/admin/streamers", s.Admin(), stack.Body(stack.JSON{"handle": o.Handle, "status": status})).Require(http.StatusOK)
}

// goLive binds a stream of a host to a market and begins a session. Tests use different hosts, because they share a stack.
func goLive(t *testing.T, s *stack.Stack, o *stack.Operator, market, host string) {
	t.Helper()
	o.Do(t, http.MethodPost, s.Hub+"/api/m/"+market+"/streams", stack.Bearer(o.Key), stack.Body(stack.JSON{"url": "https://" + host + "/x.m3u8"})).Require(http.StatusOK)
	o.Do(t, http.MethodPost, s.Hub+"/api/streamer/heartbeat", stack.Bearer(o.Key)).Require(http.StatusOK)
}

// P23: an administrator hides text; numbers stay. Each surface shows the text before and after.
func TestModerationHidesTextAndKeepsNumbers(t *testing.T) {
	t.Parallel()
	s := ledgerStack(t)
	o := s.NewOperator(t)
	market := s.NewNativeMarket(t, 5000, nil)
	const text = "an accusation against a neighbour"
	a := o.Do(t, http.MethodPost, s.Hub+"/api/protocol/v1/predictions", stack.Bearer(o.Key), stack.Body(stack.JSON{
		"marketId": market, "position": "YES", "priceBps": 5000, "take": text,
	})).Require(http.StatusOK)
	hide := stack.JSON{"kind": "signal", "id": a.Text("id"), "action": "hide", "reason": "defamation"}
	moderate := func(body stack.JSON) stack.Answer {
		return stack.Post(t, s.Hub+"/api/admin/moderation", s.Admin(), stack.Header("x-admin-name", "mara"), stack.Body(body))
	}
	message := s.Hub + "/api/protocol/v1/messages/" + a.Text("messageId")
	surfaces := []string{
		s.Hub + "/api/signals/" + a.Text("id"), s.Hub + "/api/signals/feed?limit=100", s.Hub + "/u/" + o.Handle, a.Text("receiptUrl"),
		s.Hub + "/api/m/" + market + "/signals", s.API + "/api/v1/feed?limit=200&handle=" + o.Handle,
		message, s.Hub + "/api/protocol/v1/messages?denpaId=" + o.ID,
	}
	shown := func(want bool) {
		t.Helper()
		for _, url := range surfaces {
			stack.Eventually(t, 10*time.Second, fmt.Sprintf("%s: text shown is %t", url, want), func() bool {
				return stack.Get(t, url).Require(http.StatusOK).Contains(text) == want
			})
		}
		stack.Get(t, message).Require(http.StatusOK).Expect(stack.JSON{"hidden": !want, "id": a.Text("messageId"), "result.signalId": a.Text("id"), "message.denpaId": o.ID})
		s.Signal(t, a.Text("id")).Expect(stack.JSON{"priceAtPrediction": 5000, "direction": "YES"})
	}
	shown(true)
	stack.Post(t, s.Hub+"/api/admin/moderation", stack.Body(hide)).Require(http.StatusUnauthorized)
	moderate(hide.With("id", "01900000-0000-7000-8000-000000000000")).Require(http.StatusNotFound)
	moderate(hide).Require(http.StatusOK)
	shown(false)
	stack.Get(t, message).Expect(stack.JSON{"message.payload": nil})
	moderate(hide.With("action", "show")).Require(http.StatusOK)
	shown(true)
}
