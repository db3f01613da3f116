package browser

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httputil"
	"sync/atomic"
	"time"
)

// proxy carries a browser's requests from many addresses in turn: a browser with a hundred
// visitors' worth of pages is not one visitor to the limits.
type proxy struct {
	addr   string
	server *http.Server
	next   atomic.Uint32
	second byte
}

func newProxy() (*proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &proxy{addr: l.Addr().String(), second: byte(16 + rand.IntN(200))}
	through := &httputil.ReverseProxy{
		Rewrite:   func(*httputil.ProxyRequest) {}, // the address stands in the request
		Transport: &http.Transport{DialContext: p.dial, DisableKeepAlives: true},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, err.Error(), http.StatusBadGateway)
		},
	}
	p.server = &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodConnect {
			p.connect(w, r)
			return
		}
		through.ServeHTTP(w, r)
	})}
	go func() { _ = p.server.Serve(l) }()
	return p, nil
}

func (p *proxy) close() { _ = p.server.Close() }

var errElsewhere = errors.New("nothing but this machine is asked")

// dial connects from the next address, to this machine alone.
func (p *proxy) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if host, _, _ := net.SplitHostPort(address); !net.ParseIP(host).IsLoopback() {
		return nil, errElsewhere
	}
	n := p.next.Add(1)
	from := &net.TCPAddr{IP: net.IPv4(127, p.second, byte(n>>8), byte(1+n%250))}
	return (&net.Dialer{Timeout: 5 * time.Second, LocalAddr: from}).DialContext(ctx, network, address)
}

// connect joins two connections, as a websocket needs it.
func (p *proxy) connect(w http.ResponseWriter, r *http.Request) {
	there, err := p.dial(r.Context(), "tcp", r.Host)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer func() { _ = there.Close() }()
	here, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer func() { _ = here.Close() }()
	if _, err := io.WriteString(here, "HTTP/1.1 200 OK\r\n\r\n"); err != nil {
		return
	}
	done := make(chan struct{}, 2)
	go func() { _, _ = io.Copy(there, buffered); done <- struct{}{} }()
	go func() { _, _ = io.Copy(here, there); done <- struct{}{} }()
	<-done
}
