package pages

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/test/system/browser"
	"github.com/signalcast/signalcast/test/system/stack"
)

// demoPerson is the user name of a bot of the demo, and demoHandle is its handle. demoLive is the user name of the bot that is live, and
// demoEnded is the handle of the bot whose broadcast has ended. demoNew is the user name of a person who signs in for the first time.
const demoPerson, demoHandle, demoLive, demoEnded, demoNew = "rain-check", "rain_check", "late-ferry", "slow_tram", "first-step"

// pictured lists the pages that docs/pages.md shows. A name in braces in a path, such as {market}, is replaced by an id or a handle
// of the running demo, which objectsOf finds. A page whose object the demo does not have is left out of the document, and the
// test fails.
var pictured = []struct {
	name, title, path string
	status            int64
	user              string // user name of the visitor; empty: signed out
}{
	{"home", "Home, signed out", "/", http.StatusOK, ""},
	{"home-member", "Home, signed in", "/", http.StatusOK, demoPerson},
	{"markets", "Markets", "/markets", http.StatusOK, ""},
	{"market", "Market with the call panel", "/m/{market}", http.StatusOK, demoPerson},
	{"market-visitor", "Market, signed out", "/m/{market}", http.StatusOK, ""},
	{"receipt-open", "Receipt of an open call", "/receipts/{receipt}", http.StatusOK, demoPerson},
	{"receipt", "Receipt of a decided call", "/receipts/{decided}", http.StatusOK, ""},
	{"forecaster", "Forecaster", "/u/{best}", http.StatusOK, ""},
	{"leaderboard", "Leaderboard", "/board", http.StatusOK, ""},
	{"compare", "Comparison of two forecasters", "/compare?a={best}&b=" + demoHandle, http.StatusOK, ""},
	{"search", "Search", "/search?q=election", http.StatusOK, ""},
	{"feed", "Latest activity", "/feed", http.StatusOK, ""},
	{"following", "Following", "/following", http.StatusOK, demoPerson},
	{"notifications", "Notifications", "/notifications", http.StatusOK, demoPerson},
	{"live", "Live broadcasts", "/live", http.StatusOK, ""},
	{"live-page", "Live page", "/live/{live}", http.StatusOK, ""},
	{"tv", "Television", "/tv", http.StatusOK, ""},
	{"recap", "Recap of a broadcast", "/live/" + demoEnded + "?show={recap}", http.StatusOK, ""},
	{"clip", "Clip", "/clips/{clip}", http.StatusOK, ""},
	{"studio-apply", "Studio, application", "/studio", http.StatusOK, demoPerson},
	{"studio", "Studio of a broadcast", "/studio", http.StatusOK, demoLive},
	{"overlay", "Overlay", "/overlay/{live}", http.StatusOK, ""},
	{"embed", "Embed", "/operator/{best}/embed", http.StatusOK, ""},
	{"sign-in", "Sign-in", "/sign-in", http.StatusOK, ""},
	{"welcome", "Welcome, after the first sign-in", "/welcome", http.StatusOK, demoNew},
	{"settings", "Settings", "/settings", http.StatusOK, demoPerson},
	{"settings-profile", "Profile", "/settings/profile", http.StatusOK, demoPerson},
	{"settings-apps", "Connected applications", "/settings/apps", http.StatusOK, demoPerson},
	{"settings-notifications", "Choice of notifications", "/settings/notifications", http.StatusOK, demoPerson},
	{"report", "Report", "/report?subject=profile:{best}", http.StatusOK, demoPerson},
	{"tip", "Payout address", "/tip/" + demoHandle, http.StatusOK, ""},
	{"network", "Network", "/network", http.StatusOK, ""},
	{"pulse", "Statistics", "/pulse", http.StatusOK, ""},
	{"developers", "Developers", "/dev", http.StatusOK, demoPerson},
	{"docs", "API reference", "/docs", http.StatusOK, ""},
	{"docs-operation", "API reference, an operation", "/docs/operations/fileSignal", http.StatusOK, ""},
	{"guide", "Guide", "/docs/guide/quickstart.html", http.StatusOK, ""},
	{"about", "About", "/about", http.StatusOK, ""},
	{"privacy", "Privacy", "/privacy", http.StatusOK, ""},
	{"terms", "Terms", "/terms", http.StatusOK, ""},
	{"status", "Status", "/status", http.StatusOK, ""},
	{"not-found", "Unknown address", "/nothing-here", http.StatusNotFound, ""},
}

