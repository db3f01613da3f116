package web

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/signalcast/signalcast/test/system/browser"
	"github.com/signalcast/signalcast/test/system/openapi"
	"github.com/signalcast/signalcast/test/system/stack"
)

const overlayPath = "/api/streamer/signal"

// TestBrowserRecordsScript checks that a tab records calls of the function canary and violations of the content
// security policy.
func TestBrowserRecordsScript(t *testing.T) {
	t.Parallel()
	s, b := webStack(t), browser.Open(t, browser.Desktop)
	b.Visit(s.Hub+"/dev", http.StatusOK)
	const inject = `document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=canary(1)>'), canary('direct'), 1`
	browser.Eval[int](b, inject)
	var all []string
	stack.Eventually(t, 10*time.Second, "a policy violation and one call of the canary", func() bool {
		all = append(all, b.Problems()...)
		return browser.CanaryCalls(all) == 1 && strings.Contains(strings.Join(all, "\n"), "Content Security Policy")
	})
}

// TestNoScriptFromData checks that no text of a user becomes script, markup or style on a page that shows it. Each text is
// checked on a third of the pages, or on all pages with SYSTEM_SIZE=full.
func TestNoScriptFromData(t *testing.T) {
	t.Parallel()
	s := webStack(t)
	texts := browser.HostileTexts[:stack.Size(t, 2, len(browser.HostileTexts), len(browser.HostileTexts))]
	share := stack.Size(t, 1, 3, 1)
	const each = 10 // number of texts in one tab
	for first := 0; first < len(texts); first += each {
		some := texts[first:min(first+each, len(texts))]
		t.Run(fmt.Sprintf("texts from %d", first), func(t *testing.T) {
			t.Parallel()
			b := browser.Open(t, browser.Phone)
			for i, text := range some {
				for k, p := range writeEverywhere(t, s, b, text) {
					if (i+k)%share == 0 {
						requirePolicy(t, s, p.path)
						requireText(t, s, b, p)
					}
				}
				if t.Failed() { // further texts would fail in the same way
					t.Fatalf("the failures above occurred with the text %q", text)
				}
			}
		})
	}
}

// shown is a page that shows texts of its author.
type shown struct {
	path  string
	texts map[string]string // expected texts by the CSS selector of the first element that contains the text
}

// author is a person who writes texts. All requests of the person must succeed.
type author struct {
	*stack.Operator
	t *testing.T
	s *stack.Stack
}

// write sends a request. The credential is the identity token or an operator key of the author.
func (a author) write(method, path, credential string, body stack.JSON) stack.Answer {
	a.t.Helper()
	return a.Retry(a.t, method, a.s.Hub+path, stack.Bearer(credential), stack.Body(body))
}

// writeEither sends a body that contains the text. If the route refuses it, writeEither removes the invisible characters from
// the text and sends the body again. It returns the text that was stored.
func (a author) writeEither(method, path, credential, text string, body func(text string) stack.JSON) string {
	a.t.Helper()
	answer := a.write(method, path, credential, body(text))
	// Control characters, and characters that change the reading direction, are refused.
	if answer.Status == http.StatusBadRequest {
		text = strings.Map(func(r rune) rune {
			if unicode.In(r, unicode.Zl, unicode.Zp, unicode.Cc, unicode.Cf) {
				return -1
			}
			return r
		}, text)
		answer = a.write(method, path, credential, body(text))
	}
	answer.Require(http.StatusOK)
	return strings.TrimSpace(text)
}

