package access

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/test/system/stack"
)

// credential is a way to authenticate a request.
type credential struct {
	name string
	set  stack.Set

	schemes     []string // security schemes of the OpenAPI document that the credential satisfies
	bearer      bool     // sends an Authorization header, which no route ignores
	query       bool     // sends a query parameter
	admin, cron secretState
	powers      []string // scopes of a token or permissions of a key; nil: not limited
	handle      string   // handle of the person; empty: the owner of the matrix
	forAgents   bool     // token whose resource is the MCP endpoint
	session     stack.Set
	client      bool // identifies the application
}

// secretState is the validity of the admin secret or of the scheduler's secret in a request.
type secretState int

const (
	noSecret secretState = iota
	rightSecret
	wrongSecret
)

// otherScopes are the scopes that no route of the protocol requires.
var otherScopes = []string{
	"profile:update", "station:create", "station:update", "broadcast:create", "broadcast:goLive", "market:create", "resolution:create",
}

// credentials contains one credential of each kind, and the objects to which they belong.
type credentials struct {
	*stack.Owner
	s      *stack.Stack
	public *stack.App
	all    []credential
}

// newCredentials creates one credential of each kind.
func newCredentials(t *testing.T, s *stack.Stack) *credentials {
	t.Helper()
	c := &credentials{Owner: s.NewOwner(t), s: s}
	c.add(credential{name: "none"})
	c.addPeople(t)
	c.addKeys(t)
	c.addTokens(t)
	c.addSecrets()
	c.addBroken(t)
	c.addPairs(t)
	return c
}

func (c *credentials) add(list ...credential) { c.all = append(c.all, list...) }

func (c *credentials) addPeople(t *testing.T) {
	t.Helper()
	other := c.s.NewOperator(t)
	minted := stack.Post(t, c.s.IDP+"/mint", stack.Body(stack.JSON{"user": other.Handle})).Require(http.StatusOK)
	token, identity := minted.Text("token"), minted.Text("identityToken")
	c.add(
		credential{name: "session", set: c.Browser, schemes: []string{"sessionId"}, session: c.Browser},
		credential{name: "login", set: stack.Bearer(token), schemes: []string{"identityToken"}, bearer: true},
		credential{name: "cookie of the developer page", set: developer(token), schemes: []string{"developerToken"}},
		credential{name: "identity token as bearer", set: stack.Bearer(identity), bearer: true},
		credential{name: "identity token alone", set: stack.Header("Privy-Id-Token", identity)},
	)
}

