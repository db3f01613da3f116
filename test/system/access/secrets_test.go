package access

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/signalcast/signalcast/test/system/openapi"
	"github.com/signalcast/signalcast/test/system/stack"
)

// guessedSecret is a wrong secret that requests contain. No output may contain it.
const guessedSecret = "Wr0ngGu3ssF0rTheScheduler-9kQ2vX7"

// secret is a text that no output may contain.
type secret struct {
	name, text string
	set        stack.Set // adds the secret to a request; nil for secrets of settings
}

// TestNoOutputShowsSecrets checks that no log, metric, recorded SQL statement, refusal or webhook request contains a
// secret (guarantee L1).
func TestNoOutputShowsSecrets(t *testing.T) {
	t.Parallel()
	s, c := accessStack(t), stack.NewCrowd(200)
	var sides []*stack.Side
	bases, metricsAt := map[string]string{}, map[string]string{}
	for _, service := range openapi.Hosts {
		metricsAt[service] = stack.FreeAddr(t)
		side := s.Side(t, service, map[string]string{
			"LOG_LEVEL": "debug", "METRICS_ADDR": metricsAt[service], "WEBHOOK_ALLOW_PRIVATE": "true",
		})
		sides, bases[service] = append(sides, side), side.URL
	}
	w := s.NewOwner(t)
	o := &outputs{found: map[string]bool{}, secrets: slices.Concat(secretsOf(t, s, w), settingSecrets(t, s))}
	o.addWebhook(t, w, bases["api"])
	if len(o.secrets) < 25 {
		t.Fatalf("the search knows %d secrets; want 25", len(o.secrets))
	}
	t.Run("routes", func(t *testing.T) {
		for i, op := range openapi.ForTest(t).Operations {
			if op.Gone() || op.Path == "/ws" || op.Path == "/api/v1/feed/stream" || i%stack.Size(t, 16, 1, 1) != 0 {
				continue
			}
			t.Run(op.Name(), func(t *testing.T) {
				t.Parallel()
				for k, secret := range o.secrets {
					if secret.set != nil && (i+k)%stack.Size(t, 1, 2, 1) == 0 {
						o.send(t, c, op.Method, bases[op.Host]+op.Path, secret, (i+k)%3 == 0)
					}
				}
			})
		}
	})
	for _, path := range []string{"/oauth/token", "/oauth/revoke", "/oauth/introspect"} {
		o.sendForms(t, c, bases["hub"]+stack.ProtocolPath+path)
	}
	o.sendForms(t, c, bases["hub"]+"/dev/session")
	o.sendForms(t, c, bases["hub"]+"/protocol/authorize")
	for service, addr := range metricsAt {
		o.search("metrics of "+service, stack.Get(t, "http://"+addr+"/metrics").Require(http.StatusOK).Body)
	}
	enableStatementStatistics(t, s)
	for _, view := range []string{"pg_stat_statements", "pg_stat_activity"} {
		o.search(view, []byte(stack.Query[string](t, s, "SELECT coalesce(string_agg(t::text, E'\\n'), '') FROM "+view+" t")))
	}
	requests := 0
	for _, side := range sides {
		side.Stop() // flushes the log
	}
	for _, path := range s.Logs(t) {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		requests += bytes.Count(raw, []byte(`"msg":"request"`))
		o.search(path, raw)
	}
	if requests < 50 {
		t.Errorf("the logs contain %d requests; want at least 50", requests)
	}
	for _, hit := range slices.Sorted(maps.Keys(o.found)) {
		t.Error(hit)
	}
}

// header returns a Set that adds a line to a header.
func header(name, value string) stack.Set { return func(r *http.Request) { r.Header.Add(name, value) } }

