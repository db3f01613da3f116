package system

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/test/system/stack"
)

// TestUnapprovedOperatorsAreNotAired checks that public screens do not show an operator who is not approved, and that
// no content security policy allows the host of the operator's stream (guarantee P22). The stream of an approved
// operator, which began later, is shown until the operator is suspended.
func TestUnapprovedOperatorsAreNotAired(t *testing.T) {
	t.Parallel()
	s := ledgerStack(t)
	unapproved, approved := s.NewOperator(t), s.NewOperator(t)
	const refusedHost, shownHost = "unapproved.evil.example", "approved.video.example"
	goLive(t, s, unapproved, s.NewNativeMarket(t, 5000, nil), refusedHost)
	approved.SetStreamer(t, "approved")
	goLive(t, s, approved, s.NewNativeMarket(t, 5000, nil), shownHost)
	stack.Send(t, http.MethodGet, s.Hub+"/api/streamers/live").Require(http.StatusOK)
	for _, path := range []string{"/tv", "/live/" + approved.Handle, "/api/broadcast/feed?types=live&limit=100"} {
		stack.Eventually(t, 10*time.Second, "the stream of the approved operator on "+path, func() bool {
			return screenNames(t, s, path, shownHost)
		})
	}
	for _, path := range []string{"/tv", "/live/" + unapproved.Handle, "/api/broadcast/spotlight", "/api/broadcast/feed?types=live&limit=100"} {
		if screenNames(t, s, path, refusedHost) {
			t.Errorf("%s shows the stream of an unapproved operator, or its policy allows the host", path)
		}
	}
	approved.SetStreamer(t, "suspended")
	for _, path := range []string{"/tv", "/live/" + approved.Handle} {
		stack.Eventually(t, 10*time.Second, "no stream of the suspended operator on "+path, func() bool {
			return !screenNames(t, s, path, shownHost)
		})
	}
}

// TestEmbedShowsALiveOperator checks that the embed of an operator shows whether the operator is live and approved, and the market
// that the operator shows, from the start of a broadcast to its end.
func TestEmbedShowsALiveOperator(t *testing.T) {
	t.Parallel()
	s := ledgerStack(t)
	o := s.NewOperator(t)
	market := s.NewNativeMarket(t, 5000, nil)
	shows := func(live, approved bool, shown any) {
		t.Helper()
		want := fmt.Sprint(live, approved, shown)
		stack.Eventually(t, 30*time.Second, "an embed with "+want, func() bool {
			embed := stack.Get(t, s.Hub+"/api/embed/operator/"+o.Handle)
			return embed.Status == http.StatusOK && fmt.Sprint(embed.Value("live"), embed.Value("approved"), embed.Value("liveSignal")) == want
		})
	}
	shows(false, false, nil)
	shown := map[string]any{"marketId": market, "name": "Gauge above six metres", "yesPct": 31.5, "slug": "gauge"}
	o.Do(t, http.MethodPost, s.Hub+"/api/streamer/signal", stack.Bearer(o.Key), stack.Body(stack.JSON(shown))).Require(http.StatusOK)
	goLive(t, s, o, market, "embedded.video.example")
	shows(true, false, shown)
	o.SetStreamer(t, "approved")
	shows(true, true, shown)
	o.Do(t, http.MethodPost, s.Hub+"/api/streamer/heartbeat", stack.Bearer(o.Key), stack.Body(stack.JSON{"state": "offline"})).Require(http.StatusOK)
	o.Do(t, http.MethodDelete, s.Hub+"/api/streamer/signal", stack.Bearer(o.Key)).Require(http.StatusOK)
	shows(false, false, nil)
}

// screenNames reports whether an answer or its content security policy contains a host. The test fails unless the
// status is 200.
func screenNames(t *testing.T, s *stack.Stack, path, host string) bool {
	t.Helper()
	page := stack.Send(t, http.MethodGet, s.Hub+path).Require(http.StatusOK)
	return page.Contains(host) || strings.Contains(page.Header.Get("Content-Security-Policy"), host)
}

