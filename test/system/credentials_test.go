package system

import (
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/signalcast/signalcast/sdk/go/signalcast"
	"github.com/signalcast/signalcast/test/system/stack"
)

// P17: a strict key is held to its permissions on every route; another key keeps the behaviour that the protocol specifies.
func TestStrictKeysAreHeldToTheirPermissions(t *testing.T) {
	t.Parallel()
	s := ledgerStack(t)
	o := s.NewOperator(t)
	strict, _ := o.Mint(t, stack.JSON{"label": "strict", "permissions": []string{"read"}, "strict": true})
	loose, _ := o.Mint(t, stack.JSON{"label": "loose", "permissions": []string{"read"}})
	call := o.File(t, stack.Call(s.NewNativeMarket(t, 5000, nil), "YES", 5000)).Require(http.StatusOK).Text("id")
	for _, tc := range []struct {
		name, path string
		body       stack.JSON
	}{
		{"call", "/api/predictions", stack.Call(s.NewNativeMarket(t, 5000, nil), "YES", 5000)},
		{"event", "/api/signals/" + call + "/events", stack.JSON{"type": "note", "payload": stack.JSON{"text": "x"}}},
		{"stream", "/api/m/" + s.NewNativeMarket(t, 5000, nil) + "/streams", stack.JSON{"url": "https://video.example/x.m3u8"}},
		{"overlay", "/api/streamer/signal", stack.JSON{"marketId": s.NewNativeMarket(t, 5000, nil), "name": "Ostrava"}},
		{"heartbeat", "/api/streamer/heartbeat", stack.JSON{}},
		{"profile", "/api/streamer/profile", stack.JSON{"displayName": "pwned"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o.Do(t, http.MethodPost, s.Hub+tc.path, stack.Bearer(strict), stack.Body(tc.body)).RequireError(http.StatusForbidden, "insufficient_scope")
			if a := o.Do(t, http.MethodPost, s.Hub+tc.path, stack.Bearer(loose), stack.Body(tc.body)); a.Status >= 300 {
				t.Errorf("a key that is not strict: %d %s", a.Status, a.Body)
			}
		})
	}
}

// P18: the payout address changes only with a session of a recent sign-in.
func TestPayoutAddressNeedsARecentSession(t *testing.T) {
	t.Parallel()
	s := ledgerStack(t)
	o := s.NewOperator(t)
	const address = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"
	url := s.Hub + "/api/streamer/profile"
	o.Do(t, http.MethodPost, url, stack.Bearer(o.Key), stack.Body(stack.JSON{"payoutAddress": address, "displayName": "pwned"})).
		RequireError(http.StatusForbidden, "session_required")
	if page := stack.Get(t, s.Hub+"/u/"+o.Handle); page.Contains("pwned") {
		t.Error("a refused request has changed the display name")
	}
	o.Do(t, http.MethodPost, url, o.Session(t), stack.Body(stack.JSON{"payoutAddress": address})).Require(http.StatusOK)
	stack.Send(t, http.MethodGet, s.Hub+"/api/network/payout/"+o.Handle).Require(http.StatusOK)
}

// P19: revoking a key ends the signers and webhooks that were made with it.
func TestRevokedKeyEndsWhatItMade(t *testing.T) {
	t.Parallel()
	s := ledgerStack(t)
	o := s.NewOperator(t)
	key, id := o.Mint(t, stack.JSON{"label": "stolen", "permissions": []string{"read", "signal"}})
	sdk, err := signalcast.New(signalcast.Options{Hub: s.Hub, API: s.API, Token: signalcast.Key(key)})
	if err != nil {
		t.Fatal(err)
	}
	_, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := signalcast.NewSigner(private)
	if err != nil {
		t.Fatal(err)
	}
	issuer, err := sdk.Apps.Issuer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	me, err := sdk.People.Me(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	url, scopes := s.Hub+"/api/protocol/v1/signers", []string{"signal:create"}
	challenge := o.Do(t, http.MethodPost, url+"/challenge", stack.Bearer(key), stack.Body(stack.JSON{"publicKey": signer.PublicKey()})).Require(http.StatusOK).Text("challenge")
	expires := stack.Stamp(time.Now().AddDate(0, 0, 89))
	covered, err := json.Marshal(map[string]any{ // members in order, as RFC 8785 requires
		"appId": nil, "challenge": challenge, "denpaId": me.DenpaID, "expiresAt": expires, "publicKey": signer.PublicKey(), "scopes": scopes,
	})
	if err != nil {
		t.Fatal(err)
	}
	proof := hex.EncodeToString(ed25519.Sign(private, append([]byte("denpa-signer-v1\n"+issuer.Issuer+"\n"), covered...)))
	draft := stack.JSON{"publicKey": signer.PublicKey(), "scopes": scopes, "challenge": challenge, "proof": proof}
	o.Do(t, http.MethodPost, url, stack.Bearer(key), stack.Body(draft)).RequireError(http.StatusBadRequest, "invalid_request").Expect(stack.JSON{"field": "expiresAt"})
	o.Do(t, http.MethodPost, url, stack.Bearer(key), stack.Body(draft.With("expiresAt", expires))).Require(http.StatusCreated)
	hook := o.Do(t, http.MethodPost, s.API+"/api/v1/webhooks", stack.Bearer(key), stack.Body(stack.JSON{"url": "http://127.0.0.1:9/hook", "events": []string{"signal.created"}}))

	a := o.Do(t, http.MethodDelete, s.Hub+"/api/dev/keys?id="+id, stack.Bearer(o.Login)).Require(http.StatusOK)
	if n := len(a.List("revoked.signers")); n != 1 {
		t.Errorf("%d signers are revoked with the key, want 1: %s", n, a.Body)
	}
	if hook.Status < 300 {
		if n := len(a.List("revoked.webhooks")); n != 1 {
			t.Errorf("%d webhooks are revoked with the key, want 1: %s", n, a.Body)
		}
	}
	message, err := signer.Sign(issuer.Issuer, signalcast.Message{
		Type: "signal.create", DenpaID: me.DenpaID, At: time.Now(),
		Payload: map[string]any{"marketId": s.NewNativeMarket(t, 5000, nil), "position": "YES", "priceBps": 5000},
	})
	if err != nil {
		t.Fatal(err)
	}
	answer := stack.Post(t, s.Hub+"/api/protocol/v1/messages", stack.Body(string(message.Body)))
	if answer.Status < 400 {
		t.Errorf("a message of a signer whose key is revoked: %d %s", answer.Status, answer.Body)
	}
}

// P20: signing out ends the session on the server: a copied pair of cookies stops working within 10 s.
func TestSignOutEndsCopiedCookies(t *testing.T) {
	t.Parallel()
	s := ledgerStack(t)
	for name, path := range map[string]string{"one session": "/api/auth/privy", "all sessions": "/api/auth/privy?all=true"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := s.NewOperator(t)
			copied, other := o.Session(t), o.Session(t)
			bio := stack.Body(stack.JSON{"bio": "after sign-out"})
			o.Do(t, http.MethodPost, s.Hub+"/api/streamer/profile", copied, bio).Require(http.StatusOK)
			o.Do(t, http.MethodDelete, s.Hub+path, copied).Require(http.StatusOK)
			stack.Eventually(t, 10*time.Second, "the end of a session that was signed out", func() bool {
				return o.Do(t, http.MethodPost, s.Hub+"/api/streamer/profile", copied, stack.Body(stack.JSON{"bio": "after sign-out"})).Status == http.StatusUnauthorized
			})
			want := http.StatusOK
			if name == "all sessions" {
				want = http.StatusUnauthorized
			}
			o.Do(t, http.MethodPost, s.Hub+"/api/streamer/profile", other, stack.Body(stack.JSON{"bio": "another browser"})).Require(want)
		})
	}
}

