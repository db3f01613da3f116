package delivery

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/signalcast/signalcast/pkg/safedial"
	"github.com/signalcast/signalcast/services/api/internal/webhook"
)

// AllowedURL returns a function that reports whether an operator may register a URL. For development, private also allows http
// and private hosts. The host name of an allowed URL can still resolve to a private address; the Sender rejects that address
// when it connects.
func AllowedURL(private bool) func(raw string) bool {
	return func(raw string) bool {
		if raw == "" || len(raw) > webhook.MaxURL || strings.ContainsFunc(raw, func(r rune) bool { return r <= ' ' || r > '~' || r == '\\' }) {
			return false
		}
		u, err := url.Parse(raw)
		if err != nil || u.Opaque != "" || u.User != nil || u.Fragment != "" || strings.HasSuffix(raw, "#") || u.Hostname() == "" {
			return false
		}
		if u.Scheme != "https" && (u.Scheme != "http" || !private) {
			return false
		}
		if p := u.Port(); p != "" || strings.HasSuffix(u.Host, ":") {
			if n, err := strconv.Atoi(p); err != nil || n < 1 || n > 65535 {
				return false
			}
		}
		return private || publicHost(u.Hostname())
	}
}

// publicHost reports whether a host can be public. It returns false for addresses that are not public, in every spelling, and
// for names that exist only in private networks.
func publicHost(host string) bool {
	if ip, err := netip.ParseAddr(host); err == nil {
		return safedial.Public(ip)
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
	// Some resolvers accept 127.1, 0x7f.1 and 0177.0.0.1 as addresses.
	return last[0] < '0' || last[0] > '9'
}