// goLive binds a stream on a video host to a market and starts a live session. Each test uses a different host, because the
// tests share a system.
func goLive(t *testing.T, s *stack.Stack, o *stack.Operator, market, host string) {
	t.Helper()
	o.Do(t, http.MethodPost, s.Hub+"/api/m/"+market+"/streams", stack.Bearer(o.Key), stack.Body(stack.JSON{"url": "https://" + host + "/x.m3u8"})).Require(http.StatusOK)
	o.Do(t, http.MethodPost, s.Hub+"/api/streamer/heartbeat", stack.Bearer(o.Key)).Require(http.StatusOK)
}

// TestModerationHidesTextAndKeepsNumbers checks that numbers do not change when an administrator hides text (guarantee P23). It
// checks every surface before and after. It does not run in parallel, because calls of other tests would move its call off the
// first page of the feed.
func TestModerationHidesTextAndKeepsNumbers(t *testing.T) {
	s := ledgerStack(t)
	o := s.NewOperator(t)
	market := s.NewNativeMarket(t, 5000, nil)
	const text = "an accusation against a neighbour"
	a := o.Do(t, http.MethodPost, s.Hub+"/api/protocol/v1/predictions", stack.Bearer(o.Key), stack.Body(stack.JSON{
		"marketId": market, "position": "YES", "priceBps": 5000, "take": text,
	})).Require(http.StatusOK)
	hide := stack.JSON{"kind": "signal", "id": a.Text("id"), "action": "hide", "reason": "defamation"}
	message := s.Hub + "/api/protocol/v1/messages/" + a.Text("messageId")
	surfaces := []string{
		s.Hub + "/api/signals/" + a.Text("id"), s.Hub + "/api/signals/feed?limit=100", s.Hub + "/u/" + o.Handle, a.Text("receiptUrl"),
		s.Hub + "/api/m/" + market + "/signals", s.API + "/api/v1/feed?limit=200&handle=" + o.Handle,
		message, s.Hub + "/api/protocol/v1/messages?denpaId=" + o.ID,
	}
	shown := func(want bool) {
		t.Helper()
		for _, url := range surfaces {
			stack.Eventually(t, 10*time.Second, fmt.Sprintf("%s with text shown: %t", url, want), func() bool {
				return stack.Send(t, http.MethodGet, url).Require(http.StatusOK).Contains(text) == want
			})
		}
		stack.Eventually(t, 10*time.Second, fmt.Sprintf("the replay of events with text shown: %t", want), func() bool {
			return strings.Contains(firstStreamLine(t, s, "operator:"+o.Handle+"&since=0", a.Text("id")), text) == want
		})
		stack.Send(t, http.MethodGet, message).Require(http.StatusOK).Expect(stack.JSON{"hidden": !want, "id": a.Text("messageId"), "result.signalId": a.Text("id"), "message.denpaId": o.ID})
		s.Signal(t, a.Text("id")).Expect(stack.JSON{"priceAtPrediction": 5000, "direction": "YES"})
	}
	shown(true)
	stack.Post(t, s.Hub+"/api/admin/moderation", stack.Body(hide)).Require(http.StatusUnauthorized)
	moderate(t, s, hide.With("id", "01900000-0000-7000-8000-000000000000")).Require(http.StatusNotFound)
	moderate(t, s, hide).Require(http.StatusOK)
	shown(false)
	stack.Get(t, message).Expect(stack.JSON{"message.payload": nil})
	moderate(t, s, hide.With("action", "show")).Require(http.StatusOK)
	shown(true)
}

func moderate(t *testing.T, s *stack.Stack, body stack.JSON) stack.Answer {
	t.Helper()
	return stack.Post(t, s.Hub+"/api/admin/moderation", s.Admin(), stack.Header("x-admin-name", "mara"), stack.Body(body))
}

