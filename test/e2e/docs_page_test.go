package e2e

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestReferencePage: the reference lists every operation of the document and opens one,
// asks nothing of another host, and breaks no policy.
func TestReferencePage(t *testing.T) {
	t.Parallel()
	s := up(t)
	doc, err := described()
	if err != nil {
		t.Fatal(err)
	}
	tags := map[string]int{}
	for _, item := range doc.spec.Paths.Map() {
		for _, op := range item.Operations() {
			tags[op.Tags[0]]++
		}
	}
	for name, size := range sizes {
		b := open(t, size[0], size[1])
		b.visit(s.Hub+"/docs", http.StatusOK)
		b.do("wait for the reference", chromedp.WaitVisible(chromedp.CSS("#reference[data-drawn] .opblock-tag-section")))
		if n := ask(b, "count the tags", chromedp.Evaluate[float64](`document.querySelectorAll("#reference .opblock-tag").length`)); int(n) != len(tags) {
			t.Errorf("%v kinds of operations on a %s, described are %d", n, name, len(tags))
		}
		b.fits("the reference on a " + name)
		for tag, n := range tags { // one after the other: of a long list the reader draws what can be seen
			b.unfolds(tag, n)
		}
		ask(b, "unfold a kind", chromedp.Evaluate[bool](`document.querySelector("#operations-tag-signals").click() === undefined`))
		b.do("wait for its operations", chromedp.WaitVisible(chromedp.CSS("#operations-signals-getSignal")))
		b.fits("the unfolded reference on a " + name)
		ask(b, "open one", chromedp.Evaluate[bool](`document.querySelector("#operations-signals-getSignal .opblock-summary-control").click() === undefined`))
		b.do("wait for its answers", chromedp.WaitVisible(chromedp.CSS("#reference .opblock.is-open .responses-table")))
		shows(t, b, "header", "Signalcast", "Developers")
		b.fits("an open operation on a " + name)
		b.clean("the reference on a " + name)
		for _, url := range b.requests() {
			if !strings.HasPrefix(url, s.Hub+"/") && !strings.HasPrefix(url, "data:") {
				t.Errorf("the reference asks for %s", url)
			}
		}
		if got := b.requests(); !slices.Contains(got, s.Hub+"/docs/openapi.json") {
			t.Errorf("the reference did not read the document: %q", got)
		}
	}
	page := get(t, s.Hub+"/docs").is(http.StatusOK)
	if policy := page.header.Get("Content-Security-Policy"); strings.Contains(policy, "unsafe") || strings.Contains(policy, "http") || !strings.Contains(policy, "script-src 'self'; connect-src 'self'") {
		t.Errorf("the policy is %s", policy)
	}
	_, quiet, _ := strings.Cut(string(page.body), "<noscript>")
	quiet, _, _ = strings.Cut(quiet, "</noscript>")
	for _, path := range []string{"/openapi.json", "/docs/openapi.yaml"} {
		if !strings.Contains(quiet, `href="`+path+`"`) {
			t.Errorf("without a script nothing leads to %s", path)
		}
		get(t, s.Hub+path).is(http.StatusOK)
	}
}

// unfolds opens a kind of operations, counts them, and shuts it again.
func (b *tab) unfolds(tag string, n int) {
	b.t.Helper()
	press := chromedp.Evaluate[bool](`document.querySelector("#operations-tag-` + tag + `").click() === undefined`)
	count := chromedp.Evaluate[float64](`document.querySelector("#operations-tag-` + tag + `").closest(".opblock-tag-section").querySelectorAll(".opblock").length`)
	ask(b, "unfold "+tag, press)
	eventually(b.t, func() bool { return int(ask(b, "count "+tag, count)) == n }, tag+" with all its operations")
	ask(b, "shut "+tag, press)
	eventually(b.t, func() bool { return int(ask(b, "count "+tag, count)) == 0 }, tag+" to be shut")
}

// requests are the addresses that a page asked for so far.
func (b *tab) requests() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.urls)
}

// TestDocsFolder: the address with a slash leads to the reference, and takes along what was
// asked; no query leads elsewhere.
func TestDocsFolder(t *testing.T) {
	t.Parallel()
	s := up(t)
	for query, to := range map[string]string{
		"": "/docs", "?": "/docs", "?tag=signals&x=%20%2F": "/docs?tag=signals&x=%20%2F", "?//evil.example/": "/docs?//evil.example/",
		"?x=%0d%0aSet-Cookie:y=z": "/docs?x=%0d%0aSet-Cookie:y=z",
	} {
		if at := get(t, s.Hub+"/docs/"+query).is(http.StatusPermanentRedirect).header.Get("Location"); at != to {
			t.Errorf("/docs/%s leads to %q", query, at)
		}
	}
	h := send(t, http.MethodHead, s.Hub+"/docs/").is(http.StatusPermanentRedirect).header
	if !strings.Contains(h.Get("Content-Security-Policy"), "default-src 'none'") || h.Get("X-Frame-Options") != "DENY" || h.Get("Set-Cookie") != "" {
		t.Errorf("its headers are %v", h)
	}
	get(t, s.Hub+"/docs/", bearer("dk_"+strings.Repeat("x", 43))).is(http.StatusUnauthorized)
	for _, path := range []string{"/docs//", "/docs/.", "/docs/index.html"} {
		get(t, s.Hub+path).is(http.StatusNotFound)
	}
}
