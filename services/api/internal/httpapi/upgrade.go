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
	"github.com/signalcast/signalcast/services/api/internal/operator"
)

// subprotocol is what a client may ask for and gets back.
const subprotocol = "signal.v1"

// open is GET /ws. Any origin may connect, because no cookie is ever read.
func (s *sockets) open(c echo.Context) error {
	r := c.Request()
	if keyInURL(r.URL) {
		return ErrUnauthenticated.Say("a credential never travels in the URL")
	}
	if !asksForSocket(r) {
		c.Response().Header().Set("Upgrade", "websocket")
		return httpx.JSON(c, http.StatusUpgradeRequired, errorJSON{Error: "upgrade_required", Message: "this route is a websocket"})
	}
	me, err := s.identify(c)
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
	address := addressKey(c.RealIP())
	if err := s.reserve(address, me.name()); err != nil {
		return err
	}
	// The library reads only the first line of Connection and Upgrade, and refuses subprotocols that are no tokens.
	r.Header["Connection"], r.Header["Upgrade"] = []string{"Upgrade"}, []string{"websocket"}
	if name := findToken(r.Header["Sec-Websocket-Protocol"], subprotocol); name != "" {
		c.Response().Header().Set("Sec-WebSocket-Protocol", name)
	}
	conn, rw, _, err := ws.HTTPUpgrader{Header: c.Response().Header()}.Upgrade(r, c.Response())
	if err != nil { // the library has sent the answer and does not close the connection
		s.release(address, me.name())
		if conn != nil {
			_ = conn.Close()
		}
		return nil
	}
	c.Response().Status, c.Response().Committed = http.StatusSwitchingProtocols, true
	early, _ := rw.Reader.Peek(rw.Reader.Buffered()) // what the client sent after its handshake
	p := newPipe(conn, s.Limits.SendBuffer)
	p.reader = s.Broker.NewReader(p)
	k := newSocket(s, p, me, address)
	k.reader = p.reader
	k.in = &inbound{tempo: newTempo(s.Limits.FrameRate, s.Now), most: s.Limits.FrameBytes, hear: k.hear}
	k.greet()
	// The socket outlives this handler, so its goroutine has no reference to the request.
	go k.begin(p, bytes.Clone(early))
	return nil
}

// identify returns the holder of the key in the handshake; the zero holder without a key. It charges the limit of the key only
// after it has found the key, so that guessed keys cause no request to Redis.
func (s *sockets) identify(c echo.Context) (holder, error) {
	token, err := bearer(c)
	if err != nil || token == "" {
		return holder{}, err
	}
	if !protocol.IsKey(token) {
		return holder{}, ErrUnauthenticated
	}
	ctx := c.Request().Context()
	me, err := s.holder(ctx, operator.Hash(token))
	if err != nil {
		return holder{}, err
	}
	d := s.Keys.Allow(ctx, me.name())
	d.SetHeaders(c.Response().Header())
	return me, d.Fault()
}

// holder returns the holder of the key of a request; the key must have the permission. Faults: unauthenticated,
// insufficient_scope, rate_limited.
func (s *Server) holder(c echo.Context, permission string) (holder, error) {
	me, err := s.sockets.identify(c)
	switch {
	case err != nil:
		return holder{}, err
	case me.handle == "":
		return holder{}, ErrUnauthenticated
	case !slices.Contains(me.permissions, permission):
		c.Response().Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope", scope="`+permission+`"`)
		return holder{}, errScope.With("required", permission)
	}
	return me, nil
}

// withKey returns a handler that requires a key with a permission and passes its holder to handle.
func (s *Server) withKey(permission string, handle func(echo.Context, holder) error) echo.HandlerFunc {
	return func(c echo.Context) error {
		me, err := s.holder(c, permission)
		if err != nil {
			return err
		}
		return handle(c, me)
	}
}

// secretNames are query parameters in which clients are tempted to send a key.
var secretNames = map[string]bool{
	"token": true, "key": true, "api_key": true, "apikey": true, "access_token": true,
	"authorization": true, "auth": true, "secret": true, "jwt": true, "bearer": true,
}

// isCredential reports whether a text begins as a credential or has the form of a signed token.
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

var errHandshake = apperr.New(apperr.Invalid, "invalid_handshake", "the handshake is not that of RFC 6455")

// checkHandshake refuses an invalid handshake before the library does, whose errors are not JSON.
func checkHandshake(c echo.Context) error {
	h := c.Request().Header
	if h.Get("Sec-WebSocket-Version") != "13" {
		c.Response().Header().Set("Sec-WebSocket-Version", "13")
		return errHandshake.Say("Sec-WebSocket-Version must be 13")
	}
	keys := h.Values("Sec-WebSocket-Key")
	if len(keys) != 1 {
		return errHandshake.Say("there must be one Sec-WebSocket-Key")
	}
	if key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(keys[0])); err != nil || len(key) != 16 {
		return errHandshake.Say("Sec-WebSocket-Key must be 16 bytes of base64")
	}
	return nil
}

// findToken returns the member of comma-separated header lines that equals token in any case, as it is written; empty: none.
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
