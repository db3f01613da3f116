package pages

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/signalcast/signalcast/test/system/browser"
	"github.com/signalcast/signalcast/test/system/openapi"
	"github.com/signalcast/signalcast/test/system/stack"
)

// look is one way in which a page is opened.
type look struct {
	size     browser.Size
	theme    string
	signedIn bool
}

// measures is what the script measure returns about a page. Sizes are in bytes, as sent or decoded.
type measures struct {
	Violations                   []string
	Early                        string // files that were requested before the first paint
	Headings, Skips, Requests    int
	Document, Decoded, CSS, Code int
	Shift                        float64
}

// exceeds reports whether the page exceeds a limit. Pages with video have no limit of scripts. An overlay has no limit of requests,
// because its first paint needs the data of the broadcast.
func (m measures) exceeds(video, overlay bool) bool {
	return m.Requests > mostRequests && !overlay || m.Code > mostCode && !video || m.Document > mostDocument || m.Decoded > mostDecoded ||
		m.CSS > mostCSS || m.Shift > mostShift
}

// limits of a page: requests before the first paint, bytes of the document, of style sheets and of scripts, and layout shift.
const (
	mostRequests = 4
	mostDocument = 20_000
	mostDecoded  = 150_000
	mostCSS      = 15_000
	mostCode     = 40_000
	mostShift    = 0.02
)

// TestQualityOfPages opens every page of the OpenAPI document and the guides. axe-core must find no violation of any impact, each
// page must have one main heading and a skip link, and the sizes must be within the limits at one of three visits.
func TestQualityOfPages(t *testing.T) {
	t.Parallel()
	s := system(t)
	root, err := stack.Root()
	if err != nil {
		t.Fatal(err)
	}
	axe, err := os.ReadFile(filepath.Join(root, "tools/lint/node_modules/axe-core/axe.min.js"))
	if err != nil {
		t.Fatalf("axe-core is missing; type: tools/lint.sh\n%v", err)
	}
	looks := []look{{browser.Phone, "light", true}, {browser.Desktop, "dark", false}}
	if stack.Size(t, 0, 0, 1) == 1 {
		looks = nil
		for _, size := range []browser.Size{browser.Phone, {Width: 768, Height: 1024}, browser.Desktop} {
			for _, theme := range []string{"light", "dark"} {
				looks = append(looks, look{size, theme, false}, look{size, theme, true})
			}
		}
	}
	paths, person := pagesOf(t, s, root)
	for _, l := range looks {
		t.Run(fmt.Sprintf("%s %s signed in %v", l.size, l.theme, l.signedIn), func(t *testing.T) {
			b := browser.Open(t, l.size)
			b.ColorScheme(l.theme)
			b.DisableCache() // each page is measured as a first visit
			if l.signedIn {
				for name, value := range person.PageCookies(t) {
					b.SetCookie(s.Hub, name, value)
				}
			}
			for _, path := range paths {
				b.Visit(s.Hub+path, http.StatusOK)
				if !strings.HasPrefix(b.URL(), s.Hub) {
					continue // the page redirects to the identity provider
				}
				overlay := strings.HasPrefix(path, "/overlay/")
				video := overlay || strings.HasPrefix(path, "/live/") || strings.HasPrefix(path, "/clips/") || path == "/studio" || path == "/tv"
				m := measureOf(b, string(axe))
				for range 2 { // a loaded machine can paint late
					if !m.exceeds(video, overlay) {
						break
					}
					b.Visit(s.Hub+path, http.StatusOK)
					m = measureOf(b, string(axe))
				}
				for _, v := range m.Violations {
					t.Errorf("%s: %s", path, v)
				}
				bare := overlay || strings.HasSuffix(path, "/embed")
				if m.Headings != 1 || m.Skips != 1 && !bare {
					t.Errorf("%s has %d main headings and %d skip links; want 1", path, m.Headings, m.Skips)
				}
				if m.exceeds(video, overlay) {
					t.Errorf("%s exceeds a limit: %d requests before the first paint (%s), %d bytes (%d decoded), %d of style sheets, %d of scripts, "+
						"layout shift %.3f", path, m.Requests, m.Early, m.Document, m.Decoded, m.CSS, m.Code, m.Shift)
				}
				t.Logf("| %s | %d | %d | %d | %d | %d | %.3f |", path, m.Requests, m.Document, m.Decoded, m.CSS, m.Code, m.Shift)
			}
		})
	}
}

