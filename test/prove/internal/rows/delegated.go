package rows

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

// delegated is what acts for a person beside the person, and who is told, by id.
type delegated struct {
	app, message, signer string
	hook                 hook
}

// asking are the parameters of a request for consent to the app.
func (d *delegated) asking(name string) (value string, known bool) {
	value, known = map[string]string{
		"response_type": "code", "client_id": d.app, "redirect_uri": appReturns, "scope": "profile:read",
		"code_challenge": "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM", "code_challenge_method": "S256",
	}[name]
	return value, known
}

// appReturns is where the app takes people back.
const appReturns = "https://app.example/cb"

// delegate registers an app, a signer and a webhook, and has the hub attest a call.
func delegate(ctx context.Context, env *frame.Env, p person) (d delegated, err error) {
	protocol := env.Hub(0) + "/api/protocol/v1"
	send := func(url string, as client.Credential, status int, body map[string]any) client.Answer {
		a := env.Client.Do(ctx, client.Request{URL: url, As: as, Body: body})
		if err == nil {
			if err = a.Into(status, nil); err != nil {
				err = fmt.Errorf("%s: %w", url, err)
			}
		}
		return a
	}
	d.app = send(env.Hub(0)+"/api/dev/apps", p.login, http.StatusCreated, map[string]any{
		"name": "Matrix", "type": "public", "redirectUris": []string{appReturns}, "scopes": []string{"profile:read"},
	}).Text("appId")
	list, failed := markets(ctx, env, "C1, attested", 1)
	if failed != nil {
		return d, failed
	}
	d.message = send(protocol+"/predictions", p.keys[0].Key, http.StatusOK, map[string]any{
		"marketId": list[0], "position": "YES", "priceBps": 5000,
	}).Text("messageId")

	public, private, failed := ed25519.GenerateKey(rand.Reader)
	if failed != nil {
		return d, failed
	}
	d.signer = hex.EncodeToString(public)
	challenge := send(protocol+"/signers/challenge", p.keys[0].Key, http.StatusOK, map[string]any{"publicKey": d.signer}).Text("challenge")
	scopes := []string{"signal:create"}
	// Members in order and plain letters: these bytes are canonical already.
	proved, failed := json.Marshal(map[string]any{
		"appId": nil, "challenge": challenge, "denpaId": p.ID, "expiresAt": signerEnds, "publicKey": d.signer, "scopes": scopes,
	})
	if failed != nil {
		return d, failed
	}
	proof := ed25519.Sign(private, []byte("denpa-signer-v1\n"+env.Stack.Hub+"/api/protocol/v1\n"+string(proved)))
	send(protocol+"/signers", p.keys[0].Key, http.StatusCreated, map[string]any{
		"publicKey": d.signer, "scopes": scopes, "expiresAt": signerEnds, "challenge": challenge, "proof": hex.EncodeToString(proof),
	})
	if err != nil {
		return d, err
	}
	d.hook, err = register(ctx, env, p.keys[0].Key)
	return d, err
}