// developer returns a Set that sends the cookie of the developer page, in the same way as that page.
func developer(token string) stack.Set {
	return func(r *http.Request) {
		r.AddCookie(&http.Cookie{Name: "db_dev", Value: token})
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
}

// combine returns a Set that applies all sets.
func combine(sets ...stack.Set) stack.Set {
	return func(r *http.Request) {
		for _, set := range sets {
			if set != nil {
				set(r)
			}
		}
	}
}

// query returns a Set that adds values of a query parameter.
func query(name string, values ...string) stack.Set {
	return func(r *http.Request) {
		r.URL.RawQuery = strings.Trim(r.URL.RawQuery+"&"+url.Values{name: values}.Encode(), "&")
	}
}

// lines returns a Set that sends a header in several lines.
func lines(name string, values ...string) stack.Set {
	return func(r *http.Request) { r.Header[name] = values }
}

// mintAgentKey creates a key at the api and returns its text.
func mintAgentKey(t *testing.T, s *stack.Stack, login string, body stack.JSON) (key string) {
	t.Helper()
	return stack.Post(t, s.API+"/api/v1/agent/keys", stack.Bearer(login), stack.Body(body)).Require(http.StatusCreated).Text("key")
}

func (c *credentials) addKeys(t *testing.T) {
	t.Helper()
	owner := map[bool]*stack.Operator{} // a person may have at most ten keys
	for _, agent := range []bool{false, true} {
		owner[agent] = c.s.NewOperator(t)
	}
	for _, k := range []struct {
		permissions string
		agent       bool
	}{
		{"read signal broadcast", false},
		{"read", false},
		{"signal", false},
		{"broadcast", false},
		{"read signal", false},
		{"read broadcast", false},
		{"signal broadcast", false},
		{"read signal broadcast", true},
		{"read", true},
		{"signal", true},
		{"broadcast", true},
	} {
		o, powers := owner[k.agent], strings.Fields(k.permissions)
		body, kind := stack.JSON{"label": k.permissions, "permissions": powers}, "key"
		var key string
		if k.agent {
			key, kind = mintAgentKey(t, c.s, o.Login, body), "agent key"
		} else {
			key, _ = o.Mint(t, body)
		}
		c.add(credential{
			name: fmt.Sprintf("%s with %s", kind, k.permissions), set: stack.Bearer(key), schemes: []string{"operatorKey"}, bearer: true,
			powers: powers, handle: o.Handle,
		})
	}
	revoked, id := c.Mint(t, stack.JSON{"label": "revoked"})
	c.Do(t, http.MethodDelete, c.s.Hub+"/api/dev/keys?id="+id, stack.Bearer(c.Login)).Require(http.StatusOK)
	c.add(
		credential{name: "revoked key", set: stack.Bearer(revoked), bearer: true},
		credential{name: "unknown key", set: stack.Bearer("dk_" + strings.Repeat("A", 43)), bearer: true},
		credential{name: "key in the URL", set: query("access_token", c.Key), query: true},
	)
}

func (c *credentials) addTokens(t *testing.T) {
	t.Helper()
	scopes := append(append([]string{}, stack.ProtocolScopes...), otherScopes...)
	c.public = c.NewApp(t, "public", scopes...)
	token := func(name string, tokens stack.Tokens, powers ...string) credential {
		return credential{
			name: name, set: stack.Bearer(tokens.Access), schemes: []string{"appToken"}, bearer: true, powers: append([]string{}, powers...),
		}
	}
	// A session may open the consent page at most 30 times per minute.
	person := c.s.NewOperator(t)
	browser := person.Session(t)
	all := strings.Join(stack.ProtocolScopes, " ")
	whole := c.public.Grant(t, c.Browser, all)
	metadata := c.s.Hub + "/.well-known/oauth-protected-resource" + stack.ProtocolPath + "/mcp"
	resource := stack.Get(t, metadata).Require(http.StatusOK).Text("resource")
	agent := token("token for agents", c.public.Grant(t, browser, all, "resource", resource), stack.ProtocolScopes...)
	agent.forAgents = true
	c.add(
		token("token", whole, stack.ProtocolScopes...), agent,
		token("token with other scopes", c.public.Grant(t, browser, strings.Join(otherScopes, " ")), otherScopes...),
		credential{name: "refresh token", set: stack.Bearer(whole.Refresh), bearer: true},
	)
	for _, scope := range stack.ProtocolScopes[:4] {
		c.add(token("token with "+scope, c.App.Grant(t, c.Browser, scope), scope))
	}
	expired := c.public.Grant(t, browser, "profile:read")
	sum := sha256.Sum256([]byte(expired.Access))
	for _, table := range []string{"hub.access_tokens", "api.app_tokens"} { // the api has a copy for its public reads
		expire := "UPDATE " + table + " SET expires_at = now() - interval '1 second' WHERE hash = $1"
		done, err := c.s.DB(t).Exec(t.Context(), expire, sum[:])
		if err != nil || done.RowsAffected() != 1 {
			t.Fatalf("expire a token in %s: %d tokens, %v", table, done.RowsAffected(), err)
		}
	}
	revoked := c.App.Grant(t, browser, "profile:read")
	person.Do(t, http.MethodDelete, c.s.Hub+"/api/user/grants/"+revoked.Grant, browser).Require(http.StatusOK)
	basic := func(secret string) stack.Set {
		return func(r *http.Request) { r.SetBasicAuth(c.App.ID, secret) }
	}
	c.add(
		credential{name: "expired token", set: stack.Bearer(expired.Access), bearer: true},
		credential{name: "token of a revoked grant", set: stack.Bearer(revoked.Access), bearer: true},
		credential{name: "unknown token", set: stack.Bearer("dat_" + strings.Repeat("A", 43)), bearer: true},
		credential{name: "client secret", set: basic(c.App.Secret), schemes: []string{"appCredentials"}, bearer: true, client: true},
		credential{name: "wrong client secret", set: basic("x"), bearer: true, client: true},
	)
}

func (c *credentials) addSecrets() {
	const admin, cron = "X-Admin-Secret", "secret"
	a, k := c.s.AdminSecret, c.s.CronSecret
	c.add(
		credential{name: "admin secret", set: c.s.Admin(), schemes: []string{"adminSecret"}, admin: rightSecret},
		credential{name: "admin secret in the URL", set: query(cron, a), query: true, cron: wrongSecret},
		credential{name: "admin secret in the URL by its header name", set: query("x-admin-secret", a)},
		credential{name: "admin secret as bearer", set: stack.Bearer(a), bearer: true},
		credential{name: "admin secret in a cookie", set: stack.Header("Cookie", "x-admin-secret="+a)},
		credential{name: "wrong admin secret", set: stack.Header(admin, strings.Repeat("x", len(a))), admin: wrongSecret},
		credential{name: "empty admin secret", set: stack.Header(admin, ""), admin: wrongSecret},
		credential{name: "two admin secrets", set: lines(admin, a, a), admin: wrongSecret},
		credential{name: "cron secret", set: query(cron, k), schemes: []string{"cronSecret"}, query: true, cron: rightSecret},
		credential{name: "cron secret in a header", set: stack.Header("X-Cron-Secret", k), schemes: []string{"cronSecret"}, cron: rightSecret},
		credential{name: "cron secret as admin secret", set: stack.Header(admin, k), admin: wrongSecret},
		credential{name: "cron secret as bearer", set: stack.Bearer(k), bearer: true},
		credential{name: "empty cron secret", set: query(cron, ""), query: true, cron: wrongSecret},
		credential{name: "two cron secrets", set: query(cron, k, k), query: true, cron: wrongSecret},
	)
}

func (c *credentials) addBroken(t *testing.T) {
	t.Helper()
	for name, values := range map[string][]string{
		"bearer without a token": {"Bearer"}, "empty bearer": {"Bearer "}, "bearer after two blanks": {"Bearer  " + c.Key},
		"key with another scheme": {"Token " + c.Key}, "key without a scheme": {c.Key}, "short key": {"Bearer " + c.Key[:len(c.Key)-1]},
		"the same key twice": {"Bearer " + c.Key, "Bearer " + c.Key}, "two keys in a line": {"Bearer " + c.Key + ", Bearer " + c.Key},
		"three words with dots": {"Bearer a.b.c"},
	} {
		c.add(credential{name: name, set: lines("Authorization", values...), bearer: true})
	}
	expired := stack.Post(t, c.s.IDP+"/mint", stack.Body(stack.JSON{"user": c.Handle, "ttl": -3600})).Require(http.StatusOK).Text("token")
	secret, _, _ := strings.Cut(c.s.Settings(t, "hub")["SESSION_SECRETS"], ",")
	person := c.s.NewOperator(t) // a person whose rate limit no other test uses
	signed := func(secret string, at time.Time) stack.Set {
		return combine(stack.Header("Cookie", signSession(secret, person.ID, at)), stack.Header("Sec-Fetch-Site", "same-origin"))
	}
	half, _, _ := strings.Cut(signSession(secret, c.ID, time.Now()), ";")
	c.add(
		credential{name: "expired login", set: stack.Bearer(expired), bearer: true},
		credential{name: "expired cookie of the developer page", set: developer(expired)},
		credential{name: "expired session", set: signed(secret, time.Now().AddDate(0, 0, -31))},
		credential{name: "session of the future", set: signed(secret, time.Now().Add(2*time.Minute))},
		credential{name: "session that was never started", set: signed(secret, time.Now().Add(-time.Hour))},
		credential{name: "session of another secret", set: signed(strings.Repeat("x", 32), time.Now())},
		credential{name: "half a session", set: stack.Header("Cookie", half)},
	)
}

// signSession returns a Cookie header value with a session that is signed in the same way as by the hub.
func signSession(secret, user string, issued time.Time) string {
	uid := fmt.Sprintf("%s.%d.0", base64.RawURLEncoding.EncodeToString([]byte(user)), issued.Unix())
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(uid))
	return "db_uid=" + uid + "; db_sig=" + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// addPairs adds credentials that are combinations of two credentials in one request.
func (c *credentials) addPairs(t *testing.T) {
	t.Helper()
	other := c.s.NewOperator(t)
	second, _ := other.Mint(t, stack.JSON{"label": "second"})
	browser := other.Session(t)
	token := c.App.Grant(t, browser, strings.Join(stack.ProtocolScopes, " "))
	key, cron := []string{"operatorKey"}, query("secret", c.s.CronSecret)
	c.add(
		credential{name: "key and session", set: combine(stack.Bearer(other.Key), browser), schemes: key, bearer: true, handle: other.Handle},
		credential{name: "key and admin secret", set: combine(stack.Bearer(second), c.s.Admin()), schemes: key, bearer: true, handle: other.Handle},
		credential{name: "invalid bearer and session", set: combine(stack.Bearer("a.b.c"), browser), bearer: true},
		credential{name: "login and session", set: combine(stack.Bearer(other.Login), browser), schemes: []string{"identityToken"}, bearer: true},
		credential{
			name: "token and session", set: combine(stack.Bearer(token.Access), browser), schemes: []string{"appToken"}, bearer: true,
			powers: stack.ProtocolScopes,
		},
		credential{
			name: "session and admin secret", set: combine(browser, c.s.Admin()), schemes: []string{"adminSecret", "sessionId"}, admin: rightSecret,
			session: browser,
		},
		credential{
			name: "both secrets", set: combine(c.s.Admin(), cron), schemes: []string{"adminSecret", "cronSecret"}, query: true,
			admin: rightSecret, cron: rightSecret,
		},
		credential{
			name: "wrong admin secret and right cron secret", set: combine(stack.Header("X-Admin-Secret", "wrong"), cron), query: true,
			admin: wrongSecret, cron: rightSecret,
		},
		credential{
			name: "login and cron secret", set: combine(stack.Bearer(other.Login), cron), schemes: []string{"identityToken"}, query: true, bearer: true,
		},
	)
}
