package app

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/api/apitest"
	"github.com/signalcast/signalcast/services/hub/internal/message"
)

// longState is a state parameter of 2 KiB with characters outside ASCII and characters that a query must escape.
var longState = strings.Repeat("é☂", 410)[:2048] + " +&=%"

const proof = "the-verifier-of-the-tests-is-long-enough-43"

// session signs a user in and returns the Cookie header of the session.
func (h *hub) session(subject string) string {
	h.w.t.Helper()
	status, head, body := h.do("POST", "/api/auth/privy", "", "Authorization", "Bearer "+h.w.issuer.token(h.w.t, subject))
	if status != http.StatusOK {
		h.w.t.Fatal(status, body)
	}
	var pairs []string
	for _, line := range head["Set-Cookie"] {
		pair, _, _ := strings.Cut(line, ";")
		pairs = append(pairs, pair)
	}
	return strings.Join(pairs, "; ")
}

// json sends a request, ends the test if the status differs, and returns the JSON answer.
func (h *hub) json(want int, method, path, body string, headers ...string) map[string]any {
	h.w.t.Helper()
	status, _, text := h.do(method, path, body, headers...)
	out := map[string]any{}
	_ = json.Unmarshal([]byte(text), &out)
	if status != want {
		h.w.t.Fatalf("%s %s: %d %s", method, path, status, text)
	}
	return out
}

// asking returns the parameters of an authorization request of an app.
func asking(clientID, state, scope string) url.Values {
	sum := sha256.Sum256([]byte(proof))
	return url.Values{
		"response_type": {"code"}, "client_id": {clientID}, "redirect_uri": {"https://app.example.com/cb"}, "state": {state}, "scope": {scope},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"},
	}
}

// authorize approves an authorization request with the session headers in page. It returns the value of the field request in the
// consent form, and the URL to which the browser is redirected.
func (h *hub) authorize(ask url.Values, page ...string) (consent string, to *url.URL) {
	h.w.t.Helper()
	_, _, text := h.do("GET", "/protocol/authorize?"+ask.Encode(), "", page...)
	m := regexp.MustCompile(`name="request" value="([^"]+)"`).FindStringSubmatch(text)
	csrf := regexp.MustCompile(`name="csrf" value="([^"]+)"`).FindStringSubmatch(text)
	if m == nil || csrf == nil {
		h.w.t.Fatal(text)
	}
	consent = html.UnescapeString(m[1])
	head, _ := h.formed(303, "/protocol/authorize", url.Values{"request": {consent}, "decision": {"approve"}, "csrf": {csrf[1]}}, page...)
	to, err := url.Parse(head.Get("Location"))
	must(h.w.t, err)
	return consent, to
}

// connected is an app with the code and the tokens that it received for a user.
type connected struct{ clientID, code, access, refresh, grantID string }

func (h *hub) connect() connected {
	h.w.t.Helper()
	login := "Bearer " + h.w.issuer.token(h.w.t, "did:privy:maker")
	app := h.json(201, "POST", "/api/dev/apps",
		`{"name":"Desk","type":"public","redirectUris":["https://app.example.com/cb"],"scopes":["profile:read","offline_access"]}`, "Authorization", login)
	c := connected{clientID: app["clientId"].(string)}
	_, to := h.authorize(asking(c.clientID, longState, "profile:read offline_access"), h.signIn("did:privy:mara")...)
	if q := to.Query(); q.Get("state") != longState || q.Get("iss") != "http://hub.test/api/protocol/v1" { // S6
		h.w.t.Errorf("state of %d bytes came back as %d, iss %s", len(longState), len(q.Get("state")), q.Get("iss"))
	}
	c.code = to.Query().Get("code")
	t := h.json(200, "POST", "/api/protocol/v1/oauth/token",
		`{"grantType":"authorization_code","code":"`+c.code+`","codeVerifier":"`+proof+`","clientId":"`+c.clientID+`"}`)
	c.access, c.refresh, c.grantID = t["accessToken"].(string), t["refreshToken"].(string), t["grantId"].(string)
	return c
}

