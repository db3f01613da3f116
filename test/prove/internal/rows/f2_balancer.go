package rows

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"sync/atomic"
	"time"
)

// probeEvery is how often a balancer asks its servers whether they are ready.
const probeEvery = 100 * time.Millisecond

// balancer stands before several servers as the balancers of operators do: in turn to
// those that are ready, connections kept, the client's address passed on. One answer of
// /readyz other than 200 takes a server out, one brings it back. A request that fails
// is failed, it is not tried elsewhere; but a read whose kept connection turns out to
// be closed is sent again on a new one, which is what http.Transport does.
type balancer struct {
	URL     string
	servers []*balanced
	turn    atomic.Uint64
	http    *http.Server
	cancel  context.CancelFunc
	probes  sync.WaitGroup
}

// balanced is one server behind a balancer.
type balanced struct {
	base  *url.URL
	via   *http.Transport
	ready atomic.Bool
}

var errNobody = errors.New("no server is ready")

func newBalancer(bases ...string) (*balancer, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	b := &balancer{URL: "http://" + ln.Addr().String(), cancel: cancel}
	for _, base := range bases {
		u, err := url.Parse(base)
		if err != nil {
			return nil, errors.Join(err, ln.Close())
		}
		// Below the servers' own five seconds, as operations.md asks.
		s := &balanced{base: u, via: &http.Transport{IdleConnTimeout: 2 * time.Second, MaxIdleConnsPerHost: 64, DisableCompression: true}}
		b.servers = append(b.servers, s)
		b.probes.Go(func() { s.probe(ctx) })
	}
	b.http = &http.Server{ReadHeaderTimeout: 5 * time.Second, Handler: &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetXForwarded() },
		Transport: b,
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, err.Error(), http.StatusBadGateway)
		},
	}}
	go func() { _ = b.http.Serve(ln) }() // ends with close
	return b, nil
}

// RoundTrip sends a request to the server whose turn it is.
func (b *balancer) RoundTrip(r *http.Request) (*http.Response, error) {
	first := b.turn.Add(1)
	for i := range b.servers {
		s := b.servers[(first+uint64(i))%uint64(len(b.servers))]
		if s.ready.Load() {
			r.URL.Scheme, r.URL.Host = s.base.Scheme, s.base.Host
			return s.via.RoundTrip(r)
		}
	}
	return nil, errNobody
}

// probe keeps looking whether the server is ready.
func (s *balanced) probe(ctx context.Context) {
	for ctx.Err() == nil {
		r, err := doorClient.Get(s.base.String() + "/readyz")
		ready := err == nil && r.StatusCode == http.StatusOK
		if err == nil {
			_ = r.Body.Close()
		}
		if s.ready.Swap(ready) && !ready {
			s.via.CloseIdleConnections()
		}
		_ = wait(ctx, time.Now().Add(probeEvery))
	}
}

// close ends the balancer.
func (b *balancer) close() {
	b.cancel()
	_ = b.http.Close()
	b.probes.Wait()
	for _, s := range b.servers {
		s.via.CloseIdleConnections()
	}
}
