package app

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/testkit"
)

// collector keeps the traces that a hub exports.
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

// journey is everything that the flow of an app makes secret, by what it is.
type journey map[string]string

// formed sends a form.
func (h *hub) formed(want int, path string, form url.Values, headers ...string) (head http.Header, body string) {
	h.w.t.Helper()
	status, head, body := h.do("POST", path, form.Encode(), append(headers, "Content-Type", "application/x-www-form-urlencoded")...)
	if status != want {
		h.w.t.Fatalf("%s: %d %s", path, status, body)
	}
	return head, body
}

// travel goes the whole way of a confidential app, of a signer and of a key, and makes
// the mistakes on it that people make.
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
	sum := sha256.Sum256([]byte(proof))
	ask := url.Values{
		"response_type": {"code"}, "client_id": {id}, "redirect_uri": {"https://app.example.com/cb"}, "state": {"s"}, "scope": {"profile:read signer:create offline_access"},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"},
	}
	_, _, text := h.do("GET", "/protocol/authorize?"+ask.Encode(), "", page...)
	m := regexp.MustCompile(`name="request" value="([^"]+)"`).FindStringSubmatch(text)
	if m == nil {
		t.Fatal(text)
	}
	j["consent"] = html.UnescapeString(m[1])
	head, _ = h.formed(303, "/protocol/authorize", url.Values{"request": {j["consent"]}, "decision": {"approve"}}, page...)
	to, err := url.Parse(head.Get("Location"))
	if err != nil {
		t.Fatal(err)
	}
	j["code"] = to.Query().Get("code")
	j["basic"] = base64.StdEncoding.EncodeToString([]byte(id + ":" + j["client secret"]))
	basic := []string{"Authorization", "Basic " + j["basic"]}
	_, body := h.formed(200, protocol+"/oauth/token", url.Values{"grant_type": {"authorization_code"}, "code": {j["code"]}, "code_verifier": {proof}}, basic...)
	j["access token"], j["refresh token"] = member(body, "access_token"), member(body, "refresh_token")
	_, body = h.formed(200, protocol+"/oauth/token", url.Values{"grant_type": {"refresh_token"}, "refresh_token": {j["refresh token"]}}, basic...)
	j["second access token"], j["second refresh token"] = member(body, "access_token"), member(body, "refresh_token")
	h.formed(200, protocol+"/oauth/introspect", url.Values{"token": {j["refresh token"]}}, basic...)

	j["key"] = h.json(201, "POST", "/api/dev/keys", `{"label":"x"}`, login...)["key"].(string)
	h.json(200, "GET", protocol+"/me", "", "Authorization", "Bearer "+j["key"])
	private := sha256.Sum256([]byte("a signer"))
	public := hex.EncodeToString(private[:])
	j["challenge"], _ = h.challengeFor(j["access token"])
	j["admin secret"], j["cron secret"] = good()["ADMIN_SECRET"], good()["CRON_SECRET"]
	h.do("GET", "/api/admin/resolve-signals?secret="+j["cron secret"], "")
	h.do("POST", "/api/admin/markets", "{}", "x-admin-secret", j["admin secret"])
	h.mistakes(j, public)
	h.formed(200, protocol+"/oauth/revoke", url.Values{"token": {j["second refresh token"]}}, basic...)
	return j
}

// challengeFor asks for a challenge with an app token.
func (h *hub) challengeFor(access string) (challenge, key string) {
	key = hex.EncodeToString(seedKey("a signer of the journey"))
	return h.json(200, "POST", protocol+"/signers/challenge", `{"publicKey":"`+key+`"}`, "Authorization", "Bearer "+access)["challenge"].(string), key
}

