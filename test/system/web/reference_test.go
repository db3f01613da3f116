package web

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/signalcast/signalcast/test/system/browser"
	"github.com/signalcast/signalcast/test/system/openapi"
	"github.com/signalcast/signalcast/test/system/stack"
)

// TestReferencePage checks that the API reference page lists every operation of the OpenAPI document, can open an
// operation, and loads nothing from other hosts.
func TestReferencePage(t *testing.T) {
	t.Parallel()
	s := webStack(t)
	tags, counted := map[string]int{}, map[string]bool{}
	for _, o := range openapi.ForTest(t).Operations { // an operation of several services is listed once
		if name := o.Method + " " + o.Path; !counted[name] {
			counted[name] = true
			tags[o.Tag()]++
		}
	}
	for _, size := range browser.PhoneAndDesktop {
		t.Run(size.String(), func(t *testing.T) {
			b := browser.Open(t, size)
			b.Visit(s.Hub+"/docs", http.StatusOK)
			b.Await("#reference[data-rendered] .opblock-tag-section")
			if n := b.Count("#reference .opblock-tag"); n != len(tags) {
				t.Errorf("the page shows %d tags; want %d", n, len(tags))
			}
			b.RequireFits()
			for tag, n := range tags { // one after another, because the page renders only the visible part of a long list
				requireOperations(t, b, tag, n)
			}
			browser.Eval[bool](b, `document.querySelector("#operations-tag-signals").click() === undefined`)
			b.Await("#operations-signals-getSignal")
			b.RequireFits()
			browser.Eval[bool](b, `document.querySelector("#operations-signals-getSignal .opblock-summary-control").click() === undefined`)
			b.Await("#reference .opblock.is-open .responses-table")
			b.Shows("footer.foot", "Guides", "Developers")
			b.RequireFits()
			b.RequireNoProblems()
			requested := b.Requests()
			for _, url := range requested {
				if !strings.HasPrefix(url, s.Hub+"/") {
					t.Errorf("the page requests %s; want requests to the hub only", url)
				}
			}
			if !slices.Contains(requested, s.Hub+"/docs/openapi.json") {
				t.Errorf("the page did not request the document: %q", requested)
			}
		})
	}
	page := stack.Get(t, s.Hub+"/docs").Require(http.StatusOK)
	policy := page.Header.Get("Content-Security-Policy")
	if strings.Contains(policy, "unsafe") || strings.Contains(policy, "http") ||
		!strings.Contains(policy, "script-src 'self'; connect-src 'self'") {
		t.Errorf("the Content-Security-Policy is %s; want one that allows only the hub", policy)
	}
	_, withoutScript, _ := strings.Cut(string(page.Body), "<noscript>")
	withoutScript, _, _ = strings.Cut(withoutScript, "</noscript>")
	for _, path := range []string{"/openapi.json", "/docs/openapi.yaml"} {
		if !strings.Contains(withoutScript, `href="`+path+`"`) {
			t.Errorf("the page contains no link to %s for browsers without scripts", path)
		}
	}
}

// requireOperations opens the section of a tag, requires that it lists n operations, and closes the section.
func requireOperations(t *testing.T, b *browser.Tab, tag string, n int) {
	t.Helper()
	section := fmt.Sprintf(`document.querySelector("#operations-tag-%s")`, tag)
	for _, want := range []int{n, 0} {
		browser.Eval[bool](b, section+`.click() === undefined`)
		stack.Eventually(t, browser.Within, fmt.Sprintf("%d operations of %s", want, tag), func() bool {
			return browser.Eval[int](b, section+`.closest(".opblock-tag-section").querySelectorAll(".opblock").length`) == want
		})
	}
}

// TestDocsFolder checks that /docs/ redirects to the reference page with the query of the request, and that no query causes a
// redirect to another URL.
func TestDocsFolder(t *testing.T) {
	t.Parallel()
	s := webStack(t)
	for query, to := range map[string]string{
		"": "/docs", "?": "/docs", "?tag=signals&x=%20%2F": "/docs?tag=signals&x=%20%2F", "?//evil.example/": "/docs?//evil.example/",
		"?x=%0d%0aSet-Cookie:y=z": "/docs?x=%0d%0aSet-Cookie:y=z",
	} {
		if at := stack.Get(t, s.Hub+"/docs/"+query).Require(http.StatusPermanentRedirect).Header.Get("Location"); at != to {
			t.Errorf("/docs/%s redirects to %q; want the reference page of the hub", query, at)
		}
	}
	h := stack.Send(t, http.MethodHead, s.Hub+"/docs/").Require(http.StatusPermanentRedirect).Header
	if !strings.Contains(h.Get("Content-Security-Policy"), "default-src 'none'") || h.Get("X-Frame-Options") != "DENY" ||
		h.Get("Set-Cookie") != "" {
		t.Errorf("/docs/ has wrong headers: %v", h)
	}
	stack.Get(t, s.Hub+"/docs/", stack.Bearer("dk_"+strings.Repeat("x", 43))).Require(http.StatusUnauthorized)
	for _, path := range []string{"/docs//", "/docs/.", "/docs/index.html"} {
		stack.Get(t, s.Hub+path).Require(http.StatusNotFound)
	}
}

// TestDocumentNamesThePathSegmentOfTheVenue checks with another VENUE_A_SLUG that each path of the served document with the segment
// answers, that no path has the default segment, and that the heatmap answers with a source that the document lists.
func TestDocumentNamesThePathSegmentOfTheVenue(t *testing.T) {
	t.Parallel()
	s := stack.Start(t, stack.Env("VENUE_A_SLUG", "venue-one"))
	doc, err := openapi3.NewLoader().LoadFromData(stack.Get(t, s.Hub+"/openapi.json").Require(http.StatusOK).Body)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for path := range doc.Paths.Map() {
		if strings.HasPrefix(path, "/api/polymarket") {
			t.Errorf("the document has the path %s; want /api/venue-one/", path)
		}
		if strings.HasPrefix(path, "/api/venue-one/") {
			found++
			stack.Send(t, http.MethodPost, s.Hub+path).RequireError(http.StatusMethodNotAllowed, "method_not_allowed") // 404 without the route
		}
	}
	if found != 6 {
		t.Errorf("the document has %d paths below /api/venue-one/; want 6", found)
	}
	source := stack.Get(t, s.Hub+"/api/venue-one/featured").Require(http.StatusOK).Text("source")
	if known := doc.Components.Schemas["Heatmap"].Value.Properties["source"].Value.Enum; !slices.Contains(known, any(source)) {
		t.Errorf("source of the heatmap is %q; the document lists %v", source, known)
	}
}
