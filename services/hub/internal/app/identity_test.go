package app

import (
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/conf"
	"github.com/signalcast/signalcast/pkg/testkit"
)

// canaryHost counts who connects to it; nobody should.
type canaryHost struct {
	addr string
	hits atomic.Int32
}

func newCanary(t *testing.T) *canaryHost {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
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

// quiet says that nobody came, and that somebody could have.
func (c *canaryHost) quiet(t *testing.T) {
	t.Helper()
	if n := c.hits.Load(); n != 0 {
		t.Errorf("%d connections to the canary", n)
	}
	conn, err := net.Dial("tcp", c.addr)
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
	testkit.Eventually(t, 5*time.Second, func() bool { return c.hits.Load() > 0 })
}

// TestUnknownIssuersAreNotFetched (S31): at every route that takes a login, and in the
// header of the identity token, a token that names a host of its own moves nobody to
// go there.
func TestUnknownIssuersAreNotFetched(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	c := newCanary(t)
	h := w.hub()
	h.ready()
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
	for _, r := range h.edge.Table() {
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
		t.Errorf("only %d routes", routes)
	}
	login := w.issuer.token(t, "did:privy:x")
	page := h.signIn(w, "did:privy:x")
	for name, token := range tokens {
		if status, _, body := h.do("POST", "/api/auth/privy", "", "Authorization", "Bearer "+login, "privy-id-token", token); status != http.StatusUnauthorized {
			t.Errorf("%s beside a login: %d %s", name, status, body)
		}
		if status, _, body := h.do("POST", "/api/identity/claim", `{"address":"`+wallet+`"}`, append(page, "privy-id-token", token)...); status == http.StatusOK {
			t.Errorf("%s beside a claim: %d %s", name, status, body)
		}
	}
	c.quiet(t)
}

// TestTwoProvidersAreTwoPeople (S32): one subject at two providers is two people, and
// neither finds what is the other's.
func TestTwoProvidersAreTwoPeople(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	second := newIssuer(t)
	w.environ["IDP_PROVIDERS"] = fmt.Sprintf(`[{"name":"main","issuer":"privy.io","audience":"app","jwksURL":%q},
		{"name":"second","issuer":"https://second.example","audience":"app","jwksURL":%q}]`, w.issuer.url, second.url)
	h := w.hub()
	h.ready()
	const subject = "did:privy:mara"
	now := time.Now().Unix()
	claims := map[string]any{"iss": "https://second.example", "aud": "app", "sub": subject, "sid": "s1", "iat": now, "exp": now + 3600}
	first, other := "Bearer "+w.issuer.token(t, subject), "Bearer "+second.sign(t, claims)
	me := h.json(200, "GET", "/api/dev/whoami", "", "Authorization", first)
	them := h.json(200, "GET", "/api/dev/whoami", "", "Authorization", other)
	if me["denpaId"] == "" || me["denpaId"] == them["denpaId"] {
		t.Fatalf("%v and %v", me, them)
	}
	h.json(401, "GET", "/api/dev/whoami", "", "Authorization", "Bearer "+w.issuer.sign(t, claims)) // the first one's key in the second's name
	key := h.json(201, "POST", "/api/dev/keys", `{"label":"x"}`, "Authorization", first)
	h.json(404, "DELETE", "/api/dev/keys?id="+key["id"].(string), "", "Authorization", other)
	if keys := h.json(200, "GET", "/api/dev/keys", "", "Authorization", other)["keys"].([]any); len(keys) != 0 {
		t.Errorf("the other one has %v", keys)
	}
	app := h.json(201, "POST", "/api/dev/apps", `{"name":"Desk","type":"public","redirectUris":["https://app.example.com/cb"],"scopes":["profile:read"]}`, "Authorization", first)
	h.json(404, "DELETE", "/api/dev/apps/"+app["appId"].(string), "", "Authorization", other)
	token := second.sign(t, map[string]any{"iss": "https://second.example", "aud": "app", "sub": subject, "iat": now, "exp": now + 3600, "linked_accounts": "[]", "cr": "1"})
	h.json(401, "POST", "/api/auth/privy", "", "Authorization", first, "privy-id-token", token)
}

// TestCookiesOfEachEnvironment (S35): HttpOnly and Lax everywhere, Secure outside
// development and test, and nothing in the pair can be changed.
func TestCookiesOfEachEnvironment(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	for env, secure := range map[conf.Env]bool{conf.Development: false, conf.Test: false, conf.Production: true} {
		cfg := w.config()
		cfg.Env = env
		h := w.run(cfg)
		h.ready()
		_, head, body := h.do("POST", "/api/auth/privy", "", "Authorization", "Bearer "+w.issuer.token(t, "did:privy:mara"))
		lines := head["Set-Cookie"]
		if want := map[bool]int{false: 2, true: 3}[secure]; len(lines) != want { // the third binds the pair to the browser
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

// TestSessionsThatWereChanged (S35): user, time and version are all signed; a pair that
// does not fit is nobody's. A new first secret ends no session, and a secret that is
// gone ends its own.
func TestSessionsThatWereChanged(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	old, _, _ := strings.Cut(good()["SESSION_SECRETS"], ",")
	const newer = "Nw7Kd2Lx9Qz4Xv6Bn1Mt8Rf3Yc5Pg0Ja"
	before := w.hub("SESSION_SECRETS", old)
	before.ready()
	pair := before.session("did:privy:mara")
	_, uid, _ := strings.Cut(pair, "db_uid=")
	uid, _, _ = strings.Cut(uid, ";")
	parts := strings.Split(uid, ".")
	_, others, _ := strings.Cut(before.session("did:privy:tide"), "db_uid=")
	if len(parts) != 3 {
		t.Fatalf("db_uid is %s", uid)
	}
	status := func(h *hub, pair string) int {
		status, _, _ := h.do("GET", "/api/user/grants", "", "Cookie", pair)
		return status
	}
	if got := status(before, pair); got != 200 {
		t.Fatalf("the pair itself: %d", got)
	}
	changed := func(n int, to string) string {
		other := slices.Clone(parts)
		other[n] = to
		return strings.Replace(pair, uid, strings.Join(other, "."), 1)
	}
	for name, bad := range map[string]string{
		"another user":    changed(0, strings.Split(others, ".")[0]),
		"a later time":    changed(1, fmt.Sprint(time.Now().Unix()+1)),
		"another version": changed(2, "1"),
		"a signature cut": pair[:len(pair)-1],
		"no signature":    strings.Split(pair, "; ")[0],
	} {
		if got := status(before, bad); got != http.StatusUnauthorized {
			t.Errorf("%s: %d", name, got)
		}
		if got, head, body := before.do("GET", "/api/m/701122/crowd", "", "Cookie", bad); got != 200 || head.Get("Cache-Control") != "public, s-maxage=10" {
			t.Errorf("%s at a page for everybody: %d %v %s", name, got, head, body)
		}
	}
	version := func(to int64) {
		w.ledger.Lock()
		defer w.ledger.Unlock()
		for _, op := range w.ledger.Operators {
			op.SessionVersion = to
		}
	}
	if version(1); status(before, changed(2, "1")) != http.StatusUnauthorized {
		t.Error("the version is not signed")
	}
	version(0)
	if got := status(w.hub("SESSION_SECRETS", newer+","+old), pair); got != 200 {
		t.Errorf("after a new first secret: %d", got)
	}
	if got := status(w.hub("SESSION_SECRETS", newer), pair); got != http.StatusUnauthorized {
		t.Errorf("after the old secret went: %d", got)
	}
}

// TestClientsAreNoDocuments (S39): client-id metadata documents are off, and say so. An
// address in place of a client id, or anywhere else in a request of an app, is never
// fetched.
func TestClientsAreNoDocuments(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	w.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	c := newCanary(t)
	h := w.hub()
	h.ready()
	for _, path := range []string{protocol, "/.well-known/oauth-authorization-server" + protocol} {
		if on, said := h.json(200, "GET", path, "")["client_id_metadata_document_supported"]; on != false || !said {
			t.Errorf("%s says %v", path, on)
		}
	}
	page := h.signIn(w, "did:privy:mara")
	for _, scheme := range []string{"https://", "http://"} {
		id := scheme + c.addr + "/client.json"
		query := "response_type=code&client_id=" + id + "&redirect_uri=" + scheme + c.addr + "/cb&state=s&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256"
		for _, more := range []string{"", "&prompt=none", "&request_uri=" + id} {
			status, head, body := h.do("GET", "/protocol/authorize?"+query+more, "", page...)
			if status != http.StatusBadRequest || head.Get("Location") != "" {
				t.Errorf("authorize %s: %d %v %.100s", more, status, head, body)
			}
		}
		for _, path := range []string{"/oauth/token", "/oauth/revoke", "/oauth/introspect"} {
			h.json(401, "POST", protocol+path, `{"client_id":"`+id+`","token":"x","grant_type":"refresh_token","refresh_token":"x"}`)
		}
	}
	login := []string{"Authorization", "Bearer " + w.issuer.token(t, "did:privy:mara")}
	app := h.json(201, "POST", "/api/dev/apps", `{"name":"Desk","type":"public","redirectUris":["https://`+c.addr+`/cb"],"scopes":["profile:read"],
		"homepage":"https://`+c.addr+`/","logoUrl":"https://`+c.addr+`/logo.png"}`, login...)
	h.json(200, "GET", protocol+"/apps/"+app["appId"].(string), "")
	query := "response_type=code&client_id=" + app["appId"].(string) + "&redirect_uri=https://" + c.addr + "/cb&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256"
	if status, _, body := h.do("GET", "/protocol/authorize?"+query, "", page...); status != 200 {
		t.Errorf("its page: %d %s", status, body)
	}
	c.quiet(t)
}
