package pages_test

import (
	"compress/gzip"
	"io"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	programv1 "github.com/signalcast/signalcast/proto/program/v1"
	"github.com/signalcast/signalcast/services/api/apitest"
)

// TestHeader checks the links in the header and the footer, and that each page has one skip link to its content.
func TestHeader(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, path := range []string{"/", "/markets", "/board", "/m/" + gauge, "/nothing-here"} {
		w := b.get(path)
		page := w.Body.String()
		header, rest, _ := strings.Cut(page, "</header>")
		_, footer, _ := strings.Cut(rest, "<footer")
		for _, part := range []string{
			`<a class="skip" href="#main">Skip to content</a>`, `action="/search"`, `href="/markets"`, `href="/board"`, `href="/sign-in?return_to=%2Fu%2Fme">My calls`,
		} {
			if path != "/nothing-here" && !strings.Contains(header, part) {
				t.Errorf("the header of %s lacks %s", path, part)
			}
		}
		for _, link := range []string{"/feed", "/network", "/pulse", "/docs", "/dev"} {
			if strings.Contains(header, `href="`+link+`"`) || path != "/nothing-here" && !strings.Contains(footer, `href="`+link+`"`) {
				t.Errorf("%s: the link to %s must be in the footer and not in the header", path, link)
			}
		}
	}
}

// TestTheme sends the form that chooses light or dark, and the form that switches off the key / for the search field. Each must
// set its cookie, also for a visitor without a session, and the next page must follow both choices.
func TestTheme(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for theme, status := range map[string]int{"auto": 303, "light": 303, "dark": 303, "blue": 400, "": 400} {
		w := b.post("/settings/theme", url.Values{"theme": {theme}}, "Referer", hubURL+"/markets?q=gauge")
		cookie := w.Header().Get("Set-Cookie")
		if w.Code != status || (status == 303) != strings.HasPrefix(cookie, "sc_theme="+theme+"; Path=/; Max-Age=31536000; HttpOnly") {
			t.Errorf("theme %q: status %d, cookie %q; want %d", theme, w.Code, cookie, status)
		}
		if status == 303 && w.Header().Get("Location") != "/markets?q=gauge" {
			t.Errorf("the form leads to %q; want the page that sent it", w.Header().Get("Location"))
		}
	}
	for referer, want := range map[string]string{
		"": "/", "https://evil.example/x": "/", hubURL + "//evil.example": "/", hubURL + ".evil.example/": "/", hubURL + "/feed": "/feed",
		hubURL + "/m/701122/call": "/m/701122", hubURL + "/settings/sessions/revoke?x=y": "/settings", hubURL + "/no/such/page": "/",
	} {
		w := b.post("/settings/theme", url.Values{"theme": {"dark"}}, "Referer", referer)
		if got := w.Header().Get("Location"); got != want {
			t.Errorf("the form of %q leads to %q; want %q", referer, got, want)
		}
	}
	if w := b.post("/settings/theme", url.Values{"theme": {"dark"}}, "Origin", "https://evil.example"); w.Code != 403 {
		t.Errorf("a form of another origin has status %d; want 403", w.Code)
	}
	for keys, status := range map[string]int{"keys=off": 303, "keys=on": 303, "keys=no": 400, "keys=off&theme=dark": 400} {
		form, err := url.ParseQuery(keys)
		if err != nil {
			t.Fatal(err)
		}
		if w := b.post("/settings/theme", form); w.Code != status || (status == 303) != strings.HasPrefix(w.Header().Get("Set-Cookie"), "sc_"+keys+";") {
			t.Errorf("%s: status %d, cookie %q; want %d", keys, w.Code, w.Header().Get("Set-Cookie"), status)
		}
	}
	for theme, want := range map[string]string{
		"light; sc_keys=off": `<html lang="en" data-theme="light" data-keys="off">`, "light; sc_keys=on": `<html lang="en" data-theme="light">`,
		"dark": `<html lang="en" data-theme="dark">`, "light": `<html lang="en" data-theme="light">`, "auto": `<html lang="en">`, `"x`: `<html lang="en">`,
	} {
		r := httptest.NewRequest("GET", "/markets", nil)
		r.Header.Set("Cookie", "sc_theme="+theme)
		if w := b.serve(r); !strings.Contains(w.Body.String(), want) || !strings.Contains(strings.Join(w.Header()["Vary"], ","), "Cookie") {
			t.Errorf("theme %s: the page lacks %s, or Vary: Cookie: %v", theme, want, w.Header())
		}
	}
}

