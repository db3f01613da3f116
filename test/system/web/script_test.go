package web

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/test/system/browser"
	"github.com/signalcast/signalcast/test/system/openapi"
	"github.com/signalcast/signalcast/test/system/stack"
)

const overlayPath = "/api/streamer/signal"

// No text that people write becomes script, markup or style on a page that shows it.
func TestNoScriptFromData(t *testing.T) {
	t.Parallel()
	s := webStack(t)
	texts := browser.HostileTexts[:stack.Size(t, 2, len(browser.HostileTexts), len(browser.HostileTexts))]
	authors := s.SeedOperators(t, len(texts))
	pages := make([]map[string]string, len(texts))
	stack.Each(len(texts), 4, func(i int) { pages[i] = writeEverywhere(t, s, authors[i], texts[i]) })
	// test/e2e opens the other pages with every text, which takes minutes.
	everyPage := stack.Size(t, 1, 3, 1)
	b := browser.Start(t)
	requireRecorder(t, s, b.NewTab(t))
	tabs := make(chan *browser.Tab, 3)
	for range cap(tabs) {
		tabs <- b.NewTab(t)
	}
	stack.Each(len(texts), cap(tabs), func(i int) {
		tab := <-tabs
		defer func() { tabs <- tab }()
		for path, selector := range pages[i] {
			embed := strings.HasSuffix(path, "/embed")
			if t.Failed() || i%everyPage != 0 && !embed {
				continue
			}
			requirePolicy(t, s, path)
			requireHarmless(t, s, tab, path, selector, texts[i])
		}
	})
}

// requireRecorder requires that the tab records calls of the canary and violations of the policy.
func requireRecorder(t *testing.T, s *stack.Stack, tab *browser.Tab) {
	t.Helper()
	if _, err := tab.Visit(s.Hub + "/dev"); err != nil {
		t.Fatal(err)
	}
	const inject = `document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=canary(1)>'), canary('direct')`
	if err := tab.Run(inject); err != nil {
		t.Fatal(err)
	}
	var all []string
	var called int
	stack.Eventually(t, 10*time.Second, "a policy violation and one call of the canary", func() bool {
		violations, n := tab.Violations()
		all, called = append(all, violations...), called+n
		return called == 1 && strings.Contains(strings.Join(all, "\n"), "policy violation")
	})
}

// writeEverywhere writes the text to everything that the author may write, and returns the pages that show it: the selector
// of the text by path. A text that a route refuses is not shown either.
func writeEverywhere(t *testing.T, s *stack.Stack, author *stack.Operator, text string) map[string]string {
	market := s.NewNativeMarket(t, 5000, stack.JSON{"question": "Is it safe? " + text, "description": text})
	call := stack.Call(market, "YES", 5000).With("textTake", text).With("marketTitle", text).With("source", text)
	id := author.File(t, call).Require(http.StatusOK).Text("id")
	link := "https://x.example/" + url.PathEscape(text)
	for _, w := range []struct {
		path string
		body stack.JSON
	}{
		{"/api/streamer/profile", stack.JSON{"displayName": truncate(text, 64), "bio": text, "links": []string{link}}},
		{overlayPath, stack.JSON{"marketId": market, "name": text, "annotation": text, "yesPct": 31.5}},
		{"/api/signals/" + id + "/events", stack.JSON{"type": "take", "payload": stack.JSON{"text": text}}},
		{"/api/signals/" + id + "/events", stack.JSON{"type": "note", "payload": stack.JSON{"text": text}}},
	} {
		path, body := w.path, w.body
		a := author.Do(t, http.MethodPost, s.Hub+path, stack.Bearer(author.Key), stack.Body(body))
		if a.Status >= 300 && a.Status != http.StatusBadRequest {
			t.Errorf("write %q to %s: %d, want success or 400\n%s", text, path, a.Status, a.Body)
		}
		if path == overlayPath && a.Status == http.StatusBadRequest {
			body = stack.JSON{"marketId": market, "name": "Plain words", "yesPct": 31.5}
			author.Do(t, http.MethodPost, s.Hub+path, stack.Bearer(author.Key), stack.Body(body)).Require(http.StatusOK)
		}
	}
	return map[string]string{
		"/receipts/" + id: "blockquote", "/m/" + market: "h1", "/u/" + author.Handle: "h1",
		"/operator/" + author.Handle + "/embed": ".who b",
		"/overlay/" + author.Handle:             "#overlay-name", "/live/" + author.Handle: "#live-name",
	}
}

