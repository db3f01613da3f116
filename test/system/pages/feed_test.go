package pages

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/test/system/browser"
	"github.com/signalcast/signalcast/test/system/stack"
)

const feedUpdate = 10 * time.Second

// TestFeedPage checks that the feed page shows new events within seconds, shows texts unchanged, and gathers new events
// behind a button. The test does not run in parallel, because it counts the events on the page.
func TestFeedPage(t *testing.T) {
	s := system(t)
	before, p := s.NewOperator(t), s.NewOperator(t)
	id := before.NewCall(t, s.NewNativeMarket(t, 5000, nil), "YES", 5000, stack.JSON{"textTake": "the words before"})
	stack.Eventually(t, browser.Within, "the call in the feed", func() bool {
		return read(t, s.API+"/api/v1/feed?limit=200").Contains(id)
	})
	tabs := []*browser.Tab{browser.Open(t, browser.Desktop), browser.Open(t, browser.Phone)}
	for _, b := range tabs {
		b.Visit(s.Hub+"/feed", http.StatusOK)
		b.Await("#feed-phase", "Live")
		b.Shows("#feed-rows", "the words before")
	}
	market := s.NewNativeMarket(t, 5000, nil)
	p.NewCall(t, market, "YES", 5200, stack.JSON{"textTake": "the gauge is rising"})
	for _, b := range tabs {
		awaitEvent(t, b, "Call", "@"+p.Handle, "YES at 52¢", "the gauge is rising")
		for _, link := range []string{"/m/" + market, "/u/" + p.Handle} {
			if n := b.Count("#feed-rows a[href='" + link + "']"); n != 1 {
				t.Errorf("the page has %d links to %s; want 1", n, link)
			}
		}
		b.RequireFits()
		b.RequireNoProblems()
	}
	b := tabs[0]
	market = s.NewNativeMarket(t, 5000, nil)
	t.Run("hostile texts", func(t *testing.T) { requireHostileFeed(t, s, b, market) })
	t.Run("button", func(t *testing.T) { requireButton(t, s, b, market) })
	t.Run("home page", func(t *testing.T) { requireLiveHome(t, s, b, market) })
	t.Run("results", func(t *testing.T) {
		s.Finalize(t, market, "YES")
		awaitEvent(t, b, "Won, +50 points")
		b.RequireNoProblems()
		b.Visit(s.Hub+"/feed?of=resolutions", http.StatusOK)
		b.Await("#feed-rows", read(t, s.Hub+"/api/m/"+market).Text("question"), "YES")
		for _, path := range []string{"/feed?lane=science", "/feed?of=wire"} {
			b.Visit(s.Hub+path, http.StatusOK)
			b.Await("#feed-phase", "Live")
			b.RequireFits()
		}
		b.RequireNoProblems()
	})
	t.Run("without scripts", func(t *testing.T) { requireFeedWithoutScript(t, s) })
}

// requireHostileFeed requires that both the script and the server show the texts of calls unchanged.
func requireHostileFeed(t *testing.T, s *stack.Stack, b *browser.Tab, market string) {
	texts := browser.HostileTexts[:stack.Size(t, 5, len(browser.HostileTexts), len(browser.HostileTexts))]
	for i, o := range s.SeedOperators(t, len(texts)) {
		o.NewCall(t, market, "YES", 5000, stack.JSON{"textTake": texts[i]})
		stack.Eventually(t, feedUpdate, "the take "+texts[i], func() bool {
			b.ClickIfShown("#feed-new")
			shown := b.Texts("#feed-rows li:first-child p")
			return len(shown) == 1 && shown[0] == strings.TrimSpace(texts[i])
		})
	}
	b.RequireNoProblems()
	b.Visit(s.Hub+"/feed?x=fresh", http.StatusOK)
	b.Await("#feed-phase", "Live")
	if n := b.Count("#feed-rows li"); n < min(len(texts), 50) {
		t.Errorf("the page shows %d events; want at least %d", n, min(len(texts), 50))
	}
	b.RequireNoProblems()
}