// TestRevocationHoldsEverywhere (S25) checks that after one hub has revoked a token, another hub refuses it from the next request
// on.
func TestRevocationHoldsEverywhere(t *testing.T) {
	w := newTown(t)
	w.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	one, two := w.hub("LOG_LEVEL", "debug"), w.hub("LOG_LEVEL", "debug")
	for range 3 {
		c := one.connect()
		me := []string{"Authorization", "Bearer " + c.access}
		one.json(200, "GET", "/api/protocol/v1/me", "", me...)
		two.json(200, "GET", "/api/protocol/v1/me", "", me...)
		next := two.json(200, "POST", "/api/protocol/v1/oauth/token", `{"grantType":"refresh_token","refreshToken":"`+c.refresh+`","clientId":"`+c.clientID+`"}`)
		again := one.json(200, "POST", "/api/protocol/v1/oauth/token", `{"grantType":"refresh_token","refreshToken":"`+c.refresh+`","clientId":"`+c.clientID+`"}`)
		equal(t, next["refreshToken"], again["refreshToken"])
		one.json(200, "DELETE", "/api/protocol/v1/grants/"+c.grantID, "", me...)
		two.json(401, "GET", "/api/protocol/v1/me", "", me...)
		one.json(401, "GET", "/api/protocol/v1/me", "", me...)
		two.json(400, "POST", "/api/protocol/v1/oauth/token", `{"grantType":"refresh_token","refreshToken":"`+next["refreshToken"].(string)+`","clientId":"`+c.clientID+`"}`)

		for _, secret := range []string{c.code, c.access, c.refresh, next["accessToken"].(string), next["refreshToken"].(string), proof} { // S18
			body := secret[strings.IndexByte(secret, '_')+1:]
			for _, log := range []string{one.logs.String(), two.logs.String()} {
				if strings.Contains(log, body) {
					t.Errorf("a log line contains the secret %.8s…", secret)
				}
			}
		}
	}
	if !strings.Contains(one.logs.String(), "/oauth/token") {
		t.Error("the log has no line of the token endpoint, so the search for secrets finds nothing")
	}
}

// TestSweepOfSignIn checks that a hub deletes expired access tokens.
func TestSweepOfSignIn(t *testing.T) {
	w := newTown(t)
	h := w.hub()
	w.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	h.connect()
	h.stop()
	w.ledger.Exec("UPDATE hub.access_tokens SET created_at = now() - interval '3 hours', expires_at = now() - interval '2 hours'")
	w.hub()
	testkit.Eventually(t, 10*time.Second, func() bool {
		return apitest.Get[int](w.ledger, "SELECT count(*) FROM hub.access_tokens") == 0
	})
}

const protocolPath = "/api/protocol/v1"

// signerOf registers a signer for the owner of an operator key and returns its private key, which is derived from the operator
// key.
func signerOf(t *testing.T, h *hub, key, denpaID string) ed25519.PrivateKey {
	t.Helper()
	seed := sha256.Sum256([]byte(key))
	private := ed25519.NewKeyFromSeed(seed[:])
	public := hex.EncodeToString(private[32:])
	by := []string{"Authorization", "Bearer " + key}
	status, _, body := h.do("POST", protocolPath+"/signers/challenge", fmt.Sprintf(`{"publicKey":%q}`, public), by...)
	var c struct{ Challenge string }
	if err := json.Unmarshal([]byte(body), &c); err != nil || status != 200 {
		t.Fatal(status, body)
	}
	d := message.SignerDraft{PublicKey: public, Scopes: []string{"signal:create", "broadcast:create"}, Challenge: c.Challenge, ExpiresAt: protocol.Stamp(time.Now().Add(24 * time.Hour))}
	proof, err := message.SignerProof("http://hub.test"+protocolPath, message.Owner{DenpaID: denpaID}, d)
	must(t, err)
	d.Proof = hex.EncodeToString(ed25519.Sign(private, proof))
	raw, err := json.Marshal(map[string]any{"publicKey": public, "scopes": d.Scopes, "challenge": d.Challenge, "expiresAt": d.ExpiresAt, "proof": d.Proof})
	must(t, err)
	h.json(201, "POST", protocolPath+"/signers", string(raw), by...)
	return private
}

