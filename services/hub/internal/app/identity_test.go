package app

import (
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/config"
	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
)

// canaryHost is a TCP server that counts connections. A hub must never connect to it.
type canaryHost struct {
	addr string
	hits atomic.Int32
}

func newCanary(t *testing.T) *canaryHost {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	c := &canaryHost{addr: listener.Addr().String()}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			c.hits.Add(1)
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() { _ = listener.Close(); <-done })
	return c
}

// quiet checks that there was no connection. It then connects itself, to check that the host counts connections.
func (c *canaryHost) quiet(t *testing.T) {
	t.Helper()
	if n := c.hits.Load(); n != 0 {
		t.Errorf("%d connections to the canary host; want 0", n)
	}
	conn, err := net.Dial("tcp", c.addr)
	must(t, err)
	_ = conn.Close()
	testkit.Eventually(t, 5*time.Second, func() bool { return c.hits.Load() > 0 })
}

// TestUnknownIssuersAreNotFetched (S31) checks that a token is refused if its issuer or key address names an unknown host. The
// hub must not connect to that host. The test uses each route that accepts a login, and the header of the identity token.
func TestUnknownIssuersAreNotFetched(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	c := newCanary(t)
	h := w.hub()
	now := time.Now().Unix()
	claims := func(changes map[string]any) map[string]any {
		out := map[string]any{"iss": "privy.io", "aud": "app", "sub": "did:privy:x", "sid": "s1", "iat": now, "exp": now + 3600}
		for name, v := range changes {
			out[name] = v
		}
		return out
	}
	tokens := map[string]string{
		"an issuer of http":  w.issuer.sign(t, claims(map[string]any{"iss": "http://" + c.addr})),
		"an issuer of https": w.issuer.sign(t, claims(map[string]any{"iss": "https://" + c.addr + "/"})),
		"an identity token":  w.issuer.sign(t, claims(map[string]any{"iss": "http://" + c.addr, "sid": nil, "linked_accounts": "[]", "cr": "1"})),
	}
	for _, name := range []string{"jku", "x5u", "jwk"} {
		tokens[name] = w.issuer.signWith(t, map[string]any{"alg": "ES256", "typ": "JWT", "kid": "unknown", name: "http://" + c.addr + "/keys"}, claims(nil))
	}
	routes := 0
	for _, r := range h.server.Table() {
		if !slices.Contains(r.Who, "jwt") {
			continue
		}
		routes++
		path := strings.NewReplacer(":appId", "x").Replace(r.Path)
		for name, token := range tokens {
			if status, _, body := h.do(r.Method, path, "", "Authorization", "Bearer "+token); status != http.StatusUnauthorized {
				t.Errorf("%s %s with %s: %d %s", r.Method, path, name, status, body)
			}
		}
	}
	if routes < 5 {
		t.Errorf("only %d routes tested; the search for routes is broken", routes)
	}
	login := w.issuer.token(t, "did:privy:x")
	page := h.signIn("did:privy:x")
	for name, token := range tokens {
		if status, _, body := h.do("POST", "/api/auth/privy", "", "Authorization", "Bearer "+login, "privy-id-token", token); status != http.StatusUnauthorized {
			t.Errorf("%s as the identity token of a login: %d %s", name, status, body)
		}
		if status, _, body := h.do("POST", "/api/identity/claim", `{"address":"`+wallet+`"}`, append(page, "privy-id-token", token)...); status == http.StatusOK {
			t.Errorf("%s as the identity token of a claim: %d %s", name, status, body)
		}
	}
	c.quiet(t)
}

