package edge

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"

	"github.com/coder/websocket"
	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/fault"
	"github.com/signalcast/signalcast/pkg/web"
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
		return web.JSON(c, http.StatusUpgradeRequired, errorJSON{Error: "upgrade_required", Message: "this route is a websocket"})
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
	if !s.Hub.Ready() {
		return errStarting
	}
	address := addressKey(c.RealIP())
	if err := s.reserve(address, me.name()); err != nil {
		return err
	}
	p := newPipe()
	t := &tap{ResponseWriter: c.Response(), pipe: p, hub: s.Hub, sendBuffer: s.limits.SendBuffer}
	conn, err := websocket.Accept(t, r, &websocket.AcceptOptions{
		Subprotocols:       []string{subprotocol},
		InsecureSkipVerify: true,
		CompressionMode:    websocket.CompressionDisabled,
	})
	if err != nil {
		s.release(address, me.name())
		return nil // the library has answered
	}
	_ = conn.CloseNow() // of what it holds, which is nothing
	k := newSocket(s, p, me, address)
	k.reader = p.reader
	k.in = &inbound{tempo: newTempo(s.limits.FrameRate, s.Now), most: s.limits.FrameBytes, hear: k.hear}
	k.greet()
	// What serves the socket outlives this handler and lets go of the request.
	go k.begin(p, t.early)
	return nil
}

// identify tells whose key the handshake carries, if it does. The key is counted
// once it is known to be one, so that guesses cost Redis nothing.
func (s *sockets) identify(c echo.Context) (holder, error) {
	token, err := bearer(c)
	if err != nil || token == "" {
		return holder{}, err
	}
	if !isKey(token) {
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

// secretNames are query parameters in which clients are tempted to send a key.
var secretNames = map[string]bool{
	"token": true, "key": true, "api_key": true, "apikey": true, "access_token": true,
	"authorization": true, "auth": true, "secret": true, "jwt": true, "bearer": true,
}

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
	return r.Method == http.MethodGet && r.ProtoAtLeast(1, 1) && hasToken(r.Header["Connection"], "upgrade") && hasToken(r.Header["Upgrade"], "websocket")
}

var errHandshake = fault.New(fault.Invalid, "invalid_handshake", "the handshake is not that of RFC 6455")

// checkHandshake refuses what the library would refuse in a form of its own.
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

func hasToken(lines []string, token string) bool {
	for _, line := range lines {
		for t := range strings.SplitSeq(line, ",") {
			if strings.EqualFold(strings.TrimSpace(t), token) {
				return true
			}
		}
	}
	return false
}