// signed returns a signed message with the current time as JSON.
func signed(t *testing.T, private ed25519.PrivateKey, denpaID, kind, nonce string, payload any) string {
	t.Helper()
	m := map[string]any{
		"version": 1, "type": kind, "denpaId": denpaID, "appId": nil, "timestamp": time.Now().UnixMilli(), "nonce": nonce,
		"payload": payload, "signer": map[string]any{"kind": "ed25519", "publicKey": hex.EncodeToString(private[32:])},
	}
	raw, err := json.Marshal(m)
	must(t, err)
	canonical, err := message.Canonical(raw)
	must(t, err)
	m["signature"] = hex.EncodeToString(ed25519.Sign(private, []byte("denpa-message-v1\nhttp://hub.test"+protocolPath+"\n"+string(canonical))))
	if raw, err = json.Marshal(m); err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// TestMessageLimitOverTwoHubs checks that a signing key may send 30 messages per minute, counted over both hubs.
func TestMessageLimitOverTwoHubs(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	w.environ["REDIS_TIMEOUT"] = "5s"
	hubs := []*hub{w.hub(), w.hub()}
	mara := w.ledger.AddOperator("mara_k").GetId()
	private := signerOf(t, hubs[0], w.ledger.AddKey(mara), mara)
	var taken, limited atomic.Int32
	var wg sync.WaitGroup
	slots := make(chan struct{}, 6) // at most 6 at once: an overloaded database answers 503, and the repeated message would count again
	for i := range 2 * message.PerMinute {
		raw := signed(t, private, mara, "broadcast.create", fmt.Sprintf("nonce-of-the-limit-%d", i), map[string]any{"title": "abc"})
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			switch status, _, body := hubs[i%2].do("POST", protocolPath+"/messages", raw); status {
			case 201:
				taken.Add(1)
			case 429:
				limited.Add(1)
			default:
				t.Error(status, body)
			}
		})
	}
	wg.Wait()
	equal(t, taken.Load(), message.PerMinute)
	equal(t, limited.Load(), message.PerMinute)
}

// seedKey returns an Ed25519 public key that is derived from a name.
func seedKey(name string) []byte {
	seed := sha256.Sum256([]byte(name))
	return ed25519.NewKeyFromSeed(seed[:])[32:]
}

// collector stores the traces that a hub exports.
type collector struct {
	lines
	url string
}

func newCollector(t *testing.T) *collector {
	t.Helper()
	c := &collector{}
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(c, r.Body)
	}))
	t.Cleanup(server.Close)
	c.url = server.URL
	return c
}

// journey maps names to the secrets that occur in the flow of an app.
type journey map[string]string

// formed sends a form and ends the test if the status differs.
func (h *hub) formed(want int, path string, form url.Values, headers ...string) (head http.Header, body string) {
	h.w.t.Helper()
	status, head, body := h.do("POST", path, form.Encode(), append(headers, "Content-Type", "application/x-www-form-urlencoded")...)
	if status != want {
		h.w.t.Fatalf("%s: %d %s", path, status, body)
	}
	return head, body
}

