package pages

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/signalcast/signalcast/test/system/browser"
	"github.com/signalcast/signalcast/test/system/stack"
)

// TestGuides checks the guides on the hub, and as static files on another server. They must fit the screen, load nothing from
// other hosts, link to the next guide, and be searchable.
func TestGuides(t *testing.T) {
	t.Parallel()
	s := system(t)
	for place, base := range map[string]string{"hub": s.Hub + "/docs/guide/", "files": serveGuides(t)} {
		t.Run(place, func(t *testing.T) {
			atBothSizes(t, func(t *testing.T, size browser.Size) {
				b := browser.Open(t, size)
				b.Visit(base, http.StatusOK)
				b.Shows("main", "Quick start", "How scores work", "Operations", "0032 The guides are a module")
				for _, page := range []string{
					"", "quickstart.html", "operations.html", "protocol-errors.html", "method.html", "architecture.html", "search.html",
				} {
					b.Visit(base+page, http.StatusOK)
					b.RequireFits()
				}
				b.Visit(base+"concepts.html#lock", http.StatusOK)
				b.Press(`[rel="next"]`, `[rel="prev"]`)
				b.Shows("h1", "How scores work")
				b.Type(`input[name="q"]`, "closing line\r")
				b.Await("#sections li", "The closing line")
				if at := b.URL(); !strings.Contains(at, "search.html?q=closing") {
					t.Errorf("the search opened %s; want the search page with the query", at)
				}
				b.RequireFits()
				b.RequireNoProblems()
				u, err := url.Parse(base)
				if err != nil {
					t.Fatal(err)
				}
				if others := b.Requests(u.Host); len(others) > 0 {
					t.Errorf("the guides load %q; want nothing from other hosts", others)
				}
			})
		})
	}
}

// serveGuides serves the files that `make docs` writes, and returns the address of the server.
func serveGuides(t *testing.T) string {
	t.Helper()
	root, err := stack.Root()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "guides")
	write := exec.Command("make", "docs", "OUT="+dir)
	write.Dir = root
	if out, err := write.CombinedOutput(); err != nil {
		t.Fatalf("make docs: %v\n%s", err, out)
	}
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	t.Cleanup(server.Close)
	return server.URL + "/"
}

// TestGuidesWithoutScript checks that the search page lists every section when scripts are disabled.
func TestGuidesWithoutScript(t *testing.T) {
	t.Parallel()
	s := system(t)
	page := read(t, s.Hub+"/docs/guide/search.html")
	for _, text := range []string{
		`href="scores.html#the-closing-line">The closing line</a>`, `href="protocol-ws.html#resume-without-loss"`,
		"use the search of your browser",
	} {
		if !page.Contains(text) {
			t.Errorf("the search page lacks %q", text)
		}
	}
}

// TestHeadersOfGuides checks that the guides have a strict content security policy and may be cached, and that no other
// files of the repository are served.
func TestHeadersOfGuides(t *testing.T) {
	t.Parallel()
	s := system(t)
	base := s.Hub + "/docs/guide/"
	requirePolicy(t, s, "/docs/guide/", "/docs/guide/quickstart.html")
	for file, kind := range map[string]string{
		"": "text/html; charset=utf-8", "search.html": "text/html; charset=utf-8", "app.css": "text/css; charset=utf-8",
		"search.js": "text/javascript; charset=utf-8", "receipt.png": "image/png", "services.svg": "image/svg+xml",
	} {
		h := read(t, base+file).Header
		for name, want := range map[string]string{
			"Content-Type": kind, "X-Content-Type-Options": "nosniff", "Cache-Control": "public, max-age=300", "Set-Cookie": "",
		} {
			if got := h.Get(name); got != want {
				t.Errorf("%s: header %s is %q; want %q", file, name, got, want)
			}
		}
		policy := h.Get("Content-Security-Policy")
		scripts := strings.Contains(policy, "script-src 'self'")
		if scripts != (file == "search.html") || strings.Contains(policy, "unsafe") {
			t.Errorf("%s has the content security policy %q", file, policy)
		}
		stack.Send(t, http.MethodGet, base+file, stack.Header("If-None-Match", h.Get("ETag"))).Require(http.StatusNotModified)
	}
	for _, file := range []string{
		"nothing.html", "quickstart", "quickstart.md", "..%2fgo.mod", "%2e%2e/go.mod", "doc.go", strings.Repeat("x", 4000),
	} {
		stack.Get(t, base+file).Require(http.StatusNotFound)
	}
	bare := stack.Get(t, strings.TrimSuffix(base, "/")).Require(http.StatusFound)
	if to := bare.Header.Get("Location"); to != "/docs/guide/" {
		t.Errorf("the address without the final slash redirects to %q; want /docs/guide/", to)
	}
	stack.Get(t, base, stack.Bearer("dk_"+strings.Repeat("x", 43))).Require(http.StatusUnauthorized)
}