// TestTwoProvidersAreTwoPeople (S32) checks that the same subject at two providers is two operators. Neither can use the keys,
// apps and identity tokens of the other.
func TestTwoProvidersAreTwoPeople(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	second := newIssuer(t)
	w.environ["IDP_PROVIDERS"] = fmt.Sprintf(`[{"name":"main","issuer":"privy.io","audience":"app","jwksURL":%q},
		{"name":"second","issuer":"https://second.example","audience":"app","jwksURL":%q}]`, w.issuer.url, second.url)
	h := w.hub()
	const subject = "did:privy:mara"
	now := time.Now().Unix()
	claims := map[string]any{"iss": "https://second.example", "aud": "app", "sub": subject, "sid": "s1", "iat": now, "exp": now + 3600}
	first, other := "Bearer "+w.issuer.token(t, subject), "Bearer "+second.sign(t, claims)
	me := h.json(200, "GET", "/api/dev/whoami", "", "Authorization", first)
	them := h.json(200, "GET", "/api/dev/whoami", "", "Authorization", other)
	if me["denpaId"] == "" || me["denpaId"] == them["denpaId"] {
		t.Fatalf("the same subject at two providers: %v and %v; want two operators", me, them)
	}
	h.json(401, "GET", "/api/dev/whoami", "", "Authorization", "Bearer "+w.issuer.sign(t, claims)) // signed with the key of the first provider, issuer of the second
	key := h.json(201, "POST", "/api/dev/keys", `{"label":"x"}`, "Authorization", first)
	h.json(404, "DELETE", "/api/dev/keys?id="+key["id"].(string), "", "Authorization", other)
	if keys := h.json(200, "GET", "/api/dev/keys", "", "Authorization", other)["keys"].([]any); len(keys) != 0 {
		t.Errorf("the operator of the second provider sees keys of the first: %v", keys)
	}
	app := h.json(201, "POST", "/api/dev/apps", `{"name":"Desk","type":"public","redirectUris":["https://app.example.com/cb"],"scopes":["profile:read"]}`, "Authorization", first)
	h.json(404, "DELETE", "/api/dev/apps/"+app["appId"].(string), "", "Authorization", other)
	token := second.sign(t, map[string]any{"iss": "https://second.example", "aud": "app", "sub": subject, "iat": now, "exp": now + 3600, "linked_accounts": "[]", "cr": "1"})
	h.json(401, "POST", "/api/auth/privy", "", "Authorization", first, "privy-id-token", token)
}

// TestCookiesOfEachEnvironment (S35) checks that the cookies of a session are HttpOnly and SameSite=Lax in every environment, and
// Secure outside development and test.
func TestCookiesOfEachEnvironment(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	for env, secure := range map[config.Env]bool{config.Development: false, config.Test: false, config.Production: true} {
		cfg := w.config()
		cfg.Env = env
		h := w.run(cfg)
		_, head, body := h.do("POST", "/api/auth/privy", "", "Authorization", "Bearer "+w.issuer.token(t, "did:privy:mara"))
		lines := head["Set-Cookie"]
		if want := map[bool]int{false: 2, true: 3}[secure]; len(lines) != want { // the third cookie binds the session to the browser
			t.Errorf("%s: %v %s", env, lines, body)
		}
		for _, line := range lines {
			c, err := http.ParseSetCookie(line)
			if err != nil || !c.HttpOnly || c.Secure != secure || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.Domain != "" {
				t.Errorf("%s: %s %v", env, line, err)
			}
		}
		h.stop()
	}
}

// TestClientsAreNoDocuments (S39) checks that the metadata declares client-id metadata documents as not supported. The hub must
// never fetch an address that a request of an app contains, even if the address is the client id.
func TestClientsAreNoDocuments(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	w.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	c := newCanary(t)
	h := w.hub()
	for _, path := range []string{protocolPath, "/.well-known/oauth-authorization-server" + protocolPath} {
		if on, said := h.json(200, "GET", path, "")["client_id_metadata_document_supported"]; on != false || !said {
			t.Errorf("%s: client_id_metadata_document_supported is %v, want false", path, on)
		}
	}
	page := h.signIn("did:privy:mara")
	for _, scheme := range []string{"https://", "http://"} {
		id := scheme + c.addr + "/client.json"
		query := "response_type=code&client_id=" + id + "&redirect_uri=" + scheme + c.addr + "/cb&state=s&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256"
		for _, more := range []string{"", "&prompt=none", "&request_uri=" + id} {
			status, head, body := h.do("GET", "/protocol/authorize?"+query+more, "", page...)
			equal(t, status, http.StatusBadRequest, more, head, body)
			equal(t, head.Get("Location"), "", more, status, head, body)
		}
		for _, path := range []string{"/oauth/token", "/oauth/revoke", "/oauth/introspect"} {
			h.json(401, "POST", protocolPath+path, `{"client_id":"`+id+`","token":"x","grant_type":"refresh_token","refresh_token":"x"}`)
		}
	}
	login := []string{"Authorization", "Bearer " + w.issuer.token(t, "did:privy:mara")}
	app := h.json(201, "POST", "/api/dev/apps", `{"name":"Desk","type":"public","redirectUris":["https://`+c.addr+`/cb"],"scopes":["profile:read"],
		"homepage":"https://`+c.addr+`/","logoUrl":"https://`+c.addr+`/logo.png"}`, login...)
	h.json(200, "GET", protocolPath+"/apps/"+app["appId"].(string), "")
	query := "response_type=code&client_id=" + app["appId"].(string) + "&redirect_uri=https://" + c.addr + "/cb&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256"
	h.json(200, "GET", "/protocol/authorize?"+query, "", page...)
	c.quiet(t)
}

