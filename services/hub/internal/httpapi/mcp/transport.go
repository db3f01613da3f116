package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"

	"github.com/labstack/echo/v4"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/request"
)

// Path is the MCP endpoint for operator keys. Part is appended to the base path of the protocol to form the endpoint for app
// tokens.
const (
	Path = "/api/mcp"
	Part = "/mcp"
)

// agentCall is the state of one MCP message while the SDK handles the message.
type agentCall struct {
	who    caller.Caller
	scoped bool // true on the endpoint for app tokens, where tools require scopes instead of permissions

	refusal atomic.Pointer[error] // error that becomes the response to the whole request, as a 401 or 403
}

type agentCallKey struct{}

// refuse stores err as the response to the whole HTTP request and returns err.
func (a *agentCall) refuse(err error) error {
	a.refusal.Store(&err)
	return err
}

// Message handles POST /api/mcp and POST /api/protocol/v1/mcp, each with one MCP message. The permission for a tool is checked
// after the SDK has parsed the message, so that the check and the call use the same tool name. If the method refuse has stored an
// error, Message returns that error.
func (s *Server) Message(c echo.Context) error {
	r := c.Request()
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return httpx.ErrMediaType
	}
	body, err := httpx.ReadBody(c, httpx.BodyLimit)
	if err != nil {
		return err
	}
	id, code, why := readMessage(body)
	if code != 0 {
		return messageError(c, http.StatusBadRequest, id, code, why)
	}
	call := &agentCall{who: request.Caller(c), scoped: c.Path() != Path}
	out := &bufferedResponse{header: http.Header{}}
	inner := r.Clone(context.WithValue(r.Context(), agentCallKey{}, call))
	inner.Body, inner.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	inner.Header.Set("Accept", "application/json, text/event-stream") // required by the SDK; the response is always JSON
	s.handler.ServeHTTP(out, inner)
	if err := r.Context().Err(); err != nil {
		return err
	}
	if refused := call.refusal.Load(); refused != nil {
		return *refused
	}
	return out.send(c, id)
}

// integerID matches the numbers that every JSON parser reads as the same integer. The SDK would change other numbers when it
// repeats an id in a response.
var integerID = regexp.MustCompile(`^-?\d{1,15}$`)

// readMessage returns the id of a message, which is nil for a notification. For an invalid body, it returns an error code and an
// error text: for a batch, a duplicate member, invalid JSON, or an id that the response could not repeat exactly. The code is 0
// for a valid body.
func readMessage(body []byte) (id json.RawMessage, code int64, why string) {
	if first := bytes.TrimLeft(body, " \t\r\n"); len(first) > 0 && first[0] == '[' {
		return nil, jsonrpc.CodeInvalidRequest, "batches are not supported; send one message per request"
	}
	o, err := httpx.DecodeBytes(body)
	if err != nil {
		return nil, jsonrpc.CodeParseError, apperr.Of(err).Message
	}
	if id = json.RawMessage(o.Raw("id")); len(id) > 0 && id[0] != '"' && !integerID.Match(id) {
		return nil, jsonrpc.CodeInvalidRequest, "id must be a string or an integer of at most 15 digits"
	}
	return id, 0, ""
}

// messageError sends a JSON-RPC error. id is the id of the message; nil becomes null. status is the HTTP status, and code and why
// are the members of the error.
func messageError(c echo.Context, status int, id json.RawMessage, code int64, why string) error {
	return httpx.JSON(c, status, struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   messageErrJSON  `json:"error"`
	}{Version: "2.0", ID: id, Error: messageErrJSON{code, why}})
}

// notHandled is the start of the text with which the SDK rejects a method that it does not know, for older protocol versions.
const notHandled = "JSON RPC not handled: "

type messageErrJSON struct {
	Code    int64  `json:"code"`
	Message string `json:"message"`
}

// bufferedResponse is an http.ResponseWriter that buffers the response of the SDK.
type bufferedResponse struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (h *bufferedResponse) Header() http.Header { return h.header }

func (h *bufferedResponse) WriteHeader(status int) {
	if h.status == 0 {
		h.status = status
	}
}

func (h *bufferedResponse) Write(b []byte) (int, error) {
	h.WriteHeader(http.StatusOK)
	return h.body.Write(b)
}

// send writes the buffered response to the client. Plain-text errors of the SDK become JSON-RPC errors, so that every response is
// JSON. id is the id of the message.
func (h *bufferedResponse) send(c echo.Context, id json.RawMessage) error {
	_, event, stream := bytes.Cut(h.body.Bytes(), []byte("data: "))
	if stream && h.header.Get("Content-Type") == "text/event-stream" {
		// For older protocol versions, the SDK rejects a GET stream with an event stream of one event.
		return httpx.Blob(c, h.status, bytes.TrimSpace(event))
	}
	switch {
	case h.body.Len() == 0 && h.status != 0 && h.status < http.StatusBadRequest:
		return c.NoContent(h.status)
	case json.Valid(h.body.Bytes()):
		return httpx.Blob(c, h.status, h.body.Bytes())
	case h.status >= http.StatusBadRequest && h.status < http.StatusInternalServerError:
		text := strings.TrimSpace(h.body.String())
		if len(id) > 0 && strings.HasPrefix(text, notHandled) {
			return messageError(c, http.StatusOK, id, jsonrpc.CodeMethodNotFound, "unknown method: "+strings.TrimPrefix(text, notHandled))
		}
		return messageError(c, h.status, id, jsonrpc.CodeInvalidRequest, text)
	}
	return errors.New("mcp handler answered " + http.StatusText(h.status) + ": " + h.body.String())
}

// newAgentHandler returns the HTTP handler of the SDK for the tools. It has no sessions, answers with JSON, and supports every
// protocol version of the SDK.
func newAgentHandler(tools *mcp.Server) http.Handler {
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return tools }, &mcp.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, MaxRequestBodyBytes: httpx.BodyLimit, PropagateRequestCancellation: true,
		DisableLocalhostProtection: true, // the guard of package httpapi does this, with the errors of the hub
	})
}
