package rows

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/prove/stack"
	"github.com/signalcast/signalcast/test/system/openapi"
)

// l1 brings every kind of secret through every door, as it belongs and as it does not,
// to services that write down each request, and looks for the secrets in all that they
// have said: logs, metrics, the statements of Postgres and its log, refusals, and what
// goes to webhooks.
var l1 = frame.Row{
	ID: "L1", Title: "no secret in any output",
	Fault: frame.Fault{What: "the log shows queries as they came"},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		doc, err := openapi.Load(env.Root)
		if err != nil {
			return nil, err
		}
		hosts, metrics, stop, err := talkative(ctx, env)
		if err != nil {
			return nil, err
		}
		defer stop()
		secrets, err := gatherSecrets(ctx, env, hosts["hub"])
		if err != nil {
			return nil, err
		}
		told, err := writeLetters(ctx, env, hosts["api"])
		if err != nil {
			return nil, err
		}
		defer told.receiver.Close()
		secrets = append(secrets, told.secrets()...)
		o := &outputs{secrets: secrets, found: map[string]bool{}}
		requests := o.drive(ctx, env, doc, hosts)
		told.read(o, seen)
		for name, addr := range metrics {
			a := env.Client.Do(ctx, client.Request{URL: "http://" + addr + "/metrics"})
			if err := a.Into(http.StatusOK, nil); a.Status != http.StatusOK {
				return nil, fmt.Errorf("the metrics of %s: %w", name, err)
			}
			o.search("the metrics of "+name, string(a.Body))
		}
		if err := o.searchPostgres(ctx, env); err != nil {
			return nil, err
		}
		stop() // so that all lines are written
		if err := o.searchLogs(env, seen); err != nil {
			return nil, err
		}
		for hit := range o.found {
			seen.Wrong("%s", hit)
		}
		seen.Check(len(secrets) >= 20, "only %d secrets were brought", len(secrets))
		seen.Figure("searchedBytes", o.bytes)
		seen.Promise("hits 0", fmt.Sprintf("hits %d of %d secrets in %.1f MB", len(o.found), len(secrets), float64(o.bytes)/(1<<20)))
		seen.Volume("%s requests", frame.Number(requests))
		return seen, nil
	},
}

// talkative starts one more of each service, with its log wide open.
func talkative(ctx context.Context, env *frame.Env) (hosts, metrics map[string]string, stop func(), err error) {
	hosts, metrics = map[string]string{}, map[string]string{}
	var sides []*stack.Side
	stop = sync.OnceFunc(func() {
		for _, d := range sides {
			d.Stop()
		}
	})
	for _, service := range openapi.Hosts {
		addr, err := stack.FreeAddr()
		if err != nil {
			stop()
			return nil, nil, nil, err
		}
		d, err := env.Stack.Side(ctx, service, map[string]string{"LOG_LEVEL": "debug", "METRICS_ADDR": addr, "WEBHOOK_ALLOW_PRIVATE": "true"})
		if err != nil {
			stop()
			return nil, nil, nil, err
		}
		sides = append(sides, d)
		hosts[service], metrics[service] = d.URL, addr
	}
	return hosts, metrics, stop, nil
}

// secret is one that nothing may show; bring says where it belongs in a request.
type secret struct {
	name, text string
	bring      func(r *client.Request)
}

// gatherSecrets makes one of every kind, and takes those that the system was told.
func gatherSecrets(ctx context.Context, env *frame.Env, hub string) ([]secret, error) {
	all, err := peoplesSecrets(ctx, env)
	if err != nil {
		return nil, err
	}
	apps, err := appsSecrets(ctx, env, hub)
	if err != nil {
		return nil, err
	}
	told, err := toldSecrets(env)
	if err != nil {
		return nil, err
	}
	all = slices.Concat(all, apps, told, []secret{
		{"the admin secret", env.Stack.AdminSecret, inHeader("X-Admin-Secret", env.Stack.AdminSecret)},
		{"the cron secret", env.Stack.CronSecret, inQuery("secret", env.Stack.CronSecret)},
		{"a wrong secret", cronGuess, inQuery("secret", cronGuess)},
	})
	for _, s := range all {
		if len(s.text) < 16 {
			return nil, fmt.Errorf("%s could not be had: %q", s.name, s.text)
		}
	}
	return all, nil
}

func inHeader(name, text string) func(*client.Request) {
	return func(r *client.Request) { r.Header[name] = append(r.Header[name], text) }
}

func asBearer(text string) func(*client.Request) { return inHeader("Authorization", "Bearer "+text) }

func inCookie(name, text string) func(*client.Request) { return inHeader("Cookie", name+"="+text) }

