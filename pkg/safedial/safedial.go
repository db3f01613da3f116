package safedial

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"
)

// ErrAddress is the error for an address that is not on the public internet.
var ErrAddress = errors.New("address is not public")

// special contains address ranges that are not public: this host, private networks, multicast, and tunnels (IANA
// special-purpose address registries).
var special = prefixes(
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
	"192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16",
	"192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
	"168.63.129.16/32", // a service of a cloud provider on a public address
	"2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20", "2620:4f:8000::/48",
)

// global is the allocated part of IPv6. Other ranges are private, mapped, translated (64:ff9b::/96) or not allocated.
var global = netip.MustParsePrefix("2000::/3")

func prefixes(list ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(list))
	for i, s := range list {
		out[i] = netip.MustParsePrefix(s)
	}
	return out
}

// Public reports whether an address is on the public internet. An IPv6 address that embeds an IPv4 address is not
// public. The mapped form (::ffff:0:0/96) is an exception: Public checks its IPv4 address.
func Public(a netip.Addr) bool {
	if a.Zone() != "" {
		return false
	}
	a = a.Unmap()
	if !a.IsValid() || a.Is6() && !global.Contains(a) {
		return false
	}
	for _, p := range special {
		if p.Contains(a) {
			return false
		}
	}
	return true
}

// control is the net.Dialer.Control function that rejects connections to addresses that are not public.
func control(network, address string, _ syscall.RawConn) error {
	if network != "tcp4" && network != "tcp6" {
		return fmt.Errorf("%s %s: %w", network, address, ErrAddress)
	}
	to, err := netip.ParseAddrPort(address)
	if err != nil || !Public(to.Addr()) {
		return fmt.Errorf("%s: %w", address, ErrAddress)
	}
	return nil
}

// Options configure the client that Client returns. The zero value permits public addresses only.
type Options struct {
	Private  bool          // permits private addresses
	Timeout  time.Duration // timeout of a whole request; 0: ten seconds
	Resolver *net.Resolver // nil: the resolver of the system
	// Redirects is the maximum number of redirects that a request follows. 0: none; the redirect is then the response.
	Redirects int
}

// ErrRedirect is the error of a request with too many redirects, or with a redirect from https to http.
var ErrRedirect = errors.New("too many redirects, or a redirect from https to http")

// Client returns an HTTP client for URLs from users. Unless o.Private is set, it connects only to public addresses and
// returns ErrAddress for others, also after a redirect. It uses no proxy and follows at most o.Redirects redirects.
func Client(o Options) *http.Client {
	if o.Timeout == 0 {
		o.Timeout = 10 * time.Second
	}
	d := &net.Dialer{Timeout: o.Timeout, Resolver: o.Resolver}
	if !o.Private {
		d.Control = control
	}
	return &http.Client{
		Timeout: o.Timeout,
		Transport: &http.Transport{
			DialContext: d.DialContext, TLSHandshakeTimeout: o.Timeout, ResponseHeaderTimeout: o.Timeout,
			MaxIdleConns: 64, MaxIdleConnsPerHost: 1, IdleConnTimeout: 30 * time.Second,
			MaxResponseHeaderBytes: 16 << 10, DisableCompression: true,
		},
		CheckRedirect: o.redirect,
	}
}

// redirect is the http.Client.CheckRedirect function of a client.
func (o Options) redirect(next *http.Request, earlier []*http.Request) error {
	switch {
	case o.Redirects == 0:
		return http.ErrUseLastResponse
	case len(earlier) > o.Redirects, earlier[0].URL.Scheme == "https" && next.URL.Scheme != "https":
		return ErrRedirect
	}
	return nil
}