func truncate(text string, n int) string {
	r := []rune(text)
	return string(r[:min(len(r), n)])
}

// requireHarmless opens the page, waits until it shows a text, and requires that nothing was violated.
func requireHarmless(t *testing.T, s *stack.Stack, tab *browser.Tab, path, selector, text string) {
	status, err := tab.Visit(s.Hub + path)
	for n := 1; n < 5 && status == http.StatusServiceUnavailable; n++ {
		stack.Wait(t, 300*time.Millisecond)
		status, err = tab.Visit(s.Hub + path)
	}
	if err != nil || status != http.StatusOK {
		t.Errorf("open %s: %d, %v; want 200", path, status, err)
		return
	}
	const within = 10 * time.Second
	for end := time.Now().Add(within); ; stack.Wait(t, 50*time.Millisecond) {
		shown, err := tab.Text(selector)
		if err == nil && shown != "" {
			break
		}
		if time.Now().After(end) {
			t.Errorf("%s does not show %s within %v: %v", path, selector, within, err)
			break
		}
	}
	if violations, _ := tab.Violations(); len(violations) > 0 {
		t.Errorf("%s with %.60q: %.500s", path, text, strings.Join(violations, "\n"))
	}
}

// inline matches a script in a page, and a handler or a style in an element.
var inline = regexp.MustCompile(`<script(?:>| type="module">)|<[a-z][^>"]*\s(?:on[a-z]+|style)=`)

// requirePolicy requires a policy that loads files of the hub only, and a page without inline script or style.
func requirePolicy(t *testing.T, s *stack.Stack, path string) {
	a := stack.NewClient().Do(t, http.MethodGet, s.Hub+path, stack.Header("Accept", "text/html"))
	policy := a.Header.Get("Content-Security-Policy")
	if !strings.HasPrefix(policy, "default-src 'none';") {
		t.Errorf("%s has the policy %q; want one that begins with default-src 'none'", path, policy)
	}
	for directive := range strings.SplitSeq(policy, ";") {
		name, sources, _ := strings.Cut(strings.TrimSpace(directive), " ")
		loose := strings.Contains(sources, "unsafe") || strings.Contains(sources, "data:") ||
			name != "frame-ancestors" && strings.Contains(sources, "*")
		if loose || name == "script-src" && sources != "'self'" {
			t.Errorf("%s may load %s", path, directive)
		}
	}
	if found := inline.Find(a.Body); found != nil {
		t.Errorf("%s contains %q", path, found)
	}
}

// Browsers must not guess the type of an answer from its content.
func TestTypesAreNotSniffed(t *testing.T) {
	t.Parallel()
	s, doc, crowd := webStack(t), openapi.ForTest(t), stack.NewCrowd(20)
	values := map[string]string{"handle": s.NewOperator(t).Handle}
	stack.Each(len(doc.Operations), 3, func(i int) {
		o := doc.Operations[i]
		if o.Method != http.MethodGet || !o.Public() || o.Streams() || o.Health() {
			return
		}
		a := crowd.Do(t, o.Method, s.Base(o.Host, i)+o.Fill(values), stack.Header("Accept", "application/json"))
		if got := a.Header.Get("X-Content-Type-Options"); len(a.Body) > 0 && got != "nosniff" {
			t.Errorf("%s: X-Content-Type-Options %q, want nosniff", o.Name(), got)
		}
	})
}
