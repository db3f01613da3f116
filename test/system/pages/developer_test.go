package pages

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/oauth2"

	"github.com/signalcast/signalcast/test/system/browser"
	"github.com/signalcast/signalcast/test/system/stack"
)

// TestDeveloperPage checks that a developer can sign in, create a key, see it exactly once, and revoke it.
func TestDeveloperPage(t *testing.T) {
	t.Parallel()
	s := system(t)
	market, b := s.NewNativeMarket(t, 5000, nil), browser.Open(t, browser.Desktop)
	// The page redirects to the address in HUB_URL, because browsers send the session cookies only to that address.
	named := stack.Get(t, strings.Replace(s.Hub, "//127.0.0.1:", "//localhost:", 1)+"/dev").Require(http.StatusFound)
	if at := named.Header.Get("Location"); at != s.Hub+"/dev" {
		t.Errorf("the page at localhost redirects to %s; want %s", at, s.Hub+"/dev")
	}
	b.Visit(s.Hub+"/dev", http.StatusOK)
	b.Press(`a.button`, `button[value="carol"]`)
	b.Press(`button[value="carol"]`, `form[action$="/dev/session"] button`)
	b.Press(`form[action$="/dev/session"] button`, `button[name="skip"]`) // the first sign-in of this person
	b.Press(`button[name="skip"]`, `form.mint`)
	requireURL(t, b, s.Hub+"/dev")
	b.Shows("main", "Signed in as @carol", "No keys yet")
	b.RequireFits()
	b.Type(`input[name="label"]`, "night desk <b>bot</b>")
	b.Press(`form.mint button`, `section.fresh`)
	key := strings.TrimSpace(b.Text("section.fresh code"))
	if !strings.HasPrefix(key, "dk_") || len(key) != 46 {
		t.Fatalf("the page shows a key of %d characters; want 46", len(key))
	}
	b.Shows("table", "night desk <b>bot</b>", "read, signal, broadcast", "never")
	b.RequireFits()
	call := stack.Body(stack.Call(market, "YES", 5000))
	id := stack.Post(t, s.Hub+"/api/predictions", stack.Bearer(key), call).Require(http.StatusOK).Text("id")
	s.Signal(t, id).Expect(stack.JSON{"callsign": "carol"})

	b.Visit(s.Hub+"/dev", http.StatusOK)
	requireNotShown(t, b, key[3:])
	b.Shows("main", "night desk <b>bot</b>")
	b.Press(`tbody form button`, `tr.off`)
	b.Shows("tr.off", "revoked")
	stack.Post(t, s.Hub+"/api/predictions", stack.Bearer(key), call).RequireError(http.StatusUnauthorized, "unauthenticated")
	b.SignOut()
	b.Visit(s.Hub+"/dev", http.StatusOK)
	if strings.Contains(b.Text("main"), "carol") {
		t.Error("the developer page still shows the account after the sign-out")
	}
	b.RequireNoProblems()
}

func requireNotShown(t *testing.T, b *browser.Tab, secret string) {
	t.Helper()
	if strings.Contains(browser.Eval[string](b, `document.documentElement.outerHTML`), secret) {
		t.Errorf("%s contains a secret that may be shown only once", b.URL())
	}
}

// TestApplicationOfDeveloper checks the life cycle of an application. A developer registers it, and another person connects it
// and sees it with its signing key. The developer then replaces its secret and shuts it down, which ends the connection.
func TestApplicationOfDeveloper(t *testing.T) {
	t.Parallel()
	s := system(t)
	atBothSizes(t, func(t *testing.T, size browser.Size) {
		callback, answers := newCallback(t)
		b, owner := browser.Open(t, size), s.NewOperator(t)
		b.Visit(s.Hub+"/dev", http.StatusOK)
		b.Press(`a.button`, `#user`)
		b.SignIn(owner.Handle, `form.mint`)
		b.Shows("main", "No apps yet", "No signing keys yet")
		b.RequireFits()
		id, secret := register(t, s, b, callback)
		b.RequireFits()
		b.Visit(s.Hub+"/dev", http.StatusOK)
		requireNotShown(t, b, secret)
		b.RequireFits()

		app := oauthConfig(s, id, secret, callback, "profile:read", "signal:create", "signer:create")
		u, user := browser.Open(t, size), s.NewOperator(t)
		token := connect(t, u, app, user, answers)
		signer := user.NewSigner(t)
		signer.App, signer.Label = id, "night <b>desk</b>"
		signer.Register(t, stack.Bearer(token), "signal:create")
		u.Visit(s.Hub+"/settings/apps", http.StatusOK)
		u.Shows(".connection", "Tide & <b>Co</b>", "File calls as you", "Expires", signer.PublicKey[:8], signer.Label,
			"Disconnect", "its signing keys are revoked")
		u.RequireFits()
		revokeSigner(t, s, u, user, signer)

		replaceSecret(t, b, app)
		_, err := app.TokenSource(t.Context(), &oauth2.Token{RefreshToken: "drt_" + strings.Repeat("a", 43)}).Token()
		if err == nil || !strings.Contains(err.Error(), "invalid_grant") { // invalid_grant shows that the client is known and the token is not
			t.Errorf("refresh with the new secret: %v; want invalid_grant", err)
		}
		me := s.Issuer() + "/me"
		read(t, me, stack.Bearer(token))
		const disable = `form[action="/dev/apps/disable"]`
		b.Click(`details:has(` + disable + `) summary`)
		b.Click(`input[name="sure"]`)
		b.Press(disable+` button`, `.app.off`)
		b.RequireFits()
		stack.Get(t, me, stack.Bearer(token)).RequireError(http.StatusUnauthorized, "unauthenticated")
		u.Visit(s.Hub+"/settings/apps", http.StatusOK)
		u.Click("details:not(.me) summary")
		u.Shows("main", "No connected apps", "the app was shut down")
		u.RequireFits()
		b.RequireNoProblems()
		u.RequireNoProblems()
	})
}

