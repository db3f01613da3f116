package e2e

import (
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"golang.org/x/oauth2"
)

// signer registers a key that signs by this credential, of the app that it belongs to,
// and gives its public half.
func (p *person) signer(t testing.TB, by option, appID any, label string, scopes ...string) string {
	t.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	key, base := hex.EncodeToString(public), p.s.Hub+"/api/protocol/v1"
	challenge := post(t, base+"/signers/challenge", by, payload(obj{"publicKey": key})).is(http.StatusOK).str("challenge")
	expires := time.Now().UTC().AddDate(0, 0, 10).Format(time.RFC3339) // a signer of an operator key must expire
	// Sorted members without spaces are the canonical form of this object.
	said, err := json.Marshal(obj{
		"appId": appID, "challenge": challenge, "denpaId": get(t, base+"/me", by).is(http.StatusOK).str("denpaId"), "expiresAt": expires, "publicKey": key, "scopes": scopes,
	})
	if err != nil {
		t.Fatal(err)
	}
	proof := ed25519.Sign(private, []byte("denpa-signer-v1\n"+base+"\n"+string(said)))
	post(t, base+"/signers", by, payload(obj{
		"publicKey": key, "scopes": scopes, "label": label, "expiresAt": expires, "challenge": challenge, "proof": hex.EncodeToString(proof),
	})).is(http.StatusCreated).has(obj{"status": "active"})
	return key
}

// TestAppsOfADeveloper: an app is registered by hand and connected by somebody else,
// who sees it with its signing key; its secret is changed; and it is shut down, which
// ends everything.
func TestAppsOfADeveloper(t *testing.T) {
	t.Parallel()
	s := up(t)
	for name, size := range sizes {
		callback, answers := visited(t)
		b, owner := open(t, size[0], size[1]), s.person(t)
		b.visit(s.Hub+"/dev", http.StatusOK)
		b.press(`a.button`, `#user`)
		b.enter(owner, `form.mint`)
		shows(t, b, "main", "No keys yet", "No apps yet", "No signing keys yet")
		b.fits("an empty developer page on a " + name)
		app, secret := b.registerByHand(callback)
		b.fits("a secret on a " + name)
		b.visit(s.Hub+"/dev", http.StatusOK)
		if page := ask(b, "read the page", chromedp.OuterHTML(chromedp.CSS("html"))); strings.Contains(page, secret) {
			t.Error("the secret is shown again")
		}
		b.fits("an app on a " + name)

		config := &oauth2.Config{
			ClientID: app, ClientSecret: secret, RedirectURL: callback, Scopes: []string{"profile:read", "signal:create", "signer:create"},
			Endpoint: oauth2.Endpoint{AuthURL: s.Hub + "/protocol/authorize", TokenURL: s.Hub + "/api/protocol/v1/oauth/token", AuthStyle: oauth2.AuthStyleInParams},
		}
		u, user := open(t, size[0], size[1]), s.person(t)
		token := u.connect(config, user, answers)
		key := user.signer(t, bearer(token), app, "night <b>desk</b>", "signal:create")
		u.visit(s.Hub+"/apps", http.StatusOK)
		shows(t, u, ".connection", "Tide & <b>Co</b>", "File calls as you", "Ends by itself", key[:8], "night <b>desk</b>", "Disconnect", "its signing keys sign nothing more")
		u.fits("a connected app on a " + name)
		u.signersByHand(s, user, key)

		b.renewByHand(config)
		if _, err := config.TokenSource(t.Context(), &oauth2.Token{RefreshToken: "drt_" + strings.Repeat("a", 43)}).Token(); err == nil || !strings.Contains(err.Error(), "invalid_grant") {
			t.Errorf("the new secret: %v", err) // the client is known, its token is not
		}
		get(t, s.Hub+"/api/protocol/v1/me", bearer(token)).is(http.StatusOK)
		b.do("open", chromedp.Click(chromedp.CSS(`details:has(form[action="/dev/apps/disable"]) summary`)))
		b.do("be sure", chromedp.Click(chromedp.CSS(`input[name="sure"]`)))
		b.press(`form[action="/dev/apps/disable"] button`, `.app.off`)
		b.fits("an app that was shut down, on a " + name)
		get(t, s.Hub+"/api/protocol/v1/me", bearer(token)).fails(http.StatusUnauthorized, "unauthenticated")
		u.visit(s.Hub+"/apps", http.StatusOK)
		u.do("open", chromedp.Click(chromedp.CSS("details:not(.me) summary")))
		shows(t, u, "main", "No app is connected", "the app was shut down")
		u.fits("an ended connection on a " + name)
		b.clean("the developer's tab on a " + name)
		u.clean("the user's tab on a " + name)
	}
}

