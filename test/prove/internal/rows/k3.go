package rows

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync/atomic"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

// k3 says each message to another hub than the one before, and messages whose head and
// body do not agree.
var k3 = frame.Row{
	ID: "K3", Title: "any hub answers any message of an agent",
	Fault: frame.Fault{What: "a hub keeps a session for each agent"},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		cast, err := newAgentCast(ctx, env, "k3-owner")
		if err != nil {
			return nil, err
		}
		ops, err := pool(ctx, env, "k3", 20, 1)
		if err != nil {
			return nil, err
		}
		n := env.Of(40, 1_000, 10_000)
		keyed := [][]byte{
			greeting, message("tools/list", nil), message("ping", nil), usage("get_market", cast.arguments("get_market")),
			usage("list_signals", map[string]any{"limit": 2}), usage("my_record", map[string]any{}), modernly("get_signal", cast.arguments("get_signal")),
		}
		var failures atomic.Int64
		frame.Each(n, 2, func(i int) {
			body := keyed[i%len(keyed)]
			var as client.Credential
			if i%len(keyed) == 5 { // the others need none
				as = ops[i%len(ops)].Keys[0]
			}
			head := []string{"Mcp-Session-Id", "a-session-of-nobody"}
			if i%len(keyed) == 6 {
				head = []string{"Mcp-Protocol-Version", agentVersion, "Mcp-Method", "tools/call", "Mcp-Name", "get_signal"}
			} else if i%2 == 0 {
				head = nil
			}
			t := readTool(say(ctx, env, env.Hub(i)+agentDoor, as, body, head...))
			if t.Status != http.StatusOK || t.failed || t.code != 0 || t.Header.Get("Mcp-Session-Id") != "" {
				failures.Add(1)
				seen.Wrong("message %d: %s", i%len(keyed), t)
			}
		})
		cases := mismatches(cast)
		refused := 0
		for i, c := range cases {
			for _, hub := range env.Hubs {
				t := readTool(say(ctx, env, hub+agentDoor, nil, c.body, c.head...))
				if t.Status == http.StatusBadRequest && t.code != 0 && t.text == "" {
					refused++
					continue
				}
				seen.Wrong("%d, %s: %s", i, c.what, t)
			}
		}
		due := len(cases) * len(env.Hubs)
		seen.Volume("%s messages over %d hubs, %d mismatches", frame.Number(n), len(env.Hubs), due)
		seen.Promise(fmt.Sprintf("failures 0, refused %d of %d", due, due), fmt.Sprintf("failures %d, refused %d of %d", failures.Load(), refused, due))
		return seen, nil
	},
}

// modernly uses a tool as clients of the newer kind do, who say in each message what
// they are.
func modernly(tool string, arguments any) []byte {
	return message("tools/call", map[string]any{"name": tool, "arguments": arguments, "_meta": map[string]any{
		"io.modelcontextprotocol/protocolVersion": agentVersion, "io.modelcontextprotocol/clientCapabilities": map[string]any{},
		"io.modelcontextprotocol/clientInfo": map[string]any{"name": "prove", "version": "1"},
	}})
}

// mismatch is a message whose head says something else than its body.
type mismatch struct {
	what string
	body []byte
	head []string
}

func mismatches(cast *agentCast) []mismatch {
	body := modernly("get_signal", cast.arguments("get_signal"))
	older := bytes.ReplaceAll(body, []byte(agentVersion), []byte("2025-11-25"))
	future := bytes.ReplaceAll(body, []byte(agentVersion), []byte("2999-01-01"))
	var bare map[string]any
	_ = json.Unmarshal(body, &bare) // it was written a line above
	head := func(version, method, name string) []string {
		return []string{"Mcp-Protocol-Version", version, "Mcp-Method", method, "Mcp-Name", name}
	}
	return []mismatch{
		{"another method", body, head(agentVersion, "tools/list", "get_signal")},
		{"no method", body, head(agentVersion, "", "get_signal")},
		{"another tool", body, head(agentVersion, "tools/call", "get_market")},
		{"a tool that needs a key", body, head(agentVersion, "tools/call", "submit_signal")},
		{"no tool", body, head(agentVersion, "tools/call", "")},
		{"a tool in other letters", body, head(agentVersion, "tools/call", "GET_SIGNAL")},
		{"another version", body, head("2025-11-25", "tools/call", "get_signal")},
		{"a newer version in the head alone", older, head(agentVersion, "tools/call", "get_signal")},
		{"a version that nobody knows", future, head("2999-01-01", "tools/call", "get_signal")},
	}
}
