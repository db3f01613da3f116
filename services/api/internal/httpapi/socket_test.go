package httpapi_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/signalcast/signalcast/pkg/telemetry"
	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/api/internal/feed"
	"github.com/signalcast/signalcast/services/api/internal/httpapi"
)

var anyTime = cmpopts.IgnoreMapEntries(func(k string, _ any) bool { return k == "at" || k == "serverTime" || k == "connectionId" })

// want reads the next frames and compares them with the expected ones. It ignores the times in frames.
func (c *client) want(frames ...frame) {
	c.t.Helper()
	for _, w := range frames {
		if diff := cmp.Diff(w, c.next(), anyTime); diff != "" {
			c.t.Fatalf("frame (-want +got):\n%s", diff)
		}
	}
}

func marketState() map[string]any {
	return map[string]any{"yesBps": 3150.0, "status": "open", "yes": 12.0, "no": 30.0, "viewers": 4.0}
}

// TestConversation checks a complete conversation on a websocket, as docs/protocol/ws.md describes it.
func TestConversation(t *testing.T) {
	t.Parallel()
	b := setup(t, options{memory: 100})
	b.traded("701122", "SCIENCE")
	c, resp, err := b.dial("127.0.0.1", http.Header{"Cookie": {"db_uid=x; db_sig=y"}, "Origin": {"https://evil.example"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := resp.Header.Get("Sec-WebSocket-Protocol"); got != "signal.v1" {
		t.Errorf("subprotocol %q, want signal.v1", got)
	}
	c.want(frame{"op": "hello", "protocol": "signal.v1", "heartbeatS": 30.0, "limits": map[string]any{"subscriptions": 50.0, "framesPerSecond": 10.0, "frameBytes": 8192.0}, "head": 0.0})
	c.send(`{"op":"ping","id":"p1"}`)
	c.want(frame{"op": "pong", "id": "p1"})
	c.send(`{"op":"subscribe","id":"s1","channels":["market:701122","operator:Mara_K","overlay:mara k","market:???","resolutions","signals:lane:OTHER"]}`)
	c.want(
		frame{"op": "error", "id": "s1", "error": "unknown_channel", "message": "no such channel; docs/protocol/ws.md lists the channels", "channel": "overlay:mara k"},
		frame{"op": "error", "id": "s1", "error": "unknown_channel", "message": "no such channel; docs/protocol/ws.md lists the channels", "channel": "market:???"},
		frame{"op": "error", "id": "s1", "error": "unknown_channel", "message": "no such channel; docs/protocol/ws.md lists the channels", "channel": "signals:lane:OTHER"},
		frame{"op": "ack", "id": "s1", "channels": []any{"market:701122", "operator:mara_k", "resolutions"}},
		frame{"op": "snapshot", "channel": "market:701122", "seq": 0.0, "data": marketState()},
		frame{"op": "snapshot", "channel": "operator:mara_k", "seq": 0.0, "data": map[string]any{"live": false, "showId": nil, "signal": nil, "approved": false}},
	)
	b.exec(`INSERT INTO api.outbox (type, market_id, data, at) VALUES ('market.status', '701122', '{"from":"open","to":"closed"}', now())`)
	b.fact("market.status", "701122", 1)
	c.want(
		frame{"op": "event", "channel": "market:701122", "seq": 1.0, "prev": nil, "type": "market.status", "data": map[string]any{"marketId": "701122", "marketTitle": "Ostrava gauge above 6 m?", "from": "open", "to": "closed"}},
		frame{"op": "event", "channel": "market:701122", "seq": 2.0, "prev": 1.0, "type": "market.status", "data": map[string]any{"marketId": "701122", "marketTitle": "Ostrava gauge above 6 m?", "n": 1.0}},
	)
	b.broker.Publish(feed.Ephemeral{Channel: "market:701122", Type: feed.PriceTick, At: time.Now(), Data: []byte(`{"marketId":"701122","yesBps":3150}`)})
	c.want(frame{"op": "event", "channel": "market:701122", "type": "price.tick", "data": map[string]any{"marketId": "701122", "yesBps": 3150.0}})
	c.send(`{"op":"unsubscribe","id":"s2","channels":["market:701122","pulse:1"]}`)
	c.want(
		frame{"op": "error", "id": "s2", "error": "unknown_channel", "message": "no such channel; docs/protocol/ws.md lists the channels", "channel": "pulse:1"},
		frame{"op": "ack", "id": "s2", "channels": []any{"market:701122"}},
	)
	b.fact("market.status", "701122", 1)
	b.fact("market.disputed", "701122", 1)
	if f := c.next(); f["channel"] != "resolutions" || f.seq() != 4 || f["prev"] != nil {
		t.Errorf("after unsubscribing: %v", f)
	}
	c.send(`{"op":"subscribe","id":"s3","channels":["market:404"]}`)
	c.want(
		frame{"op": "ack", "id": "s3", "channels": []any{"market:404"}},
		frame{"op": "snapshot", "channel": "market:404", "seq": 4.0, "data": map[string]any{"yesBps": nil, "status": "unknown", "yes": 0.0, "no": 0.0, "viewers": 0.0}},
	)
	if err := c.conn.Close(websocket.StatusNormalClosure, ""); err != nil {
		t.Errorf("close: %v", err)
	}
	testkit.Eventually(t, 10*time.Second, func() bool { return b.server.Sockets() == 0 && b.broker.Count() == 0 })
}

// TestMarketSnapshotNamesTheSides checks that the snapshot of a market has the names of its sides, unless they are Yes and No.
func TestMarketSnapshotNamesTheSides(t *testing.T) {
	t.Parallel()
	b := setup(t, options{memory: 100})
	c := b.socket()
	for id, labels := range map[string]string{"701122": `{Slate City,Ochre Rovers}`, "701123": `{no,yes}`} {
		b.traded(id, "SCIENCE")
		b.exec(`UPDATE api.markets SET outcome_labels = $2, yes_index = 1 WHERE market_id = $1`, id, labels)
		c.send(`{"op":"subscribe","id":"s1","channels":["market:` + id + `"]}`)
		if f := c.next(); f["op"] != "ack" {
			t.Fatal(f)
		}
		want := marketState()
		delete(want, "viewers")
		if id == "701122" {
			want["sides"] = map[string]any{"yes": "Ochre Rovers", "no": "Slate City"}
		}
		data, _ := c.next()["data"].(map[string]any)
		delete(data, "viewers")
		if diff := cmp.Diff(want, data); diff != "" {
			t.Errorf("%s (-want +got):\n%s", labels, diff)
		}
	}
}

// TestBadFrames checks that the client receives an error frame for each invalid frame, and that the socket stays open.
func TestBadFrames(t *testing.T) {
	t.Parallel()
	b := setup(t, options{memory: 100, sockets: httpapi.SocketLimits{Subscriptions: 3, FrameRate: 1000}})
	c := b.socket()
	for text, code := range map[string]string{
		`nonsense`:                         "invalid_frame",
		`[]`:                               "invalid_frame",
		`{"op":"subscribe","op":"ping"}`:   "invalid_frame",
		`{"OP":"ping"}`:                    "invalid_frame",
		`{"op":"shout"}`:                   "invalid_frame",
		`{"op":7}`:                         "invalid_frame",
		`{"op":"subscribe"}`:               "missing_channels",
		`{"op":"subscribe","channels":[]}`: "missing_channels",
		`{"op":"subscribe","channels":"signals"}`:          "invalid_channels",
		`{"op":"subscribe","channels":[7]}`:                "invalid_channels",
		`{"op":"subscribe","channels":[""]}`:               "unknown_channel",
		`{"op":"subscribe","channels":["market:"]}`:        "unknown_channel",
		`{"op":"subscribe","channels":["me"]}`:             "unauthenticated",
		`{"op":"subscribe","channels":["me:mara"]}`:        "unknown_channel",
		`{"op":"unsubscribe","channels":["alive"]}`:        "unknown_channel",
		`{"op":"ping","id":7}`:                             "invalid_frame",
		`{"op":"subscribe","channels":["a"],"since":7}`:    "invalid_since",
		`{"op":"subscribe","channels":["market:\u0031x"]}`: "unknown_channel",
	} {
		c.send(text)
		if f := c.next(); f["op"] != "error" || f["error"] != code {
			t.Errorf("%s: %v, want %s", text, f, code)
		}
	}
	for _, since := range []string{`-1`, `1.5`, `"1"`, `"x"`, `true`, `[1]`, `{}`, `9223372036854775808`, `"0199f0c0-0000-7000-8000-000000000001"`} {
		c.send(`{"op":"subscribe","id":"x","channels":["signals"],"since":{"signals":` + since + `}}`)
		if f := c.next(); f["error"] != "invalid_since" || f["channel"] != "signals" || f["id"] != "x" {
			t.Errorf("since %s: got frame %v, want invalid_since", since, f)
		}
	}
	c.send(`{"op":"subscribe","id":"s","channels":["signals","resolutions","signals:lane:TECH","signals:lane:MUSIC","signals"]}`)
	c.want(
		frame{"op": "error", "id": "s", "error": "limit_reached", "message": "limit of 50 subscriptions of a connection reached; unsubscribe from a channel first", "channel": "signals:lane:MUSIC"},
		frame{"op": "ack", "id": "s", "channels": []any{"signals", "resolutions", "signals:lane:TECH", "signals"}},
	)
	c.send(`{"op":"unsubscribe","channels":["resolutions"]}`)
	c.want(frame{"op": "ack", "channels": []any{"resolutions"}})
}

// TestCloseCodes checks that an auth frame with an invalid key closes the socket with code 4001. Frames of the maximum size at
// the maximum rate must be accepted. TestClientFrames and TestFrameLimit check frames beyond these limits.
func TestCloseCodes(t *testing.T) {
	t.Parallel()
	b := setup(t, options{memory: 100})
	for name, text := range map[string]string{
		"unknown key":  `{"op":"auth","token":"dk_` + strings.Repeat("A", 43) + `"}`,
		"no token":     `{"op":"auth"}`,
		"another kind": `{"op":"auth","token":"a.b.c"}`,
	} {
		c := b.socket()
		c.send(text)
		if got := c.ends(); got != 4001 {
			t.Errorf("%s: closed with %d, want 4001", name, got)
		}
	}
	c := b.socket()
	text := `{"op":"ping","pad":"` + strings.Repeat("x", 8<<10-22) + `"}`
	c.send(text)
	c.want(frame{"op": "pong"})
	for range 19 {
		c.send(`{"op":"ping"}`)
		c.want(frame{"op": "pong"})
	}
	if len(text) != 8<<10 {
		t.Errorf("the largest frame has %d bytes", len(text))
	}
}

// TestBeats checks that heartbeats are sent, and that a client without pongs is disconnected.
func TestBeats(t *testing.T) {
	t.Parallel()
	b := setup(t, options{memory: 100, sockets: httpapi.SocketLimits{Beat: 60 * time.Millisecond, PongTimeout: 4 * time.Second, FrameRate: 1000}})
	b.market("1", "OTHER")
	b.fact("market.status", "1", 3)
	b.head(3)
	silent := b.socket() // does not read, so it sends no pong
	c := b.socket()
	// The close code is taken from the server, because the silent client may have no time to receive it. The answering client
	// stays connected.
	closedByServer := func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		return slices.Contains(b.closed, 1008)
	}
	for range 2000 {
		f := testkit.Must(c.read())(t)
		if f["op"] != "beat" || number(f["head"]) != 3 {
			t.Fatalf("got frame %v, want a heartbeat with head 3", f)
		}
		if closedByServer() {
			break
		}
	}
	if !closedByServer() {
		t.Fatal("a client that answers no pings stays connected")
	}
	if got := silent.ends(); got != 1008 && got != -1 {
		t.Errorf("without pongs: closed with %d", got)
	}
}

// TestCredentials checks that an operator key is accepted in the header and in an auth frame. Invalid credentials must be rejected
// before the upgrade, and the limit of sockets per key must apply.
func TestCredentials(t *testing.T) {
	t.Parallel()
	b := setup(t, options{memory: 100})
	key, other := b.key("mara"), b.key("tide")
	bearer := func(s string) http.Header { return http.Header{"Authorization": {"Bearer " + s}} }
	refused := func(name string, want int, header http.Header) {
		t.Helper()
		c, resp, err := b.dial("127.0.0.9", header)
		if err == nil {
			_ = c.conn.CloseNow()
			t.Errorf("%s: the socket opened, want a rejection", name)
		} else if resp == nil || resp.StatusCode != want {
			t.Errorf("%s: %v %v, want %d", name, resp, err, want)
		}
	}
	refused("unknown key", 401, bearer("dk_"+strings.Repeat("A", 43)))
	refused("short key", 401, bearer("dk_short"))
	refused("unknown app token", 401, bearer("dat_"+strings.Repeat("A", 43)))
	refused("invalid identity token", 401, bearer("unknown.b.c"))
	// A valid credential of another kind is accepted, like on every public read, and does not identify the socket.
	reading, _, err := b.dial("127.0.0.9", bearer("mara.b.c"))
	if err != nil {
		t.Fatalf("valid identity token: %v", err)
	}
	_ = reading.conn.CloseNow()
	refused("basic", 401, http.Header{"Authorization": {"Basic eDp5"}})
	refused("two", 401, http.Header{"Authorization": {"Bearer " + key, "Bearer " + other}})
	if a := b.do("GET", "/ws?since=3", ""); a.status != 426 || a.body["error"] != "upgrade_required" {
		t.Errorf("no upgrade: %d %s", a.status, a.raw)
	}
	for name, headers := range map[string][]string{
		"no version":  {"Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA=="},
		"version 8":   {"Sec-WebSocket-Version", "8", "Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA=="},
		"no key":      {"Sec-WebSocket-Version", "13"},
		"a short key": {"Sec-WebSocket-Version", "13", "Sec-WebSocket-Key", "AAAA"},
		"no base64":   {"Sec-WebSocket-Version", "13", "Sec-WebSocket-Key", "?"},
	} {
		a := b.do("GET", "/ws", "", append(headers, "Connection", "Upgrade", "Upgrade", "websocket")...)
		if version := a.header.Get("Sec-WebSocket-Version"); a.status != 400 || a.body["error"] != "invalid_handshake" || (version == "13") != strings.Contains(name, "version") {
			t.Errorf("%s: %d %s, Sec-WebSocket-Version %q", name, a.status, a.raw, version)
		}
	}
	if a := b.do("GET", "/ws", "", "Connection", "Upgrade", "Upgrade", "websocket", "Authorization", "Bearer dk_short"); a.status != 401 {
		t.Errorf("a wrong handshake with a wrong key: %d %s", a.status, a.raw)
	}
	var open []*client
	for i := range 5 {
		c, _, err := b.dial(fmt.Sprintf("127.0.1.%d", i+1), bearer(key))
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, c)
	}
	refused("sixth socket of a key", 429, bearer(key))
	c := b.socket()
	c.send(`{"op":"auth","id":"a1","token":"` + other + `"}`)
	c.want(frame{"op": "ack", "id": "a1", "channels": []any{}})
	c.send(`{"op":"auth","id":"a2","token":"` + key + `"}`)
	if got := c.ends(); got != 4029 {
		t.Errorf("sixth socket of a key by frame: %d", got)
	}
	_ = open[0].conn.CloseNow()
	testkit.Eventually(t, 10*time.Second, func() bool { return b.server.Sockets() == 4 })
	c = b.socket()
	c.send(`{"op":"auth","id":"a3","token":"` + key + `"}`)
	c.want(frame{"op": "ack", "id": "a3", "channels": []any{}})
	for _, c := range open[1:] {
		_ = c.conn.CloseNow()
	}
}

// TestSocketsPerAddress checks that 20 of 60 sockets are accepted when all of them connect from one IP address at once.
func TestSocketsPerAddress(t *testing.T) {
	t.Parallel()
	b := setup(t, options{memory: 100})
	type result struct {
		c      *client
		status int
	}
	results := make(chan result)
	for range 60 {
		go func() {
			c, resp, err := b.dial("127.0.0.7", nil)
			if err != nil {
				results <- result{status: resp.StatusCode}
				return
			}
			results <- result{c: c}
		}()
	}
	opened := 0
	for range 60 {
		r := <-results
		if r.c != nil {
			opened++
			t.Cleanup(func() { _ = r.c.conn.CloseNow() })
		} else if r.status != 429 {
			t.Errorf("rejected with status %d, want 429", r.status)
		}
	}
	if opened != 20 {
		t.Errorf("%d sockets opened, want 20", opened)
	}
	if c, _, err := b.dial("127.0.0.8", nil); err != nil {
		t.Errorf("another address: %v", err)
	} else {
		_ = c.conn.CloseNow()
	}
}

// TestFeedsRefuseCredentialsInTheURL checks that the websocket and the stream reject a credential in the URL, even with a valid
// header, and that the credential is not logged.
func TestFeedsRefuseCredentialsInTheURL(t *testing.T) {
	t.Parallel()
	var log syncBuffer
	b := setup(t, options{memory: 100, change: func(d *httpapi.Deps) { d.Log = telemetry.NewLogger(&log, slog.LevelDebug, "api") }})
	key := b.key("mara")
	const login = "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJtYXJhIn0.c2lnbmF0dXJl"
	queries := []string{
		"token=x", "key=", "token=", "API_KEY=1", "access_token=mara.b.c", "%zz", key, "%64%6b_" + key[3:] + "=1", "x=%64%6b_" + key[3:], "since=" + key,
		"token=Bearer+" + key,
	}
	for _, name := range []string{"token", "key", "api_key", "apikey", "access_token", "authorization", "auth", "secret", "jwt", "bearer", "x"} {
		for _, value := range []string{key, login} {
			queries = append(queries, name+"="+value, strings.ToUpper(name)+"="+value, "a=1&"+name+"="+value, name+"=no&"+name+"="+value)
		}
	}
	upgrade := []string{
		"Connection", "Upgrade", "Upgrade", "websocket", "Sec-WebSocket-Version", "13", "Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA==",
	}
	for _, query := range queries {
		for name, a := range map[string]answer{
			"websocket":               b.do("GET", "/ws?"+query, "", upgrade...),
			"websocket with a header": b.do("GET", "/ws?"+query, "", append(upgrade, "Authorization", "Bearer "+key)...),
			"stream":                  b.do("GET", "/api/v1/feed/stream?channels=signals&"+query, ""),
		} {
			if a.status != 401 || a.body["error"] != "unauthenticated" || a.header.Get("Set-Cookie") != "" {
				t.Errorf("%s, %s: %d %s", query, name, a.status, a.raw)
			}
		}
	}
	conn, resp, err := websocket.Dial(t.Context(), "ws://"+b.addr+"/ws", &websocket.DialOptions{Subprotocols: []string{"signal.v1", key}})
	if err != nil || resp.Header.Get("Sec-WebSocket-Protocol") != "signal.v1" {
		t.Fatalf("a key as a subprotocol: %v %v", resp, err)
	}
	defer func() { _ = conn.CloseNow() }()
	(&client{t: t, conn: conn}).requireAnonymous()
	if !strings.Contains(log.String(), "/api/v1/feed/stream") {
		t.Error("the log has no requests")
	}
	for line := range strings.Lines(log.String()) {
		if strings.Contains(line, key) || strings.Contains(line, login) {
			t.Errorf("a credential is logged: %s", line)
		}
	}
}

// TestFeedsIgnoreCookies checks that pages of any origin may open a websocket or a stream. A cookie must have no effect:
// without a key, the client is anonymous.
func TestFeedsIgnoreCookies(t *testing.T) {
	t.Parallel()
	b := setup(t, options{memory: 100, sockets: httpapi.SocketLimits{PerAddress: 100}})
	b.market("1", "SCIENCE")
	key, other := b.key("mara"), b.key("tide")
	session := "db_uid=bWFyYQ.1790000000.0; db_sig=4Wb1lkYxYFCtkYxYFC"
	clean := func(h http.Header) {
		t.Helper()
		if h.Get("Set-Cookie") != "" || h.Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("the answer uses cookies: %v", h)
		}
	}
	for _, origin := range []string{
		"", "null", "http://" + b.addr, "https://hub.example", "https://evil.example", "http://evil.example:8080", "https://localhost", "http://127.0.0.1",
		"file://", "chrome-extension://abcdefgh", "https://hub.example.evil.example", "https://xn--bcher-kva.example", "not an origin",
		"https://" + strings.Repeat("a", 2000) + ".example",
	} {
		for _, cookie := range []string{
			session, session + "; key=" + key + "; token=" + key + "; Authorization=Bearer " + key, "db_uid=bWFyYQ; db_sig=broken", ";;;=; a=b; \"",
		} {
			header := http.Header{"Cookie": {cookie}}
			if origin != "" {
				header.Set("Origin", origin)
			}
			c, resp, err := b.dial("127.0.0.1", header)
			if err != nil {
				t.Fatalf("origin %.40s, cookie %s: %v", origin, cookie, err)
			}
			clean(resp.Header)
			c.requireAnonymous()
			c.send(`{"op":"auth","id":"a","token":"` + other + `"}`)
			c.want(frame{"op": "ack", "id": "a", "channels": []any{}})
			c.send(`{"op":"subscribe","channels":["me"]}`)
			c.next()
			if f := c.next(); f["op"] != "snapshot" || f["data"].(map[string]any)["handle"] != "tide" {
				t.Errorf("channel me with a key: got frame %v", f)
			}
			_ = c.conn.CloseNow()
			a := b.do("GET", "/api/v1/feed/stream?channels=me", "", "Cookie", cookie, "Origin", origin)
			clean(a.header)
			if a.status != 401 {
				t.Errorf("origin %.40s: the stream of a cookie: %d %s", origin, a.status, a.raw)
			}
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+b.addr+"/api/v1/feed/stream?channels=signals", nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header = header
			res := testkit.Must(http.DefaultTransport.RoundTrip(r))(t)
			_ = res.Body.Close()
			clean(res.Header)
			if res.StatusCode != 200 || res.Header.Get("Access-Control-Allow-Origin") != "*" {
				t.Errorf("origin %.40s: stream %d, open to %q", origin, res.StatusCode, res.Header.Get("Access-Control-Allow-Origin"))
			}
		}
	}
}

// requireAnonymous reads the hello frame. It requires that the socket can subscribe to public channels but not to channel me.
func (c *client) requireAnonymous() {
	c.t.Helper()
	if f := c.next(); f["op"] != "hello" {
		c.t.Fatalf("first frame: %v", f)
	}
	c.send(`{"op":"subscribe","id":"1","channels":["me"]}`)
	if f := c.next(); f["op"] != "error" || f["error"] != "unauthenticated" {
		c.t.Errorf("channel me: got frame %v, want unauthenticated", f)
	}
	c.send(`{"op":"subscribe","id":"2","channels":["signals"]}`)
	c.want(frame{"op": "ack", "id": "2", "channels": []any{"signals"}})
}

// syncBuffer is a bytes.Buffer that several goroutines can use.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}
