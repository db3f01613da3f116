package outage

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/test/system/browser"
	"github.com/signalcast/signalcast/test/system/stack"
)

// Duration of the outages, and the times within which pages that follow the feed must show an outage and its end.
const (
	staleWithin   = 5 * time.Second
	currentWithin = 2 * time.Second
	outageLasts   = 8 * time.Second
)

// markPage marks the page. The returned function requires that the page has not been reloaded.
func markPage(t *testing.T, b *browser.Tab) (requireSamePage func()) {
	t.Helper()
	browser.Eval[bool](b, `window.marked = true`)
	return func() {
		t.Helper()
		if !browser.Eval[bool](b, `window.marked === true`) {
			t.Error("the page was reloaded; want it to recover without a reload")
		}
		b.ForgetOutage()
		b.RequireNoProblems()
	}
}

// TestFeedPageReconnects checks that the feed page reconnects automatically after each crash of the api, and shows
// every call once.
func TestFeedPageReconnects(t *testing.T) {
	s := system(t)
	b := browser.Open(t, browser.Desktop)
	b.Visit(s.Hub+"/feed", http.StatusOK)
	b.Await("#feed-phase", "Live")
	requireSamePage := markPage(t, b)
	browser.Eval[bool](b, `(phase => {
		window.phases = [];
		new MutationObserver(() => phases.push(phase.textContent)).observe(phase, { childList: true });
		return true;
	})(document.querySelector("#feed-phase"))`)
	market := s.NewNativeMarket(t, 5000, nil)
	callers := []*stack.Operator{s.NewOperator(t), s.NewOperator(t), s.NewOperator(t), s.NewOperator(t)}
	for i := range 2 {
		s.Kill(t, "api")
		insistOnCall(t, s, callers[2*i], market)
		s.RequireReady(t)
		insistOnCall(t, s, callers[2*i+1], market)
		for _, o := range callers[:2*i+2] {
			stack.Eventually(t, browser.Within, "the call of "+o.Handle+" in the feed", func() bool {
				b.ClickIfShown("#feed-new")
				return b.Count(`#feed-rows a[href='/u/`+o.Handle+`']`) > 0
			})
		}
	}
	b.Await("#feed-phase", "Live")
	phases := strings.Join(browser.Eval[[]string](b, `window.phases`), ", ")
	if !strings.Contains(phases, "Reconnecting in") {
		t.Errorf("the page has shown the states %q; want Reconnecting in among them", phases)
	}
	for _, o := range callers {
		if n := b.Count(`#feed-rows li:has(a[href='/u/` + o.Handle + `'])`); n != 1 {
			t.Errorf("the page shows %d calls of %s; want 1", n, o.Handle)
		}
	}
	requireSamePage()
}

// insistOnCall files a call, and repeats the request until the call is stored.
func insistOnCall(t *testing.T, s *stack.Stack, o *stack.Operator, market string) {
	t.Helper()
	stack.Eventually(t, time.Minute, "a stored call of "+o.Handle, func() bool {
		a, err := o.Try(t, http.MethodPost, s.Hub+"/api/predictions", stack.Bearer(o.Key), stack.Body(stack.Call(market, "NO", 5000)))
		return err == nil && (a.Status == http.StatusOK || a.Code() == "already_predicted")
	})
}

// TestOverlayDuringOutage checks that the overlay of a stream marks its price as stale while hub and api do not respond or have
// crashed. The overlay must continue to show its texts, and become current again automatically.
func TestOverlayDuringOutage(t *testing.T) {
	s := system(t)
	o, b := s.NewOperator(t), browser.Open(t, browser.Screen)
	market := s.NewNativeMarket(t, 4000, nil)
	o.Send(t, "/api/streamer/signal", http.StatusOK, stack.Bearer(o.Key), stack.JSON{"marketId": market, "name": "Is it read?"})
	b.Visit(s.Hub+"/overlay/"+o.Handle, http.StatusOK)
	awaitOverlay(t, b, "live", browser.Within)
	requireSamePage := markPage(t, b)

	began := time.Now()
	resumeHub, resumeAPI := s.Hang(t, "hub"), s.Hang(t, "api")
	awaitOverlay(t, b, "stale", staleWithin-time.Since(began))
	if mark, name := b.Visible("overlay-stale"), b.Visible("overlay-name"); mark != "STALE" || name != "Is it read?" {
		t.Errorf("the overlay shows the mark %q and the name %q; want STALE and the name of the market", mark, name)
	}
	stack.Wait(t, time.Until(began.Add(outageLasts)))
	awaitOverlay(t, b, "stale", 0)
	resumeAPI()
	resumeHub()
	awaitOverlay(t, b, "live", currentWithin)

	began = time.Now()
	up := s.Down(t, "hub", "api")
	awaitOverlay(t, b, "stale", staleWithin-time.Since(began))
	up()
	awaitOverlay(t, b, "live", currentWithin)
	requireSamePage()
}

// awaitOverlay waits until the overlay has the state want.
func awaitOverlay(t *testing.T, b *browser.Tab, want string, within time.Duration) {
	t.Helper()
	began := time.Now()
	for {
		got := browser.Eval[string](b, `document.getElementById("overlay").dataset.state`)
		if got == want {
			t.Logf("%s after %v", want, time.Since(began))
			return
		}
		if time.Since(began) > within {
			t.Fatalf("the overlay has the state %q; want %q within %v", got, want, within)
		}
		stack.Wait(t, 20*time.Millisecond)
	}
}

// TestScreenDuringOutage checks that the screen marks its programme as stale while hub and api do not respond. The screen must
// continue to show the last programme, and become current again automatically.
func TestScreenDuringOutage(t *testing.T) {
	s := system(t)
	stack.Eventually(t, time.Minute, "a programme of several lanes", func() bool {
		return len(stack.Get(t, s.Hub+"/api/broadcast/program").Require(http.StatusOK).List("lanes")) > 1
	})
	b := browser.Open(t, browser.Screen)
	b.Visit(s.Hub+"/tv", http.StatusOK)
	b.Await("#tv-status", "Live")
	var lanes int
	stack.Eventually(t, browser.Within, "lanes on the screen", func() bool { lanes = b.Count("#tv-lanes li"); return lanes > 0 })
	requireSamePage := markPage(t, b)
	resumeHub, resumeAPI := s.Hang(t, "hub"), s.Hang(t, "api")
	b.AwaitWithin(10*time.Second, "#tv-status", "Data may be outdated")
	clock := b.Visible("tv-clock")
	stack.Eventually(t, 5*time.Second, "the clock of the screen to advance", func() bool { return b.Visible("tv-clock") != clock })
	if title, left := b.Visible("tv-title"), b.Count("#tv-lanes li"); title == "" || left != lanes {
		t.Errorf("the page shows the title %q and %d lanes; want a title and %d lanes", title, left, lanes)
	}
	resumeAPI()
	resumeHub()
	b.AwaitWithin(10*time.Second, "#tv-status", "Live")
	requireSamePage()
}
