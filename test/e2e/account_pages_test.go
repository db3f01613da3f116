package e2e

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"golang.org/x/oauth2"
)

// sizes are a phone and a desk.
var sizes = map[string][2]int64{"phone": {phoneWidth, phoneHeight}, "desk": {desktopWidth, desktopHeight}}

// enter goes through the issuer's pages as this person; appears is on the page that
// the sign-in leads back to.
func (b *tab) enter(p *person, appears string) {
	b.t.Helper()
	b.do("name oneself", chromedp.WaitVisible(chromedp.CSS("#user")), chromedp.SendKeys(chromedp.CSS("#user"), p.user))
	b.press(`form.other button`, `form[action$="/dev/session"] button`)
	b.press(`form[action$="/dev/session"] button`, appears)
}

// leave signs out by the menu.
func (b *tab) leave() {
	b.t.Helper()
	b.unfold(`.me summary`, `.menu form button`)
	b.press(`.menu form button`, `a.button`)
}

// fill writes into the fields of a form, which may hold something.
func (b *tab) fill(form string, fields map[string]string) {
	b.t.Helper()
	for name, text := range fields {
		selector := form + ` [name="` + name + `"]`
		ask(b, "empty "+name, chromedp.Evaluate[string](fmt.Sprintf(`document.querySelector(%q).value = ""`, selector)))
		b.do("fill in "+name, chromedp.SendKeys(chromedp.CSS(selector), text))
	}
}

// someWallet is an address that nobody has linked.
func someWallet() string {
	var raw [20]byte
	_, _ = rand.Read(raw[:])
	return "0x" + hex.EncodeToString(raw[:])
}

func (b *tab) at() string {
	b.t.Helper()
	return ask(b, "where", chromedp.Location())
}

// TestSignInAndFollow: who wants to follow somebody is led over the sign-in and back,
// follows, stops, and leaves.
func TestSignInAndFollow(t *testing.T) {
	t.Parallel()
	s := up(t)
	followed := s.person(t)
	id := followed.call(t, s.native(t, 4000), "YES", 4000)
	path := "/u/" + followed.user
	page := s.Hub + path
	if at := get(t, s.Hub+"/api/protocol/v1/passports/"+followed.user).is(http.StatusOK).str("urls.profile"); at != page {
		t.Errorf("the passport leads to %s", at)
	}
	for name, size := range sizes {
		b, p := open(t, size[0], size[1]), s.person(t)
		b.whole(path)
		shows(t, b, "main", "@"+followed.user, "Independent", "Recent calls", "40¢", "You sign in first")
		b.fits("a profile for nobody on a " + name)
		b.press(`.row a.button`, `main h1`)
		shows(t, b, "main", "Sign in to Signalcast", "the development issuer", "the profile of @"+followed.user)
		b.fits("the sign-in on a " + name)
		b.press(`a.button`, `#user`)
		b.enter(p, `form[action$="/follow"]`)
		if b.at() != page {
			t.Errorf("back at %s", b.at())
		}
		b.press(`form[action$="/follow"] button`, `form[action$="/unfollow"]`)
		shows(t, b, "main", "You follow @"+followed.user)
		b.fits("a profile on a " + name)
		cookies, _ := p.signIn(t)
		get(t, s.Hub+"/api/user/follow?handle="+followed.user, cookies).is(http.StatusOK).has(obj{"isFollowing": true, "following": 1.0})
		b.press(`form[action$="/unfollow"] button`, `form[action$="/follow"]`)
		get(t, s.Hub+"/api/user/follow?handle="+followed.user, cookies).is(http.StatusOK).has(obj{"isFollowing": false, "followers": 0.0})
		b.press(`.calls-of a`, `.ticket`)
		if b.at() != s.Hub+"/receipts/"+id {
			t.Errorf("the call leads to %s", b.at())
		}
		shows(t, b, "header.bar", "@"+p.user)
		b.visit(s.Hub+"/u/"+p.user, http.StatusOK)
		shows(t, b, "main", "Edit your profile")
		b.visit(s.Hub+"/sign-in?return_to=/apps", http.StatusOK)
		shows(t, b, "main", "You are signed in", "@"+p.user, "your connected apps", "Not you?")
		b.leave()
		b.visit(s.Hub+"/apps", http.StatusOK) // leads to the issuer again
		b.do("see the issuer", chromedp.WaitVisible(chromedp.CSS("#user")))
		b.clean("the way of a sign-in on a " + name)
	}
	stranger := get(t, s.Hub+"/sign-in?return_to="+url.QueryEscape("https://evil.example/apps")).is(http.StatusOK)
	if strings.Contains(string(stranger.body), "evil") {
		t.Error("the sign-in leads to another site")
	}
	get(t, s.Hub+"/u/nobody_of_that_name").is(http.StatusNotFound)
}