// TestHiddenProfilesAreOffTheAir checks that no surface of a broadcast shows texts and media addresses of a hidden
// profile, and that they reappear when the profile is shown again (guarantee P23). The numbers do not change.
func TestHiddenProfilesAreOffTheAir(t *testing.T) {
	t.Parallel()
	s := ledgerStack(t)
	o, reader := s.NewOperator(t), s.NewOperator(t)
	market := s.NewNativeMarket(t, 5000, nil)
	const text = "hidden-profile" // part of each text and address of the profile
	bearer := stack.Bearer(o.Key)
	beat := func(state string) string {
		t.Helper()
		return o.Do(t, http.MethodPost, s.Hub+"/api/streamer/heartbeat", bearer, stack.Body(stack.JSON{"state": state})).Require(http.StatusOK).Text("showId")
	}
	o.SetStreamer(t, "approved")
	o.Do(t, http.MethodPost, s.Hub+"/api/m/"+market+"/streams", bearer, stack.Body(stack.JSON{
		"url": "https://" + text + ".evil.example/x.m3u8", "label": text + " label",
	})).Require(http.StatusOK)
	o.Do(t, http.MethodPost, s.Hub+"/api/streamer/signal", bearer, stack.Body(stack.JSON{
		"marketId": market, "name": text + " name", "slug": text, "annotation": text + " note",
	})).Require(http.StatusOK)
	beat("live")
	ended := beat("offline")
	beat("live")

	pages := []string{
		"/live/" + o.Handle, "/tv", "/api/streamer/signal?handle=" + o.Handle, "/api/streamer/stream/state?handle=" + o.Handle,
		"/api/streamers/live", "/api/operator/" + o.Handle, "/api/embed/operator/" + o.Handle, "/api/broadcast/feed?types=live&limit=100", "/api/m/" + market + "/streams",
	}
	events := []string{"stream.bound", "operator.live", "operator.offline"}
	shown := func(want bool) {
		t.Helper()
		beat("live")
		for _, path := range pages {
			stack.Eventually(t, 10*time.Second, fmt.Sprintf("%s with text shown: %t", path, want), func() bool { return screenNames(t, s, path, text) == want })
		}
		for _, kind := range events {
			url := s.API + "/api/v1/feed?limit=200&handle=" + o.Handle + "&types=" + kind
			stack.Eventually(t, 10*time.Second, fmt.Sprintf("%s with text shown: %t", url, want), func() bool {
				a := stack.Send(t, http.MethodGet, url).Require(http.StatusOK)
				return len(a.List("items")) > 0 && a.Contains(text) == want
			})
		}
		for _, channel := range []string{"overlay:" + o.Handle, "operator:" + o.Handle, "live"} {
			stack.Eventually(t, 10*time.Second, fmt.Sprintf("the snapshot of %s with text shown: %t", channel, want), func() bool {
				return strings.Contains(snapshot(t, s, channel), text) == want
			})
		}
		// An agent reads the same record as /api/operator. The request needs a key, and a key is limited to 60 requests
		// per minute.
		agent := stack.Post(t, s.Hub+"/api/mcp", stack.Bearer(reader.Key), stack.Header("Accept", "application/json, text/event-stream"), stack.Body(stack.JSON{
			"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": stack.JSON{"name": "get_operator", "arguments": stack.JSON{"handle": o.Handle}},
		})).Require(http.StatusOK)
		if !agent.Contains(o.Handle) || agent.Contains(text) != want {
			t.Errorf("get_operator: want text shown: %t; got: %s", want, agent.Body)
		}
		// The record of the ended session remains public. Its market has the title from the ledger.
		stack.Send(t, http.MethodGet, s.Hub+"/api/streamer/recap?handle="+o.Handle+"&showId="+ended).Require(http.StatusOK).Expect(stack.JSON{
			"showId": ended, "recap.topMarket.marketId": market, "recap.topMarket.title": stack.Get(t, s.Hub+"/api/m/"+market).Text("question"), "recap.calls": 0,
		})
		if !stack.Get(t, s.Hub+"/api/streamers/live").Contains(ended) {
			t.Error("the ended session is missing in the list of recent sessions")
		}
	}
	shown(true)
	hide := stack.JSON{"kind": "profile", "id": o.Handle, "action": "hide", "reason": "abuse"}
	moderate(t, s, hide).Require(http.StatusOK)
	shown(false)
	moderate(t, s, hide.With("action", "show")).Require(http.StatusOK)
	shown(true)
}

// snapshot returns the snapshot that the event stream of a channel sends first.
func snapshot(t *testing.T, s *stack.Stack, channel string) string {
	t.Helper()
	return firstStreamLine(t, s, channel, `"op":"snapshot"`)
}

// firstStreamLine returns the first line of the event stream of a channel that contains the text. channel may end with
// further query parameters.
func firstStreamLine(t *testing.T, s *stack.Stack, channel, text string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.API+"/api/v1/feed/stream?channels="+channel, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if strings.Contains(lines.Text(), text) {
			return lines.Text()
		}
	}
	t.Fatalf("the event stream ended without a line that contains %q on channel %s: %v", text, channel, lines.Err())
	return ""
}
