package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// keyed sends an operator key with every request.
type keyed string

func (k keyed) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(k))
	return httpClient.Transport.RoundTrip(r)
}

// agent is the public library as a client.
func agent(t testing.TB, transport *mcp.StreamableClientTransport) *mcp.ClientSession {
	t.Helper()
	transport.DisableStandaloneSSE = true
	if transport.HTTPClient == nil {
		transport.HTTPClient = &http.Client{Transport: httpClient.Transport}
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "e2e", Version: "1"}, nil).Connect(t.Context(), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// use calls a tool and gives what its text says.
func use(ctx context.Context, session *mcp.ClientSession, tool string, arguments obj) (out obj, failed bool, err error) {
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		return nil, false, err
	}
	text, ok := result.Content[0].(*mcp.TextContent)
	if !ok {
		return nil, false, fmt.Errorf("%s answered %T", tool, result.Content[0])
	}
	return out, result.IsError, json.Unmarshal([]byte(text.Text), &out)
}

// TestAgentByKey: the library lists the tools and uses them; a dry run leaves the market
// as it was, and the call behind it is what it said.
func TestAgentByKey(t *testing.T) {
	t.Parallel()
	s := up(t)
	p := s.person(t)
	market := s.native(t, 4000)
	key, _ := p.mint(t, "agent")
	session := agent(t, &mcp.StreamableClientTransport{Endpoint: s.Hub + "/api/mcp", HTTPClient: &http.Client{Transport: keyed(key)}})
	list, err := session.ListTools(t.Context(), nil)
	if err != nil || len(list.Tools) != 10 || list.Tools[0].Name != "get_market" {
		t.Fatalf("%v %v", list, err)
	}
	call := obj{"marketId": market, "direction": "NO", "priceAtPrediction": 4000, "textTake": "tried first", "dryRun": true}
	would, failed, err := use(t.Context(), session, "submit_signal", call)
	if err != nil || failed || would["dryRun"] != true || would["id"] != nil || would["priceAtPrediction"] != 6000.0 { // the price of YES, turned round
		t.Fatalf("%v %v %v", would, failed, err)
	}
	get(t, s.Hub+"/api/m/"+market+"/signals").is(http.StatusOK).has(obj{"count": 0.0})
	delete(call, "dryRun")
	filed, failed, err := use(t.Context(), session, "submit_signal", call)
	if err != nil || failed || filed["ok"] != true {
		t.Fatalf("%v %v %v", filed, failed, err)
	}
	id := fmt.Sprint(filed["id"])
	found, failed, err := use(t.Context(), session, "get_signal", obj{"id": id})
	if err != nil || failed {
		t.Fatalf("%v %v", found, err)
	}
	for _, member := range []string{"callsign", "privyId", "direction", "priceAtPrediction", "crowdYesAtSignal", "source", "status", "textTake", "marketTitle"} {
		if found[member] != would[member] {
			t.Errorf("%s is %v, the dry run said %v", member, found[member], would[member])
		}
	}
	again, failed, err := use(t.Context(), session, "submit_signal", call)
	if err != nil || !failed || again["error"] != "already_predicted" || again["id"] != id {
		t.Errorf("once more: %v %v", again, err)
	}
	noted, failed, err := use(t.Context(), session, "submit_signal_event", obj{"signalId": id, "type": "note", "payload": obj{"text": "steady"}})
	if err != nil || failed || noted["event"] == nil {
		t.Errorf("%v %v", noted, err)
	}
	if events := get(t, s.Hub+"/api/signals/"+id+"/events").is(http.StatusOK); !strings.Contains(string(events.body), `"text":"steady"`) {
		t.Errorf("%s", events.body)
	}
}