// register registers a confidential application with the form of the developer page, first with a mistake, and changes its
// scopes.
func register(t *testing.T, s *stack.Stack, b *browser.Tab, callback string) (id, secret string) {
	t.Helper()
	const form = "form.register"
	b.Click(".add>summary", form)
	b.Fill(form, map[string]string{
		"name": "Tide & <b>Co</b>", "redirectUris": "http://localhost/cb", "homepage": "https://tide.example",
	})
	b.Click(form + ` [value="confidential"]`)
	b.Click(form + ` [value="signal:create"]`)
	b.Press(form+` > button`, form+` .field-error`)
	b.Shows(form+" .field-error", "private scheme with a dot")
	b.Forget("status of 400")
	b.RequireFits()
	b.Fill(form, map[string]string{"redirectUris": withoutPort(t, callback)})
	b.Press(form+` > button`, `.fresh pre`)
	b.Shows(".fresh", "Tide & <b>Co</b> is registered")
	id, secret = strings.TrimSpace(b.Text(".fresh p code")), strings.TrimSpace(b.Text(".fresh pre"))
	b.Click(`details:has(form.change) summary`, "form.change")
	b.Click(`form.change [value="signer:create"]`)
	b.Press(`form.change > button`, `#apps .app`)
	read(t, s.Issuer()+"/apps/"+id).Expect(stack.JSON{"name": "Tide & <b>Co</b>", "active": true})
	b.Shows("#apps .app", "confidential", "Add a signing key", "File calls as you")
	return id, secret
}

// connect opens the consent page of an application, signs a person in, approves, and returns the access token.
func connect(t *testing.T, b *browser.Tab, app *oauth2.Config, user *stack.Operator, answers <-chan url.Values) string {
	t.Helper()
	verifier := oauth2.GenerateVerifier()
	b.Visit(app.AuthCodeURL("s", oauth2.S256ChallengeOption(verifier)), http.StatusOK)
	b.SignIn(user.Handle, `form.decide`)
	b.Shows("main", "homepage tide.example", "180 days", "While you use it")
	b.Press(`form.decide button[value="approve"]`, `#done`)
	answer := <-answers
	token, err := app.Exchange(t.Context(), answer.Get("code"), oauth2.VerifierOption(verifier))
	if err != nil {
		t.Fatal(err)
	}
	return token.AccessToken
}

// replaceSecret creates a new secret for the application on the developer page and stores it in app.
func replaceSecret(t *testing.T, b *browser.Tab, app *oauth2.Config) {
	t.Helper()
	const form = `form[action="/dev/apps/secret"]`
	b.Click(`details:has(` + form + `) summary`)
	b.Click(`input[name="immediate"]`)
	b.Press(form+` button`, `.fresh pre`)
	b.Shows(".fresh", "The new secret of Tide & <b>Co</b>", "The old secret no longer works")
	secret := strings.TrimSpace(b.Text(".fresh pre"))
	if secret == app.ClientSecret {
		t.Error("the new secret equals the old one")
	}
	app.ClientSecret = secret
}

// revokeSigner finds two signing keys on the developer page, one of an application and one of the person, and revokes the key
// of the person.
func revokeSigner(t *testing.T, s *stack.Stack, b *browser.Tab, user *stack.Operator, ofApp *stack.Signer) {
	t.Helper()
	own := user.NewSigner(t)
	own.Label = "pocket"
	own.Register(t, stack.Bearer(user.Key), "signal:create")
	b.Visit(s.Hub+"/dev", http.StatusOK)
	b.Shows("main", "sign in again to create API keys")
	b.Press(`a.button`, `#user`)
	b.SignIn(user.Handle, `#signers table`)
	b.Shows("#signers", own.PublicKey[:8], "your own", own.Label, ofApp.PublicKey[:8], "Tide & <b>Co</b>", ofApp.Label,
		"File calls as you")
	b.RequireFits()
	b.Press(`#signers tr:has(code[title="`+own.PublicKey+`"]) button`, `#signers tr.off`)
	b.Shows("#signers tr.off", own.PublicKey[:8], "revoked")
	read(t, s.Issuer()+"/signers/"+own.PublicKey).Expect(stack.JSON{"status": "revoked"})
	read(t, s.Issuer()+"/signers/"+ofApp.PublicKey).Expect(stack.JSON{"status": "active"})
}
