// Package agents tests the Model Context Protocol routes of two hubs with the public MCP library as client.
package agents

import (
	"crypto/rand"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/signalcast/signalcast/test/system/stack"
)

func TestMain(m *testing.M) { stack.Main(m) }

const (
	keyPath   = "/api/mcp"                  // route for operator keys
	tokenPath = stack.ProtocolPath + "/mcp" // route for application tokens
)

// open returns the system of these tests. Its hubs and api wait up to 5 s for Redis, so that they do not treat a slow answer on
// a loaded machine as an outage of Redis.
func open(t *testing.T) *stack.Stack {
	t.Helper()
	return stack.Shared(
		t, stack.Hubs(2), stack.Env("REPLICAS", "2"), stack.Env("REDIS_TIMEOUT", "5s"), stack.Env("DB_READ_TIMEOUT", "5s"),
	)
}

// keyed is a transport that sends an operator key with every request.
type keyed string

// RoundTrip implements http.RoundTripper.
func (k keyed) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(k))
	return http.DefaultTransport.RoundTrip(r)
}

// connect opens an MCP session with an operator key.
func connect(t *testing.T, s *stack.Stack, key string) *mcp.ClientSession {
	t.Helper()
	transport := &mcp.StreamableClientTransport{
		Endpoint: s.Hub + keyPath, HTTPClient: &http.Client{Transport: keyed(key)}, DisableStandaloneSSE: true,
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "system-test", Version: "1"}, nil).Connect(t.Context(), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// use calls a tool. It returns the JSON in the text of the result, and whether the result is an error.
func use(t *testing.T, session *mcp.ClientSession, tool string, arguments stack.JSON) (out stack.JSON, failed bool) {
	t.Helper()
	result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		t.Fatalf("call tool %s: %v", tool, err)
	}
	text, ok := result.Content[0].(*mcp.TextContent)
	if !ok || json.Unmarshal([]byte(text.Text), &out) != nil {
		t.Fatalf("tool %s returned %v; want one text of JSON", tool, result.Content)
	}
	return out, result.IsError
}

func callTool(market string, price int) stack.JSON {
	return stack.JSON{"marketId": market, "direction": "YES", "priceAtPrediction": price}
}

// TestToolAndRouteFileOneCall files forty calls of one person at the same time, by the tool and by the HTTP route. Only one
// call may be stored, and every answer must contain its id.
func TestToolAndRouteFileOneCall(t *testing.T) {
	t.Parallel()
	s := open(t)
	o, market := s.NewOperator(t), s.NewNativeMarket(t, 5000, nil)
	session := connect(t, s, o.Key)
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
		t.Errorf("%d calls were stored and the answers contain the ids %v; want one call and its id in every answer", won.Load(), ids)
	}
}

// message returns a JSON-RPC request.
func message(method string, params stack.JSON) stack.JSON {
	return stack.JSON{"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
}

func toolMessage(tool string, arguments stack.JSON) stack.JSON {
	return message("tools/call", stack.JSON{"name": tool, "arguments": arguments})
}

// send posts a JSON-RPC message. what may also be a string that is not a JSON-RPC message.
func send(t *testing.T, c *stack.Client, url string, what any, sets ...stack.Set) stack.Answer {
	t.Helper()
	return c.Do(t, http.MethodPost, url, append(sets, stack.Body(what))...)
}

// requireLimited requires the answer to a request above a rate limit that docs/protocol/identity.md describes: 429 without a
// JSON-RPC message, and the same wait in the body and in two headers.
func requireLimited(t *testing.T, a stack.Answer, limit int) {
	t.Helper()
	a.RequireError(http.StatusTooManyRequests, "rate_limited").Expect(stack.JSON{"limit": limit})
	wait := a.Int("retryAfterMs")
	seconds, err := strconv.Atoi(a.Header.Get("Retry-After"))
	if err != nil || wait < 1 || wait > 60_000 || seconds != (wait+999)/1000 ||
		!strings.Contains(a.Header.Get("RateLimit"), ";r=0;t=") || a.Contains("jsonrpc") {
		t.Errorf("Retry-After is %q and RateLimit is %q; want the same wait as retryAfterMs in the body: %s", a.Header.Get("Retry-After"), a.Header.Get("RateLimit"), a.Body)
	}
}

// accepted sends n requests, 24 at the same time. It returns the number of requests that the rate limit accepted.
func accepted(t *testing.T, n, limit int, request func(i int) stack.Answer) int {
	t.Helper()
	var passed atomic.Int64
	stack.Each(n, 24, func(i int) { // more concurrent requests than this could be shed by the hub
		if a := request(i); a.Status == http.StatusTooManyRequests {
			requireLimited(t, a, limit)
		} else {
			passed.Add(1)
		}
	})
	return int(passed.Load())
}

// TestAgentsShareTheLimitOfTheKey checks that a key may send 60 requests per minute to tools and routes of both hubs together.
// Requests above the limit must have no effect. After the stated wait, the key must be accepted again.
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
		t.Errorf("%d of %d requests of one key were accepted; want 60", got, n)
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
	stack.Eventually(t, 2*time.Minute, "the key to be accepted after the limit", func() bool {
		stack.Wait(t, time.Second)
		return send(t, o.Client, s.Hub+keyPath, last, key).Status == http.StatusOK
	})
	stack.Get(t, s.Hub+"/api/m/"+free+"/signals").Require(http.StatusOK).Expect(stack.JSON{"count": 1})
}