// mostPictures is the limit of the size of all pictures in bytes.
const mostPictures = 3_000_000

// TestScreenshots writes docs/pages.md and its pictures: the first screen of each page of a running demo, light and dark, on a phone and
// on a desktop. The environment variable SCREENSHOTS_OF is the path of the file stack.json that make demo wrote; make screenshots sets it.
func TestScreenshots(t *testing.T) {
	file := os.Getenv("SCREENSHOTS_OF")
	if file == "" {
		t.Skip("SCREENSHOTS_OF is not set; run: make screenshots")
	}
	raw, err := os.ReadFile(file)
	var demo stack.Info
	if err == nil {
		err = json.Unmarshal(raw, &demo)
	}
	root, rootErr := stack.Root()
	if err != nil || rootErr != nil {
		t.Fatal(err, rootErr)
	}
	objects := objectsOf(t, demo.Hub)
	var doc bytes.Buffer
	doc.WriteString(pagesHead)
	size := 0
	shown := map[string]string{} // addresses of the pages by their names
	for _, look := range []struct {
		name  string
		size  browser.Size
		scale float64
	}{{"phone", browser.Phone, 0.75}, {"desktop", browser.Size{Width: 1280, Height: 800}, 0.5}} {
		for _, theme := range []string{"light", "dark"} {
			for _, user := range []string{"", demoPerson, demoLive, demoNew} {
				b := browser.Open(t, look.size)
				b.ColorScheme(theme)
				if user != "" {
					b.Visit(demo.Hub+"/sign-in?return=/markets", http.StatusOK)
					b.Press(`main a.button`, "#user")
					b.SignIn(user, ".me.account")
				}
				for _, p := range pictured {
					path := objects.Replace(p.path)
					if p.user != user || strings.Contains(path, "{") {
						continue
					}
					b.Visit(demo.Hub+path, p.status)
					stack.Wait(t, 700*time.Millisecond) // charts, fonts and the first event of the page
					webp := b.FirstScreen(look.size, look.scale)
					size += len(webp)
					name := fmt.Sprintf("page-%s-%s-%s.webp", p.name, look.name, theme)
					if err := os.WriteFile(filepath.Join(root, "docs/img", name), webp, 0o644); err != nil {
						t.Fatal(err)
					}
					shown[p.name] = path
				}
			}
		}
	}
	for _, p := range pictured {
		if shown[p.name] == "" {
			t.Errorf("the demo has no object for the page %s", p.path)
			continue
		}
		fmt.Fprintf(&doc, "\n## %s\n\n`%s`\n\n", p.title, p.path)
		for _, look := range []string{"phone-light", "phone-dark", "desktop-light", "desktop-dark"} {
			fmt.Fprintf(&doc, "![%s, %s](img/page-%s-%s.webp)\n", p.title, strings.Replace(look, "-", ", ", 1), p.name, look)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "docs/pages.md"), doc.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	if size > mostPictures {
		t.Errorf("the pictures have %d bytes; want at most %d", size, mostPictures)
	}
}

const pagesHead = `# Pages

The first screen of each page in the demo, on a phone (390 px) and on a desktop (1280 px), light and dark. ` + "`make screenshots`" + ` writes
this page and its pictures from a running demo.
`

// objectsOf returns the replacements of the objects in the paths of pictured. It finds each object as the first link of its kind on a page
// of the demo.
func objectsOf(t *testing.T, hub string) *strings.Replacer {
	t.Helper()
	var out []string
	first := func(name, path, link string) string {
		found := regexp.MustCompile(`href="[^"]*/` + link + `([A-Za-z0-9_-]+)"`).FindSubmatch(stack.Get(t, hub+path).Require(http.StatusOK).Body)
		if found == nil {
			return ""
		}
		out = append(out, "{"+name+"}", string(found[1]))
		return string(found[1])
	}
	best := first("best", "/board", "u/")
	first("decided", "/u/"+best+"?state=resolved", "receipts/")
	first("receipt", "/u/"+demoHandle+"?state=open", "receipts/")
	first("market", "/markets", "m/")
	first("live", "/live", "live/")
	first("clip", "/network", "clips/")
	first("recap", "/live/"+demoEnded, `live/`+demoEnded+`\?show=`)
	return strings.NewReplacer(out...)
}
