package stack

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Balancer is a fake of a typical load balancer. It requests /readyz every 100 ms, distributes requests over the ready servers,
// closes idle connections earlier than the servers do, and forwards the IP address of the client. It does not send a failed
// request to another server.
type Balancer struct {
	URL     string // base URL
	servers []*server
	turn    atomic.Uint64
}

type server struct {
	base      *url.URL
	transport *http.Transport
	ready     atomic.Bool
}

// NewBalancer starts a Balancer over additional processes of one service. They must trust 127.0.0.1 (TRUSTED_PROXIES). It stops
// when the test ends.
func NewBalancer(t testing.TB, sides ...*Side) *Balancer {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var probes sync.WaitGroup
	b := &Balancer{}
	for _, side := range sides {
		base, err := url.Parse(side.URL)
		if err != nil {
			t.Fatal(err)
		}
		sv := &server{base: base, transport: &http.Transport{IdleConnTimeout: 2 * time.Second, MaxIdleConnsPerHost: 64, DisableCompression: true}}
		b.servers = append(b.servers, sv)
		probes.Go(func() { sv.probe(ctx) })
	}
	proxy := httptest.NewServer(Buffered(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetXForwarded() }, Transport: b,
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, err.Error(), http.StatusBadGateway)
		},
	}))
	t.Cleanup(func() {
		cancel()
		proxy.CloseClientConnections()
		proxy.Close()
		probes.Wait()
	})
	b.URL = proxy.URL
	return b
}

// Buffered returns a handler that reads the whole body of a request before proxy forwards it. Otherwise a server that answers early
// closes the body with the first byte of the response, and the transport of a proxy that still reads from it closes the connection
// and truncates the response.
func Buffered(proxy http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		proxy.ServeHTTP(w, r)
	})
}

// RoundTrip implements http.RoundTripper: it sends a request to the next ready server.
func (b *Balancer) RoundTrip(r *http.Request) (*http.Response, error) {
	first := b.turn.Add(1)
	for i := range b.servers {
		s := b.servers[(first+uint64(i))%uint64(len(b.servers))]
		if s.ready.Load() {
			r.URL.Scheme, r.URL.Host = s.base.Scheme, s.base.Host
			return s.transport.RoundTrip(r)
		}
	}
	return nil, http.ErrServerClosed
}

func (s *server) probe(ctx context.Context) {
	for ctx.Err() == nil {
		ready := isReady(s.base.String())
		if s.ready.Swap(ready) && !ready {
			s.transport.CloseIdleConnections()
		}
		select {
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// RequireAllReady waits until the balancer treats all servers as ready.
func (b *Balancer) RequireAllReady(t testing.TB) {
	t.Helper()
	for _, s := range b.servers {
		Eventually(t, 10*time.Second, s.base.Host+" to be used by the balancer", s.ready.Load)
	}
}
