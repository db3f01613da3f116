// Package agents tests the Model Context Protocol routes with the public library as the client, over two hubs.
package agents

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"github.com/signalcast/signalcast/test/system/stack"
)

func TestMain(m *testing.M) { stack.Main(m) }

const (
	keyPath   = "/api/mcp"                  // for operator keys
	tokenPath = stack.ProtocolPath + "/mcp" // for application tokens
)

// open returns the system of these tests. Its hubs share each limit; a loaded machine is no outage of Redis.
func open(t *testing.T) *stack.Stack {
	t.Helper()
	return stack.Shared(t, stack.Hubs(2), stack.Env("REPLICAS", "2"), stack.Env("REDIS_TIMEOUT", "5s"))
}

// keyed sends an operator key with every request.
type keyed string

// RoundTrip implements http.RoundTripper.
func (k keyed) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(k))
	return http.DefaultTransport.RoundTrip(r)
}

// connect opens a client session of the library.
func connect(t *testing.T, transport *mcp.StreamableClientTransport) *mcp.ClientSession {
	t.Helper()
	transport.DisableStandaloneSSE = true
	session, err := mcp.NewClient(&mcp.Implementation{Name: "system-test", Version: "1"}, nil).Connect(t.Context(), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

func connectByKey(t *testing.T, s *stack.Stack, key string) *mcp.ClientSession {
	t.Helper()
	return connect(t, &mcp.StreamableClientTransport{Endpoint: s.Hub + keyPath, HTTPClient: &http.Client{Transport: keyed(key)}})
}

// use calls a tool and returns the JSON of its text, and whether the tool failed.
func use(t *testing.T, session *mcp.ClientSession, tool string, arguments stack.JSON) (out stack.JSON, failed bool) {
	t.Helper()
	result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	text, ok := result.Content[0].(*mcp.TextContent)
	if !ok || json.Unmarshal([]byte(text.Text), &out) != nil {
		t.Fatalf("%s returned %v", tool, result.Content)
	}
	return out, result.IsError
}

func callTool(market string, price int) stack.JSON {
	return stack.JSON{"marketId": market, "direction": "YES", "priceAtPrediction": price}
}

// The library lists the tools and calls them. A dry run changes nothing, and the call is what the dry run returned.
func TestLibraryCallsTools(t *testing.T) {
	t.Parallel()
	s := open(t)
	o, market := s.NewOperator(t), s.NewNativeMarket(t, 4000, nil)
	session := connectByKey(t, s, o.Key)
	list, err := session.ListTools(t.Context(), nil)
	if err != nil || len(list.Tools) != 10 || list.Tools[0].Name != "get_market" {
		t.Fatalf("tools %v, %v", list, err)
	}
	call := stack.JSON{"marketId": market, "direction": "NO", "priceAtPrediction": 4000, "textTake": "tried first"}
	dry, failed := use(t, session, "submit_signal", call.With("dryRun", true))
	if failed || dry["dryRun"] != true || dry["id"] != nil || dry["priceAtPrediction"] != 6000.0 { // the price of YES
		t.Fatalf("dry run: %v", dry)
	}
	stack.Get(t, s.Hub+"/api/m/"+market+"/signals").Require(http.StatusOK).Expect(stack.JSON{"count": 0})
	filed, failed := use(t, session, "submit_signal", call)
	if failed || filed["ok"] != true {
		t.Fatalf("call: %v", filed)
	}
	stored, failed := use(t, session, "get_signal", stack.JSON{"id": filed["id"]})
	if failed {
		t.Fatalf("get_signal: %v", stored)
	}
	members := []string{
		"callsign", "privyId", "direction", "priceAtPrediction", "crowdYesAtSignal", "source", "status", "textTake", "marketTitle",
	}
	for _, member := range members {
		if diff := cmp.Diff(dry[member], stored[member]); diff != "" {
			t.Errorf("%s (-dry run +stored):\n%s", member, diff)
		}
	}
	again, failed := use(t, session, "submit_signal", call)
	if !failed || again["error"] != "already_predicted" || again["id"] != filed["id"] {
		t.Errorf("the same call again: %v", again)
	}
	note := stack.JSON{"signalId": filed["id"], "type": "note", "payload": stack.JSON{"text": "steady"}}
	if noted, failed := use(t, session, "submit_signal_event", note); failed || noted["event"] == nil {
		t.Errorf("note: %v", noted)
	}
	events := stack.Get(t, fmt.Sprintf("%s/api/signals/%v/events", s.Hub, filed["id"])).Require(http.StatusOK)
	if !events.Contains(`"text":"steady"`) {
		t.Errorf("the note is not stored: %s", events.Body)
	}
}

// Of forty calls that one person files at the same time by the tool and by the route, one is stored, and every answer names it.
func TestToolAndRouteFileOneCall(t *testing.T) {
	t.Parallel()
	s := open(t)
	o, market := s.NewOperator(t), s.NewNativeMarket(t, 5000, nil)
	session := connectByKey(t, s, o.Key)
	var won atomic.Int64
	var mu sync.Mutex
	ids := map[any]int{}
	stack.AtOnce(40, func(i int) {
		call := stack.Call(market, []string{"YES", "NO"}[i%2], 5000)
		var out stack.JSON
		var failed bool
		if i%3 == 0 {
			a := o.File(t, call)
			out, failed = stack.JSON{"id": a.Text("id")}, a.Status != http.StatusOK
		} else {
			out, failed = use(t, session, "submit_signal", call)
		}
		if !failed {
			won.Add(1)
		}
		mu.Lock()
		defer mu.Unlock()
		ids[out["id"]]++
	})
	if won.Load() != 1 || len(ids) != 1 {
		t.Errorf("%d calls were stored, answers name %v; want one call in every answer", won.Load(), ids)
	}
}

// The library receives 401 for a tool that requires a person, finds the authorization server by itself and calls the tool
// again with a token for this resource.
func TestLibrarySignsIn(t *testing.T) {
	t.Parallel()
	s := open(t)
	o := s.NewOperator(t)
	app, session := o.NewApp(t, "public", "profile:read", "signal:create", "offline_access"), o.Session(t)
	resource, requests := s.Hub+tokenPath, 0
	handler, err := auth.NewAuthorizationCodeHandler(&auth.AuthorizationCodeHandlerConfig{
		PreregisteredClient: &oauthex.ClientCredentials{ClientID: app.ID}, RedirectURL: stack.AppRedirect,
		AuthorizationCodeFetcher: func(_ context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			requests++
			u, err := url.Parse(args.URL)
			if err != nil || u.Query().Get("resource") != resource || u.Query().Get("scope") != "profile:read" {
				t.Errorf("authorization at %s: %v", args.URL, err)
			}
			page := app.ConsentPage(t, u.Query(), session).Require(http.StatusOK)
			to := app.Decide(t, page.ConsentRequest(), "approve", session).Redirected()
			return &auth.AuthorizationResult{Code: to.Get("code"), State: to.Get("state"), Iss: to.Get("iss")}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	client := connect(t, &mcp.StreamableClientTransport{Endpoint: resource, OAuthHandler: handler})
	if _, failed := use(t, client, "get_market", stack.JSON{"marketId": s.NewNativeMarket(t, 5000, nil)}); failed || requests != 0 {
		t.Errorf("a public tool failed %v, with %d authorizations; want none", failed, requests)
	}
	own, failed := use(t, client, "my_record", nil)
	if failed || requests != 1 || own["handle"] != o.Handle {
		t.Fatalf("my_record: %v after %d authorizations; want the record of %s after one", own, requests, o.Handle)
	}
}

// message returns a JSON-RPC request.
func message(method string, params stack.JSON) stack.JSON {
	return stack.JSON{"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
}

func toolMessage(tool string, arguments stack.JSON) stack.JSON {
	return message("tools/call", stack.JSON{"name": tool, "arguments": arguments})
}

// send sends a message, or a text that is none.
func send(t *testing.T, c *stack.Client, url string, what any, sets ...stack.Set) stack.Answer {
	t.Helper()
	return c.Do(t, http.MethodPost, url, append(sets, stack.Body(what))...)
}

// requireLimited requires the refusal of docs/protocol/identity.md: 429 without a JSON-RPC message, and one wait in three places.
func requireLimited(t *testing.T, a stack.Answer, limit int) {
	t.Helper()
	a.RequireError(http.StatusTooManyRequests, "rate_limited").Expect(stack.JSON{"limit": limit})
	wait := a.Int("retryAfterMs")
	seconds, err := strconv.Atoi(a.Header.Get("Retry-After"))
	if err != nil || wait < 1 || wait > 60_000 || seconds != (wait+999)/1000 ||
		!strings.Contains(a.Header.Get("RateLimit"), ";r=0;t=") || a.Contains("jsonrpc") {
		t.Errorf("Retry-After %q, RateLimit %q: %s", a.Header.Get("Retry-After"), a.Header.Get("RateLimit"), a.Body)
	}
}

// accepted sends n requests, 24 at the same time, and returns how many the limit let pass.
func accepted(t *testing.T, n, limit int, request func(i int) stack.Answer) int {
	t.Helper()
	var passed atomic.Int64
	stack.Each(n, 24, func(i int) { // a hub sheds what it cannot answer in time
		if a := request(i); a.Status == http.StatusTooManyRequests {
			requireLimited(t, a, limit)
		} else {
			passed.Add(1)
		}
	})
	return int(passed.Load())
}

// A key has sixty requests a minute over both hubs, tools and routes; requests above the limit do nothing. After the wait it
// is served again.
func TestAgentsShareTheLimitOfTheKey(t *testing.T) {
	t.Parallel()
	s := open(t)
	o, market, free := s.NewOperator(t), s.NewNativeMarket(t, 5000, nil), s.NewNativeMarket(t, 5000, nil)
	messages := []any{
		toolMessage("my_record", nil), toolMessage("get_market", stack.JSON{"marketId": market}),
		toolMessage("submit_signal", callTool(market, 5000).With("dryRun", true)), toolMessage("submit_signal", callTool(market, 5000)),
		message("tools/list", nil), message("ping", nil), toolMessage("no_such_tool", nil),
		toolMessage("submit_signal", stack.JSON{"marketId": market}),
		[]any{toolMessage("my_record", nil), toolMessage("my_record", nil)},
		`{"jsonrpc":`,
	}
	key := stack.Bearer(o.Key)
	n := stack.Size(t, 200, 400, 1000)
	got := accepted(t, n, 60, func(i int) stack.Answer {
		if i%11 == 0 {
			return send(t, o.Client, s.HubAt(i)+"/api/predictions", `{}`, key)
		}
		return send(t, o.Client, s.HubAt(i)+keyPath, messages[i/2%len(messages)], key)
	})
	if got != 60 {
		t.Errorf("%d of %d requests passed; want 60", got, n)
	}
	last := toolMessage("submit_signal", callTool(free, 5000))
	for i := range 2 {
		for _, m := range append(messages, last) {
			requireLimited(t, send(t, o.Client, s.HubAt(i)+keyPath, m, key), 60)
		}
	}
	stack.Get(t, s.Hub+"/api/m/"+free+"/signals").Require(http.StatusOK).Expect(stack.JSON{"count": 0})
	stack.Get(t, s.Hub+"/api/m/"+market+"/signals").Require(http.StatusOK).Expect(stack.JSON{"count": 1})
	if testing.Short() {
		return
	}
	stack.Eventually(t, 2*time.Minute, "the end of the limit", func() bool {
		stack.Wait(t, time.Second)
		return send(t, o.Client, s.Hub+keyPath, last, key).Status == http.StatusOK
	})
	stack.Get(t, s.Hub+"/api/m/"+free+"/signals").Require(http.StatusOK).Expect(stack.JSON{"count": 1})
}

// The tokens of one grant share sixty requests a minute over both hubs; another grant has its own.
func TestAgentsShareTheLimitOfTheGrant(t *testing.T) {
	t.Parallel()
	s := open(t)
	o := s.NewOperator(t)
	app, session, resource := o.NewApp(t, "public", "profile:read", "offline_access"), o.Session(t), s.Hub+tokenPath
	grant := func(scopes string) stack.Tokens {
		code := app.Code(t, session, app.AuthorizeRequest(scopes, "resource", resource))
		return app.OAuth(t, "token", app.CodeRequest(code, "resource", resource)).Require(http.StatusOK).Tokens()
	}
	first := grant("profile:read offline_access")
	refresh := app.RefreshRequest(first.Refresh)
	refresh.Set("resource", resource)
	tokens := []string{first.Access, app.OAuth(t, "token", refresh).Require(http.StatusOK).Text("access_token")}
	record, list := toolMessage("my_record", nil), message("tools/list", nil)
	messages := []any{
		record, list, toolMessage("get_market", stack.JSON{"marketId": "701122"}), toolMessage("submit_signal", nil), []any{record},
	}
	got := accepted(t, 150, 60, func(i int) stack.Answer {
		return send(t, o.Client, s.HubAt(i)+tokenPath, messages[i/4%len(messages)], stack.Bearer(tokens[i/2%2]))
	})
	if got != 60 {
		t.Errorf("%d of 150 requests passed; want 60", got)
	}
	send(t, o.Client, s.HubAt(0)+tokenPath, record, stack.Bearer(grant("profile:read").Access)).Require(http.StatusOK)
	send(t, o.Client, s.HubAt(1)+tokenPath, list).Require(http.StatusOK)
	requireLimited(t, send(t, o.Client, s.HubAt(1)+tokenPath, record, stack.Bearer(tokens[1])), 60)
}

// Without a credential the agent routes count against the address, and so does a text that is no message.
func TestAgentsShareTheLimitOfTheAddress(t *testing.T) {
	t.Parallel()
	s := open(t)
	hub, c := s.Side(t, "hub", map[string]string{"RATE_LIMIT_ANON": "20"}).URL, stack.NewClient()
	list := message("tools/list", nil)
	requests := []func() stack.Answer{
		func() stack.Answer { return send(t, c, hub+keyPath, list) },
		func() stack.Answer { return send(t, c, hub+tokenPath, list) },
		func() stack.Answer { return send(t, c, hub+keyPath, []any{list, list, list}) },
		func() stack.Answer { return send(t, c, hub+keyPath, toolMessage("submit_signal", nil)) },
		func() stack.Answer {
			return send(t, c, hub+tokenPath, toolMessage("get_market", stack.JSON{"marketId": "701122"}))
		},
	}
	if got := accepted(t, 40, 20, func(i int) stack.Answer { return requests[i%len(requests)]() }); got != 20 {
		t.Errorf("%d of 40 requests passed; want 20", got)
	}
	a := send(t, c, hub+tokenPath, list, stack.Header("Origin", "https://stranger.example"))
	requireLimited(t, a, 20)
	exposed := a.Header.Get("Access-Control-Expose-Headers")
	if a.Header.Get("Access-Control-Allow-Origin") != "*" || !strings.Contains(exposed, "Retry-After") {
		t.Errorf("the page of an app cannot read the wait: %v", a.Header)
	}
	if a := send(t, c, hub+keyPath, list); a.Header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("any page can read a refusal of the key route: %v", a.Header)
	}
}

// A token is valid at every hub of the service, ends at all of them at once, and is invalid at the hub of another address.
func TestAgentTokensOverHubs(t *testing.T) {
	t.Parallel()
	s := open(t)
	other := s.Side(t, "hub", map[string]string{"HUB_URL": "https://other.example"}).URL
	o := s.NewOperator(t)
	app, session, resource := o.NewApp(t, "public", "profile:read", "offline_access"), o.Session(t), s.Hub+tokenPath
	grant := func() stack.Tokens {
		code := app.Code(t, session, app.AuthorizeRequest("profile:read offline_access", "resource", resource))
		return app.OAuth(t, "token", app.CodeRequest(code, "resource", resource)).Require(http.StatusOK).Tokens()
	}
	record := toolMessage("my_record", nil)
	requireRefused := func(hub, token string) {
		t.Helper()
		for _, m := range []any{record, message("tools/list", nil)} {
			a := send(t, o.Client, hub+tokenPath, m, stack.Bearer(token)).RequireError(http.StatusUnauthorized, "unauthenticated")
			if got := a.Header.Get("WWW-Authenticate"); !strings.HasPrefix(got, `Bearer error="invalid_token", resource_metadata="`) {
				t.Errorf("%s: WWW-Authenticate %s", hub, got)
			}
		}
	}
	for _, revoked := range []func(stack.Tokens) string{
		func(g stack.Tokens) string { return g.Access }, func(g stack.Tokens) string { return g.Refresh },
	} {
		g := grant()
		for i := range 2 {
			send(t, o.Client, s.HubAt(i)+tokenPath, record, stack.Bearer(g.Access)).Require(http.StatusOK)
		}
		requireRefused(other, g.Access)
		app.OAuth(t, "revoke", url.Values{"token": {revoked(g)}, "client_id": {app.ID}}).Require(http.StatusOK)
		for _, hub := range append(s.AllHubs(), other) {
			requireRefused(hub, g.Access)
		}
	}
	token := stack.Bearer(grant().Access)
	send(t, o.Client, s.Hub+keyPath, record, token).RequireError(http.StatusUnauthorized, "unauthenticated")
	o.Do(t, http.MethodGet, s.Hub+stack.ProtocolPath+"/me", token).RequireError(http.StatusUnauthorized, "unauthenticated")
	for i := range 2 { // a hub on a loopback address answers requests for a name of this machine only
		send(t, o.Client, s.HubAt(i)+tokenPath, record, token, func(r *http.Request) { r.Host = "other.example" }).
			RequireError(http.StatusForbidden, "forbidden")
	}
	for hub, name := range map[string]string{s.HubAt(0): s.Hub, s.HubAt(1): s.Hub, other: "https://other.example"} {
		stack.Get(t, hub+"/.well-known/oauth-protected-resource"+tokenPath).Require(http.StatusOK).
			Expect(stack.JSON{"resource": name + tokenPath, "authorization_servers.0": name + stack.ProtocolPath})
		stack.Get(t, hub+"/.well-known/oauth-protected-resource"+keyPath).Require(http.StatusNotFound)
	}
}
