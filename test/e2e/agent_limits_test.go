package e2e

import (
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

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/oauth2"

	"github.com/signalcast/signalcast/pkg/testkit"
)

const (
	agentDoor = "/api/mcp"
	tokenDoor = "/api/protocol/v1/mcp"
)

// message is a message of an agent.
func message(method string, params obj) obj {
	return obj{"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
}

func usage(tool string, arguments obj) obj {
	return message("tools/call", obj{"name": tool, "arguments": arguments})
}

// say sends a message, or what is none, to a door of agents.
func say(t testing.TB, door string, what any, opts ...option) *answer {
	t.Helper()
	a, err := try(t, http.MethodPost, door, append(opts, payload(what))...) // asking again would count again
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// overLimit demands the refusal that identity.md has for agents: 429, and not a message
// of theirs, with the wait in three places that agree.
func overLimit(t *testing.T, a *answer, limit int) {
	t.Helper()
	a.fails(http.StatusTooManyRequests, "rate_limited")
	var body struct {
		Limit        int
		RetryAfterMs int64
	}
	if err := json.Unmarshal(a.body, &body); err != nil {
		t.Error(err)
	}
	seconds, err := strconv.ParseInt(a.header.Get("Retry-After"), 10, 64)
	if err != nil || body.Limit != limit || body.RetryAfterMs < 1 || body.RetryAfterMs > 60_000 || seconds != (body.RetryAfterMs+999)/1000 ||
		!strings.Contains(a.header.Get("RateLimit"), ";r=0;t=") || strings.Contains(string(a.body), "jsonrpc") {
		t.Errorf("%s: Retry-After %q, RateLimit %q: %s", a.what, a.header.Get("Retry-After"), a.header.Get("RateLimit"), a.body)
	}
}

// taken sends n requests at once and counts those that the limit let through.
func taken(t *testing.T, n, limit int, request func(i int) *answer) int {
	t.Helper()
	var ok atomic.Int64
	var wg sync.WaitGroup
	places := make(chan struct{}, 24) // a hub sheds what it cannot answer in time
	for i := range n {
		wg.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			if a := request(i); a.status != http.StatusTooManyRequests {
				ok.Add(1)
			} else {
				overLimit(t, a, limit)
			}
		})
	}
	wg.Wait()
	return int(ok.Load())
}

// TestAgentsHaveTheLimitOfTheKey: whatever an agent says, each request counts once, at two
// hubs, by tool and by route: sixty of two hundred, and none of the others does anything.
// After the wait it goes on.
func TestAgentsHaveTheLimitOfTheKey(t *testing.T) {
	t.Parallel()
	s := up(t)
	hubs := []string{s.sideHub(t, "REPLICAS=2"), s.sideHub(t, "REPLICAS=2")}
	p := s.person(t)
	market, free := s.native(t, 5000), s.native(t, 5000)
	key, _ := p.mint(t, "agent")
	call := func(market string, dry bool) obj {
		return usage("submit_signal", obj{"marketId": market, "direction": "YES", "priceAtPrediction": 5000, "dryRun": dry})
	}
	many := []obj{}
	for range 30 {
		many = append(many, usage("my_record", obj{}))
	}
	says := []any{
		usage("my_record", obj{}), usage("get_market", obj{"marketId": market}), call(market, true), call(market, false), message("tools/list", obj{}),
		message("ping", obj{}), usage("no_such_tool", obj{}), usage("submit_signal", obj{"marketId": market}), many, `{"jsonrpc":`,
	}
	request := func(i int) *answer {
		hub := hubs[i%2]
		if i%11 == 0 {
			return say(t, hub+"/api/predictions", `{}`, bearer(key))
		}
		return say(t, hub+agentDoor, says[i/2%len(says)], bearer(key))
	}
	if n := taken(t, 200, 60, request); n != 60 {
		t.Errorf("%d of 200 were taken, not 60", n)
	}
	for _, hub := range hubs {
		for _, what := range append(says, call(free, false)) {
			overLimit(t, say(t, hub+agentDoor, what, bearer(key)), 60)
		}
	}
	get(t, s.Hub+"/api/m/"+free+"/signals").is(http.StatusOK).has(obj{"count": 0})
	get(t, s.Hub+"/api/m/"+market+"/signals").is(http.StatusOK).has(obj{"count": 1})
	_, err := mcp.NewClient(&mcp.Implementation{Name: "e2e", Version: "1"}, nil).
		Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: hubs[0] + agentDoor, DisableStandaloneSSE: true, HTTPClient: &http.Client{Transport: keyed(key)}}, nil)
	if err == nil || !strings.Contains(err.Error(), "Too Many Requests") && !strings.Contains(err.Error(), "429") {
		t.Errorf("the library is told %v", err)
	}
	testkit.Eventually(t, 2*time.Minute, func() bool {
		return say(t, hubs[0]+agentDoor, call(free, false), bearer(key)).status == http.StatusOK
	})
	get(t, s.Hub+"/api/m/"+free+"/signals").is(http.StatusOK).has(obj{"count": 1})
}

