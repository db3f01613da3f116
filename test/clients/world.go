package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/stack"
)

// world is a running stack with a second hub beside it that has a newer key.
type world struct {
	*stack.Stack
	http    *client.Client
	rotated *stack.Side
	before  string // what the first hub attested before the second came
	idp     provider
}

// provider is what the hub was told of the identity provider.
type provider struct {
	Issuer      string `json:"issuer"`
	Audience    string `json:"audience"`
	UsersSecret string `json:"usersSecret"`
}

// begin builds the programs and starts a stack on free ports.
func begin(ctx context.Context, root, bin string) (w *world, end func(), err error) {
	// Not the usual place for temporary files, which may be in memory.
	dir, err := os.MkdirTemp("/var/tmp", "signalcast-clients-")
	if err != nil {
		return nil, nil, err
	}
	w = &world{http: client.New()}
	end = func() {
		w.http.Close()
		if w.rotated != nil {
			w.rotated.Stop()
		}
		if w.Stack != nil {
			w.Stop()
		}
		_ = os.RemoveAll(dir)
	}
	if err = w.start(ctx, root, dir, bin); err != nil {
		end()
		return nil, nil, err
	}
	return w, end, nil
}

func (w *world) start(ctx context.Context, root, dir, bin string) error {
	// The database may run as another user, who has to pass through.
	if err := os.Chmod(dir, 0o711); err != nil {
		return err
	}
	if bin == "" {
		bin = filepath.Join(dir, "bin")
		if err := stack.Build(ctx, root, bin); err != nil {
			return err
		}
	}
	var err error
	w.Stack, err = stack.Start(ctx, stack.Options{Bin: bin, Dir: filepath.Join(dir, "stack"), Hubs: 1, Env: map[string]string{"RATE_LIMIT_ANON": "0"}})
	if err != nil {
		return err
	}
	env, err := stack.Environment(w.PID("hub"))
	if err != nil {
		return err
	}
	if w.idp, err = privy(env["IDP_PROVIDERS"]); err != nil {
		return err
	}
	return w.rotate(ctx, env["HUB_KEYS"])
}

// complaints are the last warnings of the hub.
func (w *world) complaints() string {
	raw, err := os.ReadFile(filepath.Join(w.Dir(), "logs", "hub.log"))
	if err != nil {
		return err.Error()
	}
	var bad []string
	for line := range strings.SplitSeq(string(raw), "\n") {
		if strings.Contains(line, `"level":"WARN"`) || strings.Contains(line, `"level":"ERROR"`) || strings.HasPrefix(line, "panic") {
			bad = append(bad, line)
		}
	}
	if len(bad) == 0 {
		return "the hub has warned of nothing"
	}
	return fmt.Sprintf("the last of %d warnings of the hub:\n%s", len(bad), strings.Join(bad[max(0, len(bad)-10):], "\n"))
}

// privy finds the provider that gives tokens in that form.
func privy(setting string) (provider, error) {
	var all []provider
	if err := json.Unmarshal([]byte(setting), &all); err != nil {
		return provider{}, fmt.Errorf("providers of the hub: %w", err)
	}
	for _, p := range all {
		if p.Issuer == "privy.io" {
			return p, nil
		}
	}
	return provider{}, fmt.Errorf("the hub knows no provider privy.io")
}

// protocol is the address of the protocol at a hub.
func protocol(hub string) string { return hub + "/api/protocol/v1" }

// send makes a request whose answer must have the status.
func (w *world) send(ctx context.Context, url string, as client.Credential, body any, status int, into any) error {
	if err := w.http.Do(ctx, client.Request{URL: url, As: as, Body: body}).Into(status, into); err != nil {
		return fmt.Errorf("%s: %w", url, err)
	}
	return nil
}