// registerByHand registers a confidential app after a mistake, and changes it.
func (b *tab) registerByHand(callback string) (id, secret string) {
	t := b.t
	t.Helper()
	loopback := strings.Replace(callback, callback[strings.LastIndex(callback, ":"):strings.LastIndex(callback, "/")], "", 1)
	b.do("open", chromedp.Click(chromedp.CSS(".add>summary")), chromedp.WaitVisible(chromedp.CSS("form.register")))
	b.fill("form.register", map[string]string{"name": "Tide & <b>Co</b>", "redirectUris": "http://localhost/cb", "homepage": "https://tide.example"})
	b.do("choose", chromedp.Click(chromedp.CSS(`form.register [value="confidential"]`)), chromedp.Click(chromedp.CSS(`form.register [value="signal:create"]`)))
	b.press(`form.register > button`, `form.register .mistake`)
	shows(t, b, "form.register .mistake", "private scheme with a dot")
	b.forget("status of 400")
	b.fits("a mistake in an app")
	b.fill("form.register", map[string]string{"redirectUris": loopback})
	b.press(`form.register > button`, `.fresh pre`)
	shows(t, b, ".fresh", "Tide & <b>Co</b> is registered")
	id, secret = strings.TrimSpace(b.text(".fresh p code")), strings.TrimSpace(b.text(".fresh pre"))
	b.do("open", chromedp.Click(chromedp.CSS(`details:has(form.change) summary`)), chromedp.WaitVisible(chromedp.CSS("form.change")))
	b.do("choose", chromedp.Click(chromedp.CSS(`form.change [value="signer:create"]`)))
	b.press(`form.change > button`, `#apps .app`)
	get(t, up(t).Hub+"/api/protocol/v1/apps/"+id).is(http.StatusOK).has(obj{"name": "Tide & <b>Co</b>", "active": true})
	shows(t, b, "#apps .app", "confidential", "Add a signing key", "File calls as you")
	return id, secret
}

// connect lets an app act for somebody, who signs in on the way, and gives its token.
func (b *tab) connect(app *oauth2.Config, user *person, answers <-chan url.Values) string {
	b.t.Helper()
	verifier := oauth2.GenerateVerifier()
	b.visit(app.AuthCodeURL("s", oauth2.S256ChallengeOption(verifier)), http.StatusOK)
	b.enter(user, `form.decide`)
	shows(b.t, b, "main", "tide.example by its own word", "180 days", "A quarter of an hour at a time")
	b.press(`form.decide button[value="approve"]`, `#done`)
	got := <-answers
	token, err := app.Exchange(b.t.Context(), got.Get("code"), oauth2.VerifierOption(verifier))
	if err != nil {
		b.t.Fatal(err)
	}
	return token.AccessToken
}

// renewByHand gives an app another secret.
func (b *tab) renewByHand(app *oauth2.Config) {
	b.t.Helper()
	b.do("open", chromedp.Click(chromedp.CSS(`details:has(form[action="/dev/apps/secret"]) summary`)))
	b.do("choose", chromedp.Click(chromedp.CSS(`input[name="immediate"]`)))
	b.press(`form[action="/dev/apps/secret"] button`, `.fresh pre`)
	shows(b.t, b, ".fresh", "The new secret of Tide & <b>Co</b>", "The one before has ended")
	secret := strings.TrimSpace(b.text(".fresh pre"))
	if secret == app.ClientSecret {
		b.t.Error("the secret is the old one")
	}
	app.ClientSecret = secret
}

// signersByHand finds a key of an app and one of the user's own on the developer page,
// and revokes the latter.
func (b *tab) signersByHand(s *stack, user *person, ofApp string) {
	b.t.Helper()
	own := user.signer(b.t, user.auth(b.t), nil, "pocket", "signal:create")
	b.visit(s.Hub+"/dev", http.StatusOK)
	shows(b.t, b, "main", "a session alone makes none")
	b.press(`a.button`, `#user`)
	b.enter(user, `#signers table`)
	shows(b.t, b, "#signers", own[:8], "your own", "pocket", ofApp[:8], "Tide & <b>Co</b>", "night <b>desk</b>", "File calls as you")
	b.fits("signing keys")
	b.press(`#signers tr:has(code[title="`+own+`"]) button`, `#signers tr.off`)
	shows(b.t, b, "#signers tr.off", own[:8], "revoked")
	get(b.t, s.Hub+"/api/protocol/v1/signers/"+own).is(http.StatusOK).has(obj{"status": "revoked"})
	get(b.t, s.Hub+"/api/protocol/v1/signers/"+ofApp).is(http.StatusOK).has(obj{"status": "active"})
}
