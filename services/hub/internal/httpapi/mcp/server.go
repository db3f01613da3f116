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
	toolsTTL     = 5 * time.Minute // time for which clients may cache the tool list, which changes only with a release
	toolTimeout  = 4 * time.Second // time limit of one tool call
)

const instructions = "Signalcast has prediction markets and forecasts on them, named calls. Each operator has one call per " +
	"market, and it is " +
	"final: use dryRun first. Prices are in basis points of the called side. Tools that write act for the owner of the " +
	"credential."

// newAgentServer returns the MCP server of the SDK with all tools of s.
func (s *Server) newAgentServer() *mcp.Server {
	about := &mcp.Implementation{Name: "signalcast", Title: "Signalcast", Version: toolsVersion}
	server := mcp.NewServer(about, &mcp.ServerOptions{
		Instructions: instructions,
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
		SetCacheable: func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) {
			c.TTLMs, c.CacheScope = int(toolsTTL.Milliseconds()), "public"
		},
	})
	for _, t := range s.Tools {
		server.AddTool(t.description(), s.runTool(t))
	}
	server.AddReceivingMiddleware(s.checkMethod)
	return server
}

// unsupported has the prefixes of the methods that this server does not support. Without this list, the SDK would return empty
// lists for them.
var unsupported = [...]string{"prompts/", "resources/", "completion/", "logging/", "subscriptions/"}

// checkMethod is a middleware that checks each parsed message before it runs. It rejects unsupported methods as unknown, and tool
// calls without the required permission. A panic becomes an internal error.
func (s *Server) checkMethod(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (result mcp.Result, err error) {
		defer func() {
			if v := recover(); v != nil { // the SDK runs this in a goroutine where the recovery of the request does not apply
				s.Log.ErrorContext(
					ctx, "mcp handler panicked", "method", method, "panic", fmt.Sprint(v), "stack", string(debug.Stack()),
				)
				result, err = nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: apperr.ErrInternal.Code}
			}
		}()
		for _, prefix := range unsupported {
			if strings.HasPrefix(method, prefix) {
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "unknown method: " + method}
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

// mayCall returns nil if the caller of the request may call a tool. It also returns nil for an unknown tool, which the SDK
// rejects. Errors: unauthenticated, insufficient_scope.
func (s *Server) mayCall(ctx context.Context, name string) error {
	t := s.Tools.find(name)
	if t == nil || t.Permission == "" {
		return nil
	}
	call, ok := ctx.Value(agentCallKey{}).(*agentCall)
	if !ok {
		return errNoCredential
	}
	required := t.Permission
	if call.scoped {
		required = string(t.Scope)
	}
	switch {
	case call.who.Kind == caller.Anonymous:
		return call.refuse(&Refusal{errNoCredential.With("required", required), required})
	case !t.allows(call.who):
		return call.refuse(grant.ErrInsufficientScope.With("required", required))
	}
	return nil
}

// errNoCredential is the error of a call without a credential of a tool that requires one.
var errNoCredential = apperr.ErrCredentialMissing.WithText("this tool requires a credential with the scope or permission that the " +
	"challenge WWW-Authenticate names: an operator key at /api/mcp, or an app token at /api/protocol/v1/mcp")

// Refusal is the error of a tool call without a credential. Needs is the required permission or scope.
type Refusal struct {
	error
	Needs string
}

func (r *Refusal) Unwrap() error { return r.error }

// runTool returns the SDK handler of a tool. The handler returns an error of the tool as a tool result, so that the model can
// read it and correct the call.
func (s *Server) runTool(t *Tool) mcp.ToolHandler {
	return func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		call, ok := ctx.Value(agentCallKey{}).(*agentCall)
		if !ok {
			return nil, errNoCredential
		}
		ctx, cancel := context.WithTimeout(ctx, toolTimeout)
		defer cancel()
		body, err := s.callTool(ctx, t, call, r.Params.Arguments)
		if err == nil {
			return &mcp.CallToolResult{
				Content: []mcp.Content{&mcp.TextContent{Text: string(body)}}, StructuredContent: json.RawMessage(body),
			}, nil
		}
		switch f := apperr.Of(err); f.Kind {
		case apperr.Unauthenticated: // the ledger has rejected a key that passed the earlier check
			err = s.Callers.Refused(ctx, call.who, err)
			_ = call.refuse(err)
		case apperr.Internal:
			s.Log.ErrorContext(ctx, "tool call failed", "tool", t.Name, "error", err)
		}
		return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: string(httpx.ErrorBody(err))}}},
			nil
	}
}

// callTool reads the arguments, runs the tool and returns its JSON result. Errors: invalid_body for an unknown argument, an error
// that names the argument for a null value, and the errors of the tool.
func (s *Server) callTool(ctx context.Context, t *Tool, call *agentCall, arguments []byte) ([]byte, error) {
	if len(arguments) == 0 || string(arguments) == "null" {
		arguments = []byte("{}")
	}
	o, err := httpx.DecodeBytes(arguments)
	if err != nil {
		return nil, err
	}
	for _, name := range o.Names() {
		if !t.arguments[name] {
			return nil, httpx.ErrBody.WithText("the tool %s has no argument %s", t.Name, name).With("field", name)
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

// Server handles the MCP messages of agents and runs the tools.
type Server struct {
	Callers *caller.Service
	Log     *slog.Logger
	Tools   Tools

	handler http.Handler
}

// New sets up the MCP handler of s and returns s. It panics if the schemas of a tool are missing or invalid.
func New(s *Server) *Server {
	for _, t := range s.Tools {
		t.readSchemas()
	}
	s.handler = newAgentHandler(s.newAgentServer())
	return s
}