// TestAgentsHaveTheLimitOfTheGrant: the tokens of a grant have sixty together, at two hubs,
// and those of another grant have their own.
func TestAgentsHaveTheLimitOfTheGrant(t *testing.T) {
	t.Parallel()
	s := up(t)
	hubs := []string{s.sideHub(t, "REPLICAS=2"), s.sideHub(t, "REPLICAS=2")}
	p := s.person(t)
	app := p.app(t, "http://127.0.0.1:8423/cb", "profile:read", "offline_access")
	first := p.agentToken(t, app, "profile:read", "offline_access")
	again := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {first.RefreshToken}, "client_id": {app.ClientID}, "resource": {s.Hub + tokenDoor}}
	renewed := post(t, app.Endpoint.TokenURL, formed(again.Encode())).is(http.StatusOK).str("access_token")
	tokens := []string{first.AccessToken, renewed}
	says := []any{usage("my_record", obj{}), message("tools/list", obj{}), usage("get_market", obj{"marketId": "701122"}), usage("submit_signal", obj{}), []obj{usage("my_record", obj{})}}
	if n := taken(t, 150, 60, func(i int) *answer {
		return say(t, hubs[i%2]+tokenDoor, says[i/4%len(says)], bearer(tokens[i/2%2]))
	}); n != 60 {
		t.Errorf("%d of 150 were taken, not 60", n)
	}
	other := p.agentToken(t, app, "profile:read")
	say(t, hubs[0]+tokenDoor, says[0], bearer(other.AccessToken)).is(http.StatusOK)
	say(t, hubs[1]+tokenDoor, says[1]).is(http.StatusOK)
	overLimit(t, say(t, hubs[1]+tokenDoor, says[0], bearer(renewed)), 60)
}

// TestAgentsHaveTheLimitOfTheAddress: without a credential both doors count against the
// address, with routes and pages, and so does what is no message.
func TestAgentsHaveTheLimitOfTheAddress(t *testing.T) {
	t.Parallel()
	s := up(t)
	hub := s.sideHub(t, "RATE_LIMIT_ANON=20")
	list := message("tools/list", obj{})
	requests := []func() *answer{
		func() *answer { return say(t, hub+agentDoor, list) },
		func() *answer { return say(t, hub+tokenDoor, list) },
		func() *answer { return say(t, hub+agentDoor, []obj{list, list, list}) },
		func() *answer { return say(t, hub+agentDoor, usage("submit_signal", obj{})) },
		func() *answer { return say(t, hub+tokenDoor, usage("get_market", obj{"marketId": "701122"})) },
	}
	if n := taken(t, 40, 20, func(i int) *answer { return requests[i%len(requests)]() }); n > 20 || n < 19 { // health is not counted
		t.Errorf("%d of 40 were taken, not 20", n)
	}
	a := say(t, hub+tokenDoor, list, with("Origin", "https://stranger.example"))
	overLimit(t, a, 20)
	if a.header.Get("Access-Control-Allow-Origin") != "*" || !strings.Contains(a.header.Get("Access-Control-Expose-Headers"), "Retry-After") {
		t.Errorf("a page of an app cannot read how long to wait: %v", a.header)
	}
	if a := say(t, hub+agentDoor, list); a.header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("a refusal for every page: %v", a.header)
	}
}

// agentToken lets an app act at the agents' endpoint, with these scopes.
func (p *person) agentToken(t testing.TB, app *oauth2.Config, scopes ...string) *oauth2.Token {
	t.Helper()
	asks, verifier, resource := *app, oauth2.GenerateVerifier(), oauth2.SetAuthURLParam("resource", p.s.Hub+tokenDoor)
	asks.Scopes = scopes
	to := p.approve(t, asks.AuthCodeURL("s", oauth2.S256ChallengeOption(verifier), resource))
	token, err := asks.Exchange(t.Context(), to.Get("code"), oauth2.VerifierOption(verifier), resource)
	if err != nil {
		t.Fatal(fmt.Errorf("%v: %w", to, err))
	}
	return token
}
