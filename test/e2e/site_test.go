package e2e

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// strangers listens to a tab and gives what it asked of other hosts than these.
func (b *tab) strangers(hosts ...string) func() []string {
	b.t.Helper()
	var mu sync.Mutex
	var found []string
	err := chromedp.Listen(b.ctx, func(event any) {
		e, ok := event.(*network.EventRequestWillBeSent)
		if !ok {
			return
		}
		u, err := url.Parse(e.Request.URL)
		if err == nil && (u.Scheme == "data" || slices.Contains(hosts, u.Host)) {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		found = append(found, e.Request.URL)
	})
	if err != nil {
		b.t.Fatal(err)
	}
	b.do("listen to the network", chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, network.Enable, network.EnableParams{})
		return err
	}))
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(found)
	}
}

// TestGuides: the guides in a browser, at the hub and as plain files, on a phone and at a
// desk: nothing stands out at the side, nothing is asked of anybody else, no policy is
// broken, one page leads to the next, and the search finds.
func TestGuides(t *testing.T) {
	t.Parallel()
	s := up(t)
	plain := plainGuides(t)
	for size, px := range sizes {
		for place, base := range map[string]string{"hub": s.Hub + "/docs/guide/", "files": plain} {
			t.Run(size+" "+place, func(t *testing.T) {
				t.Parallel()
				b := open(t, px[0], px[1])
				u, err := url.Parse(base)
				if err != nil {
					t.Fatal(err)
				}
				foreign := b.strangers(u.Host)
				b.visit(base, http.StatusOK)
				shows(t, b, "main", "Quick start", "How scores work", "Running it", "0032 The guides are a module")
				for _, page := range []string{"", "quickstart.html", "operations.html", "protocol-errors.html", "method.html", "architecture.html", "search.html"} {
					b.visit(base+page, http.StatusOK)
					b.fits(page)
				}
				b.visit(base+"concepts.html#lock", http.StatusOK)
				b.press(`[rel="next"]`, `[rel="prev"]`)
				shows(t, b, "h1", "How scores work")
				b.do("ask", chromedp.SendKeys(chromedp.CSS(`input[name="q"]`), "closing line\r"))
				eventually(t, func() bool { return strings.Contains(b.at(), "search.html?q=closing") }, "the search")
				b.do("wait for what is found", chromedp.WaitVisible(chromedp.CSS("#sections li")))
				eventually(t, func() bool { return strings.HasPrefix(b.text("#sections"), "The closing line") }, "the section first")
				b.fits("what is found")
				b.clean("the guides")
				if found := foreign(); len(found) != 0 {
					t.Errorf("asked elsewhere: %v", found)
				}
			})
		}
	}
}

// plainGuides serves what `make docs` writes as any server of files does.
func plainGuides(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "guides")
	make := exec.Command("make", "docs", "OUT="+dir)
	make.Dir, make.Env = repo, plainEnv()
	if out, err := make.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	t.Cleanup(server.Close)
	return server.URL + "/"
}

// TestGuidesWithoutScript: the search page is whole without its script.
func TestGuidesWithoutScript(t *testing.T) {
	t.Parallel()
	s := up(t)
	page := string(get(t, s.Hub+"/docs/guide/search.html").is(http.StatusOK).body)
	for _, words := range []string{`href="scores.html#the-closing-line">The closing line</a>`, `href="protocol-ws.html#losing-nothing"`, "use the search of your browser"} {
		if !strings.Contains(page, words) {
			t.Errorf("no %q", words)
		}
	}
}

// TestHeadersOfGuides: the policy, the copy that is kept, and what is not there.
func TestHeadersOfGuides(t *testing.T) {
	t.Parallel()
	s := up(t)
	at := s.Hub + "/docs/guide/"
	headersOfPages(t, s, "/docs/guide/", "/docs/guide/quickstart.html")
	for file, kind := range map[string]string{
		"": "text/html; charset=utf-8", "search.html": "text/html; charset=utf-8", "guide.css": "text/css; charset=utf-8",
		"search.js": "text/javascript; charset=utf-8", "receipt.png": "image/png", "house.svg": "image/svg+xml",
	} {
		a := get(t, at+file).is(http.StatusOK)
		h := a.header
		if h.Get("Content-Type") != kind || h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Cache-Control") != "public, max-age=300" || h.Get("Set-Cookie") != "" {
			t.Errorf("%s: %v", file, h)
		}
		if scripts := strings.Contains(h.Get("Content-Security-Policy"), "script-src 'self'"); scripts != (file == "search.html") || strings.Contains(h.Get("Content-Security-Policy"), "unsafe") {
			t.Errorf("%s: %s", file, h.Get("Content-Security-Policy"))
		}
		get(t, at+file, with("If-None-Match", h.Get("ETag"))).is(http.StatusNotModified)
	}
	for _, gone := range []string{"nothing.html", "quickstart", "quickstart.md", "..%2fgo.mod", "%2e%2e/go.mod", "doc.go", strings.Repeat("x", 4000)} {
		if a := get(t, at+gone); a.status != http.StatusNotFound {
			t.Errorf("%s: %d", gone, a.status)
		}
	}
	if to := get(t, strings.TrimSuffix(at, "/")).is(http.StatusFound).header.Get("Location"); to != "/docs/guide/" {
		t.Errorf("it leads to %s", to)
	}
	get(t, at, bearer("dk_"+strings.Repeat("x", 43))).is(http.StatusUnauthorized)
}