func inQuery(name, text string) func(*client.Request) {
	return func(r *client.Request) {
		joint := "?"
		if strings.Contains(r.URL, "?") {
			joint = "&"
		}
		r.URL += joint + url.Values{name: {text}}.Encode()
	}
}

// peoplesSecrets are keys, tokens and cookies of a person.
func peoplesSecrets(ctx context.Context, env *frame.Env) ([]secret, error) {
	p, err := signUp(ctx, env, "l1-secretive", 1)
	if err != nil {
		return nil, err
	}
	var agent client.MintedKey
	err = env.Client.Do(ctx, client.Request{URL: env.Stack.API + "/api/v1/agent/keys", As: p.login, Body: map[string]any{"label": "l1"}}).
		Into(http.StatusCreated, &agent)
	if err != nil {
		return nil, err
	}
	beside := env.Client.Do(ctx, client.Request{URL: env.Stack.IDP + "/mint", Body: map[string]any{"user": "l1-secretive", "profile": "privy"}})
	return []secret{
		{"an operator key", string(p.keys[0].Key), asBearer(string(p.keys[0].Key))},
		{"an agent key", string(agent.Key), asBearer(string(agent.Key))},
		{"a login", string(p.login), asBearer(string(p.login))},
		{"an identity token", beside.Text("identityToken"), inHeader("Privy-Id-Token", beside.Text("identityToken"))},
		{"a session", p.session.UID, inCookie("db_uid", p.session.UID)},
		{"its signature", p.session.Sig, inCookie("db_sig", p.session.Sig)},
		{"a developer's cookie", beside.Text("token"), inCookie("db_dev_next", beside.Text("token"))},
	}, nil
}

// appsSecrets are those of an app on its way to tokens, and of a signer.
func appsSecrets(ctx context.Context, env *frame.Env, hub string) ([]secret, error) {
	p, err := signUp(ctx, env, "l1-consenting", 1)
	if err != nil {
		return nil, err
	}
	app, err := admit(ctx, env, hub, p)
	if err != nil {
		return nil, err
	}
	public, _, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	challenge := env.Client.Do(ctx, client.Request{
		URL: hub + "/api/protocol/v1/signers/challenge", As: p.keys[0].Key, Body: map[string]any{"publicKey": hex.EncodeToString(public)},
	}).Text("challenge")
	basic := base64.StdEncoding.EncodeToString([]byte(app.id + ":" + app.secret))
	return []secret{
		{"a code", app.code, inQuery("code", app.code)},
		{"a state", app.state, inQuery("state", app.state)},
		{"a verifier", app.verifier, inQuery("code_verifier", app.verifier)},
		{"a state in an address", "inner-" + app.state, inQuery("return_to", "/protocol/authorize?state=inner-"+app.state)},
		{"an app token", app.Access, asBearer(app.Access)},
		{"a refresh token", app.Refresh, asBearer(app.Refresh)},
		{"a client secret", app.secret, inHeader("Authorization", "Basic "+basic)},
		{"a client secret in its header", basic, inHeader("Authorization", "Basic "+basic)},
		{"a challenge of a signer", challenge, inQuery("challenge", challenge)},
	}, nil
}

// toldSecrets are those of the system's own settings.
func toldSecrets(env *frame.Env) (all []secret, err error) {
	settings, err := stack.Environment(env.Stack.PID("hub"))
	if err != nil {
		return nil, err
	}
	ledger, err := stack.Environment(env.Stack.PID("api"))
	if err != nil {
		return nil, err
	}
	var keys []struct {
		Seed string `json:"seed"`
	}
	if err := json.Unmarshal([]byte(settings["HUB_KEYS"]), &keys); err != nil || len(keys) == 0 {
		return nil, fmt.Errorf("read HUB_KEYS: %w", err)
	}
	var providers []struct {
		Secret string `json:"usersSecret"`
	}
	if err := json.Unmarshal([]byte(settings["IDP_PROVIDERS"]), &providers); err != nil || len(providers) == 0 {
		return nil, fmt.Errorf("read IDP_PROVIDERS: %w", err)
	}
	told := map[string]string{
		"the session secret": settings["SESSION_SECRETS"], "the successor secret": settings["SUCCESSOR_SECRETS"],
		"the link secret": settings["LINK_SECRET"], "the mask secret": ledger["MASK_SECRET"], "the key of webhooks": ledger["WEBHOOK_SECRET_KEY"], "the seed of the hub's key": keys[0].Seed,
		"the secret of the users interface": providers[0].Secret,
	}
	for _, service := range []map[string]string{settings, ledger} {
		if u, err := url.Parse(service["DATABASE_URL"]); err == nil {
			if password, set := u.User.Password(); set {
				told["the password of "+u.User.Username()] = password
			}
		}
	}
	for name, text := range told {
		all = append(all, secret{name, text, nil})
	}
	return all, nil
}

