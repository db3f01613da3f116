package clients

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/signalcast/signalcast/test/system/stack"
)

// deviatingProxies counts the proxies that startDeviatingProxy has started.
var deviatingProxies atomic.Int64

// startDeviatingProxy starts a proxy for the service with the given address. The proxy changes the service's answers as the
// deviation describes. It returns the address of the proxy.
func startDeviatingProxy(t *testing.T, at string, d deviation) string {
	t.Helper()
	to, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	n := deviatingProxies.Add(1)
	// A separate source address, so that rate limits per address apply to this run only.
	own := &net.TCPAddr{IP: net.IPv4(127, 88, byte(n>>8), byte(n))}
	through := &http.Transport{DialContext: (&net.Dialer{LocalAddr: own, Timeout: 5 * time.Second}).DialContext}
	t.Cleanup(through.CloseIdleConnections)
	proxy := stack.Buffered(&httputil.ReverseProxy{
		Transport: through,
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(to) },
		ModifyResponse: func(a *http.Response) error {
			kind, _, _ := strings.Cut(a.Header.Get("Content-Type"), ";")
			isJSON := kind == "application/json"
			endless := kind == "text/event-stream" || a.StatusCode == http.StatusSwitchingProtocols
			if isJSON && d.answer == nil || !isJSON && d.text == nil || endless {
				return nil
			}
			raw, err := io.ReadAll(a.Body)
			if err != nil {
				return err
			}
			_ = a.Body.Close()
			var v any
			if !isJSON {
				raw = d.text(a.Request, raw)
			} else if json.Unmarshal(raw, &v) == nil {
				v = d.answer(a.Request, a, v)
				if changed, err := json.Marshal(v); err == nil && !sameJSON(raw, changed) {
					raw = changed
				}
			}
			a.Body, a.ContentLength = io.NopCloser(bytes.NewReader(raw)), int64(len(raw))
			a.Header.Set("Content-Length", strconv.Itoa(len(raw)))
			return nil
		},
	})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if d.request != nil {
			d.request(r)
		}
		if d.frames && r.URL.Path == "/ws" {
			dropSecondEvent(w, r, at)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// sameJSON reports whether two JSON texts have the same value. Answers that a deviation does not change keep their
// bytes.
func sameJSON(a, b []byte) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	p, err := json.Marshal(x)
	q, err2 := json.Marshal(y)
	return err == nil && err2 == nil && bytes.Equal(p, q)
}

// dropSecondEvent forwards the frames of a websocket except the second event.
func dropSecondEvent(w http.ResponseWriter, r *http.Request, at string) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	options := &websocket.AcceptOptions{Subprotocols: []string{"signal.v1"}, InsecureSkipVerify: true}
	near, err := websocket.Accept(w, r, options)
	if err != nil {
		return
	}
	defer func() { _ = near.CloseNow() }()
	far, res, err := websocket.Dial(ctx, strings.Replace(at, "http", "ws", 1)+"/ws",
		&websocket.DialOptions{Subprotocols: options.Subprotocols})
	if err != nil {
		return
	}
	if res.Body != nil {
		_ = res.Body.Close()
	}
	defer func() { _ = far.CloseNow() }()
	near.SetReadLimit(1 << 20)
	far.SetReadLimit(4 << 20)
	var passing sync.WaitGroup
	passing.Go(func() { defer cancel(); forwardFrames(ctx, near, far, func([]byte) bool { return true }) })
	events := 0
	forwardFrames(ctx, far, near, func(frame []byte) bool {
		if bytes.Contains(frame, []byte(`"op":"event"`)) {
			events++
			return events != 2
		}
		return true
	})
	cancel()
	passing.Wait()
}

// forwardFrames forwards the websocket frames for which keep returns true. When the sender closes the connection, it forwards
// the close code.
func forwardFrames(ctx context.Context, from, to *websocket.Conn, keep func([]byte) bool) {
	for {
		kind, frame, err := from.Read(ctx)
		if err != nil {
			if code := websocket.CloseStatus(err); code > 0 {
				_ = to.Close(code, "")
			}
			return
		}
		if keep(frame) && to.Write(ctx, kind, frame) != nil {
			return
		}
	}
}

// writes records the accepted requests that may have changed stored data.
type writes struct {
	mu   sync.Mutex
	seen []string
}

func (w *writes) watch(r *http.Request, a *http.Response, v any) any {
	reads := r.Method == http.MethodGet || r.Method == http.MethodOptions || strings.HasSuffix(r.URL.Path, "/messages/verify") ||
		strings.HasSuffix(r.URL.Path, "/mcp") // without a key a client can call public tools only
	if !reads && a.StatusCode < 400 {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.seen = append(w.seen, r.Method+" "+r.URL.Path)
	}
	return v
}

func (w *writes) list() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.seen)
}
