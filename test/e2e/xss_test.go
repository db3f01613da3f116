package e2e

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"github.com/chromedp/chromedp"
	"github.com/go-jose/go-jose/v4"
	"golang.org/x/oauth2"

	hostile "github.com/signalcast/signalcast/test/system/browser"
)

// canaries are texts that call the canary where they are taken for more than text.
var canaries = hostile.HostileTexts

// TestCanaryCanFire: the alarm works, for the canary and for the policy alike.
func TestCanaryCanFire(t *testing.T) {
	t.Parallel()
	if len(canaries) != 60 {
		t.Errorf("%d canaries", len(canaries))
	}
	b := open(t, desktopWidth, desktopHeight)
	b.visit(up(t).Hub+"/dev", http.StatusOK)
	ask(b, "inject", chromedp.Evaluate[int](`document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=canary(1)>'); 1`))
	eventually(t, func() bool { return b.heard("Content Security Policy") }, "a violation of the policy")
	ask(b, "call", chromedp.Evaluate[int](`canary("direct"); 1`))
	eventually(t, func() bool { return b.heard("THE CANARY FIRED") }, "the canary")
}

// TestNoScriptFromData puts the canaries into every text that a page shows and
// looks at the pages.
func TestNoScriptFromData(t *testing.T) {
	t.Parallel()
	s := up(t)
	work := make(chan int)
	var wg sync.WaitGroup
	for range 3 { // tabs at a time
		b := open(t, desktopWidth, desktopHeight)
		wg.Go(func() {
			for i := range work {
				s.showCanary(t, b, i)
			}
		})
	}
	for i := range canaries {
		work <- i
	}
	close(work)
	wg.Wait()
}

// showCanary looks at the two pages that are full of one canary.
func (s *stack) showCanary(t *testing.T, b *tab, i int) {
	t.Helper()
	evil := canaries[i]
	market, id := s.poison(t, i, evil)
	b.visit(s.Hub+"/receipts/"+id, http.StatusOK)
	if take := ask(b, "read the take", chromedp.TextContent(chromedp.CSS("blockquote"))); take != evil {
		t.Errorf("%q is shown as %q", evil, take)
	}
	b.clean("receipt with " + evil)
	b.visit(s.Hub+"/m/"+market, http.StatusOK)
	if title := ask(b, "read the question", chromedp.TextContent(chromedp.CSS("h1"))); !strings.HasSuffix(title, evil) {
		t.Errorf("%q is shown as %q", evil, title)
	}
	b.clean("market with " + evil)
}

// poison makes a market and a call whose every text is the canary.
func (s *stack) poison(t *testing.T, i int, evil string) (market, id string) {
	t.Helper()
	market = s.native(t, 5000, obj{"question": "Is it safe? " + evil, "description": evil, "resolutionSource": "https://x.example/" + url.PathEscape(evil)})
	p := s.stranger(t, i, evil)
	id = p.call(t, market, "YES", 5000, obj{"textTake": evil, "marketTitle": evil, "channelId": cut(evil, 64), "mediaAssetId": evil, "clobTokenId": cut(evil, 128), "source": evil})
	to := s.Hub + "/api/signals/" + id + "/events"
	for _, e := range []obj{
		{"type": "take", "payload": obj{"text": evil, "mediaAssetId": evil, "url": "https://x.example/?" + url.QueryEscape(evil) + "#" + strings.ReplaceAll(evil, " ", "")}},
		{"type": "note", "payload": obj{"text": evil}},
		{"type": "share", "payload": obj{"channel": cut(evil, 40)}},
	} {
		if a := post(t, to, p.auth(t), payload(e)); a.status != http.StatusCreated {
			a.fails(http.StatusBadRequest, "invalid_payload") // an address that no link may have
		}
	}
	seen := strings.Trim(evil, "\u202e") // a source is what can be seen
	post(t, s.Hub+"/api/resolution/finalize", s.admin(), payload(obj{
		"marketId": market, "verdict": "YES", "reason": evil, "source": cut(seen, 64), "finalizedBy": cut(evil, 64), "proofUrl": "https://x.example/" + url.PathEscape(evil),
	})).is(http.StatusOK)
	post(t, s.Hub+"/api/resolution/dispute", s.admin(), payload(obj{"marketId": market, "reason": evil})).is(http.StatusOK)
	return market, id
}