// P20: an unset ENV means production, which refuses the development issuer.
func TestUnsetEnvironmentIsProduction(t *testing.T) {
	t.Parallel()
	s := ledgerStack(t)
	for _, service := range []string{"hub", "api"} {
		if out := s.RefusedStart(t, service, map[string]string{"ENV": ""}); out == "" {
			t.Errorf("%s refuses to start without a reason", service)
		}
	}
}

// P21: the authorization endpoint redirects to an application only after a decision.
func TestAuthorizationErrorsDoNotRedirect(t *testing.T) {
	t.Parallel()
	s := ledgerStack(t)
	o := s.NewOperator(t)
	app := o.Do(t, http.MethodPost, s.Hub+"/api/dev/apps", stack.Bearer(o.Login), stack.Body(stack.JSON{
		"name": "Tide table", "type": "public", "redirectUris": []string{"https://evil.example/"}, "scopes": []string{"profile:read"},
	})).Require(http.StatusCreated)
	base := s.Hub + "/protocol/authorize?client_id=" + app.Text("clientId") + "&redirect_uri=https%3A%2F%2Fevil.example%2F"
	const challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM" // RFC 7636, appendix B
	withCode := url.Values{"response_type": {"code"}, "code_challenge": {challenge}, "code_challenge_method": {"S256"}}.Encode()
	for name, query := range map[string]string{
		"unsupported response type": "response_type=token",
		"silent sign-in":            "prompt=none&scope=profile%3Aread&" + withCode,
		"unknown scope":             "scope=everything&" + withCode,
	} {
		t.Run(name, func(t *testing.T) {
			a := stack.Get(t, base+"&"+query).Require(http.StatusBadRequest)
			if to := a.Header.Get("Location"); to != "" {
				t.Errorf("the answer redirects to %s", to)
			}
		})
	}
}

// P21: applications cannot carry the product's name, or invisible characters.
func TestApplicationNamesCannotImpersonate(t *testing.T) {
	t.Parallel()
	s := ledgerStack(t)
	o := s.NewOperator(t)
	for _, name := range []string{"Signalcast", "signalcast", "Sign\u200balcast", "Signalcast Official Support"} {
		o.Do(t, http.MethodPost, s.Hub+"/api/dev/apps", stack.Bearer(o.Login), stack.Body(stack.JSON{
			"name": name, "type": "public", "redirectUris": []string{"https://app.example/"}, "scopes": []string{"profile:read"},
		})).Require(http.StatusBadRequest)
	}
	// A redirect URI with an encoded control character is refused as well.
	o.Do(t, http.MethodPost, s.Hub+"/api/dev/apps", stack.Bearer(o.Login), stack.Body(stack.JSON{
		"name": "Tide table", "type": "public", "redirectUris": []string{"https://a.example/%0d%0aX"}, "scopes": []string{"profile:read"},
	})).Require(http.StatusBadRequest)
}

// The cron secret is accepted in a header, which proxies do not log.
func TestCronSecretInAHeader(t *testing.T) {
	t.Parallel()
	s := ledgerStack(t)
	stack.Send(t, http.MethodGet, s.Hub+"/api/admin/resolve-signals", stack.Header("x-cron-secret", s.CronSecret)).Require(http.StatusOK)
	stack.Get(t, s.Hub+"/api/admin/resolve-signals", stack.Header("x-cron-secret", s.CronSecret+"x")).Require(http.StatusForbidden)
}
