package rows

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

// The doors of programs that act by tools: for operator keys, and for app tokens that
// were made for it.
const (
	agentDoor = "/api/mcp"
	agentPart = "/mcp" // of the protocol's base
)

// message is a message of an agent; params may be nil.
func message(method string, params any) []byte {
	all := map[string]any{"jsonrpc": "2.0", "id": 1, "method": method}
	if params != nil {
		all["params"] = params
	}
	raw, _ := json.Marshal(all) // it holds nothing that cannot be written
	return raw
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