func cut(text string, n int) string {
	r := []rune(text)
	return string(r[:min(len(r), n)])
}

// stranger is somebody whose name at the issuer is the text.
func (s *stack) stranger(t *testing.T, i int, name string) *person {
	t.Helper()
	token := s.forge(t, obj{"sub": "did:idp:xss-" + runID + "-" + strconv.Itoa(i), "name": name, "preferred_username": name})
	return &person{s: s, user: "xss", token: token}
}

// forge signs claims with the development issuer's own key, which signs no such
// names by itself.
func (s *stack) forge(t *testing.T, claims obj) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(s.dir, "idp", "keys.json"))
	if err != nil {
		t.Fatal(err)
	}
	var set jose.JSONWebKeySet
	if err := json.Unmarshal(raw, &set); err != nil {
		t.Fatal(err)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: set.Keys[len(set.Keys)-1]}, (&jose.SignerOptions{}).WithType("JWT"))
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now().Unix()
	all := obj{"iss": s.IDP, "aud": "signalcast-dev", "iat": now, "exp": now + 600, "sid": "forged"}
	for name, v := range claims {
		all[name] = v
	}
	body, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	jws, err := signer.Sign(body)
	if err != nil {
		t.Fatal(err)
	}
	token, err := jws.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// TestNamesFromTheIssuer: whatever a provider calls somebody, the handle is one of
// ours and the name is text.
func TestNamesFromTheIssuer(t *testing.T) {
	t.Parallel()
	s := up(t)
	handle := regexp.MustCompile(`^[a-z0-9_]{2,32}$`)
	for i, name := range []string{
		"", " ", "a", "me", "ADMIN", "leaderboard", "hub", "..", "../../etc/passwd", "Ångström Œuvre", "語語語", "a\x00b", "a\u2028b\r\nSet-Cookie: x=1",
		strings.Repeat("long name ", 60), strings.Repeat("語", 300), "%00%0d%0a", "did:other:name", "\U0001F4A9\U0001F4A9", "x'; DROP TABLE users; --",
	} {
		token := s.forge(t, obj{"sub": "did:idp:named-" + runID + "-" + strconv.Itoa(i), "name": name, "preferred_username": name})
		a := get(t, s.Hub+"/api/dev/whoami", bearer(token)).is(http.StatusOK)
		if h := a.str("handle"); !handle.MatchString(h) || h == "me" || h == "admin" || h == "hub" || h == "leaderboard" {
			t.Errorf("%q has the handle %q", name, h)
		}
		if n := len([]rune(a.str("displayName"))); n == 0 || n > 64 {
			t.Errorf("%q is shown with %d characters", name, n)
		}
	}
	for i, claims := range []obj{
		{"sub": ""},
		{"sub": 7},
		{"iss": "https://evil.example"},
		{"aud": "other"},
		{"exp": 0},
		{"exp": time.Now().Unix() - 120},
		{"nbf": time.Now().Unix() + 600},
		{"iat": time.Now().Unix() + 600},
		{"aud": []string{"other"}},
		{"sub": strings.Repeat("s", 3000)},
		{"sub": "a\x00b"},
	} {
		all := obj{"sub": "did:idp:bad-" + runID + "-" + strconv.Itoa(i)}
		for k, v := range claims {
			all[k] = v
		}
		get(t, s.Hub+"/api/dev/whoami", bearer(s.forge(t, all))).fails(http.StatusUnauthorized, "unauthenticated")
	}
}

