package e2e

import (
	"net/http"
	"testing"
)

// Answers of both agent endpoints are as the OpenAPI document describes them. test/system/agents tests what the tools do.
func TestAgentAnswersFitTheDocument(t *testing.T) {
	t.Parallel()
	s := up(t)
	p := s.person(t)
	key, _ := p.mint(t, "agent")
	_, token := p.connectAt(t, s.Hub+"/api/protocol/v1/mcp", "profile:read")
	for path, credential := range map[string]string{"/api/mcp": key, "/api/protocol/v1/mcp": token} {
		for method, params := range map[string]obj{"tools/list": {}, "tools/call": {"name": "my_record", "arguments": obj{}}} {
			post(t, s.Hub+path, bearer(credential), with("Accept", "application/json, text/event-stream"),
				payload(obj{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})).is(http.StatusOK)
		}
	}
}
