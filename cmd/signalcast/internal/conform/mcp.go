package conform

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
)

const agentPath = "/api/mcp"

// rpc sends one JSON-RPC message to the agent endpoint and returns the response, which may be JSON or one server-sent event.
func (r *run) rpc(ctx context.Context, message string) *answer {
	q := request{method: http.MethodPost, host: hub, path: agentPath, body: message}
	a := r.send(ctx, q.with("Accept", "application/json, text/event-stream").with("MCP-Protocol-Version", "2025-11-25"))
	if strings.HasPrefix(a.header.Get("Content-Type"), "text/event-stream") {
		for line := range bytes.Lines(a.body) {
			if data, isData := bytes.CutPrefix(line, []byte("data:")); isData {
				a.value = decode(data)
			}
		}
	}
	return a
}

// agentEndpoint initializes a session and lists the tools. The server must refuse a tool call without the required key, and a GET
// request.
func agentEndpoint(ctx context.Context, r *run) {
	a := r.rpc(ctx, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},`+
		`"clientInfo":{"name":"signalcast-conform","version":"1"}}}`)
	if a.status == http.StatusNotFound {
		r.skip("the server has no agent endpoint: POST " + agentPath + " is " + a.summary())
		return
	}
	if !r.status(a, http.StatusOK) {
		return
	}
	r.expect(text(a.value, "result.protocolVersion") != "" && text(a.value, "result.serverInfo.name") != "", a,
		"protocolVersion and serverInfo", describe(a.value))
	b := r.rpc(ctx, `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
	if !r.status(b, http.StatusOK) {
		return
	}
	tools := list(b.value, "result.tools")
	r.expect(len(tools) == 10, b, "ten tools", fmt.Sprint(len(tools)))
	for _, t := range tools {
		r.expect(text(t, "name") != "" && text(t, "inputSchema.type") == "object", b, "a name and an inputSchema of type object",
			describe(t))
	}
	c := r.rpc(ctx, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"submit_signal","arguments":`+
		`{"marketId":"`+noMarket+`","direction":"YES","priceAtPrediction":5000}}}`)
	if r.status(c, http.StatusUnauthorized) {
		r.expect(strings.HasPrefix(c.header.Get("WWW-Authenticate"), "Bearer"), c, "WWW-Authenticate: Bearer",
			c.header.Get("WWW-Authenticate"))
	}
	d := r.send(ctx, request{method: http.MethodGet, host: hub, path: agentPath})
	r.expect(d.status == http.StatusMethodNotAllowed, d, "405, because the endpoint is stateless")
}
