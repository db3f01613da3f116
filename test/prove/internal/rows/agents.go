package rows

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

// The doors of programs that act by tools: for operator keys, and for app tokens that
// were made for it.
const (
	agentDoor = "/api/mcp"
	agentPart = "/mcp" // of the protocol's base
)

// allTools are the ten tools; gated says what some of them need.
var allTools = []string{
	"get_market", "get_operator", "get_program", "get_signal", "list_signals", "my_record", "search_markets", "set_live_signal", "submit_signal", "submit_signal_event",
}

var gated = map[string]need{
	"my_record": {"profile:read", "read"}, "set_live_signal": {"broadcast:goLive", "broadcast"},
	"submit_signal": {"signal:create", "signal"}, "submit_signal_event": {"signal:create", "signal"},
}

// agentVersion is the version of the protocol that sessions have gone from.
const agentVersion = "2026-07-28"

// message is a message of an agent; params may be nil.
func message(method string, params any) []byte {
	all := map[string]any{"jsonrpc": "2.0", "id": 1, "method": method}
	if params != nil {
		all["params"] = params
	}
	raw, _ := json.Marshal(all) // it holds nothing that cannot be written
	return raw
}

// greeting is the first message of a client of the older kind.
var greeting = message("initialize", map[string]any{
	"protocolVersion": "2025-11-25", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "prove", "version": "1"},
})

// usage is the message that uses a tool.
func usage(tool string, arguments any) []byte {
	return message("tools/call", map[string]any{"name": tool, "arguments": arguments})
}

// say sends a message to a door; more are further lines of the head.
func say(ctx context.Context, env *frame.Env, door string, as client.Credential, body []byte, more ...string) client.Answer {
	head := http.Header{"Accept": {"application/json, text/event-stream"}, "Mcp-Protocol-Version": {"2025-11-25"}}
	for i := 0; i+1 < len(more); i += 2 {
		if more[i+1] == "" {
			delete(head, more[i])
			continue
		}
		head[more[i]] = []string{more[i+1]}
	}
	return env.Client.Do(ctx, client.Request{URL: door, As: as, Body: body, Header: head})
}

// told is what a tool said: the body that the route beside it would have sent.
type toldByTool struct {
	client.Answer
	failed bool
	code   int // of an error of the protocol of messages
	text   string
}

// use uses a tool.
func use(ctx context.Context, env *frame.Env, door string, as client.Credential, tool string, arguments any) toldByTool {
	return readTool(say(ctx, env, door, as, usage(tool, arguments)))
}

func readTool(a client.Answer) toldByTool {
	t := toldByTool{Answer: a}
	var body struct {
		Result struct {
			IsError bool `json:"isError"`
			Content []struct {
				Text string `json:"text"`
			} `json:"content"`
		} `json:"result"`
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(a.Body, &body) != nil {
		return t
	}
	var wrong struct {
		Code int `json:"code"`
	}
	if json.Unmarshal(body.Error, &wrong) == nil {
		t.code = wrong.Code
	}
	t.failed = body.Result.IsError
	for _, c := range body.Result.Content {
		t.text += c.Text
	}
	return t
}

// asRoute is the answer as the route beside the tool gives it: with the status of what
// the tool says.
func (t toldByTool) asRoute() client.Answer {
	a := t.Answer
	if t.text == "" {
		return a
	}
	a.Body = []byte(t.text)
	if !t.failed {
		return a
	}
	switch code := a.Code(); {
	case code == "already_predicted", code == "market_closed":
		a.Status = http.StatusConflict
	case strings.HasPrefix(code, "invalid_"), strings.HasPrefix(code, "missing_"):
		a.Status = http.StatusBadRequest
	default:
		a.Status = http.StatusTeapot // what no route would say
	}
	return a
}

// filing is one of the doors by which calls are filed.
type filing func(ctx context.Context, i int, as client.Credential, c client.Call) client.Answer

// byRoute files at the route for calls.
func byRoute(env *frame.Env) filing {
	return func(ctx context.Context, i int, as client.Credential, c client.Call) client.Answer {
		return env.Client.File(ctx, env.Hub(i), as, c)
	}
}

// agentTokens are the permissions of an app at the door of tools.
func agentToken(ctx context.Context, env *frame.Env, a app, as client.Credential, scope string) (tokens, error) {
	var t tokens
	resource := issuerOf(env) + agentPart
	code, err := authorize(ctx, env, 0, as, a.asks(scope, "resource", resource))
	if err != nil {
		return t, err
	}
	err = oauth(ctx, env, 1, "token", a.redeems(code, "resource", resource)).Into(http.StatusOK, &t)
	return t, err
}

// arguments are right ones of each tool; tools that write only try.
func (a *agentCast) arguments(tool string) map[string]any {
	switch tool {
	case "get_market":
		return map[string]any{"marketId": a.market}
	case "get_operator":
		return map[string]any{"handle": a.Handle}
	case "get_signal":
		return map[string]any{"id": a.signal}
	case "set_live_signal":
		return map[string]any{"marketId": a.market, "name": "A market of a row", "dryRun": true}
	case "submit_signal":
		return map[string]any{"marketId": a.market, "direction": "YES", "priceAtPrediction": 5000, "dryRun": true}
	case "submit_signal_event":
		return map[string]any{"signalId": a.signal, "type": "note", "payload": map[string]any{"text": "steady"}, "dryRun": true}
	}
	return map[string]any{}
}

// agentCast is whom the rows of agents act for, with a market and a call.
type agentCast struct {
	person
	market, signal string
}

func newAgentCast(ctx context.Context, env *frame.Env, name string) (*agentCast, error) {
	p, err := signUp(ctx, env, name, 2)
	if err != nil {
		return nil, err
	}
	ids, err := markets(ctx, env, name, 2)
	if err != nil {
		return nil, err
	}
	a := env.Client.File(ctx, env.Hub(0), p.keys[0].Key, client.Call{Market: ids[0], Yes: true, Price: 5000})
	if err := a.Into(http.StatusOK, nil); err != nil {
		return nil, fmt.Errorf("file a call: %w", err)
	}
	return &agentCast{p, ids[1], a.Text("id")}, nil
}
