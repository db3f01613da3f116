package webhook

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// Addresses are what a webhook's URL may be.
type Addresses struct {
	Private bool                  // http and private hosts, for development
	Public  func(netip.Addr) bool // tells public addresses
}

// Check tells whether a URL may be registered. A name may still lead to an address
// that is refused when it is dialled.
func (a Addresses) Check(raw string) error {
	if raw == "" || len(raw) > MaxURL || strings.ContainsFunc(raw, func(r rune) bool { return r <= ' ' || r > '~' || r == '\\' }) {
		return ErrURL
	}
	u, err := url.Parse(raw)
	if err != nil || u.Opaque != "" || u.User != nil || u.Fragment != "" || strings.HasSuffix(raw, "#") || u.Hostname() == "" {
		return ErrURL
	}
	if u.Scheme != "https" && (u.Scheme != "http" || !a.Private) {
		return ErrURL
	}
	if p := u.Port(); p != "" || strings.HasSuffix(u.Host, ":") {
		if n, err := strconv.Atoi(p); err != nil || n < 1 || n > 65535 {
			return ErrURL
		}
	}
	if !a.Private && !a.publicHost(u.Hostname()) {
		return ErrURL
	}
	return nil
}

// publicHost refuses addresses that are not public, in every spelling, and names
// that exist only inside.
func (a Addresses) publicHost(host string) bool {
	if ip, err := netip.ParseAddr(host); err == nil {
		return a.Public(ip)
	}
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	last := name[strings.LastIndexByte(name, '.')+1:]
	if last == name || strings.ContainsAny(name, ":%") {
		return false
	}
	switch last {
	case "", "localhost", "local", "internal", "intranet", "lan", "home", "corp", "test", "invalid", "onion":
		return false
	}
	// 127.1, 0x7f.1 and 0177.0.0.1 are addresses to some resolvers.
	return last[0] < '0' || last[0] > '9'
}
