package edge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"regexp"
	"strings"
	"sync/atomic"

	"github.com/labstack/echo/v4"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/signalcast/signalcast/pkg/fault"
	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
)

// Where programs that act for somebody by tools come in: with operator keys, and with
// app tokens that were made for nothing else.
const (
	agentPath = "/api/mcp"
	agentPart = "/mcp" // of the protocol's base
)

func (s *server) agentRoutes() []route {
	return []route{
		{method: http.MethodPost, path: agentPath, who: caller.TakeNone | caller.TakeKey, agents: true, handler: s.agents},
		{
			method: http.MethodPost, path: protocolBase + agentPart, who: caller.TakeNone | caller.TakeToken, agents: true,
			cors: web.Protocol, resource: s.HubURL + protocolBase + agentPart, handler: s.agents,
		},
	}
}

// agentCall is one message of an agent on its way through the library.
type agentCall struct {
	who    caller.Caller
	scoped bool // by app tokens: tools need scopes and not permissions

	refusal atomic.Pointer[error] // what makes the whole request a 401 or 403
}

type agentCallKey struct{}

// refuse remembers why the request is refused, and gives it.
func (a *agentCall) refuse(err error) error {
	a.refusal.Store(&err)
	return err
}

// agents is POST /api/mcp and POST P/mcp. Who may call a tool is judged behind the
// library's own reading of the message, so that what is judged is what would run; here
// that judgement only becomes a status.
func (s *server) agents(c echo.Context) error {
	r := c.Request()
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return web.ErrMediaType
	}
	body, err := web.ReadBody(c, web.BodyLimit)
	if err != nil {
		return err
	}
	if code, why := readMessage(body); code != 0 {
		return refuseMessage(c, http.StatusBadRequest, code, why)
	}
	call := &agentCall{who: callerOf(c), scoped: c.Path() != agentPath}
	out := &held{header: http.Header{}}
	inner := r.Clone(context.WithValue(r.Context(), agentCallKey{}, call))
	inner.Body, inner.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	inner.Header.Set("Accept", "application/json, text/event-stream") // the answer is always JSON
	s.agentHandler.ServeHTTP(out, inner)
	if err := r.Context().Err(); err != nil {
		return err
	}
	if refused := call.refusal.Load(); refused != nil {
		return *refused
	}
	return out.send(c)
}

// wholeID are the numbers that every reader takes for the same. The library would answer
// others under a number of its own.
var wholeID = regexp.MustCompile(`^-?\d{1,15}$`)

// readMessage keeps out what no part of a message can be: many messages in one, a
// member twice, text that is none, an id that cannot come back. Zero: it may pass.
func readMessage(body []byte) (code int64, why string) {
	if first := bytes.TrimLeft(body, " \t\r\n"); len(first) > 0 && first[0] == '[' {
		return jsonrpc.CodeInvalidRequest, "many messages in one are not taken"
	}
	o, err := web.DecodeBytes(body)
	if err != nil {
		return jsonrpc.CodeParseError, fault.Of(err).Message
	}
	if id := o.Raw("id"); len(id) > 0 && id[0] != '"' && !wholeID.Match(id) {
		return jsonrpc.CodeInvalidRequest, "id is a text or a whole number of at most 15 digits"
	}
	return 0, ""
}

// refuseMessage answers as the protocol of the messages has it.
func refuseMessage(c echo.Context, status int, code int64, why string) error {
	return web.JSON(c, status, struct {
		Version string         `json:"jsonrpc"`
		ID      *string        `json:"id"`
		Error   messageErrJSON `json:"error"`
	}{Version: "2.0", Error: messageErrJSON{code, why}})
}

type messageErrJSON struct {
	Code    int64  `json:"code"`
	Message string `json:"message"`
}

// errElsewhere refuses a page of somebody else, and a name that is not ours.
var errElsewhere = caller.ErrForbidden.Say("this address is not for pages of other origins")

// reached refuses requests that a page of somebody else has a browser make. A page
// that had its name point at this machine is known by the name it asks for; app tokens
// are no browser's, so the pages of apps may bring them from anywhere.
func (s *server) reached(r *http.Request, rt route) error {
	if s.checkHost {
		local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
		if ok && isLoopback(local.String()) && !isLoopback(r.Host) {
			return errElsewhere
		}
	}
	origins := r.Header["Origin"]
	if rt.cors != web.Protocol && len(origins) > 0 && (len(origins) > 1 || origins[0] != s.Origin) {
		return errElsewhere
	}
	return nil
}

// isLoopback reports an address or a host, with a port or without, of this machine.
func isLoopback(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = strings.TrimSuffix(strings.TrimPrefix(hostport, "["), "]")
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
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

// send passes the answer on. What the library says in plain text becomes an error of
// the protocol, so that every answer has one form.
func (h *held) send(c echo.Context) error {
	if _, event, stream := bytes.Cut(h.body.Bytes(), []byte("data: ")); stream && h.header.Get("Content-Type") == "text/event-stream" {
		// Who wants to listen is refused in a stream of one answer, at the older versions.
		return web.Blob(c, h.status, bytes.TrimSpace(event))
	}
	switch {
	case h.body.Len() == 0 && h.status != 0 && h.status < http.StatusBadRequest:
		return c.NoContent(h.status)
	case json.Valid(h.body.Bytes()):
		return web.Blob(c, h.status, h.body.Bytes())
	case h.status >= http.StatusBadRequest && h.status < http.StatusInternalServerError:
		return refuseMessage(c, h.status, jsonrpc.CodeInvalidRequest, strings.TrimSpace(h.body.String()))
	}
	return errors.New("agent endpoint answered " + http.StatusText(h.status) + ": " + h.body.String())
}

// newAgentHandler is the library's transport around the tools: no sessions, plain
// JSON answers, every version of the protocol that the library knows.
func newAgentHandler(tools *mcp.Server) http.Handler {
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return tools }, &mcp.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, MaxRequestBodyBytes: web.BodyLimit, PropagateRequestCancellation: true,
		DisableLocalhostProtection: true, // reached does it, in the one shape of refusals
	})
}