// writeEverywhere creates an author and writes the text into every text that an author may set. It signs the author in to the
// tab, and returns the pages that show the text.
func writeEverywhere(t *testing.T, s *stack.Stack, b *browser.Tab, text string) []shown {
	a := author{s.NewOperator(t), t, s}
	for name, value := range a.PageCookies(t) {
		b.SetCookie(s.Hub, name, value)
	}
	market, call := writeCall(a, text)
	name := a.writeEither(http.MethodPost, "/api/streamer/profile", a.Key, truncate(text, 64), func(name string) stack.JSON {
		return stack.JSON{"displayName": name, "bio": text}
	})
	label := strings.TrimSpace(truncate(text, 64))
	a.Mint(t, stack.JSON{"label": label})
	app := a.NewApp(t, "public", "profile:read", "signal:create")
	title := a.writeEither(http.MethodPatch, "/api/dev/apps/"+app.ID, a.Login, label, func(name string) stack.JSON {
		return stack.JSON{"name": name}
	})
	a.SetStreamer(t, "approved")
	open := s.NewNativeMarket(t, 5000, nil)
	note := a.writeEither(http.MethodPost, overlayPath, a.Key, truncate(text, 180), func(name string) stack.JSON {
		return stack.JSON{"marketId": open, "name": name, "annotation": name, "yesPct": 31.5}
	})
	return []shown{
		{"/receipts/" + call, map[string]string{"blockquote": text}},
		{"/m/" + market, map[string]string{"h1": "Is it safe? " + text}},
		{"/u/" + a.Handle, map[string]string{".passport h1": name}},
		{"/settings/profile", map[string]string{".passport h1": name}},
		{"/dev", map[string]string{"#keys tbody tr:first-child td": label}},
		{"/protocol/authorize?" + app.AuthorizeRequest("profile:read").Encode(), map[string]string{"h1": title}},
		{"/operator/" + a.Handle + "/embed", map[string]string{".who b": name}},
		{"/overlay/" + a.Handle, map[string]string{"#overlay-name": note, "#overlay-note": note}},
		{"/live/" + a.Handle, map[string]string{"#live-name": note, "#live-note": note}},
	}
}

// writeCall creates a market, and a call on it with events, an outcome and a dispute. All texts of them contain the given text.
func writeCall(a author, text string) (market, call string) {
	a.t.Helper()
	link := "https://x.example/" + url.PathEscape(text)
	market = a.s.NewNativeMarket(a.t, 5000, stack.JSON{
		"question": "Is it safe? " + text, "description": text, "resolutionSource": link,
	})
	call = a.NewCall(a.t, market, "YES", 5000, stack.JSON{
		"textTake": text, "marketTitle": text, "channelId": truncate(text, 64), "mediaAssetId": text, "source": text,
		"clobTokenId": truncate(text, 128),
	})
	query := "https://x.example/?" + url.QueryEscape(text) + "#" + strings.ReplaceAll(text, " ", "")
	for _, event := range []stack.JSON{
		{"type": "take", "payload": stack.JSON{"text": text, "mediaAssetId": text, "url": query}},
		{"type": "note", "payload": stack.JSON{"text": text}},
		{"type": "share", "payload": stack.JSON{"channel": truncate(text, 40)}},
	} {
		if e := a.write(http.MethodPost, "/api/signals/"+call+"/events", a.Key, event); e.Status != http.StatusCreated {
			e.RequireError(http.StatusBadRequest, "invalid_payload") // the text is not a valid link
		}
	}
	admin := func(path string, body stack.JSON) {
		stack.Post(a.t, a.s.Hub+path, a.s.Admin(), stack.Body(body)).Require(http.StatusOK)
	}
	admin("/api/resolution/finalize", stack.JSON{
		"marketId": market, "verdict": "YES", "reason": text, "source": truncate(text, 64),
		"finalizedBy": truncate(text, 64), "proofUrl": link,
	})
	admin("/api/resolution/dispute", stack.JSON{"marketId": market, "reason": text})
	return market, call
}

func truncate(text string, n int) string {
	r := []rune(text)
	return string(r[:min(len(r), n)])
}

// requireText opens a page in the tab. Each element of the page must show its text unchanged, the page must not be wider than
// the tab, and the tab must record no problems.
func requireText(t *testing.T, s *stack.Stack, b *browser.Tab, p shown) {
	t.Helper()
	b.Visit(s.Hub+p.path, http.StatusOK)
	for selector, want := range p.texts {
		var got []string
		stack.Eventually(t, 10*time.Second, fmt.Sprintf("%s shows %q in %s", p.path, want, selector), func() bool {
			got = b.Texts(selector)
			return len(got) > 0 && strings.Contains(got[0], want)
		})
	}
	b.RequireFits()
	b.RequireNoProblems()
}

// inline matches an inline script, and an element with an event handler or a style attribute.
var inline = regexp.MustCompile(`<script(?:>| type="module">)|<[a-z][^>"]*\s(?:on[a-z]+|style)=`)

// requirePolicy requires that a page has a content security policy that allows only scripts of the hub. The page must contain
// no inline scripts or styles.
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
			t.Errorf("the content security policy of %s allows %s", path, directive)
		}
	}
	if found := inline.Find(a.Body); found != nil {
		t.Errorf("%s contains the inline script or style %q", path, found)
	}
}

// TestTypesAreNotSniffed checks that every answer forbids browsers to guess its content type (X-Content-Type-Options).
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
			t.Errorf("%s: X-Content-Type-Options is %q; want nosniff", o.Name(), got)
		}
	})
}
