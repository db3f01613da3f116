package e2e

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/signalcast/signalcast/pkg/testkit"
	hostile "github.com/signalcast/signalcast/test/system/browser"
)

// sees waits until the page shows the words somewhere.
func sees(t *testing.T, b *tab, within time.Duration, selector string, words ...string) {
	t.Helper()
	for end := time.Now().Add(within); ; {
		text, err := glance(b, chromedp.Evaluate[string](`document.querySelector("`+selector+`").textContent`))
		if err == nil && !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) }) {
			return
		}
		if time.Now().After(end) {
			b.clean(selector)
			t.Fatalf("%s never shows %q: %v\n%s", selector, words, err, text)
		}
		<-time.After(50 * time.Millisecond)
	}
}

func texts(b *tab, selector string) []string {
	return ask(b, "read "+selector, chromedp.Evaluate[[]string](`[...document.querySelectorAll("`+selector+`")].map(e => e.textContent)`))
}

// TestFeedPage: a call appears within seconds, on a phone and on a desk; the ledger is
// killed, the page says so, comes back by itself, and nothing is missing; hostile words
// stay words; without its script the page shows what the server read.
func TestFeedPage(t *testing.T) {
	s := up(t)
	p := s.person(t)
	p.auth(t)
	before := s.person(t).call(t, s.native(t, 5000), "YES", 5000, obj{"textTake": "the words before"})
	eventually(t, func() bool {
		return strings.Contains(string(get(t, s.API+"/api/v1/feed?limit=200").body), before)
	}, "the call in the feed")
	desk, phone := open(t, desktopWidth, desktopHeight), open(t, phoneWidth, phoneHeight)
	for _, b := range []*tab{desk, phone} {
		b.visit(s.Hub+"/feed", http.StatusOK)
		sees(t, b, within, "#feed-phase", "live")
		shows(t, b, "#feed-rows", "the words before")
	}
	market := s.native(t, 5000)
	began := time.Now()
	p.call(t, market, "YES", 5200, obj{"textTake": "the gauge is rising"})
	for _, b := range []*tab{desk, phone} {
		sees(t, b, 10*time.Second, "#feed-rows li", "Call", "@"+p.user, "YES at 52¢", "the gauge is rising")
		b.fits("the feed")
	}
	for _, link := range []string{"/m/" + market, "/u/" + p.user} {
		if n := ask(desk, "count links", chromedp.Evaluate[int](`document.querySelectorAll("#feed-rows a[href='`+link+`']").length`)); n != 1 {
			t.Errorf("%d links to %s", n, link)
		}
	}
	t.Logf("seen after %v, lag %v", time.Since(began), texts(desk, "#feed-lag"))
	sees(t, desk, 10*time.Second, "#feed-lag", " s")
	desk.clean("the feed")
	phone.clean("the feed on a phone")
	s.killUnder(t, desk)
	s.hostileFeed(t, desk)
	s.feedWithoutScript(t)
}

// killUnder kills the ledger twice while a page looks on.
func (s *stack) killUnder(t *testing.T, b *tab) {
	t.Helper()
	mark := ask(b, "mark the page", chromedp.Evaluate[float64](`window.mark = Math.random()`))
	ask(b, "note the phases", chromedp.Evaluate[int](`window.phases = []; new MutationObserver(() => phases.push(document.querySelector("#feed-phase").textContent)).observe(document.querySelector("#feed-phase"), { childList: true }); 1`))
	market := s.native(t, 5000)
	var callers []*person
	for range 4 {
		p := s.person(t)
		p.auth(t)
		callers = append(callers, p)
	}
	for i := range 2 {
		pid := up(t).PIDs["api"]
		s.kill(t, "api")
		callers[2*i].insist(t, market)
		s.back(t, "api", pid)
		callers[2*i+1].insist(t, market)
		for _, p := range callers[:2*i+2] {
			sees(t, b, 30*time.Second, "#feed-rows", "@"+p.user)
		}
	}
	sees(t, b, within, "#feed-phase", "live")
	if phases := strings.Join(ask(b, "read the phases", chromedp.Evaluate[[]string](`window.phases`)), ", "); !strings.Contains(phases, "reconnecting in") {
		t.Errorf("the page said %q", phases)
	}
	if ask(b, "read the mark", chromedp.Evaluate[float64](`window.mark`)) != mark {
		t.Error("the page was loaded again")
	}
	for _, p := range callers {
		rows := ask(b, "read the calls", chromedp.Evaluate[[]string](
			`[...document.querySelectorAll("#feed-rows li")].filter(e => e.querySelector("a[href='/u/`+p.user+`']")).map(e => e.outerHTML)`))
		if len(rows) != 1 {
			t.Errorf("the call of %s is there %d times: %q", p.user, len(rows), rows)
		}
	}
	b.forget("WebSocket connection to")
	b.clean("the feed through kills")
}