// TestAgentsShareTheLimitOfTheGrant checks that the tokens of one grant share 60 requests per minute to both hubs, and that
// another grant has a separate limit.
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
		t.Errorf("%d of 150 requests of one grant were accepted; want 60", got)
	}
	send(t, o.Client, s.HubAt(0)+tokenPath, record, stack.Bearer(grant("profile:read").Access)).Require(http.StatusOK)
	send(t, o.Client, s.HubAt(1)+tokenPath, list).Require(http.StatusOK)
	requireLimited(t, send(t, o.Client, s.HubAt(1)+tokenPath, record, stack.Bearer(tokens[1])), 60)
}

// TestHubsAndAPIShareTheLimitOfALogin checks that a signed-in person may send 120 requests per minute to hubs and api together,
// and that another person has a separate limit. It is in this package, although it uses no agent, because the services of this
// system wait 5 s for Redis. With the usual 50 ms, a process on a loaded machine would count locally.
func TestHubsAndAPIShareTheLimitOfALogin(t *testing.T) {
	t.Parallel()
	s, c := open(t), stack.NewClient()
	login := func() stack.Set {
		minted := stack.Post(t, s.IDP+"/mint", stack.Body(stack.JSON{"user": "login_" + strings.ToLower(rand.Text())}))
		return stack.Bearer(minted.Require(http.StatusOK).Text("token"))
	}
	mine := login()
	mint := func(as stack.Set) stack.Answer { return send(t, c, s.API+"/api/v1/agent/keys", stack.JSON{}, as) } // without a label
	who := func(i int, as stack.Set) stack.Answer {
		return c.Do(t, http.MethodGet, s.HubAt(i)+"/api/dev/whoami", as)
	}
	got := accepted(t, 180, 120, func(i int) stack.Answer {
		if i%2 == 0 {
			return mint(mine)
		}
		return who(i/2, mine)
	})
	if got != 120 {
		t.Errorf("%d of 180 requests of one person were accepted; want 120", got)
	}
	requireLimited(t, mint(mine), 120)
	requireLimited(t, who(0, mine), 120)
	other := login()
	mint(other).RequireError(http.StatusBadRequest, "missing_label")
	who(0, other).Require(http.StatusOK)
}

// TestAgentsShareTheLimitOfTheAddress checks that requests to the agent routes without a credential count against the rate
// limit of the IP address. Bodies that are not JSON-RPC messages must count, too.
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
		t.Errorf("%d of 40 requests of one IP address were accepted; want 20", got)
	}
	a := send(t, c, hub+tokenPath, list, stack.Header("Origin", "https://stranger.example"))
	requireLimited(t, a, 20)
	exposed := a.Header.Get("Access-Control-Expose-Headers")
	if a.Header.Get("Access-Control-Allow-Origin") != "*" || !strings.Contains(exposed, "Retry-After") {
		t.Errorf("a page of another origin cannot read Retry-After on the token route: headers %v", a.Header)
	}
	if a := send(t, c, hub+keyPath, list); a.Header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("a page of another origin can read a refusal of the key route: headers %v", a.Header)
	}
}