const wallet = "0x52908400098527886E0F7030069857D2E4169EE7"

// linker is a fake of the users API of the identity provider.
type linker struct {
	answer atomic.Value // linked accounts as JSON; empty: the API answers 500
	asked  atomic.Int32
}

func (l *linker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l.asked.Add(1)
	app, password, _ := r.BasicAuth()
	text, _ := l.answer.Load().(string)
	if text == "" || app != "app" || password != "pw" || r.Header.Get("privy-app-id") != "app" {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	_, _ = fmt.Fprintf(w, `{"id":%q,"linked_accounts":%s}`, strings.TrimPrefix(r.URL.Path, "/v1/users/"), text)
}

// signIn signs a user in and returns the headers that a page of the hub then sends with a request.
func (h *hub) signIn(subject string) []string {
	h.w.t.Helper()
	return []string{"Cookie", h.session(subject), "Origin", "http://hub.test"}
}

// linkedTo returns the linked accounts of a user who has one wallet, as JSON.
func linkedTo(address string) string {
	return fmt.Sprintf(`[{"type":"wallet","address":%q,"chain_type":"ethereum","verified_at":1,"lv":1}]`, address)
}

// identity returns an identity token of a subject with linked accounts. Its time of issue is age before now.
func (w *town) identity(subject, accounts string, age time.Duration) string {
	now := time.Now().Unix()
	return w.issuer.sign(w.t, map[string]any{
		"iss": "privy.io", "aud": "app", "sub": subject, "iat": now - int64(age/time.Second), "exp": now + 3600, "cr": "1", "linked_accounts": accounts,
	})
}

// TestClaimsThroughTheProvider checks that a claim requires a wallet that the provider lists for the subject, in a recent
// identity token or in its users API. The public identity must show the claim. A second operator who claims the wallet takes it
// over.
func TestClaimsThroughTheProvider(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	link := &linker{}
	users := httptest.NewServer(link)
	t.Cleanup(users.Close)
	w.environ["IDP_PROVIDERS"] = fmt.Sprintf(
		`[{"name":"main","issuer":"privy.io","audience":"app","jwksURL":%q,"walletsFrom":"identityToken","usersAPI":%q,"usersSecret":"pw"}]`, w.issuer.url, users.URL)
	h := w.hub()
	const mara, bob = "did:privy:mara_k", "did:privy:bob_ross"
	page, other := h.signIn(mara), h.signIn(bob)
	try := func(name string, wantStatus int, wantCode string, page []string, address string, more ...string) {
		t.Helper()
		status, _, body := h.do("POST", "/api/identity/claim", `{"address":"`+address+`"}`, append(more, page...)...)
		if code := member(body, "error"); status != wantStatus || code != wantCode {
			t.Errorf("%s: %d %s, want %d %s", name, status, code, wantStatus, wantCode)
		}
	}
	fresh := w.identity(mara, linkedTo(wallet), 0)
	try("provider unavailable, no token", 503, "identity_provider_unavailable", page, wallet)
	try("a fresh token", 200, "", page, strings.ToLower(wallet), "privy-id-token", fresh)
	asked := link.asked.Load()
	try("a token of another subject", 401, "unauthenticated", other, wallet, "privy-id-token", fresh)
	try("an access token in its place", 401, "unauthenticated", page, wallet, "privy-id-token", w.issuer.token(t, mara))
	try("a forged token", 401, "unauthenticated", page, wallet, "privy-id-token", fresh[:len(fresh)-4]+"AAAA")
	if n := link.asked.Load(); n != asked {
		t.Errorf("%d requests to the users API for invalid tokens; want 0", n-asked)
	}
	link.answer.Store(`[]`)
	try("an old token", 403, "wallet_not_linked", other, wallet, "privy-id-token", w.identity(bob, linkedTo(wallet), 6*time.Minute))
	try("not linked", 403, "wallet_not_linked", other, wallet)
	link.answer.Store(linkedTo(strings.ToLower(wallet)))
	try("linked by the users API", 200, "", other, wallet) // the claim moves to this operator
	for handle, claimed := range map[string]bool{"mara_k": false, "bob_ross": true} {
		status, _, body := h.do("GET", "/api/network/identity/"+handle, "")
		equal(t, status, 200, handle, body)
		equal(t, strings.Contains(body, wallet), claimed, handle, status, body)
	}
	for _, secret := range []string{fresh, strings.Split(fresh, ".")[2], wallet, `"pw"`} {
		if strings.Contains(h.logs.String(), secret) {
			t.Error("the log contains a secret or a wallet")
		}
	}
}

// TestHandleOfTheIdentityToken checks that a login without a user name gets its handle from the identity token that is sent with
// it. An invalid identity token must be refused. A user name in the login has precedence.
func TestHandleOfTheIdentityToken(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	h := w.hub()
	const subject = "did:privy:cm1"
	now := time.Now().Unix()
	login := w.issuer.sign(t, map[string]any{"iss": "privy.io", "aud": "app", "sub": subject, "sid": "s1", "iat": now, "exp": now + 3600})
	token := w.identity(subject, `[{"type":"farcaster","fid":7,"username":"tidewatch","lv":1}]`, time.Hour)
	other := w.identity("did:privy:cm2", `[{"type":"farcaster","fid":8,"username":"other","lv":1}]`, 0)
	for name, bad := range map[string][]string{
		"of another subject": {other}, "a login": {login}, "not a token": {"x.y.z"}, "empty": {""}, "two": {token, token},
	} {
		headers := []string{"Authorization", "Bearer " + login}
		for _, one := range bad {
			headers = append(headers, "privy-id-token", one)
		}
		status, _, body := h.do("POST", "/api/auth/privy", "", headers...)
		equal(t, status, 401, name, body)
	}
	status, _, body := h.do("POST", "/api/auth/privy", "", "privy-id-token", token)
	equal(t, status, 401, "an identity token without a login", body)
	const named = "did:privy:named_one" // a login with a user name
	_, _, body = h.do("POST", "/api/auth/privy", "", "Authorization", "Bearer "+w.issuer.token(t, named),
		"privy-id-token", w.identity(named, `[{"type":"farcaster","fid":9,"username":"elsewhere","lv":1}]`, time.Hour))
	equal(t, member(body, "handle"), "named_one", body)
	h.json(401, "POST", "/api/auth/privy", "", "Authorization", "Bearer "+token)
	status, _, body = h.do("POST", "/api/auth/privy", `{"handle":"admin"}`, "Authorization", "Bearer "+login, "privy-id-token", token)
	if status != 200 || !strings.Contains(body, `"handle":"tidewatch"`) {
		t.Errorf("%d %s", status, body)
	}
}

func TestDigestGoesToTheLog(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	h := w.hub()
	path := "/api/admin/daily-digest?secret=" + w.environ["CRON_SECRET"]
	if status, _, body := h.do("POST", path, ""); status != 200 || !strings.Contains(body, `"sent":1`) {
		t.Fatal(status, body)
	}
	if status, _, body := h.do("POST", path, ""); status != 200 || !strings.Contains(body, `"sent":0,"already":true`) {
		t.Error(status, body)
	}
	day := time.Now().UTC().AddDate(0, 0, -1).Format(time.DateOnly)
	if logs := h.logs.String(); strings.Count(logs, "daily digest") != 1 || !strings.Contains(logs, day) || strings.Contains(logs, w.environ["CRON_SECRET"]) {
		t.Error(logs)
	}
}

// refused is the answer of a hub to a request with a wrong secret, or after too many wrong ones.
type refused struct {
	status      int
	head        http.Header
	code, limit string
}

// introspect sends a request to the introspection endpoint with the client id and secret of an app.
func (h *hub) introspect(clientID, secret string) refused {
	status, head, body := h.do("POST", protocolPath+"/oauth/introspect", "token=x", "Content-Type", "application/x-www-form-urlencoded",
		"Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(clientID+":"+secret)))
	return refused{status, head, member(body, "error"), member(body, "limit")}
}

// member returns the value of a member of a flat JSON object as text, without quotes.
func member(body, name string) string {
	_, rest, _ := strings.Cut(body, `"`+name+`":`)
	return strings.Trim(rest[:max(0, strings.IndexAny(rest, ",}"))], `"`)
}

// mustWait checks that a request was refused with 429 and a wait of 1 to 60 seconds. what describes the request.
func (r refused) mustWait(t *testing.T, what string) {
	t.Helper()
	seconds, err := strconv.Atoi(r.head.Get("Retry-After"))
	if r.status != http.StatusTooManyRequests || r.code != "rate_limited" || r.limit != "10" || err != nil || seconds < 1 || seconds > 60 {
		t.Errorf("%s: %d %s, limit %s, Retry-After %q", what, r.status, r.code, r.limit, r.head.Get("Retry-After"))
	}
}

// from returns a copy of h that sends requests from another local IP address.
func (h *hub) from(address string) *hub {
	w := *h.w
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	transport := &http.Transport{DialContext: dialer.DialContext}
	h.w.t.Cleanup(transport.CloseIdleConnections)
	w.client = &http.Client{Transport: transport, Timeout: 30 * time.Second}
	other := *h
	other.w = &w
	return &other
}

// confidential registers a confidential app and returns its client id and secret.
func (h *hub) confidential() (id, secret string) {
	h.w.t.Helper()
	app := h.json(201, "POST", "/api/dev/apps", `{"name":"Desk","type":"confidential","redirectUris":["https://app.example.com/cb"],"scopes":["profile:read"]}`,
		"Authorization", "Bearer "+h.w.issuer.token(h.w.t, "did:privy:maker"))
	return app["clientId"].(string), app["clientSecret"].(string)
}

// TestFailedClientsOverTwoHubs (S21) checks that ten failures of a client from one address, counted over both hubs, block that
// client. Each hub then refuses the client from that address without checking its secret. Other clients and addresses are not
// affected.
func TestFailedClientsOverTwoHubs(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	w.environ["REDIS_TIMEOUT"] = "5s"
	hubs := []*hub{w.hub(), w.hub()}
	id, secret := hubs[0].confidential()
	other, otherSecret := hubs[0].confidential()
	for i := range caller.MaxFailures {
		if r := hubs[i%2].introspect(id, "wrong"); r.status != 401 || r.code != "invalid_client" {
			t.Fatalf("failure %d: %+v", i, r)
		}
		if r := hubs[(i+1)%2].introspect(id, secret); i == 4 && r.status != 200 {
			t.Errorf("the right secret after five failures: %+v", r)
		}
	}
	for i, h := range hubs {
		h.introspect(id, secret).mustWait(t, "the right secret at hub "+strconv.Itoa(i))
		if r := h.introspect(other, otherSecret); r.status != 200 {
			t.Errorf("another client: %+v", r)
		}
		if r := h.from("127.0.0.2").introspect(id, secret); r.status != 200 {
			t.Errorf("another address: %+v", r)
		}
	}
}

// TestFailuresAtOnceOverTwoHubs (S21) sends concurrent requests with a wrong secret to two hubs. Exactly ten must be refused
// because the secret is wrong, and the others with 429.
func TestFailuresAtOnceOverTwoHubs(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	w.environ["REDIS_TIMEOUT"] = "5s"
	hubs := []*hub{w.hub(), w.hub()}
	id, _ := hubs[0].confidential()
	answers := map[string]func(h *hub) int{
		"a client":         func(h *hub) int { return h.introspect(id, "wrong").status },
		"the admin secret": func(h *hub) int { return h.admin("wrong").status },
		"the cron secret":  func(h *hub) int { return h.from("127.0.0.3").cron("wrong").status },
	}
	for name, ask := range answers {
		var mu sync.Mutex
		var all sync.WaitGroup
		got := map[int]int{}
		for i := range 28 { // below the limit of thirty requests of a client per minute
			all.Go(func() {
				status := ask(hubs[i%2])
				mu.Lock()
				defer mu.Unlock()
				got[status]++
			})
		}
		all.Wait()
		equal(t, got[401]+got[403], caller.MaxFailures, name)
		equal(t, got[429], 28-caller.MaxFailures, name)
	}
}

// admin sends a request with an admin secret.
func (h *hub) admin(secret string) refused {
	status, head, body := h.do("POST", "/api/admin/markets", "{}", "x-admin-secret", secret)
	return refused{status, head, member(body, "error"), member(body, "limit")}
}

// cron sends a request with a cron secret.
func (h *hub) cron(secret string) refused {
	status, head, body := h.do("GET", "/api/admin/resolve-signals?secret="+secret, "")
	return refused{status, head, member(body, "error"), member(body, "limit")}
}

// TestWrongSecretsOverTwoHubs checks that ten wrong admin or cron secrets from one address, counted together over both hubs,
// block that address. Each hub then refuses both secrets from it.
func TestWrongSecretsOverTwoHubs(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	w.environ["REDIS_TIMEOUT"] = "5s"
	hubs := []*hub{w.hub(), w.hub()}
	for i := range caller.MaxFailures {
		ask := hubs[i%2].admin
		if i >= 5 {
			ask = hubs[i%2].cron
		}
		if r := ask("wrong"); r.status != 403 {
			t.Fatalf("failure %d: %+v", i, r)
		}
	}
	for _, h := range hubs {
		h.admin(good()["ADMIN_SECRET"]).mustWait(t, "the right admin secret")
		h.cron(good()["CRON_SECRET"]).mustWait(t, "the right cron secret")
		if r := h.from("127.0.0.2").admin(good()["ADMIN_SECRET"]); r.status != 400 { // the secret is accepted, the market is missing
			t.Errorf("another address: %+v", r)
		}
	}
}