// markets makes native markets.
func (w *world) markets(ctx context.Context, name string, n int) ([]string, error) {
	var ids []string
	for i := range n {
		id, err := w.http.Market(ctx, w.Hub, client.Admin(w.AdminSecret), fmt.Sprintf("Will gauge %d of %s read above 6 m?", i+1, name), 5000)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// key is an operator key of somebody new.
func (w *world) key(ctx context.Context, person string) (client.Login, client.Key, error) {
	login, err := w.http.Login(ctx, w.IDP, person)
	if err != nil {
		return "", "", err
	}
	minted, err := w.http.Mint(ctx, w.Hub, login, "clients")
	return login, minted.Key, err
}

// rotate has the hub attest a call, then starts another one with a newer key, as the
// page on operations says that keys are replaced.
func (w *world) rotate(ctx context.Context, setting string) error {
	_, key, err := w.key(ctx, "before")
	if err != nil {
		return err
	}
	markets, err := w.markets(ctx, "before", 1)
	if err != nil {
		return err
	}
	var call struct {
		MessageID string `json:"messageId"`
	}
	body := map[string]any{"marketId": markets[0], "position": "NO", "priceBps": 3300}
	if err := w.send(ctx, protocol(w.Hub)+"/predictions", key, body, http.StatusOK, &call); err != nil {
		return err
	}
	w.before = call.MessageID
	var keys []map[string]any
	if err := json.Unmarshal([]byte(setting), &keys); err != nil || len(keys) != 1 {
		return fmt.Errorf("keys of the hub: %d, %w", len(keys), err)
	}
	now := time.Now().UTC().Format(time.RFC3339Nano)
	keys[0]["notAfter"] = now
	keys = append(keys, map[string]any{"seed": strings.Repeat("5eed", 16), "notBefore": now})
	raw, err := json.Marshal(keys)
	if err != nil {
		return err
	}
	w.rotated, err = w.Side(ctx, "hub", map[string]string{"HUB_KEYS": string(raw)})
	return err
}

// person signs somebody in who has two apps, a key and three open markets, and gives
// all of it as the environment of a client.
func (w *world) person(ctx context.Context, name string) ([]string, error) {
	login, key, err := w.key(ctx, name)
	if err != nil {
		return nil, err
	}
	session, _, err := w.http.SignIn(ctx, w.Hub, login)
	if err != nil {
		return nil, err
	}
	markets, err := w.markets(ctx, name, 3)
	if err != nil {
		return nil, err
	}
	env := []string{
		"HUB=" + w.Hub, "API=" + w.API, "ISSUER=" + protocol(w.Hub), "ROTATED=" + w.rotated.URL, "BEFORE=" + w.before,
		"IDP=" + w.IDP, "IDP_APP=" + w.idp.Audience, "IDP_SECRET=" + w.idp.UsersSecret,
		"PERSON=" + name, "COOKIE=db_uid=" + session.UID + "; db_sig=" + session.Sig, "OPERATOR_KEY=" + string(key),
		"MARKETS=" + strings.Join(markets, ","),
	}
	var reads struct{ Key string }
	err = w.send(ctx, w.Hub+"/api/dev/keys", login, map[string]any{"label": "reads", "permissions": []string{"read"}}, http.StatusCreated, &reads)
	if err != nil {
		return nil, err
	}
	env = append(env, "READ_KEY="+reads.Key)
	for _, kind := range []string{"public", "confidential"} {
		var app struct{ ClientID, ClientSecret string }
		err := w.send(ctx, w.Hub+"/api/dev/apps", login, map[string]any{
			"name": name, "type": kind, "scopes": scopes, "redirectUris": []string{"http://127.0.0.1/callback", "https://app.example/cb"},
		}, http.StatusCreated, &app)
		if err != nil {
			return nil, err
		}
		// Errors reach the redirect URI of a reviewed app only.
		review := w.Hub + "/api/admin/apps/" + app.ClientID
		if err := w.send(ctx, review, client.Admin(w.AdminSecret), map[string]any{"trusted": true}, http.StatusOK, nil); err != nil {
			return nil, err
		}
		prefix := strings.ToUpper(kind)
		env = append(env, prefix+"_APP="+app.ClientID, prefix+"_SECRET="+app.ClientSecret)
	}
	return env, nil
}

// scopes are all that there are.
var scopes = []string{
	"profile:read", "signer:create", "offline_access", "profile:update", "station:create", "station:update", "broadcast:create",
	"broadcast:goLive", "signal:create", "prediction:create", "market:create", "resolution:create",
}