// secretsOf returns the secrets of a person, and those of an application during the authorization flow.
func secretsOf(t *testing.T, s *stack.Stack, w *stack.Owner) []secret {
	t.Helper()
	agent := mintAgentKey(t, s, w.Login, stack.JSON{"label": "agent"})
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.Hub, nil)
	if err != nil {
		t.Fatal(err)
	}
	w.Browser(r)
	cookies := map[string]string{}
	for _, cookie := range r.Cookies() {
		cookies[cookie.Name] = cookie.Value
	}
	verifier, state := rand.Text()+rand.Text(), "state-"+rand.Text()
	challenged := w.App.AuthorizeRequest("profile:read offline_access", "state", state, "code_challenge", stack.CodeChallenge(verifier))
	code := w.App.Code(t, w.Browser, challenged)
	tokens := w.App.OAuth(t, "token", w.App.CodeRequest(code, "code_verifier", verifier)).Require(http.StatusOK).Tokens()
	challenge := w.NewSigner(t).Challenge(t, stack.Bearer(w.Key))
	basic := base64.StdEncoding.EncodeToString([]byte(w.App.ID + ":" + w.App.Secret))
	bearer := func(name, text string) secret { return secret{name, text, header("Authorization", "Bearer "+text)} }
	inURL := func(name, parameter, text string) secret { return secret{name, text, query(parameter, text)} }
	cookie := func(name, text string) secret { return secret{name, text, header("Cookie", name+"="+text)} }
	return []secret{
		bearer("operator key", w.Key), bearer("agent key", agent), bearer("login", w.Login), bearer("token", tokens.Access),
		bearer("refresh token", tokens.Refresh),
		{"identity token", w.IdentityToken, header("Privy-Id-Token", w.IdentityToken)},
		cookie("db_uid", cookies["db_uid"]), cookie("db_sig", cookies["db_sig"]), cookie("db_dev_next", w.Login),
		inURL("code", "code", code), inURL("state", "state", state), inURL("verifier", "code_verifier", verifier),
		inURL("state in a return address", "return_to", "/protocol/authorize?state=inner-"+state), inURL("challenge of a signer", "challenge", challenge),
		{"client secret", w.App.Secret, header("Authorization", "Basic "+basic)},
		{"encoded client secret", basic, header("Authorization", "Basic "+basic)},
		{"admin secret", s.AdminSecret, header("X-Admin-Secret", s.AdminSecret)},
		inURL("cron secret", "secret", s.CronSecret),
		inURL("wrong secret", "secret", guessedSecret),
	}
}

// settingSecrets returns the secrets that the settings of the services contain.
func settingSecrets(t *testing.T, s *stack.Stack) (out []secret) {
	t.Helper()
	hub, api := s.Settings(t, "hub"), s.Settings(t, "api")
	var keys []struct{ Seed string }
	var providers []struct{ UsersSecret string }
	for text, into := range map[string]any{hub["HUB_KEYS"]: &keys, hub["IDP_PROVIDERS"]: &providers} {
		if err := json.Unmarshal([]byte(text), into); err != nil {
			t.Fatalf("parse a setting of the hub: %v", err)
		}
	}
	for name, text := range map[string]string{
		"SESSION_SECRETS": hub["SESSION_SECRETS"], "SUCCESSOR_SECRETS": hub["SUCCESSOR_SECRETS"], "LINK_SECRET": hub["LINK_SECRET"],
		"MASK_SECRET": api["MASK_SECRET"], "WEBHOOK_SECRET_KEY": api["WEBHOOK_SECRET_KEY"], "seed of the hub key": keys[0].Seed,
		"usersSecret": providers[0].UsersSecret,
	} {
		out = append(out, secret{name: name, text: text})
	}
	for service, settings := range map[string]map[string]string{"hub": hub, "api": api} {
		u, err := url.Parse(settings["DATABASE_URL"])
		if err != nil {
			t.Fatal(err)
		}
		if password, ok := u.User.Password(); ok {
			out = append(out, secret{name: "database password of " + service, text: password})
		}
	}
	for _, secret := range out {
		if len(secret.text) < 16 {
			t.Fatalf("%s has %d characters, which is too short for a search", secret.name, len(secret.text))
		}
	}
	return out
}

// outputs searches the outputs of a system for secrets.
type outputs struct {
	secrets []secret
	mu      sync.Mutex
	found   map[string]bool
}

