package httpapi

import (
	"bytes"
	"encoding/base64"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/gobwas/ws"
	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/ratelimit"
	"github.com/signalcast/signalcast/pkg/reader"
	"github.com/signalcast/signalcast/services/api/internal/operator"
)

// subprotocol is the websocket subprotocol that the server accepts.
const subprotocol = "signal.v1"

// socket handles GET /ws: it upgrades the connection to a websocket. Requests of any origin are accepted, because cookies are not
// used. A key identifies the socket. Another valid credential does not, like on other public reads.
func (s *Server) socket(c echo.Context) error {
	sent, err := reader.Parse(c.Request().Header["Authorization"])
	if err != nil || sent.Kind == reader.Key || keyInURL(c.Request().URL) {
		return s.sockets.open(c, s.sockets.identify)
	}
	return s.readers.Read(func(c echo.Context) error {
		return s.sockets.open(c, func(echo.Context) (holder, error) { return holder{}, nil })
	})(c)
}

// open upgrades the connection of a request to a websocket. The function identify returns the holder of its key.
func (s *sockets) open(c echo.Context, identify func(echo.Context) (holder, error)) error {
	r := c.Request()
	if keyInURL(r.URL) {
		return apperr.ErrCredentialUnknown.WithText(
			"the query must be well-formed and without a credential; send the key in the header Authorization or in a frame with op auth")
	}
	if !asksForSocket(r) {
		c.Response().Header().Set("Upgrade", "websocket")
		return httpx.JSON(c, http.StatusUpgradeRequired, errorJSON{Error: "upgrade_required", Message: "this route requires a websocket upgrade"})
	}
	me, err := identify(c)
	if err == nil {
		err = me.permit(read)
	}
	if err != nil {
		return err
	}
	if err := checkHandshake(c); err != nil {
		return err
	}
	if !s.Broker.Ready() {
		return errStarting
	}
	address := ratelimit.AddressKey(c.RealIP())
	if err := s.reserve(address, me.name()); err != nil {
		return err
	}
	// The websocket library reads only the first line of the headers Connection and Upgrade, and rejects subprotocols that are
	// not tokens.
	r.Header["Connection"], r.Header["Upgrade"] = []string{"Upgrade"}, []string{"websocket"}
	if name := findToken(r.Header["Sec-Websocket-Protocol"], subprotocol); name != "" {
		c.Response().Header().Set("Sec-WebSocket-Protocol", name)
	}
	conn, rw, _, err := ws.HTTPUpgrader{Header: c.Response().Header()}.Upgrade(r, c.Response())
	if err != nil { // the library has sent the response but does not close the connection
		s.release(address, me.name())
		if conn != nil {
			_ = conn.Close()
		}
		return nil
	}
	c.Response().Status, c.Response().Committed = http.StatusSwitchingProtocols, true
	early, _ := rw.Reader.Peek(rw.Reader.Buffered()) // bytes that the client sent after its handshake
	p := newConn(conn, s.Limits.SendBuffer)
	p.reader = s.Broker.NewReader(p)
	k := newSocket(s, p, me, address)
	k.reader = p.reader
	k.in = &inbound{frameLimiter: newFrameLimiter(s.Limits.FrameRate, s.Now), maxMessage: s.Limits.FrameBytes, handle: k.onFrame}
	k.greet()
	// The socket outlives this handler, so its goroutine has no reference to the request.
	go k.start(p, bytes.Clone(early))
	return nil
}

// identify returns the holder of the key of a request, or the zero holder if there is no key. It first verifies the key and
// then counts the request against the limit of the key. Guessed keys therefore cause no request to Redis. Errors:
// unauthenticated, rate_limited, db_unavailable.
func (s *sockets) identify(c echo.Context) (holder, error) {
	token, err := bearer(c)
	if err != nil || token == "" {
		return holder{}, err
	}
	if !protocol.IsKey(token) {
		return holder{}, wrongCredential(token, keyText)
	}
	ctx := c.Request().Context()
	me, err := s.holder(ctx, operator.Hash(token))
	if err != nil {
		return holder{}, err
	}
	reader.Authenticated(c)
	d := s.Keys.Allow(ctx, me.name())
	d.SetHeaders(c.Response().Header())
	return me, d.Fault()
}

