package web

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/signalcast/signalcast/test/system/browser"
	"github.com/signalcast/signalcast/test/system/openapi"
	"github.com/signalcast/signalcast/test/system/stack"
)

// TestReferencePage checks that the API reference lists every operation of the OpenAPI document, that the pages of operations and
// schemas answer, and that the pages load nothing from other hosts.
func TestReferencePage(t *testing.T) {
	t.Parallel()
	s := webStack(t)
	page := string(stack.Get(t, s.Hub+"/docs").Require(http.StatusOK).Body)
	for _, o := range openapi.ForTest(t).Operations {
		if !strings.Contains(page, "<code>"+o.Method+" "+o.Path+"</code>") {
			t.Errorf("the API reference does not list %s %s", o.Method, o.Path)
		}
	}
	for _, size := range browser.PhoneAndDesktop {
		t.Run(size.String(), func(t *testing.T) {
			b := browser.Open(t, size)
			for path, texts := range map[string][]string{
				"/docs":                       {"API reference", "POST /api/predictions"},
				"/docs/operations/fileSignal": {"/api/predictions", "operatorKey", "Idempotency-Key", "priceAtPrediction", "409"},
				"/docs/schemas/Signal":        {"scoreBasisBps", "required"},
			} {
				b.Visit(s.Hub+path, http.StatusOK)
				b.Shows("main", texts...)
				b.RequireAccessible()
			}
			for _, url := range b.Requests() {
				if !strings.HasPrefix(url, s.Hub+"/") {
					t.Errorf("the page requests %s; want requests to the hub only", url)
				}
			}
		})
	}
	for _, path := range []string{"/docs/operations/", "/docs/operations/unknown", "/docs/schemas/unknown", "/docs/schemas/a%2Fb"} {
		stack.Get(t, s.Hub+path).Require(http.StatusNotFound)
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
