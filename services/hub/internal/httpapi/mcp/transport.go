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

// Paths of the endpoints of agents: Path for operator keys, Part below the base of the protocol for app tokens with the resource
// of the tools.
const (
	Path = "/api/mcp"
	Part = "/mcp"
)

// agentCall is the message of an agent that the library handles.
type agentCall struct {
	who    caller.Caller
	scoped bool // by app tokens: tools need scopes and not permissions

	refusal atomic.Pointer[error] // what makes the whole request a 401 or 403
}

type agentCallKey struct{}

// refuse stores the error that the request is refused with, and returns it.
func (a *agentCall) refuse(err error) error {
	a.refusal.Store(&err)
	return err
}

// Message is POST /api/mcp and POST P/mcp. The permission for a tool is checked after the library has parsed the message, so that
// the check and the call see the same tool; a refusal becomes the status of the answer here.
func (s *Server) Message(c echo.Context) error {
	r := c.Request()
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return httpx.ErrMediaType
	}
	body, err := httpx.ReadBody(c, httpx.BodyLimit)
	if err != nil {
		return err
	}
	if code, why := readMessage(body); code != 0 {
		return refuseMessage(c, http.StatusBadRequest, code, why)
	}
	call := &agentCall{who: request.Caller(c), scoped: c.Path() != Path}
	out := &held{header: http.Header{}}
	inner := r.Clone(context.WithValue(r.Context(), agentCallKey{}, call))
	inner.Body, inner.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	inner.Header.Set("Accept", "application/json, text/event-stream") // the answer is always JSON
	s.handler.ServeHTTP(out, inner)
	if err := r.Context().Err(); err != nil {
		return err
	}
	if refused := call.refusal.Load(); refused != nil {
		return *refused
	}
	return out.send(c)
}

// wholeID matches numbers that every JSON parser reads as the same integer. The library would change others in its answer.
var wholeID = regexp.MustCompile(`^-?\d{1,15}$`)

// readMessage returns the error code and message for a body that is no valid message: a batch, a duplicate member, invalid JSON,
// or an id that the answer could not repeat. The code is 0 for a valid one.
func readMessage(body []byte) (code int64, why string) {
	if first := bytes.TrimLeft(body, " \t\r\n"); len(first) > 0 && first[0] == '[' {
		return jsonrpc.CodeInvalidRequest, "many messages in one are not taken"
	}
	o, err := httpx.DecodeBytes(body)
	if err != nil {
		return jsonrpc.CodeParseError, apperr.Of(err).Message
	}
	if id := o.Raw("id"); len(id) > 0 && id[0] != '"' && !wholeID.Match(id) {
		return jsonrpc.CodeInvalidRequest, "id is a text or a whole number of at most 15 digits"
	}
	return 0, ""
}

// refuseMessage answers with an error of JSON-RPC.
func refuseMessage(c echo.Context, status int, code int64, why string) error {
	return httpx.JSON(c, status, struct {
		Version string         `json:"jsonrpc"`
		ID      *string        `json:"id"`
		Error   messageErrJSON `json:"error"`
	}{Version: "2.0", Error: messageErrJSON{code, why}})
}

type messageErrJSON struct {
	Code    int64  `json:"code"`
	Message string `json:"message"`
}

// held is an answer of the library before it is sent.
type held struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (h *held) Header() http.Header { return h.header }

func (h *held) WriteHeader(status int) {
	if h.status == 0 {
		h.status = status
	}
}

func (h *held) Write(b []byte) (int, error) {
	h.WriteHeader(http.StatusOK)
	return h.body.Write(b)
}

// send writes the answer. A plain-text error of the library becomes an error of JSON-RPC, so that every answer is JSON.
func (h *held) send(c echo.Context) error {
	_, event, stream := bytes.Cut(h.body.Bytes(), []byte("data: "))
	if stream && h.header.Get("Content-Type") == "text/event-stream" {
		// Older versions of the protocol refuse a listening stream with one event.
		return httpx.Blob(c, h.status, bytes.TrimSpace(event))
	}
	switch {
	case h.body.Len() == 0 && h.status != 0 && h.status < http.StatusBadRequest:
		return c.NoContent(h.status)
	case json.Valid(h.body.Bytes()):
		return httpx.Blob(c, h.status, h.body.Bytes())
	case h.status >= http.StatusBadRequest && h.status < http.StatusInternalServerError:
		return refuseMessage(c, h.status, jsonrpc.CodeInvalidRequest, strings.TrimSpace(h.body.String()))
	}
	return errors.New("agent endpoint answered " + http.StatusText(h.status) + ": " + h.body.String())
}

// newAgentHandler returns the transport of the library for the tools: no sessions, JSON answers, every version of the protocol
// that the library supports.
func newAgentHandler(tools *mcp.Server) http.Handler {
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return tools }, &mcp.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, MaxRequestBodyBytes: httpx.BodyLimit, PropagateRequestCancellation: true,
		DisableLocalhostProtection: true, // the guard of the edge does it, with the errors of the hub
	})
}