// travel runs the flows of a confidential app, a signer and an operator key, including failing requests. It returns all secrets
// that occur.
func (h *hub) travel() journey {
	t := h.w.t
	j := journey{"login": h.w.issuer.token(t, "did:privy:mara"), "verifier": proof, "identity token": h.w.identity("did:privy:mara", "[]", 0)}
	login := []string{"Authorization", "Bearer " + j["login"]}
	_, head, _ := h.do("POST", "/api/auth/privy", "", append(login, "privy-id-token", j["identity token"])...)
	var cookies []string
	for _, line := range head["Set-Cookie"] {
		pair, _, _ := strings.Cut(line, ";")
		name, value, _ := strings.Cut(pair, "=")
		j["cookie "+name] = value
		cookies = append(cookies, pair)
	}
	page := []string{"Cookie", strings.Join(cookies, "; "), "Origin", "http://hub.test"}

	app := h.json(201, "POST", "/api/dev/apps",
		`{"name":"Desk","type":"confidential","redirectUris":["https://app.example.com/cb"],"scopes":["profile:read","signer:create","offline_access"]}`, login...)
	id := app["clientId"].(string)
	j["old client secret"] = app["clientSecret"].(string)
	j["client secret"] = h.json(200, "POST", "/api/dev/apps/"+id+"/secret", "{}", login...)["clientSecret"].(string)
	consent, to := h.authorize(asking(id, "s", "profile:read signer:create offline_access"), page...)
	j["consent"] = consent
	j["code"] = to.Query().Get("code")
	j["basic"] = base64.StdEncoding.EncodeToString([]byte(id + ":" + j["client secret"]))
	basic := []string{"Authorization", "Basic " + j["basic"]}
	_, body := h.formed(200, protocolPath+"/oauth/token", url.Values{"grant_type": {"authorization_code"}, "code": {j["code"]}, "code_verifier": {proof}}, basic...)
	j["access token"], j["refresh token"] = member(body, "access_token"), member(body, "refresh_token")
	_, body = h.formed(200, protocolPath+"/oauth/token", url.Values{"grant_type": {"refresh_token"}, "refresh_token": {j["refresh token"]}}, basic...)
	j["second access token"], j["second refresh token"] = member(body, "access_token"), member(body, "refresh_token")
	h.formed(200, protocolPath+"/oauth/introspect", url.Values{"token": {j["refresh token"]}}, basic...)

	j["key"] = h.json(201, "POST", "/api/dev/keys", `{"label":"x"}`, login...)["key"].(string)
	h.json(200, "GET", protocolPath+"/me", "", "Authorization", "Bearer "+j["key"])
	private := sha256.Sum256([]byte("a signer"))
	public := hex.EncodeToString(private[:])
	j["challenge"], _ = h.challengeFor(j["access token"])
	j["admin secret"], j["cron secret"] = good()["ADMIN_SECRET"], good()["CRON_SECRET"]
	h.do("GET", "/api/admin/resolve-signals?secret="+j["cron secret"], "")
	h.do("POST", "/api/admin/markets", "{}", "x-admin-secret", j["admin secret"])
	h.mistakes(j, public)
	h.formed(200, protocolPath+"/oauth/revoke", url.Values{"token": {j["second refresh token"]}}, basic...)
	return j
}

// challengeFor requests the challenge for a signer with an app token. It returns the challenge and the public key of the signer.
func (h *hub) challengeFor(access string) (challenge, key string) {
	key = hex.EncodeToString(seedKey("a signer of the journey"))
	return h.json(200, "POST", protocolPath+"/signers/challenge", `{"publicKey":"`+key+`"}`, "Authorization", "Bearer "+access)["challenge"].(string), key
}

// mistakes sends each secret in queries, paths, headers and bodies in which it is not expected.
func (h *hub) mistakes(j journey, public string) {
	for what, secret := range j {
		for _, target := range []string{
			protocolPath + "/me?access_token=" + url.QueryEscape(secret), protocolPath + "/oauth/token?code=" + url.QueryEscape(secret),
			protocolPath + "/oauth/introspect?token=" + url.QueryEscape(secret) + "&client_secret=" + url.QueryEscape(secret),
		} {
			if status, _, body := h.do("GET", target, ""); status < 400 {
				h.w.t.Errorf("the %s in a query: %d %s", what, status, body)
			}
			h.do("POST", target, `{"token":`, "Authorization", "Bearer "+secret)
		}
		if _, prefixed := prefixOf(secret); prefixed { // the hub can remove a secret from a logged path only if its prefix is known
			for _, path := range []string{"/passports/", "/grants/", "/apps/", "/signers/", "/messages/", "/" + public + "/"} {
				h.do("GET", protocolPath+path+url.PathEscape(secret), "")
				h.do("DELETE", protocolPath+path+url.PathEscape(secret), "", "Authorization", "Bearer "+secret)
			}
		}
		h.do("POST", protocolPath+"/oauth/token", `{"grant_type":"refresh_token","refresh_token":"`+secret+`","client_id":"`+secret+`","client_secret":"`+secret+`"}`)
	}
}