// TestAgentsRaceForTheFirstCall: twenty at once, by the tool and by the route; one wins,
// and all the others hear which.
func TestAgentsRaceForTheFirstCall(t *testing.T) {
	t.Parallel()
	s := up(t)
	p := s.person(t)
	market := s.native(t, 5000)
	key, _ := p.mint(t, "agent")
	session := agent(t, &mcp.StreamableClientTransport{Endpoint: s.Hub + "/api/mcp", HTTPClient: &http.Client{Transport: keyed(key)}})
	var won atomic.Int64
	var mu sync.Mutex
	ids := map[string]int{}
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			side := []string{"YES", "NO"}[i%2]
			var out obj
			if i%3 == 0 {
				a := p.file(t, market, side, 5000)
				if a.status == http.StatusOK {
					won.Add(1)
				}
				if err := json.Unmarshal(a.body, &out); err != nil {
					t.Error(err)
				}
			} else {
				told, failed, err := use(t.Context(), session, "submit_signal", obj{"marketId": market, "direction": side, "priceAtPrediction": 5000})
				if err != nil {
					t.Error(err)
					return
				}
				if out = told; !failed {
					won.Add(1)
				}
			}
			mu.Lock()
			ids[fmt.Sprint(out["id"])]++
			mu.Unlock()
		})
	}
	wg.Wait()
	if won.Load() != 1 || len(ids) != 1 {
		t.Errorf("%d won, ids %v", won.Load(), ids)
	}
}

// TestAgentSignsIn: the library is told 401, finds the way by itself, and calls again
// with a token that is good at this address alone.
func TestAgentSignsIn(t *testing.T) {
	t.Parallel()
	s := up(t)
	p := s.person(t)
	const callback = "http://127.0.0.1:8422/cb"
	app := p.app(t, callback, "profile:read", "signal:create", "offline_access")
	resource := s.Hub + "/api/protocol/v1/mcp"
	asked := 0
	handler, err := auth.NewAuthorizationCodeHandler(&auth.AuthorizationCodeHandlerConfig{
		PreregisteredClient: &oauthex.ClientCredentials{ClientID: app.ClientID}, RedirectURL: callback,
		AuthorizationCodeFetcher: func(_ context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			asked++
			if u, err := url.Parse(args.URL); err != nil || u.Query().Get("resource") != resource || u.Query().Get("scope") != "profile:read" {
				t.Errorf("it asked at %s: %v", args.URL, err)
			}
			to := p.approve(t, args.URL)
			return &auth.AuthorizationResult{Code: to.Get("code"), State: to.Get("state"), Iss: to.Get("iss")}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	session := agent(t, &mcp.StreamableClientTransport{Endpoint: resource, OAuthHandler: handler})
	if _, failed, err := use(t.Context(), session, "get_market", obj{"marketId": s.native(t, 5000)}); err != nil || failed || asked != 0 {
		t.Errorf("a tool for everybody: %v, asked %d times", err, asked)
	}
	own, failed, err := use(t.Context(), session, "my_record", obj{})
	if err != nil || failed || asked != 1 {
		t.Fatalf("%v %v, asked %d times", own, err, asked)
	}
	get(t, s.Hub+"/api/network/field-record/"+fmt.Sprint(own["handle"])).is(http.StatusOK)
}

// approve is a person who lets an app, and gives what the app is told.
func (p *person) approve(t testing.TB, authorizeURL string) url.Values {
	t.Helper()
	cookies, _ := p.signIn(t)
	page := get(t, authorizeURL, cookies).is(http.StatusOK)
	_, rest, _ := strings.Cut(string(page.body), `name="request" value="`)
	request, _, _ := strings.Cut(rest, `"`)
	form := url.Values{"request": {html.UnescapeString(request)}, "decision": {"approve"}}.Encode()
	u, err := url.Parse(authorizeURL)
	if err != nil {
		t.Fatal(err)
	}
	u.RawQuery = ""
	done := post(t, u.String(), cookies, with("Origin", p.s.Hub), formed(form)).is(http.StatusSeeOther)
	to, err := url.Parse(done.header.Get("Location"))
	if err != nil {
		t.Fatal(err)
	}
	return to.Query()
}