// TestNoScriptFromPeople puts the canaries into what people and apps say of
// themselves, and looks at the pages that show it.
func TestNoScriptFromPeople(t *testing.T) {
	t.Parallel()
	s := up(t)
	callback, _ := visited(t)
	work := make(chan int)
	var wg sync.WaitGroup
	for range 3 { // people with a tab each
		b, p := open(t, phoneWidth, phoneHeight), s.person(t)
		app := p.app(t, callback, "profile:read", "signal:create")
		b.visit(s.Hub+"/dev", http.StatusOK)
		b.press(`a.button`, `#user`)
		b.enter(p, `form.mint`)
		market := s.native(t, 5000)
		wg.Go(func() {
			for i := range work {
				p.showOnAir(t, b, market, canaries[i])
				p.showCanary(t, b, app.ClientID, app.AuthCodeURL("s", oauth2.S256ChallengeOption(oauth2.GenerateVerifier())), canaries[i])
			}
		})
	}
	for i := range canaries {
		work <- i
	}
	close(work)
	wg.Wait()
}

// showCanary looks at the pages of a person whose name, key and app are called by one
// canary.
func (p *person) showCanary(t *testing.T, b *tab, app, consent, evil string) {
	t.Helper()
	hub := p.s.Hub
	name := cut(evil, 64)
	change := func() *answer {
		return post(t, hub+"/api/streamer/profile", p.auth(t), payload(obj{"displayName": name, "bio": evil}))
	}
	if a := change(); a.status != http.StatusOK {
		a.fails(http.StatusBadRequest, "invalid_display_name") // it turns the reading direction around, or ends the line
		name = strings.Map(func(r rune) rune {
			if unicode.In(r, unicode.Zl, unicode.Zp, unicode.Cc, unicode.Cf) {
				return -1
			}
			return r
		}, name)
		change().is(http.StatusOK)
	}
	_, key := p.mint(t, name)
	if a := send(t, http.MethodPatch, hub+"/api/dev/apps/"+app, p.login(), payload(obj{"name": strings.TrimSpace(name)})); a.status != http.StatusOK {
		a.fails(http.StatusBadRequest, "invalid_request") // a name that turns the reading direction around
	}
	for path, selector := range map[string]string{"/u/" + p.user: ".passport h1", "/profile": ".passport h1", "/dev": "#keys tbody td", consent: "h1"} {
		b.visit(hub+strings.TrimPrefix(path, hub), http.StatusOK)
		if shown := ask(b, "read "+path, chromedp.TextContent(chromedp.CSS(selector))); selector != "h1" && strings.TrimSpace(shown) != strings.TrimSpace(name) {
			t.Errorf("%s: %q is shown as %q", path, name, shown)
		}
		b.fits(path + " with " + evil)
		b.clean(path + " with " + evil)
	}
	send(t, http.MethodDelete, hub+"/api/dev/keys?id="+key, p.login()).is(http.StatusOK)
}

// showOnAir looks at the pages of a broadcast whose every word is one canary.
func (p *person) showOnAir(t *testing.T, b *tab, market, evil string) {
	t.Helper()
	hub := p.s.Hub
	said := cut(evil, 180)
	set := func() *answer {
		return post(t, hub+"/api/streamer/signal", p.auth(t), payload(obj{"marketId": market, "name": said, "annotation": said}))
	}
	if a := set(); a.status != http.StatusOK {
		if code := errorCode(a.body); a.status != http.StatusBadRequest || code != "invalid_name" && code != "invalid_annotation" {
			t.Errorf("a signal called %q: %d %s", said, a.status, a.body)
		}
		said = strings.Map(func(r rune) rune {
			if unicode.In(r, unicode.Zl, unicode.Zp, unicode.Cc, unicode.Cf) {
				return -1
			}
			return r
		}, said)
		set().is(http.StatusOK)
	}
	p.decided(t, "approved")
	for path, selectors := range map[string][]string{"/overlay/" + p.user: {"#overlay-name", "#overlay-note"}, "/live/" + p.user: {"#live-name", "#live-note"}} {
		b.visit(hub+path, http.StatusOK)
		for _, selector := range selectors {
			eventually(t, func() bool {
				shown := texts(b, selector)
				return len(shown) == 1 && strings.TrimSpace(shown[0]) == strings.TrimSpace(said)
			}, path+" says "+said)
		}
		b.fits(path + " with " + evil)
		b.clean(path + " with " + evil)
	}
}