// search searches a text for each secret in each encoding. where is the name of the text in failure messages.
func (o *outputs) search(where string, text []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, s := range o.secrets {
		encoded := base64.StdEncoding.EncodeToString([]byte(s.text))
		for _, form := range []string{s.text, url.QueryEscape(s.text), hex.EncodeToString([]byte(s.text)), encoded[:len(encoded)-4]} {
			if bytes.Contains(text, []byte(form)) {
				o.found[where+" shows the "+s.name] = true
			}
		}
	}
}

func (o *outputs) searchRefusal(what string, a stack.Answer) {
	if a.Status >= 400 {
		o.search("refusal of "+what, append(a.Body, fmt.Sprint(a.Header)...))
	}
}

// send sends a secret to a route with a body that the route cannot parse. If malformed is true, the request has each header
// twice and an invalid URL.
func (o *outputs) send(t *testing.T, c *stack.Crowd, method, address string, s secret, malformed bool) {
	t.Helper()
	sets := []stack.Set{s.set}
	if malformed {
		sets = append(sets, func(r *http.Request) {
			for name, values := range r.Header {
				r.Header[name] = append(slices.Clone(values), values...)
			}
			r.URL.RawQuery += "%zz"
		})
	}
	if method != http.MethodGet {
		sets = append(sets, stack.Body(`{"marketId": "701122", "client_secret": "`+s.text+`", "token": "`+s.text+`", "code": 1`))
	}
	o.searchRefusal(method+" "+address, c.Do(t, method, address, sets...))
}

// sendForms sends each secret in each field of a form.
func (o *outputs) sendForms(t *testing.T, c *stack.Crowd, address string) {
	t.Helper()
	for _, s := range o.secrets {
		if s.set == nil {
			continue
		}
		form := url.Values{"grant_type": {"refresh_token"}, "client_id": {"unknown"}}
		for _, field := range []string{"client_secret", "refresh_token", "token", "code", "code_verifier", "state", "request"} {
			form.Set(field, s.text)
		}
		o.searchRefusal(address, c.Do(t, http.MethodPost, address, stack.Form(form)))
	}
}

// addWebhook registers a webhook, renews its secret, and adds both secrets. It searches the requests to the webhook and the
// answers about it for secrets.
func (o *outputs) addWebhook(t *testing.T, w *stack.Owner, api string) {
	t.Helper()
	var mu sync.Mutex
	var received []byte
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		raw, err := httputil.DumpRequest(r, true)
		mu.Lock()
		defer mu.Unlock()
		received = fmt.Append(received, string(raw), err)
	}))
	defer receiver.Close()
	send := func(method, path string, status int, sets ...stack.Set) stack.Answer {
		return w.Do(t, method, api+webhooksPath+path, append(sets, stack.Bearer(w.Key))...).Require(status)
	}
	made := send("POST", "", http.StatusCreated, stack.Body(stack.JSON{"url": receiver.URL, "channels": []string{stack.QuietChannel}}))
	one := "/" + made.Text("id")
	renewed := send("POST", one+"/secret", http.StatusOK)
	o.secrets = append(o.secrets,
		secret{"secret of a webhook", made.Text("secret"), header("Authorization", "Bearer "+made.Text("secret"))},
		secret{"renewed secret of a webhook", renewed.Text("secret"), header("Signalcast-Signature", renewed.Text("secret"))},
	)
	for _, a := range []stack.Answer{
		send("POST", one+"/test", http.StatusOK), send("PATCH", one, http.StatusOK, stack.Body(stack.JSON{"description": "changed"})),
		send("GET", one, http.StatusOK), send("GET", "", http.StatusOK), send("GET", one+"/deliveries", http.StatusOK),
	} {
		o.search("answers about a webhook", append(a.Body, fmt.Sprint(a.Header)...))
	}
	mu.Lock()
	defer mu.Unlock()
	if n := strings.Count(string(received), "v1="); n != 2 {
		t.Errorf("the webhook received %d signatures; want 2", n)
	}
	o.search("a webhook request", received)
}
