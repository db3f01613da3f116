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
	"strings"
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

// TestProfileByMessage: what a person says of themselves with a signed message shows
// in the passport, and where they may be paid; what they did not publish does not.
func TestProfileByMessage(t *testing.T) {
	t.Parallel()
	s := up(t)
	p := s.person(t)
	w := p.pen(t, "profile:update")
	const wallet = "0x8617E340B3D01FA5F11F306F4090FD50E238070D"
	passport := s.Hub + "/api/protocol/v1/passports/"
	payout := s.Hub + "/api/network/payout/" + strings.ToUpper(p.user)
	get(t, payout).is(http.StatusOK).has(obj{"eligible": false})
	first := w.write(t, "profile.update", obj{
		"displayName": "Mara K", "bio": "Rivers do not read polls.", "avatar": "https://pictures.example/mara.png", "links": []string{"https://mara.example/"},
	})
	session, _ := p.signIn(t)
	pay := func(address any) *answer {
		return post(t, s.Hub+"/api/streamer/profile", session, with("Origin", s.Hub), payload(obj{"payoutAddress": address}))
	}
	w.send(t, "profile.update", obj{"payoutAddress": wallet}).fails(http.StatusForbidden, "session_required")
	pay(wallet).is(http.StatusOK)
	messages := s.Hub + "/api/protocol/v1/messages"
	post(t, messages, payload(first)).is(http.StatusCreated)
	for _, name := range []string{p.user, strings.ToUpper(p.user), w.denpaID, strings.ToUpper(w.denpaID)} {
		get(t, passport+name).is(http.StatusOK).has(obj{
			"denpaId": w.denpaID, "uri": "denpa:" + w.denpaID, "operatorId": s.masked("did:idp:" + p.user), "username": p.user,
			"displayName": "Mara K", "bio": "Rivers do not read polls.", "avatar": "https://pictures.example/mara.png",
			"operatorType": "human", "isAi": false, "stats.signals": 0, "stats.predictions": 0, "urls.profile": s.Hub + "/u/" + p.user,
		})
	}
	get(t, payout).is(http.StatusOK).has(obj{
		"eligible": true, "payoutAddress": wallet, "chainId": 31337, "chainLabel": "devnet", "usdcAddress": "0x3333333333333333333333333333333333333333",
		"tipUrl": s.Hub + "/tip/" + p.user,
	})
	me := get(t, s.Hub+"/api/protocol/v1/me", bearer(w.access)).is(http.StatusOK).has(obj{"username": p.user, "grant.appId": w.appID})
	if list, ok := me.at("wallets").([]any); !ok || len(list) != 0 { // a payout address is no wallet that was proven
		t.Errorf("wallets %v", list)
	}
	w.send(t, "profile.update", obj{"bio": "", "avatar": nil}).is(http.StatusCreated)
	post(t, messages, payload(first)).is(http.StatusOK).has(obj{"replayed": true}) // it undoes nothing
	get(t, passport+p.user).is(http.StatusOK).has(obj{"displayName": "Mara K", "bio": nil, "avatar": nil})
	get(t, payout).is(http.StatusOK).has(obj{"eligible": true})

	post(t, s.Hub+"/api/admin/operators", s.admin(), payload(obj{"handle": p.user, "operatorType": "ai_agent"})).is(http.StatusOK)
	get(t, payout).is(http.StatusOK).has(obj{"eligible": false})
	get(t, passport+p.user).is(http.StatusOK).has(obj{"operatorType": "ai_agent", "isAi": true})
	post(t, s.Hub+"/api/admin/operators", s.admin(), payload(obj{"handle": p.user, "operatorType": "human", "house": true})).is(http.StatusOK)
	get(t, payout).is(http.StatusOK).has(obj{"eligible": true})
	pay(nil).is(http.StatusOK)
	get(t, payout).is(http.StatusOK).has(obj{"eligible": false})

	w.send(t, "profile.update", obj{}).fails(http.StatusBadRequest, "invalid_request")
	w.send(t, "profile.update", obj{"payoutAddress": "0x1"}).fails(http.StatusBadRequest, "invalid_request")
	w.send(t, "profile.update", obj{"handle": "somebody_else", "bio": "x"}).fails(http.StatusBadRequest, "invalid_request")
	w.send(t, "market.create", marketOf()).is(http.StatusForbidden).has(obj{"error": "insufficient_scope"})
}

// TestWalletsAreOptIn: a wallet that the provider has linked shows once it is claimed,
// in any spelling of its letters, and no longer when the claim is taken back.
func TestWalletsAreOptIn(t *testing.T) {
	t.Parallel()
	s := up(t)
	p := s.person(t)
	cookies, _ := p.signIn(t)
	here, claims := with("Origin", s.Hub), s.Hub+"/api/identity/claim"
	raw := make([]byte, 20)
	_, _ = rand.Read(raw)
	wallet := "0x" + hex.EncodeToString(raw)
	shown := func() (identities, wallets int) {
		t.Helper()
		a := get(t, s.Hub+"/api/protocol/v1/passports/"+p.user).is(http.StatusOK)
		list, _ := a.at("wallets").([]any)
		b := get(t, s.Hub+"/api/network/identity/"+strings.ToUpper(p.user)).is(http.StatusOK).has(obj{"handle": p.user, "origin": "hub"})
		named, _ := b.at("identities").([]any)
		return len(named), len(list)
	}
	claim := func(address string) *answer {
		t.Helper()
		return post(t, claims, cookies, here, payload(obj{"address": address}))
	}
	claim(wallet).fails(http.StatusForbidden, "wallet_not_linked")
	post(t, s.IDP+"/users/did:idp:"+p.user+"/wallets", payload(obj{"address": wallet, "chainType": "ethereum"})).is(http.StatusOK)
	if a, b := shown(); a != 0 || b != 0 {
		t.Errorf("before the claim %d identities and %d wallets show", a, b)
	}
	made := claim("0x" + strings.ToUpper(wallet[2:])).is(http.StatusOK).str("claim.identity")
	if !strings.EqualFold(made, wallet) || claim(made).is(http.StatusOK).str("claim.identity") != made { // with its checksum now
		t.Errorf("claimed %s, kept %s", wallet, made)
	}
	if flipped := flipCase(made); flipped != made {
		claim(flipped).fails(http.StatusBadRequest, "invalid_address")
	}
	if a, b := shown(); a != 1 || b != 1 {
		t.Errorf("after the claim %d identities and %d wallets show", a, b)
	}
	get(t, s.Hub+"/api/protocol/v1/passports/"+p.user).has(obj{"wallets.0.chain": "ethereum", "wallets.0.address": made, "identities.0.station": "partner"})
	for _, removed := range []bool{true, false} {
		send(t, http.MethodDelete, claims+"?station=partner", cookies, here).is(http.StatusOK).has(obj{"ok": true, "removed": removed})
	}
	if a, b := shown(); a != 0 || b != 0 {
		t.Errorf("after the end of the claim %d identities and %d wallets show", a, b)
	}
}

// flipCase breaks the checksum of an address in mixed letters: its first letter is
// written the other way, unless one spelling of all letters came out of it.
func flipCase(address string) string {
	body := []byte(address[2:])
	for i, c := range body {
		if c >= '0' && c <= '9' {
			continue
		}
		body[i] = c ^ 0x20
		break
	}
	out := string(body)
	if out == strings.ToLower(out) || out == strings.ToUpper(out) {
		return address
	}
	return "0x" + out
}