// keyText describes an operator key in error texts.
const keyText = "an operator key (Authorization: Bearer dk_...)"

// wrongCredential returns the error of a bearer token that a route does not accept. required describes the accepted credential.
func wrongCredential(token, required string) error {
	switch {
	case token == "":
		return apperr.ErrCredentialMissing.WithText("this route requires a credential: %s", required)
	case protocol.KindOf(token) != protocol.NoCredential:
		return apperr.ErrCredentialWrongKind.WithText("this route does not accept a credential of this kind; send %s", required)
	}
	return apperr.ErrCredentialUnknown
}

// holder returns the holder of the key of a request. Errors: unauthenticated without a valid key, insufficient_scope if the key
// does not have the permission, rate_limited, db_unavailable.
func (s *Server) holder(c echo.Context, permission string) (holder, error) {
	me, err := s.sockets.identify(c)
	switch {
	case err != nil:
		return holder{}, err
	case me.handle == "":
		return holder{}, wrongCredential("", keyText)
	case !slices.Contains(me.permissions, permission):
		c.Response().Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope", scope="`+permission+`"`)
		return holder{}, scopeError(permission)
	}
	return me, nil
}

// withKey returns a handler that requires a key with the permission. The handler calls the function handle with the holder
// of the key.
func (s *Server) withKey(permission string, handle func(echo.Context, holder) error) echo.HandlerFunc {
	return func(c echo.Context) error {
		me, err := s.holder(c, permission)
		if err != nil {
			return err
		}
		return handle(c, me)
	}
}

// secretNames contains names of query parameters in which clients send keys by mistake, in lower case.
var secretNames = map[string]bool{
	"token": true, "key": true, "api_key": true, "apikey": true, "access_token": true,
	"authorization": true, "auth": true, "secret": true, "jwt": true, "bearer": true,
}

// isCredential reports whether a text begins like an operator key or another credential, or has the form of a JWT.
func isCredential(s string) bool { return protocol.HasCredentialPrefix(s) || protocol.IsJWT(s) }

func keyInURL(u *url.URL) bool {
	if u.RawQuery == "" {
		return false
	}
	values, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return true
	}
	for name, list := range values {
		if secretNames[strings.ToLower(name)] || isCredential(name) {
			return true
		}
		for _, v := range list {
			if isCredential(v) {
				return true
			}
		}
	}
	return false
}

func asksForSocket(r *http.Request) bool {
	return r.Method == http.MethodGet && r.ProtoAtLeast(1, 1) && findToken(r.Header["Connection"], "upgrade") != "" &&
		findToken(r.Header["Upgrade"], "websocket") != ""
}

var errHandshake = apperr.New(apperr.Invalid, "invalid_handshake", "the request is not a valid websocket handshake (RFC 6455)")

// checkHandshake returns errHandshake for an invalid websocket handshake. The library would reject it too, but with an error
// that is not JSON.
func checkHandshake(c echo.Context) error {
	h := c.Request().Header
	if h.Get("Sec-WebSocket-Version") != "13" {
		c.Response().Header().Set("Sec-WebSocket-Version", "13")
		return errHandshake.WithText("Sec-WebSocket-Version must be 13")
	}
	keys := h.Values("Sec-WebSocket-Key")
	if len(keys) != 1 {
		return errHandshake.WithText("the request must have exactly one header Sec-WebSocket-Key")
	}
	if key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(keys[0])); err != nil || len(key) != 16 {
		return errHandshake.WithText("Sec-WebSocket-Key must be 16 bytes, encoded as base64")
	}
	return nil
}

// findToken returns the first entry of comma-separated header lines that equals token without regard to case. It returns an
// empty string if there is none.
func findToken(lines []string, token string) string {
	for _, line := range lines {
		for t := range strings.SplitSeq(line, ",") {
			if t = strings.TrimSpace(t); strings.EqualFold(t, token) {
				return t
			}
		}
	}
	return ""
}
