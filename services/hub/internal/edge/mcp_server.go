package edge

import (
	"context"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/signalcast/signalcast/pkg/fault"
	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
	"github.com/signalcast/signalcast/services/hub/internal/grant"
)

const (
	toolsVersion = "1.0.0"
	toolsTTL     = 5 * time.Minute // of the list, which changes with a release
	toolTime     = 4 * time.Second // of one tool
)

const toolsGuide = "Prediction markets and calls on them. A call is filed once for each market and operator and is locked for ever: " +
	"try it with dryRun first. Prices are basis points of the side called. Tools that write act for the owner of the credential."

// newAgentServer is the one server behind both mounts.
func (s *server) newAgentServer() *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "signalcast", Title: "Signalcast", Version: toolsVersion}, &mcp.ServerOptions{
		Instructions: toolsGuide,
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
		SetCacheable: func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) {
			c.TTLMs, c.CacheScope = int(toolsTTL.Milliseconds()), "public"
		},
	})
	for _, t := range s.toolbox {
		server.AddTool(t.described(), s.runTool(t))
	}
	server.AddReceivingMiddleware(s.toolAuthority)
	return server
}

// absent are the families of methods that this server does not have. The library
// would answer them with empty lists.
var absent = [...]string{"prompts/", "resources/", "completion/", "logging/", "subscriptions/"}

// toolAuthority decides on every message as the library has read it, before anything
// runs: what is not there is not found, and a tool runs for those alone who may.
func (s *server) toolAuthority(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (result mcp.Result, err error) {
		defer func() {
			if v := recover(); v != nil { // the library runs this outside of the request's own goroutine
				s.Log.ErrorContext(ctx, "panic in the agent endpoint", "method", method, "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
				result, err = nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: fault.ErrInternal.Code}
			}
		}()
		for _, family := range absent {
			if strings.HasPrefix(method, family) {
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "no such method: " + method}
			}
		}
		if call, ok := req.(*mcp.CallToolRequest); ok {
			if err := s.mayCall(ctx, call.Params.Name); err != nil {
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: fault.Of(err).Code}
			}
		}
		return next(ctx, method, req)
	}
}

// mayCall decides whether the caller of a request may call a tool; what is no tool is
// for the library to refuse. Faults: unauthenticated, insufficient_scope.
func (s *server) mayCall(ctx context.Context, name string) error {
	t := s.toolbox.find(name)
	if t == nil || t.permission == "" {
		return nil
	}
	call, ok := ctx.Value(agentCallKey{}).(*agentCall)
	if !ok {
		return caller.ErrUnauthenticated
	}
	word := t.permission
	if call.scoped {
		word = string(t.scope)
	}
	switch {
	case call.who.Kind == caller.Anonymous:
		return call.refuse(&toolRefusal{caller.ErrUnauthenticated, word})
	case !t.allows(call.who):
		return call.refuse(grant.ErrInsufficientScope.With("required", word))
	}
	return nil
}

// toolRefusal is a refusal of somebody without a credential, with what one needs.
type toolRefusal struct {
	error
	needs string
}

func (r *toolRefusal) Unwrap() error { return r.error }

// runTool gives a tool the form of the library. A fault is a result that says so: a
// model can read it and do better.
func (s *server) runTool(t *agentTool) mcp.ToolHandler {
	return func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		call, ok := ctx.Value(agentCallKey{}).(*agentCall)
		if !ok {
			return nil, caller.ErrUnauthenticated
		}
		ctx, cancel := context.WithTimeout(ctx, toolTime)
		defer cancel()
		body, err := s.useTool(ctx, t, call, r.Params.Arguments)
		if err == nil {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(body)}}, StructuredContent: rawJSON(body)}, nil
		}
		switch f := fault.Of(err); f.Kind {
		case fault.Unauthenticated: // the ledger knows better than the check before
			s.Callers.Refused(call.who)
			_ = call.refuse(err)
		case fault.Internal:
			s.Log.ErrorContext(ctx, "tool failed", "tool", t.name, "error", err)
		}
		return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: string(web.ErrorBody(err))}}}, nil
	}
}

// useTool reads the arguments and runs the tool. Fault, besides the tool's own:
// invalid_body for arguments that it does not have.
func (s *server) useTool(ctx context.Context, t *agentTool, call *agentCall, arguments []byte) ([]byte, error) {
	if len(arguments) == 0 || string(arguments) == "null" {
		arguments = []byte("{}")
	}
	o, err := web.DecodeBytes(arguments)
	if err != nil {
		return nil, err
	}
	for _, name := range o.Names() {
		if !t.takes[name] {
			return nil, web.ErrBody.Say("%s takes no argument of this name", t.name).With("field", name)
		}
		if !o.Has(name) { // what a null was meant to say is not guessed: it may have been dryRun
			o.Invalid(name, "must not be null; leave it out")
		}
	}
	if err := o.Err(); err != nil {
		return nil, err
	}
	v, err := t.run(ctx, call.who, o)
	if err != nil {
		return nil, err
	}
	if body, ok := v.(rawJSON); ok {
		return body, nil
	}
	return web.Marshal(v)
}