// pagesOf returns the paths of all pages, with content on each, and a person who owns the content.
func pagesOf(t *testing.T, s *stack.Stack, root string) ([]string, *stack.Operator) {
	t.Helper()
	a := s.NewAuthor(t)
	a.SetStreamer(t, "approved")
	values := map[string]string{"marketId": a.Market, "handle": a.Handle, "id": a.CallID}
	a.NewCall(t, a.Market, "NO", 5000, nil)
	clip, wallet := a.StoreClip(t, a.Market), stack.NewWallet()
	a.UploadPicture(t, a.Session(t))
	a.LinkWallet(t, wallet)
	a.ClaimIdentity(t, wallet, a.Session(t)).Require(http.StatusOK)
	a.Send(t, "/api/streamer/profile", http.StatusOK, a.Session(t), stack.JSON{"payoutAddress": wallet})
	a.Send(t, "/api/user/follow", http.StatusOK, a.Session(t), stack.JSON{"handle": s.NewOperator(t).Handle})
	var out []string
	for _, o := range openapi.ForTest(t).Operations {
		page := o.Spec().Responses.Status(http.StatusOK)
		if o.Method != http.MethodGet || page == nil || page.Value.Content.Get("text/html") == nil {
			continue
		}
		path := o.Fill(values)
		switch o.Path {
		case "/docs/guide/{file}":
			continue // added below
		case "/clips/{id}":
			path = o.Fill(map[string]string{"id": clip})
		case "/email/confirm":
			a.AddEmail(t)
			path += "?t=" + a.EmailToken()
		case "/unsubscribe":
			path += "?t=" + a.UnsubscribeToken(t)
		case "/report":
			path += "?subject=profile:" + a.Handle
		case "/protocol/authorize":
			path += "?" + a.NewApp(t, "public", "profile:read").AuthorizeRequest("profile:read").Encode()
		}
		out = append(out, path)
	}
	guides, err := filepath.Glob(filepath.Join(root, "docs/*.md"))
	if err != nil || len(out) < 30 {
		t.Fatalf("there are %d pages; want at least 30 (%v)", len(out), err)
	}
	for _, file := range guides {
		if filepath.Base(file) == "pages.md" { // the site of guides has no pictures of pages
			continue
		}
		out = append(out, "/docs/guide/"+strings.TrimSuffix(filepath.Base(file), ".md")+".html")
	}
	slices.Sort(out)
	return slices.Compact(out), a.Operator
}

// measureOf measures the page of a tab.
func measureOf(b *browser.Tab, axe string) measures {
	browser.Eval[bool](b, axe+";\ntrue")
	m := browser.Eval[measures](b, measure)
	b.RequireFits()
	b.Forget("https://video.example") // the video of the clip does not exist
	b.RequireNoProblems()
	return m
}

// measure is a script that returns the measures of a page 300 ms after it was loaded, and after its animations.
const measure = `(async () => {
	if (document.readyState !== "complete") await new Promise(done => addEventListener("load", done));
	let shift = 0;
	new PerformanceObserver(list => { for (const e of list.getEntries()) if (!e.hadRecentInput) shift += e.value; })
		.observe({ type: "layout-shift", buffered: true });
	const wait = ms => new Promise(done => setTimeout(done, ms));
	await wait(300);
	await Promise.race([Promise.all(document.getAnimations().map(a => a.finished.catch(() => {}))), wait(1000)]);
	const paint = performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? Infinity;
	const [page] = performance.getEntriesByType("navigation");
	const files = performance.getEntriesByType("resource").filter(f => !f.name.endsWith("/mark.svg")); // the icon of the tab
	const size = end => files.filter(f => new URL(f.name).pathname.match(end)).reduce((n, f) => n + f.encodedBodySize, 0);
	const { violations } = await axe.run(document, { resultTypes: ["violations"] });
	return {
		Violations: violations.flatMap(v => v.nodes.map(n => v.impact + " " + v.id + ": " + n.html.slice(0, 200))),
		Headings: document.querySelectorAll("h1").length, Skips: document.querySelectorAll("a.skip").length,
		Early: files.filter(f => f.startTime < paint).map(f => new URL(f.name).pathname).join(" "),
		Requests: 1 + files.filter(f => f.startTime < paint).length,
		Document: page.encodedBodySize, Decoded: page.decodedBodySize, CSS: size(/\.css$/), Code: size(/\.m?js$/), Shift: shift,
	};
})()`
