package stack

import (
	"strings"
	"testing"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
)

// Outage is a way in which a Proxy makes connections fail.
type Outage string

// Kinds of outages.
const (
	Refused Outage = "refused" // new connections are refused, open ones are closed
	Hung    Outage = "hung"    // requests are accepted and get no response
	Slow    Outage = "slow"    // every response is five seconds late
	Reset   Outage = "reset"   // connections are reset during a response
)

// Outages lists all kinds of outages.
var Outages = []Outage{Refused, Hung, Slow, Reset}

// Proxy forwards TCP connections to an upstream and can make them fail.
type Proxy struct {
	Addr  string
	proxy *toxiproxy.Proxy
}

// NewProxy starts a Proxy on a free loopback port that forwards connections to the address upstream. The proxy stops when the
// test ends.
func NewProxy(t testing.TB, upstream string) *Proxy {
	t.Helper()
	addr := FreeAddr(t)
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(prometheus.NewRegistry()), zerolog.Nop())
	p := &Proxy{Addr: addr, proxy: toxiproxy.NewProxy(server, addr, addr, upstream)}
	if err := p.proxy.Start(); err != nil {
		t.Fatalf("start a proxy to %s: %v", upstream, err)
	}
	t.Cleanup(p.proxy.Stop)
	return p
}

// Break starts an outage that lasts until Repair is called. The parameter how selects the kind of the outage.
func (p *Proxy) Break(t testing.TB, how Outage) {
	t.Helper()
	switch how {
	case Refused:
		p.proxy.Stop()
	case Hung:
		p.add(t, `{"name":"hung","type":"timeout","attributes":{"timeout":0}}`)
	case Slow:
		p.add(t, `{"name":"slow","type":"latency","attributes":{"latency":5000}}`)
	case Reset:
		p.add(t, `{"name":"reset","type":"reset_peer","attributes":{"timeout":0}}`)
	}
}

func (p *Proxy) add(t testing.TB, toxic string) {
	t.Helper()
	if _, err := p.proxy.Toxics.AddToxicJson(strings.NewReader(toxic)); err != nil {
		t.Fatalf("proxy %s: %v", p.Addr, err)
	}
}

// Cut closes all open connections. The proxy continues to forward new connections.
func (p *Proxy) Cut(t testing.TB) {
	t.Helper()
	p.add(t, `{"name":"cut","type":"timeout","attributes":{"timeout":1}}`)
	Wait(t, 20*time.Millisecond)
	p.proxy.Toxics.ResetToxics(t.Context())
}

// Redirect closes all open connections and forwards new connections to the address upstream. It retries for about five seconds if
// the port of the proxy is still in use.
func (p *Proxy) Redirect(t testing.TB, upstream string) {
	t.Helper()
	want := &toxiproxy.Proxy{Listen: p.Addr, Upstream: upstream, Enabled: true}
	var err error
	for range 250 { // the port may still be in use
		if err = p.proxy.Update(want); err == nil {
			return
		}
		Wait(t, 20*time.Millisecond)
	}
	t.Fatalf("redirect proxy %s: %v", p.Addr, err)
}

// Repair ends the outages that Break has started.
func (p *Proxy) Repair(t testing.TB) {
	t.Helper()
	p.proxy.Toxics.ResetToxics(t.Context())
	if p.proxy.Enabled {
		return
	}
	if err := p.proxy.Start(); err != nil {
		t.Fatalf("restart the proxy %s: %v", p.Addr, err)
	}
}
