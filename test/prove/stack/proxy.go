package stack

import (
	"context"
	"fmt"
	"strings"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
)

// Fault is one of the four ways in which a connection fails.
type Fault string

// The ways of failing.
const (
	Refused Fault = "refused" // nobody listens, and what was connected is cut
	Hung    Fault = "hung"    // bytes go in and none come out
	Slow    Fault = "slow"    // every answer is five seconds late
	Reset   Fault = "reset"   // the connection breaks in the middle of an answer
)

// Faults are all four.
var Faults = []Fault{Refused, Hung, Slow, Reset}

// Proxy stands between a process and what it connects to.
type Proxy struct {
	Addr  string
	proxy *toxiproxy.Proxy
}

// NewProxy listens on a port of its own and passes on to upstream.
func NewProxy(upstream string) (*Proxy, error) {
	addr, err := FreeAddr()
	if err != nil {
		return nil, err
	}
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(prometheus.NewRegistry()), zerolog.Nop())
	p := &Proxy{Addr: addr, proxy: toxiproxy.NewProxy(server, addr, addr, upstream)}
	return p, p.proxy.Start()
}

// Break makes the connections fail until Mend.
func (p *Proxy) Break(how Fault) error {
	switch how {
	case Refused:
		p.proxy.Stop()
		return nil
	case Hung:
		return p.toxic(`{"name":"hung","type":"timeout","attributes":{"timeout":0}}`)
	case Slow:
		return p.toxic(`{"name":"slow","type":"latency","attributes":{"latency":5000}}`)
	case Reset:
		return p.toxic(`{"name":"reset","type":"reset_peer","attributes":{"timeout":0}}`)
	}
	return fmt.Errorf("no such fault: %s", how)
}

func (p *Proxy) toxic(json string) error {
	_, err := p.proxy.Toxics.AddToxicJson(strings.NewReader(json))
	return err
}

// Cut ends every connection at once, whether or not anything comes; new ones pass.
func (p *Proxy) Cut(ctx context.Context) error {
	if err := p.toxic(`{"name":"cut","type":"timeout","attributes":{"timeout":1}}`); err != nil {
		return err
	}
	after(ctx, 20*time.Millisecond)
	p.proxy.Toxics.ResetToxics(ctx)
	return nil
}

// Turn passes on to another upstream from now on. What was connected is cut.
func (p *Proxy) Turn(ctx context.Context, upstream string) error {
	want := &toxiproxy.Proxy{Listen: p.Addr, Upstream: upstream, Enabled: true}
	end := time.Now().Add(5 * time.Second)
	for {
		err := p.proxy.Update(want)
		if err == nil || ctx.Err() != nil || time.Now().After(end) {
			return err
		}
		after(ctx, 20*time.Millisecond) // the port is somebody's for a moment
	}
}

func after(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// Mend ends every fault.
func (p *Proxy) Mend(ctx context.Context) error {
	p.proxy.Toxics.ResetToxics(ctx)
	if !p.proxy.Enabled {
		return p.proxy.Start()
	}
	return nil
}

// Close ends the proxy.
func (p *Proxy) Close() { p.proxy.Stop() }
