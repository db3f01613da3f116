package web

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/signalcast/signalcast/test/system/browser"
	"github.com/signalcast/signalcast/test/system/openapi"
	"github.com/signalcast/signalcast/test/system/stack"
)

const overlayPath = "/api/streamer/signal"

// The recorder of a tab records calls of the canary and violations of the policy.
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

// No text that people write becomes script, markup or style on a page that shows it.
func TestNoScriptFromData(t *testing.T) {
	t.Parallel()
	s := webStack(t)
	texts := browser.HostileTexts[:stack.Size(t, 2, len(browser.HostileTexts), len(browser.HostileTexts))]
	all := t
	for i, text := range texts {
		t.Run(fmt.Sprintf("text %d", i), func(t *testing.T) {
			t.Parallel()
			if all.Failed() { // one text is enough
				return
			}
			b := browser.Open(t, browser.Phone)
			for _, p := range writeEverywhere(t, s, b, text) {
				requirePolicy(t, s, p.path)
				requireText(t, s, b, p)
			}
		})
	}
}

// shown is a page and the texts that it contains, exactly, by the selectors of their elements.
type shown struct {
	path  string
	texts map[string]string
}

// author is a person whose requests must succeed.
type author struct {
	*stack.Operator
	t *testing.T
	s *stack.Stack
}

// write sends a request with the identity token or the key of the author.
func (a author) write(method, path, credential string, body stack.JSON) stack.Answer {
	a.t.Helper()
	return a.Retry(a.t, method, a.s.Hub+path, stack.Bearer(credential), stack.Body(body))
}

// writeEither writes a body with the text. It writes the body again with the characters of the text that are visible if
// the route refuses the text, and returns what it has written.
func (a author) writeEither(method, path, credential, text string, body func(text string) stack.JSON) string {
	a.t.Helper()
	answer := a.write(method, path, credential, body(text))
	if answer.Status == http.StatusBadRequest { // control characters, or characters that change the reading direction
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

// writeEverywhere writes the text to everything that the author may write, signs the author in to the tab, and returns
// the pages that show the text.
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
		{"/profile", map[string]string{".passport h1": name}},
		{"/dev", map[string]string{"#keys tbody tr:first-child td": label}},
		{"/protocol/authorize?" + app.AuthorizeRequest("profile:read").Encode(), map[string]string{"h1": title}},
		{"/operator/" + a.Handle + "/embed", map[string]string{".who b": name}},
		{"/overlay/" + a.Handle, map[string]string{"#overlay-name": note, "#overlay-note": note}},
		{"/live/" + a.Handle, map[string]string{"#live-name": note, "#live-note": note}},
	}
}

// writeCall creates a market, a call with events, an outcome and a dispute of which every text is the given one.
func writeCall(a author, text string) (market, call string) {
	a.t.Helper()
	link := "https://x.example/" + url.PathEscape(text)
	market = a.s.NewNativeMarket(a.t, 5000, stack.JSON{
		"question": "Is it safe? " + text, "description": text, "resolutionSource": link,
	})
	body := stack.Call(market, "YES", 5000)
	maps.Copy(body, stack.JSON{
		"textTake": text, "marketTitle": text, "channelId": truncate(text, 64), "mediaAssetId": text, "source": text,
		"clobTokenId": truncate(text, 128),
	})
	call = a.File(a.t, body).Require(http.StatusOK).Text("id")
	query := "https://x.example/?" + url.QueryEscape(text) + "#" + strings.ReplaceAll(text, " ", "")
	for _, event := range []stack.JSON{
		{"type": "take", "payload": stack.JSON{"text": text, "mediaAssetId": text, "url": query}},
		{"type": "note", "payload": stack.JSON{"text": text}},
		{"type": "share", "payload": stack.JSON{"channel": truncate(text, 40)}},
	} {
		if e := a.write(http.MethodPost, "/api/signals/"+call+"/events", a.Key, event); e.Status != http.StatusCreated {
			e.RequireError(http.StatusBadRequest, "invalid_payload") // an address that is no link
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

// requireText opens a page and requires that it shows its texts unchanged, is not too wide, and has no problems.
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

// The handle of a person does not depend on what the identity provider claims as a name, and the name is text.
func TestNamesFromTheIssuer(t *testing.T) {
	t.Parallel()
	s := webStack(t)
	subject := s.NewOperator(t).Handle
	handle := regexp.MustCompile(`^[a-z0-9_]{2,32}$`)
	for i, name := range []string{
		"", " ", "a", "me", "ADMIN", "leaderboard", "hub", "..", "../../etc/passwd", "Ångström Œuvre", "語語語", "a\x00b",
		"a\u2028b\r\nSet-Cookie: x=1", strings.Repeat("long name ", 60), strings.Repeat("語", 300), "%00%0d%0a", "did:other:name",
		"\U0001F4A9\U0001F4A9", "x'; DROP TABLE users; --",
	} {
		sub := fmt.Sprintf("did:idp:%s-name-%d", subject, i)
		login := s.ForgeLogin(t, stack.JSON{"sub": sub, "name": name, "preferred_username": name})
		a := stack.NewClient().Retry(t, http.MethodGet, s.Hub+"/api/dev/whoami", stack.Bearer(login)).Require(http.StatusOK)
		got := a.Text("handle")
		if !handle.MatchString(got) || slices.Contains([]string{"me", "admin", "hub", "leaderboard"}, got) {
			t.Errorf("the name %q makes the handle %q", name, got)
		}
		if n := len([]rune(a.Text("displayName"))); n == 0 || n > 64 {
			t.Errorf("the name %q is displayed with %d characters, want 1 to 64", name, n)
		}
	}
	now := time.Now().Unix()
	for i, wrong := range []stack.JSON{
		{"sub": ""},
		{"sub": 7},
		{"sub": strings.Repeat("s", 3000)},
		{"sub": "a\x00b"},
		{"iss": "https://evil.example"},
		{"aud": "other"},
		{"aud": []string{"other"}},
		{"exp": 0},
		{"exp": now - 120},
		{"nbf": now + 600},
		{"iat": now + 600},
	} {
		claims := stack.JSON{"sub": fmt.Sprintf("did:idp:%s-claims-%d", subject, i)}
		maps.Copy(claims, wrong)
		a := stack.Get(t, s.Hub+"/api/dev/whoami", stack.Bearer(s.ForgeLogin(t, claims)))
		if a.Status != http.StatusUnauthorized || a.Code() != "unauthenticated" {
			t.Errorf("a token with %v: %d %s, want 401 unauthenticated", wrong, a.Status, a.Code())
		}
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