// awaitEvent waits until the list of the page has the texts. It shows new events.
func awaitEvent(t *testing.T, b *browser.Tab, texts ...string) {
	t.Helper()
	stack.Eventually(t, feedUpdate, strings.Join(texts, ", ")+" in the feed", func() bool {
		b.ClickIfShown("#feed-new")
		shown := strings.Join(b.Texts("#feed-rows"), "")
		return !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(shown, text) })
	})
}

// requireButton requires that a new event waits behind a button that counts it, and that the button shows it.
func requireButton(t *testing.T, s *stack.Stack, b *browser.Tab, market string) {
	s.NewOperator(t).NewCall(t, market, "YES", 5000, stack.JSON{"textTake": "behind the button"})
	b.AwaitWithin(feedUpdate, "#feed-new", "Show 1 new event")
	if shown := b.Texts("#feed-rows li:first-child p"); len(shown) == 1 && shown[0] == "behind the button" {
		t.Error("the page shows the event before the button is pressed")
	}
	b.Click("#feed-new")
	b.AwaitWithin(feedUpdate, "#feed-rows li", "behind the button")
	if b.Visible("feed-new") != "" {
		t.Error("the page shows the button without new events")
	}
}

// requireLiveHome opens the home page and files a call with an update. The button above the list "Newest calls" must count the
// call and not the update. After a press, the call must be the first of at most six calls.
func requireLiveHome(t *testing.T, s *stack.Stack, b *browser.Tab, market string) {
	o := s.NewOperator(t)
	b.Visit(s.Hub+"/", http.StatusOK)
	b.Await("#calls-h", "Newest calls")
	id := o.NewCall(t, market, "YES", 5000, stack.JSON{"textTake": "live on the home page"})
	o.Send(t, "/api/signals/"+id+"/events", http.StatusCreated, stack.Bearer(o.Key), stack.JSON{"type": "reaffirm"})
	b.AwaitWithin(feedUpdate, "#feed-new", "Show 1 new event")
	b.Click("#feed-new")
	b.AwaitWithin(feedUpdate, "#feed-rows li:first-child", "live on the home page")
	if n := b.Count("#feed-rows li"); n > 6 {
		t.Errorf("the home page shows %d calls; want at most 6", n)
	}
	b.RequireFits()
	b.RequireNoProblems()
	b.Visit(s.Hub+"/feed", http.StatusOK)
	b.Await("#feed-phase", "Live")
}

// requireFeedWithoutScript requires that the page contains the newest events, at most 50, when scripts are disabled.
// Its content security policy must allow only the script of the page and connections to the feed.
func requireFeedWithoutScript(t *testing.T, s *stack.Stack) {
	const newest = "/api/v1/feed?limit=50&types=signal.created,signal.event,signal.resolved"
	want := len(read(t, s.API+newest).List("items"))
	var a stack.Answer
	stack.Eventually(t, feedUpdate, fmt.Sprintf("a page with the newest %d events", want), func() bool {
		a = read(t, s.Hub+"/feed")
		return strings.Count(string(a.Body), "<li class=") == want
	})
	page := string(a.Body)
	if !strings.Contains(page, "<noscript>") || !strings.Contains(page, "events as of") {
		t.Error("the page does not show when the server read the events")
	}
	permitted := "script-src 'self'; connect-src 'self' " + strings.Replace(s.API, "http", "ws", 1)
	policy := a.Header.Get("Content-Security-Policy")
	if !strings.HasSuffix(policy, permitted) || strings.Contains(policy, "unsafe") || strings.Contains(policy, "*") {
		t.Errorf("the content security policy is %q; want one that ends with %q", policy, permitted)
	}
	script := `<script type="module" src="/static/feed.js?v=`
	if n := strings.Count(page, "<script"); n != 2 || !strings.Contains(page, script) || strings.Contains(page, " style=") {
		t.Errorf("the page has %d scripts; want feed.js, the script of all pages, and no inline style", n)
	}
}
