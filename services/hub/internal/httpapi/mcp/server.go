package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
	"github.com/signalcast/signalcast/services/hub/internal/grant"
)

const (
	toolsVersion = "1.0.0"
	toolsTTL     = 5 * time.Minute // of the list, which changes with a release
	toolTime     = 4 * time.Second // of one tool
)

const toolsGuide = "Prediction markets and calls on them. A call is filed once for each market and operator and is locked for " +
	"ever: try it with dryRun first. Prices are basis points of the side called. Tools that write act for the owner of the " +
	"credential."

// newAgentServer returns the server of the library with the tools.
func (s *Server) newAgentServer() *mcp.Server {
	about := &mcp.Implementation{Name: "signalcast", Title: "Signalcast", Version: toolsVersion}
	server := mcp.NewServer(about, &mcp.ServerOptions{
		Instructions: toolsGuide,
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
		SetCacheable: func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) {
			c.TTLMs, c.CacheScope = int(toolsTTL.Milliseconds()), "public"
		},
	})
	for _, t := range s.Tools {
		server.AddTool(t.described(), s.runTool(t))
	}
	server.AddReceivingMiddleware(s.toolAuthority)
	return server
}

// absent has the families of methods that this server does not have. The library would answer them with empty lists.
var absent = [...]string{"prompts/", "resources/", "completion/", "logging/", "subscriptions/"}

// toolAuthority checks each message that the library has parsed before it runs: methods of absent families are not found, and
// tools need their permission.
func (s *Server) toolAuthority(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (result mcp.Result, err error) {
		defer func() {
			if v := recover(); v != nil { // the library runs this outside of the request's own goroutine
				s.Log.ErrorContext(
					ctx, "panic in the agent endpoint", "method", method, "panic", fmt.Sprint(v), "stack", string(debug.Stack()),
				)
				result, err = nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: apperr.ErrInternal.Code}
			}
		}()
		for _, family := range absent {
			if strings.HasPrefix(method, family) {
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "no such method: " + method}
			}
		}
		if call, ok := req.(*mcp.CallToolRequest); ok {
			if err := s.mayCall(ctx, call.Params.Name); err != nil {
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: apperr.Of(err).Code}
			}
		}
		return next(ctx, method, req)
	}
}

// mayCall returns nil if the caller of a request may call a tool, and for an unknown tool, which the library refuses. Faults:
// unauthenticated, insufficient_scope.
func (s *Server) mayCall(ctx context.Context, name string) error {
	t := s.Tools.find(name)
	if t == nil || t.Permission == "" {
		return nil
	}
	call, ok := ctx.Value(agentCallKey{}).(*agentCall)
	if !ok {
		return caller.ErrUnauthenticated
	}
	word := t.Permission
	if call.scoped {
		word = string(t.Scope)
	}
	switch {
	case call.who.Kind == caller.Anonymous:
		return call.refuse(&Refusal{caller.ErrUnauthenticated, word})
	case !t.allows(call.who):
		return call.refuse(grant.ErrInsufficientScope.With("required", word))
	}
	return nil
}

// Refusal is the error of a call without a credential. Needs is the permission or the scope of the tool.
type Refusal struct {
	error
	Needs string
}

func (r *Refusal) Unwrap() error { return r.error }

// runTool returns the handler of a tool for the library. A fault is a result of the tool, so that a model can read it and correct
// its call.
func (s *Server) runTool(t *Tool) mcp.ToolHandler {
	return func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		call, ok := ctx.Value(agentCallKey{}).(*agentCall)
		if !ok {
			return nil, caller.ErrUnauthenticated
		}
		ctx, cancel := context.WithTimeout(ctx, toolTime)
		defer cancel()
		body, err := s.useTool(ctx, t, call, r.Params.Arguments)
		if err == nil {
			return &mcp.CallToolResult{
				Content: []mcp.Content{&mcp.TextContent{Text: string(body)}}, StructuredContent: json.RawMessage(body),
			}, nil
		}
		switch f := apperr.Of(err); f.Kind {
		case apperr.Unauthenticated: // the ledger has refused a key that passed the earlier check
			s.Callers.Refused(call.who)
			_ = call.refuse(err)
		case apperr.Internal:
			s.Log.ErrorContext(ctx, "tool failed", "tool", t.Name, "error", err)
		}
		return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: string(httpx.ErrorBody(err))}}}, nil
	}
}

// useTool reads the arguments, runs the tool and returns its result. Faults: those of the tool, and invalid_body for arguments
// that it does not have.
func (s *Server) useTool(ctx context.Context, t *Tool, call *agentCall, arguments []byte) ([]byte, error) {
	if len(arguments) == 0 || string(arguments) == "null" {
		arguments = []byte("{}")
	}
	o, err := httpx.DecodeBytes(arguments)
	if err != nil {
		return nil, err
	}
	for _, name := range o.Names() {
		if !t.takes[name] {
			return nil, httpx.ErrBody.Say("%s takes no argument of this name", t.Name).With("field", name)
		}
		if !o.Has(name) { // null in dryRun must not store a call
			o.Invalid(name, "must not be null; leave it out")
		}
	}
	if err := o.Err(); err != nil {
		return nil, err
	}
	v, err := t.Run(ctx, call.who, o)
	if err != nil {
		return nil, err
	}
	if body, ok := v.(json.RawMessage); ok {
		return body, nil
	}
	return httpx.Marshal(v)
}

// Server answers the messages of agents.
type Server struct {
	Callers *caller.Service
	Log     *slog.Logger
	Tools   Tools

	handler http.Handler
}

// New completes a server of the tools and returns it. It panics if a tool has no valid schemas.
func New(s *Server) *Server {
	for _, t := range s.Tools {
		t.readSchemas()
	}
	s.handler = newAgentHandler(s.newAgentServer())
	return s
}