// mistakes puts each secret where none belongs.
func (h *hub) mistakes(j journey, public string) {
	for what, secret := range j {
		for _, target := range []string{
			protocol + "/me?access_token=" + url.QueryEscape(secret), protocol + "/oauth/token?code=" + url.QueryEscape(secret),
			protocol + "/oauth/introspect?token=" + url.QueryEscape(secret) + "&client_secret=" + url.QueryEscape(secret),
		} {
			if status, _, body := h.do("GET", target, ""); status < 400 {
				h.w.t.Errorf("the %s in a query: %d %s", what, status, body)
			}
			h.do("POST", target, `{"token":`, "Authorization", "Bearer "+secret)
		}
		if _, prefixed := prefixOf(secret); prefixed { // what has no form of its own cannot be known in a path
			for _, path := range []string{"/passports/", "/grants/", "/apps/", "/signers/", "/messages/", "/" + public + "/"} {
				h.do("GET", protocol+path+url.PathEscape(secret), "")
				h.do("DELETE", protocol+path+url.PathEscape(secret), "", "Authorization", "Bearer "+secret)
			}
		}
		h.do("POST", protocol+"/oauth/token", `{"grant_type":"refresh_token","refresh_token":"`+secret+`","client_id":"`+secret+`","client_secret":"`+secret+`"}`)
	}
}

// prefixOf gives what our secrets begin with.
func prefixOf(secret string) (prefix string, ours bool) {
	for _, p := range []string{"dat_", "drt_", "dac_", "das_", "dar_", "dch_", "dk_"} {
		if strings.HasPrefix(secret, p) {
			return p, true
		}
	}
	return "", false
}

// TestSecretsAreWrittenNowhere (S18, S19): after the whole way of an app with its
// mistakes, no secret of it stands in a log, a trace, a metric, a table or in Redis.
func TestSecretsAreWrittenNowhere(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	w.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	traces := newCollector(t)
	h := w.hub("LOG_LEVEL", "debug", "OTEL_EXPORTER_OTLP_ENDPOINT", traces.url, "OTEL_TRACES_SAMPLER_ARG", "1")
	h.ready()
	j := h.travel()
	places := w.tables(w.redisText())
	response, err := http.Get("http://" + h.MetricsAddr() + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	metrics, err := io.ReadAll(response.Body)
	if _ = response.Body.Close(); err != nil {
		t.Fatal(err)
	}
	h.stop() // flushes
	places["the log"], places["the traces"], places["the metrics"] = h.logs.String(), traces.String(), string(metrics)
	for place, canary := range map[string]string{
		"the log": "/oauth/token", "the traces": "/oauth/token", "the metrics": "/oauth/token", "Redis": "sc:limit:hub-client:",
		"apps": "Desk", "access_tokens": `\x`, "refresh_tokens": `\x`, "auth_codes": `\x`, "grants": "profile:read", "signer_challenges": `\x`,
	} {
		if !strings.Contains(places[place], canary) {
			t.Errorf("%s does not hold %s: the search sees nothing", place, canary)
		}
	}
	if len(j) < 17 {
		t.Errorf("only %d secrets", len(j))
	}
	for what, secret := range j {
		prefix, _ := prefixOf(secret)
		body := strings.TrimPrefix(secret, prefix)
		if len(body) < 20 {
			t.Fatalf("%s is %q", what, secret)
		}
		body = body[:20] // a part of it is too much
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

// tables adds every row of every table of the hub, as text.
func (w *town) tables(out map[string]string) map[string]string {
	w.t.Helper()
	db := testkit.Pool(w.t, w.database.Admin)
	rows, err := db.Query(w.t.Context(), "SELECT tablename FROM pg_tables WHERE schemaname = 'hub'")
	if err != nil {
		w.t.Fatal(err)
	}
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		w.t.Fatal(err)
	}
	for _, table := range tables {
		var text string
		if err := db.QueryRow(w.t.Context(), "SELECT coalesce(string_agg(t::text, E'\n'), '') FROM hub."+pgx.Identifier{table}.Sanitize()+" t").Scan(&text); err != nil {
			w.t.Fatal(err)
		}
		out[table] = text
	}
	return out
}

// redisText is every key of Redis with its value as Redis keeps it.
func (w *town) redisText() map[string]string {
	w.t.Helper()
	db, ctx := testkit.KV(w.t, w.redis), context.Background()
	keys, err := db.Keys(ctx, "*").Result()
	if err != nil {
		w.t.Fatal(err)
	}
	var all strings.Builder
	for _, key := range keys {
		value, err := db.Dump(ctx, key).Result()
		if err != nil {
			w.t.Fatal(err)
		}
		all.WriteString(key + " " + value + "\n")
	}
	return map[string]string{"Redis": all.String()}
}
