package e2e

import (
	"context"
	"encoding/hex"
	"html"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/oauth2"
)

// grantTo lets an app act for this person and gives what the app got on the way.
func (p *person) grantTo(t testing.TB, app *oauth2.Config) (token *oauth2.Token, secrets map[string]string) {
	t.Helper()
	cookies, _ := p.signIn(t)
	verifier := oauth2.GenerateVerifier()
	page := get(t, app.AuthCodeURL("s", oauth2.S256ChallengeOption(verifier)), cookies).is(http.StatusOK)
	_, rest, _ := strings.Cut(string(page.body), `name="request" value="`)
	request, _, _ := strings.Cut(rest, `"`)
	request = html.UnescapeString(request)
	form := url.Values{"request": {request}, "decision": {"approve"}}.Encode()
	done := post(t, app.Endpoint.AuthURL, cookies, with("Origin", p.s.Hub), formed(form)).is(http.StatusSeeOther)
	to, err := url.Parse(done.header.Get("Location"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	code := to.Query().Get("code")
	if token, err = app.Exchange(ctx, code, oauth2.VerifierOption(verifier)); err != nil {
		t.Fatal(err)
	}
	return token, map[string]string{
		"the consent": request, "the code": code, "the verifier": verifier, "the access token": token.AccessToken, "the refresh token": token.RefreshToken,
	}
}

// TestAppTokensStayOnTheProtocol (S22): made from the description. A live app token and
// its refresh token are refused at every route of every service that is not under the
// protocol, those for everybody included.
func TestAppTokensStayOnTheProtocol(t *testing.T) {
	t.Parallel()
	s := up(t)
	p := s.person(t)
	token, _ := p.grantTo(t, p.app(t, "http://127.0.0.1:8421/cb", "profile:read", "signal:create", "offline_access"))
	doc, err := described()
	if err != nil {
		t.Fatal(err)
	}
	market, hosts := s.native(t, 5000), map[string]int{}
	for _, o := range doc.ops {
		if strings.HasPrefix(o.path, "/api/protocol/") || o.path == "/healthz" || o.path == "/readyz" || o.path == "/ws" || strings.Contains(o.path, "/channel") {
			continue // health looks at nobody, the channels are gone for everybody, and the socket comes below
		}
		hosts[o.host]++
		for name, secret := range map[string]string{"an app token": token.AccessToken, "a refresh token": token.RefreshToken} {
			if a := send(t, o.method, s.base(o.host)+target(o.path, market), bearer(secret), with("Accept", "application/json")); a.status != http.StatusUnauthorized {
				t.Errorf("%s with %s: %d", o.name(), name, a.status)
			}
		}
	}
	if hosts["hub"] < 60 || hosts["api"] < 5 || hosts["clock"] < 3 {
		t.Errorf("routes tried: %v", hosts)
	}
	upgrade := []option{with("Connection", "Upgrade"), with("Upgrade", "websocket"), with("Sec-WebSocket-Version", "13"), with("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==")}
	get(t, s.API+"/ws", append(upgrade, bearer(token.AccessToken))...).fails(http.StatusUnauthorized, "unauthenticated")
	get(t, s.Hub+"/api/protocol/v1/me", bearer(token.AccessToken)).is(http.StatusOK)
	get(t, s.Hub+"/api/protocol/v1/me", bearer(token.RefreshToken)).fails(http.StatusUnauthorized, "unauthenticated")
}

// TestOnlyHashesAreStored (S18, S19, S52): after an app, a key, a signer and a webhook of
// somebody, no secret of theirs stands in a table of any schema, in Redis or in a log.
func TestOnlyHashesAreStored(t *testing.T) {
	t.Parallel()
	s := up(t)
	p := s.person(t)
	cookies, _ := p.signIn(t)
	app := p.app(t, "http://127.0.0.1:8421/cb", "profile:read", "signer:create", "signal:create", "offline_access")
	token, secrets := p.grantTo(t, app)
	secrets["the login"] = p.token
	secrets["the key"], _ = p.mint(t, "stored")
	secrets["the client secret"] = post(t, s.Hub+"/api/dev/apps", p.login(), payload(obj{
		"name": "Confidential", "type": "confidential", "redirectUris": []string{"https://app.example.com/cb"}, "scopes": []string{"profile:read"},
	})).is(http.StatusCreated).str("clientSecret")
	hooks := s.API + "/api/v1/webhooks"
	made := post(t, hooks, bearer(secrets["the key"]), payload(obj{"url": "https://hooks.example/", "channels": []string{"market:native-ffffffffffffffffffffffffffffffff"}})).is(http.StatusCreated)
	secrets["the secret of a webhook"] = made.str("secret")
	secrets["its renewed secret"] = post(t, hooks+"/"+made.str("id")+"/secret", bearer(secrets["the key"])).is(http.StatusOK).str("secret")
	r := &http.Request{Header: http.Header{}}
	cookies(r)
	for _, c := range r.Cookies() {
		secrets["the cookie "+c.Name] = c.Value
	}
	const signer = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
	secrets["the challenge"] = post(t, s.Hub+"/api/protocol/v1/signers/challenge", bearer(token.AccessToken), payload(obj{"publicKey": signer})).is(http.StatusOK).str("challenge")
	post(t, s.Hub+"/api/predictions", bearer(secrets["the key"]), payload(obj{"marketId": s.native(t, 5000), "direction": "YES", "priceAtPrediction": 5000})).is(http.StatusOK)
	post(t, s.Hub+"/api/protocol/v1/signals", bearer(token.AccessToken), payload(obj{"marketId": s.native(t, 5000), "position": "YES"})).is(http.StatusOK)

	places := s.everyTable(t)
	for table, sees := range map[string]string{
		"hub.apps": app.ClientID, "hub.access_tokens": `\x`, "hub.refresh_tokens": `\x`, "hub.auth_codes": `\x`, "hub.signer_challenges": `\x`,
		"api.operator_keys": `\x`, "api.users": p.user, "api.signals": "native-", "api.webhooks": `\x`,
	} {
		if !strings.Contains(places[table], sees) {
			t.Errorf("%s does not hold %s: the search sees nothing", table, sees)
		}
	}
	places["Redis"] = s.allOfRedis(t)
	for _, part := range []string{"hub", "api", "clock", "idp"} {
		raw, err := os.ReadFile(filepath.Join(s.dir, "logs", part+".log"))
		if err != nil {
			t.Fatal(err)
		}
		places["the log of "+part] = string(raw)
	}
	if len(secrets) != 13 {
		t.Errorf("%d secrets", len(secrets))
	}
	for what, secret := range secrets {
		body := secret[strings.LastIndexAny(secret[:min(len(secret), 8)], "_")+1:]
		if strings.HasPrefix(secret, "eyJ") {
			body = secret[strings.LastIndexByte(secret, '.')+1:] // logins begin alike
		}
		if len(body) < 24 {
			t.Fatalf("%s is %q", what, secret)
		}
		for place, text := range places {
			for _, form := range []string{body[:24], hex.EncodeToString([]byte(body[:24]))} {
				if strings.Contains(text, form) {
					t.Errorf("%s stands in %s", what, place)
				}
			}
		}
	}
}

// everyTable is every row of every table of ours, as text.
func (s *stack) everyTable(t *testing.T) map[string]string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.DatabaseURL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	rows, err := conn.Query(ctx, `SELECT c.oid::regclass::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE c.relkind IN ('r', 'm') AND n.nspname IN ('api', 'hub', 'clock')`)
	if err != nil {
		t.Fatal(err)
	}
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	out := make(map[string]string, len(tables))
	for _, table := range tables {
		rows, err := conn.Query(ctx, "SELECT t::text FROM "+table+" t")
		if err != nil {
			t.Fatal(err)
		}
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		out[table] = strings.Join(lines, "\n")
	}
	return out
}

// allOfRedis is every key with its value as Redis keeps it.
func (s *stack) allOfRedis(t *testing.T) string {
	t.Helper()
	client := s.redis(t)
	var all strings.Builder
	keys := client.Scan(t.Context(), 0, "*", 1000).Iterator()
	for keys.Next(t.Context()) {
		value, err := client.Dump(t.Context(), keys.Val()).Result()
		if err != nil {
			continue // it has run out
		}
		all.WriteString(keys.Val() + " " + value + "\n")
	}
	if keys.Err() != nil || all.Len() == 0 {
		t.Errorf("%d bytes of Redis, %v", all.Len(), keys.Err())
	}
	return all.String()
}
