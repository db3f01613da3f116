package clients

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/test/system/stack"
)

// world is a running system and an additional hub that attests with a newer signing key.
type world struct {
	*stack.Stack
	rotated *stack.Side
	before  string // id of a message that was attested with the older key
	idp     provider
}

// provider describes the identity provider whose tokens have the format of the Privy library.
type provider struct{ Issuer, Audience, UsersSecret string }

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{Stack: stack.Start(t, stack.Env("RATE_LIMIT_ANON", "0"))}
	env := w.Environment(t, "hub")
	var providers []provider
	if err := json.Unmarshal([]byte(env["IDP_PROVIDERS"]), &providers); err != nil {
		t.Fatalf("IDP_PROVIDERS: %v", err)
	}
	for _, p := range providers {
		if p.Issuer == "privy.io" {
			w.idp = p
		}
	}
	if w.idp.Issuer == "" {
		t.Fatal("IDP_PROVIDERS of the hub contains no provider privy.io")
	}
	w.rotate(t, env["HUB_KEYS"])
	return w
}

// protocol returns the base URL of the protocol routes at a hub.
func protocol(hub string) string { return hub + "/api/protocol/v1" }

// rotate makes the hub attest a call, and then starts an additional hub with a newer signing key, as docs/operations.md
// describes.
func (w *world) rotate(t *testing.T, setting string) {
	t.Helper()
	o := w.NewOperator(t)
	body := stack.JSON{"marketId": w.NewNativeMarket(t, 5000, nil), "position": "NO", "priceBps": 3300}
	w.before = o.Do(t, http.MethodPost, protocol(w.Hub)+"/predictions", stack.Bearer(o.Key), stack.Body(body)).
		Require(http.StatusOK).Text("messageId")
	var keys []map[string]any
	if err := json.Unmarshal([]byte(setting), &keys); err != nil || len(keys) != 1 {
		t.Fatalf("HUB_KEYS contains %d keys (error %v); want 1", len(keys), err)
	}
	now := time.Now().UTC().Format(time.RFC3339Nano)
	keys[0]["notAfter"] = now
	raw, err := json.Marshal(append(keys, map[string]any{"seed": strings.Repeat("5eed", 16), "notBefore": now}))
	if err != nil {
		t.Fatal(err)
	}
	w.rotated = w.Side(t, "hub", map[string]string{"HUB_KEYS": string(raw)})
}

// person creates an operator with two applications and two keys, and three open markets. It returns environment variables that
// describe them to a client. name is the prefix of the variables.
func (w *world) person(t *testing.T, name string) []string {
	t.Helper()
	o := w.NewOperator(t)
	var markets []string
	for range 3 {
		markets = append(markets, w.NewNativeMarket(t, 5000, nil))
	}
	var cookies []string
	for _, c := range o.Do(t, http.MethodPost, w.Hub+"/api/auth/privy", stack.Bearer(o.Login)).Require(http.StatusOK).Cookies() {
		if c.Name == "db_uid" || c.Name == "db_sig" {
			cookies = append(cookies, c.Name+"="+c.Value)
		}
	}
	readKey, _ := o.Mint(t, stack.JSON{"label": "reads", "permissions": []string{"read"}})
	env := []string{
		"HUB=" + w.Hub, "API=" + w.API, "ISSUER=" + protocol(w.Hub), "ROTATED=" + w.rotated.URL, "BEFORE=" + w.before,
		"IDP=" + w.IDP, "IDP_APP=" + w.idp.Audience, "IDP_SECRET=" + w.idp.UsersSecret,
		"PERSON=" + o.Handle, "COOKIE=" + strings.Join(cookies, "; "), "OPERATOR_KEY=" + o.Key, "READ_KEY=" + readKey,
		"MARKETS=" + strings.Join(markets, ","),
	}
	for _, kind := range []string{"public", "confidential"} {
		app := o.Do(t, http.MethodPost, w.Hub+"/api/dev/apps", stack.Bearer(o.Login), stack.Body(stack.JSON{
			"name": name, "type": kind, "scopes": scopes, "redirectUris": []string{"http://127.0.0.1/callback", "https://app.example/cb"},
		})).Require(http.StatusCreated)
		// Only the redirect URI of a reviewed application receives errors.
		id := app.Text("clientId")
		stack.Post(t, w.Hub+"/api/admin/apps/"+id, w.Admin(), stack.Body(stack.JSON{"trusted": true})).Require(http.StatusOK)
		prefix, secret := strings.ToUpper(kind), ""
		if kind == "confidential" {
			secret = app.Text("clientSecret")
		}
		env = append(env, prefix+"_APP="+id, prefix+"_SECRET="+secret)
	}
	return env
}

// scopes are all OAuth scopes.
var scopes = []string{
	"profile:read", "signer:create", "offline_access", "profile:update", "station:create", "station:update", "broadcast:create",
	"broadcast:goLive", "signal:create", "prediction:create", "market:create", "resolution:create",
}