// TestProfilePage: one's own page shows mistakes beside their fields, keeps what fits,
// and everybody sees it; a wallet that the issuer knows can be claimed and given back.
func TestProfilePage(t *testing.T) {
	t.Parallel()
	s := up(t)
	for name, size := range sizes {
		wallet := someWallet()
		b, p := open(t, size[0], size[1]), s.person(t)
		b.visit(s.Hub+"/sign-in", http.StatusOK)
		b.press(`a.button`, `#user`)
		b.enter(p, `form[action="/profile"]`)
		shows(t, b, "main", "@"+p.user, "Payouts", "None yet")
		b.fill(`form[action="/profile"]`, map[string]string{
			"displayName": "Mara K <i>", "bio": "Rivers do not read polls.\nNor do I.", "links": "https://mara.example/a\nhttp://mara.example/b", "avatarUrl": "https://pictures.example/mara.png",
		})
		b.press(`form[action="/profile"] > button`, `.mistake`)
		shows(t, b, ".mistake", "https://, one on each line")
		b.fits("a mistake on a " + name)
		b.fill(`form[action="/profile"]`, map[string]string{"links": "https://mara.example/a https://mara.example/b", "payoutAddress": wallet[:40]})
		b.press(`form[action="/profile"] > button`, `[name="payoutAddress"][aria-invalid]`)
		b.fill(`form[action="/profile"]`, map[string]string{"payoutAddress": wallet})
		b.press(`form[action="/profile"] > button`, `[role="status"]`)
		b.forget("status of 400") // both mistakes
		shows(t, b, "main", "saved", "Mara K <i>", "Rivers do not read polls.")
		b.fits("a profile of one's own on a " + name)
		get(t, s.Hub+"/api/streamer/profile?handle="+p.user).is(http.StatusOK).has(obj{
			"displayName": "Mara K <i>", "bio": "Rivers do not read polls.\nNor do I.", "avatarUrl": "https://pictures.example/mara.png",
			"links.0": "https://mara.example/a", "links.1": "https://mara.example/b", "profileUrl": s.Hub + "/u/" + p.user,
		})
		get(t, s.Hub+"/api/protocol/v1/passports/"+p.user).is(http.StatusOK).has(obj{"displayName": "Mara K <i>", "avatar": "https://pictures.example/mara.png"})

		b.fill(`form[action="/profile/claims"]`, map[string]string{"address": wallet})
		b.press(`form[action="/profile/claims"] button`, `#claims .mistake`)
		b.forget("status of 403")
		shows(t, b, "#claims", "does not know this wallet")
		post(t, s.IDP+"/users/did:idp:"+p.user+"/wallets", payload(obj{"address": wallet, "chainType": "ethereum"})).is(http.StatusOK)
		b.press(`form[action="/profile/claims"] button`, `.claim`)
		shows(t, b, ".claim", wallet, "partner")
		b.fits("a claim on a " + name)
		b.visit(s.Hub+"/u/"+p.user, http.StatusOK)
		shows(t, b, "main", "Mara K <i>", "https://mara.example/b", wallet)
		b.fits("what others see on a " + name)
		b.visit(s.Hub+"/profile", http.StatusOK)
		b.press(`.claim button`, `#claims .empty-line`)
		if n := len(get(t, s.Hub+"/api/network/identity/"+p.user).is(http.StatusOK).list("identities")); n != 0 {
			t.Errorf("%d identities are left", n)
		}
		b.clean("the page of a profile on a " + name)
	}
}

// TestMachinesAreLabelled: nobody takes a machine for a person.
func TestMachinesAreLabelled(t *testing.T) {
	t.Parallel()
	s := up(t)
	p := s.person(t)
	get(t, s.Hub+"/api/dev/whoami", p.login()).is(http.StatusOK)
	post(t, s.Hub+"/api/admin/operators", s.admin(), payload(obj{"handle": p.user, "operatorType": "ai_agent"})).is(http.StatusOK)
	b := open(t, phoneWidth, phoneHeight)
	b.visit(s.Hub+"/u/"+p.user, http.StatusOK)
	shows(t, b, "main h1", "AI")
	shows(t, b, "main", "This is a machine", "Automated")
	b.fits("a machine")
	b.clean("a machine")
}

// TestDecisionOfSomebodyElse: who finds another one signed in on the page that asks
// changes places and is asked the same.
func TestDecisionOfSomebodyElse(t *testing.T) {
	t.Parallel()
	s := up(t)
	callback, answers := visited(t)
	app := s.person(t).app(t, callback, "profile:read", "signal:create", "signer:create", "offline_access", "profile:update")
	b := open(t, phoneWidth, phoneHeight)
	first, second := s.person(t), s.person(t)
	b.visit(app.AuthCodeURL("state é", oauth2.S256ChallengeOption(oauth2.GenerateVerifier())), http.StatusOK)
	b.enter(first, `form.decide`)
	shows(t, b, "main", "You are @"+first.user, "For at most 14 days", "a program on this device", "It cannot change your handle", "No app can sign in as you", "You can end this at any time")
	b.fits("the page that asks, on a phone")
	reach := ask(b, "measure the buttons", chromedp.Evaluate[string](`[...document.querySelectorAll(".decide button")].map(e => {
		const r = e.getBoundingClientRect(), c = getComputedStyle(e); return [r.width, r.height, r.top].map(Math.round).concat([ c.borderTopWidth, c.fontSize, c.fontWeight]).join(" ") }).join("|")`))
	if no, yes, ok := strings.Cut(reach, "|"); !ok || no != yes {
		t.Errorf("no and yes are not within the same reach: %s", reach)
	}
	b.press(`.as button`, `a.button`)
	shows(t, b, "main", "the app that asked to connect")
	b.press(`a.button`, `#user`)
	b.enter(second, `form.decide`)
	shows(t, b, "main", "You are @"+second.user)
	b.press(`form.decide button[value="deny"]`, `#done`)
	if got := <-answers; got.Get("error") != "access_denied" || got.Get("state") != "state é" {
		t.Errorf("the app was told %v", got)
	}
	b.clean("a change of places")
}