// hostileFeed: what is written into calls is shown as it is written, by the script and
// by the server.
func (s *stack) hostileFeed(t *testing.T, b *tab) {
	t.Helper()
	market := s.native(t, 5000)
	for _, evil := range hostile.HostileTexts {
		s.person(t).call(t, market, "YES", 5000, obj{"textTake": evil})
		testkit.Eventually(t, 10*time.Second, func() bool {
			shown := texts(b, "#feed-rows li:first-child p")
			return len(shown) == 1 && shown[0] == strings.TrimSpace(evil)
		})
	}
	b.clean("hostile words, live")
	b.visit(s.Hub+"/feed?x=fresh", http.StatusOK)
	sees(t, b, within, "#feed-phase", "live")
	if n := len(texts(b, "#feed-rows li")); n < 50 {
		t.Errorf("%d rows", n)
	}
	b.do("press the button", chromedp.Click(chromedp.CSS("#feed-pause")))
	s.person(t).call(t, market, "YES", 5000, obj{"textTake": "while it is paused"})
	sees(t, b, 10*time.Second, "#feed-pause", "Resume (1 new)")
	if text := texts(b, "#feed-rows li:first-child p"); len(text) == 1 && text[0] == "while it is paused" {
		t.Error("a paused page moves")
	}
	b.do("press the button", chromedp.Click(chromedp.CSS("#feed-pause")))
	sees(t, b, 10*time.Second, "#feed-rows li", "while it is paused")
	s.finalize(t, market, "YES")
	sees(t, b, 10*time.Second, "#feed-rows", "Won +50")
	b.clean("hostile words, from the server")
	b.visit(s.Hub+"/feed?of=resolutions", http.StatusOK)
	sees(t, b, within, "#feed-rows", get(t, s.Hub+"/api/m/"+market).str("question"), "YES")
	for _, path := range []string{"/feed?lane=science", "/feed?of=wire"} {
		b.visit(s.Hub+path, http.StatusOK)
		sees(t, b, within, "#feed-phase", "live")
		b.fits(path)
	}
	b.clean("other channels")
}

// feedWithoutScript reads the page as a program does.
func (s *stack) feedWithoutScript(t *testing.T) {
	t.Helper()
	a := get(t, s.Hub+"/feed").is(http.StatusOK)
	page := string(a.body)
	if n := strings.Count(page, "<li class="); n != 50 {
		t.Errorf("%d events without a script", n)
	}
	if !strings.Contains(page, "<noscript>") || !strings.Contains(page, "the server read at") {
		t.Error("it does not say that it is not live")
	}
	want := "script-src 'self'; connect-src " + strings.Replace(s.API, "http", "ws", 1)
	if policy := a.header.Get("Content-Security-Policy"); !strings.HasSuffix(policy, want) || strings.Contains(policy, "unsafe") || strings.Contains(policy, "*") {
		t.Errorf("policy %q", policy)
	}
	if n := strings.Count(page, "<script"); n != 1 || !strings.Contains(page, `<script type="module" src="/static/feed.js?v=`) || strings.Contains(page, " style=") {
		t.Errorf("%d scripts", n)
	}
}