// TestFilesOfTheSite checks the rules for crawlers and the icon.
func TestFilesOfTheSite(t *testing.T) {
	t.Parallel()
	b := setup(t)
	w := b.get("/robots.txt")
	if w.Code != 200 || !strings.HasPrefix(w.Body.String(), "User-agent: *\nDisallow: /api/\n") || strings.Contains(w.Body.String(), "/markets") ||
		!strings.HasSuffix(w.Body.String(), "\n\nSitemap: https://hub.example/sitemap.xml\n") ||
		w.Header().Get("Content-Type") != "text/plain; charset=utf-8" {
		t.Errorf("robots.txt: %d %v %s", w.Code, w.Header(), w.Body)
	}
	w = b.get("/favicon.ico")
	if w.Code != 200 || !strings.HasPrefix(w.Body.String(), "\x00\x00\x01\x00\x01\x00") || w.Header().Get("Content-Type") != "image/x-icon" {
		t.Errorf("favicon.ico: %d %v", w.Code, w.Header())
	}
}

// TestCompression checks that a page is compressed only for a client that accepts gzip, and that both forms have the same content.
func TestCompression(t *testing.T) {
	t.Parallel()
	b := setup(t)
	plain := b.get("/markets")
	r := httptest.NewRequest("GET", "/markets", nil)
	r.Header.Set("Accept-Encoding", "gzip")
	w := b.serve(r)
	if plain.Header().Get("Content-Encoding") != "" || w.Header().Get("Content-Encoding") != "gzip" {
		t.Fatalf("encodings %q and %q; want none and gzip", plain.Header().Get("Content-Encoding"), w.Header().Get("Content-Encoding"))
	}
	for _, h := range []string{strings.Join(plain.Header()["Vary"], ","), strings.Join(w.Header()["Vary"], ",")} {
		if !strings.Contains(h, "Accept-Encoding") {
			t.Errorf("Vary is %q; want Accept-Encoding in it", h)
		}
	}
	packed := w.Body.Len()
	read, err := gzip.NewReader(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(read)
	if err != nil || string(body) != plain.Body.String() || packed*2 > len(body) {
		t.Errorf("%d bytes are compressed to %d: %v", len(body), packed, err)
	}
	r.Header.Set("Accept-Encoding", "gzip;q=0")
	if w := b.serve(r); w.Header().Get("Content-Encoding") != "" {
		t.Error("a client that refuses gzip receives it")
	}
}

// TestProgrammePage checks that the page of the programme, which has its own layout, is rendered: with the chart, the calls and the
// address of the market on the stage, and a message about an unknown lane.
func TestProgrammePage(t *testing.T) {
	t.Parallel()
	b := setup(t)
	has(t, b.get("/tv"), 200, "Nothing is on right now.", "!tv-more")
	now := b.clock.Now()
	b.ledger.Lock()
	b.ledger.Program = &programv1.Program{
		Segments: []*programv1.Segment{{
			MarketId: gauge, Title: question, Kind: "content", YesPrice: proto.Float64(31.5), StartsAt: timestamppb.New(now),
			EndsAt: timestamppb.New(now.Add(time.Minute)),
		}},
		Lanes: []*programv1.Lane{{Key: "science", Label: "Science", Segments: []int32{0}}},
	}
	b.ledger.Unlock()
	has(t, b.get("/tv?lane=science"), 200, `<a id="tv-title" href="/m/`+gauge+`">`+question, `data-market="`+gauge+`"`,
		`aria-label="Price of YES: low 30¢, high 31.5¢, last 31.5¢"`, "<li>@mara_k: NO at 68.5¢</li>", "</svg>hub.example/m/"+gauge+"</a>", "!no lane called")
	has(t, b.get("/tv?lane=nowhere"), 200, "There is no lane called nowhere. All lanes are shown.", question)
	b.ledger.Fail(apitest.ErrDB, "ListHistory", "ListLedger")
	has(t, b.get("/tv"), 200, "YES is at 31.5¢ now.", "!last-calls")
}