// outputs is what was said, and which secrets it shows.
type outputs struct {
	secrets []secret
	mu      sync.Mutex
	found   map[string]bool
	bytes   int
}

// search looks for every secret in its forms.
func (o *outputs) search(where, text string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.bytes += len(text)
	for _, s := range o.secrets {
		coded := base64.StdEncoding.EncodeToString([]byte(s.text))
		for _, form := range []string{s.text, url.QueryEscape(s.text), hex.EncodeToString([]byte(s.text)), coded[:len(coded)-4]} {
			if strings.Contains(text, form) {
				o.found[s.name+" stands in "+where] = true
			}
		}
	}
}

// drive brings every secret to every door: alone, broken, and beside a body that is
// none. Every refusal is searched.
func (o *outputs) drive(ctx context.Context, env *frame.Env, doc *openapi.Document, hosts map[string]string) int {
	type one struct {
		op     *openapi.Operation
		s      secret
		broken bool
	}
	var all []one
	for i, op := range doc.Operations {
		// The smallest size asks a few doors, the usual one each door for half of the secrets.
		if op.Gone() || op.Path == "/ws" || i%env.Of(16, 1, 1) != 0 {
			continue
		}
		for k, s := range o.secrets {
			if s.bring != nil && (i+k)%env.Of(1, 2, 1) == 0 {
				all = append(all, one{op, s, (i+k)%3 == 0})
			}
		}
	}
	frame.Each(len(all), abreast, func(i int) {
		r := client.Request{Method: all[i].op.Method, URL: hosts[all[i].op.Host] + all[i].op.Path, Header: http.Header{}}
		all[i].s.bring(&r)
		if all[i].broken {
			for name, values := range r.Header {
				r.Header[name] = append(slices.Clone(values), values...) // twice is refused
			}
			r.URL += "%zz"
		}
		if r.Method != http.MethodGet {
			r.Body = []byte(`{"marketId": "701122", "client_secret": "` + all[i].s.text + `", "token": "` + all[i].s.text + `", "code": 1`)
		}
		a := env.Client.Do(ctx, r)
		if a.Status >= http.StatusBadRequest {
			o.search("the refusal of "+all[i].op.Name(), string(a.Body)+fmt.Sprint(a.Header))
		}
	})
	o.tokens(ctx, env, hosts["hub"])
	return len(all)
}

// tokens brings each secret to the endpoints that take secrets in their bodies.
func (o *outputs) tokens(ctx context.Context, env *frame.Env, hub string) {
	for _, path := range []string{"/api/protocol/v1/oauth/token", "/api/protocol/v1/oauth/revoke", "/api/protocol/v1/oauth/introspect", "/dev/session", "/protocol/authorize"} {
		for _, s := range o.secrets {
			if s.bring == nil {
				continue
			}
			a := sendForm(ctx, env, hub+path, nil, url.Values{
				"grant_type": {"refresh_token"}, "client_id": {"unknown"}, "client_secret": {s.text}, "refresh_token": {s.text}, "token": {s.text},
				"code": {s.text}, "code_verifier": {s.text}, "state": {s.text}, "request": {s.text},
			})
			if a.Status >= http.StatusBadRequest {
				o.search("the refusal of "+path, string(a.Body)+fmt.Sprint(a.Header))
			}
		}
	}
}

// searchPostgres reads the statements that Postgres remembers.
func (o *outputs) searchPostgres(ctx context.Context, env *frame.Env) error {
	if _, err := env.DB.Exec(ctx, "CREATE EXTENSION IF NOT EXISTS pg_stat_statements"); err != nil {
		return err
	}
	for _, view := range []string{"pg_stat_statements", "pg_stat_activity"} {
		text, err := env.Text(ctx, "SELECT coalesce(string_agg(t::text, E'\\n'), '') FROM "+view+" t")
		if err != nil {
			return err
		}
		o.search(view, text)
	}
	return nil
}

// searchLogs reads every log and wants to find the requests there.
func (o *outputs) searchLogs(env *frame.Env, seen *frame.Seen) error {
	logs, err := env.Stack.Logs()
	if err != nil {
		return err
	}
	lines := 0
	for _, path := range logs {
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		lines += strings.Count(string(raw), `"msg":"request"`)
		o.search(path, string(raw))
	}
	seen.Check(lines > 50, "the logs show %d requests: the search would prove nothing", lines)
	return nil
}
