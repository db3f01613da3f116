package browser

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"strings"
	"sync/atomic"
	"time"

	"github.com/signalcast/signalcast/test/system/stack"
)

// proxy is an HTTP proxy that sends the requests of the browser from many IP addresses, to avoid the rate limits per address.
// addr is the address on which the proxy listens.
type proxy struct {
	addr   string
	close  func()
	next   atomic.Uint32
	second byte // second byte of the source addresses
}

func newProxy() *proxy {
	p := &proxy{second: byte(16 + rand.IntN(200))}
	forward := stack.Buffered(&httputil.ReverseProxy{
		Rewrite:   func(*httputil.ProxyRequest) {}, // the request of a proxy client already contains the full URL
		Transport: stack.Observed(&http.Transport{DialContext: p.dial, DisableKeepAlives: true}),
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, err.Error(), http.StatusBadGateway)
		},
	})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodConnect {
			p.connect(w, r)
			return
		}
		forward.ServeHTTP(w, r)
	}))
	p.close = server.CloseClientConnections
	p.addr = strings.TrimPrefix(server.URL, "http://")
	return p
}

// dial connects to address from the next source IP address. It returns an error for an address outside this machine.
func (p *proxy) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if host, _, _ := net.SplitHostPort(address); host != "localhost" && !net.ParseIP(host).IsLoopback() {
		return nil, errors.New("the proxy connects to loopback addresses only")
	}
	n := p.next.Add(1)
	from := &net.TCPAddr{IP: net.IPv4(127, p.second, byte(n>>8), byte(1+n%250))}
	return (&net.Dialer{Timeout: 20 * time.Second, LocalAddr: from}).DialContext(ctx, network, address)
}

// connect tunnels the connection of an HTTP CONNECT request. The browser sends this method for websockets.
func (p *proxy) connect(w http.ResponseWriter, r *http.Request) {
	upstream, err := p.dial(r.Context(), "tcp", r.Host)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer func() { _ = upstream.Close() }()
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer func() { _ = conn.Close() }()
	if _, err := io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n"); err != nil {
		return
	}
	done := make(chan struct{}, 2)
	go func() { _, _ = io.Copy(upstream, buffered); done <- struct{}{} }()
	go func() { _, _ = io.Copy(conn, upstream); done <- struct{}{} }()
	<-done
}