// prefixOf returns the prefix of a secret; false if the secret has no prefix of the hub.
func prefixOf(secret string) (prefix string, ok bool) {
	for _, p := range []string{"dat_", "drt_", "dac_", "das_", "dar_", "dch_", "dk_"} {
		if strings.HasPrefix(secret, p) {
			return p, true
		}
	}
	return "", false
}

// TestSecretsAreNotStored (S18, S19) checks that after the flows of travel, no secret is in the log, the traces, the metrics,
// the tables or Redis.
func TestSecretsAreNotStored(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	w.environ["REDIS_TIMEOUT"] = "5s" // the keys of Redis are expected, also on a busy machine
	w.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	traces := newCollector(t)
	h := w.hub("LOG_LEVEL", "debug", "OTEL_EXPORTER_OTLP_ENDPOINT", traces.url, "OTEL_TRACES_SAMPLER_ARG", "1")
	j := h.travel()
	places := w.tables(w.redisText())
	response, err := http.Get("http://" + h.MetricsAddr() + "/metrics")
	must(t, err)
	metrics, err := io.ReadAll(response.Body)
	if _ = response.Body.Close(); err != nil {
		t.Fatal(err)
	}
	h.stop() // exports pending traces
	places["the log"], places["the traces"], places["the metrics"] = h.logs.String(), traces.String(), string(metrics)
	for place, canary := range map[string]string{
		"the log": "/oauth/token", "the traces": "/oauth/token", "the metrics": "/oauth/token", "Redis": "sc:limit:hub-client:",
		"apps": "Desk", "access_tokens": `\x`, "refresh_tokens": `\x`, "auth_codes": `\x`, "grants": "profile:read", "signer_challenges": `\x`,
	} {
		if !strings.Contains(places[place], canary) {
			t.Errorf("%s does not contain %s, so the search for secrets there finds nothing", place, canary)
		}
	}
	if len(j) < 17 {
		t.Errorf("only %d secrets were collected", len(j))
	}
	for what, secret := range j {
		prefix, _ := prefixOf(secret)
		body := strings.TrimPrefix(secret, prefix)
		if len(body) < 20 {
			t.Fatalf("%s is %q", what, secret)
		}
		body = body[:20] // a part of a secret must not be there either
		for place, text := range places {
			for _, form := range []string{body, url.QueryEscape(body), hex.EncodeToString([]byte(body)), base64.StdEncoding.EncodeToString([]byte(secret))} {
				if i := strings.Index(text, form); i >= 0 {
					t.Errorf("%s: the %s: …%s", place, what, strings.ReplaceAll(text[max(0, i-120):i], "\n", " "))
					break
				}
			}
		}
	}
}

// tables adds the rows of each table of the hub to out: the name of the table maps to the rows as text.
func (w *town) tables(out map[string]string) map[string]string {
	w.t.Helper()
	db := w.ledger.DB
	rows, err := db.Query(w.t.Context(), "SELECT tablename FROM pg_tables WHERE schemaname = 'hub'")
	must(w.t, err)
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	must(w.t, err)
	for _, table := range tables {
		var text string
		if err := db.QueryRow(w.t.Context(), "SELECT coalesce(string_agg(t::text, E'\n'), '') FROM hub."+pgx.Identifier{table}.Sanitize()+" t").Scan(&text); err != nil {
			w.t.Fatal(err)
		}
		out[table] = text
	}
	return out
}

// redisText returns all keys of Redis with their serialized values, as one text under the name Redis.
func (w *town) redisText() map[string]string {
	w.t.Helper()
	db, ctx := testkit.KV(w.t, w.redis), context.Background()
	keys, err := db.Keys(ctx, "*").Result()
	must(w.t, err)
	var all strings.Builder
	for _, key := range keys {
		value, err := db.Dump(ctx, key).Result()
		must(w.t, err)
		all.WriteString(key + " " + value + "\n")
	}
	return map[string]string{"Redis": all.String()}
}
