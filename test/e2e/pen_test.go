package e2e

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"testing"
	"time"

	"golang.org/x/oauth2"
)

var consentRequest = regexp.MustCompile(`name="request" value="([^"]+)"`)

// connect has an app of somebody's own consented to by this person, with forms and
// no browser, and gives the app's id and access token.
func (p *person) connect(t testing.TB, scopes ...string) (appID, access string) {
	t.Helper()
	return p.connectAt(t, "", scopes...)
}

// connectAt is connect with a token for a resource, for example the agents' endpoint; empty: for the protocol.
func (p *person) connectAt(t testing.TB, resource string, scopes ...string) (appID, access string) {
	t.Helper()
	const callback = "http://127.0.0.1/cb"
	app := p.app(t, callback, scopes...)
	app.RedirectURL = callback
	cookies, _ := p.signIn(t)
	verifier, options := oauth2.GenerateVerifier(), []oauth2.AuthCodeOption{}
	if resource != "" {
		options = append(options, oauth2.SetAuthURLParam("resource", resource))
	}
	page := get(t, app.AuthCodeURL("state", append(options, oauth2.S256ChallengeOption(verifier))...), cookies).is(http.StatusOK)
	m := consentRequest.FindSubmatch(page.body)
	if m == nil {
		t.Fatalf("no form to consent with:\n%s", page.body)
	}
	form := url.Values{"request": {html.UnescapeString(string(m[1]))}, "decision": {"approve"}}.Encode()
	to, err := url.Parse(post(t, p.s.Hub+"/protocol/authorize", cookies, with("Origin", p.s.Hub),
		with("Content-Type", "application/x-www-form-urlencoded"), payload(form)).is(http.StatusSeeOther).header.Get("Location"))
	if err != nil {
		t.Fatal(err)
	}
	token := post(t, p.s.Hub+"/api/protocol/v1/oauth/token", payload(obj{
		"grantType": "authorization_code", "code": to.Query().Get("code"), "codeVerifier": verifier, "clientId": app.ClientID, "redirectUri": callback,
	})).is(http.StatusOK)
	return app.ClientID, token.str("accessToken")
}

// pen signs messages for a person, with a key of an app that the person let.
type pen struct {
	s                      *stack
	denpaID, appID, access string
	private                ed25519.PrivateKey
	public                 string
}

// canonical is RFC 8785 for what the tests write: plain letters and whole numbers.
func canonical(t testing.TB, v obj) []byte {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil { // members in order, because it is a map
		t.Fatal(err)
	}
	return bytes.TrimSpace(b.Bytes())
}

func (p *person) pen(t testing.TB, scopes ...string) *pen {
	t.Helper()
	w := &pen{s: p.s}
	w.appID, w.access = p.connect(t, append(scopes, "signer:create", "profile:read")...)
	w.denpaID = get(t, p.s.Hub+"/api/protocol/v1/me", bearer(w.access)).is(http.StatusOK).str("denpaId")
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	w.public, w.private = hex.EncodeToString(public), private
	signers := p.s.Hub + "/api/protocol/v1/signers"
	challenge := post(t, signers+"/challenge", bearer(w.access), payload(obj{"publicKey": w.public})).is(http.StatusOK).str("challenge")
	proof := w.seal("denpa-signer-v1", canonical(t, obj{
		"appId": w.appID, "challenge": challenge, "denpaId": w.denpaID, "expiresAt": nil, "publicKey": w.public, "scopes": scopes,
	}))
	post(t, signers, bearer(w.access), payload(obj{"publicKey": w.public, "scopes": scopes, "challenge": challenge, "proof": proof})).is(http.StatusCreated)
	return w
}

func (w *pen) seal(prefix string, body []byte) string {
	return hex.EncodeToString(ed25519.Sign(w.private, []byte(prefix+"\n"+w.s.Hub+"/api/protocol/v1\n"+string(body))))
}

// write is a signed message.
func (w *pen) write(t testing.TB, kind string, content obj) string {
	t.Helper()
	m := obj{
		"version": 1, "type": kind, "denpaId": w.denpaID, "appId": w.appID, "timestamp": time.Now().UnixMilli(),
		"nonce": rand.Text(), "payload": content, "signer": obj{"kind": "ed25519", "publicKey": w.public},
	}
	m["signature"] = w.seal("denpa-message-v1", canonical(t, m))
	return string(canonical(t, m))
}

// send signs a message and hands it in.
func (w *pen) send(t testing.TB, kind string, content obj) *answer {
	t.Helper()
	return post(t, w.s.Hub+"/api/protocol/v1/messages", payload(w.write(t, kind, content)))
}

// market is the payload of a native market.
func marketOf(more ...obj) obj {
	out := obj{"question": "Will the gauge at " + rand.Text() + " read above 6 m?", "cutoffAt": stamp(time.Now().AddDate(0, 1, 0)), "lane": "SCIENCE"}
	for _, m := range more {
		for name, v := range m {
			out[name] = v
		}
	}
	return out
}
