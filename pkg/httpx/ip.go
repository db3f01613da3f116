package httpx

import (
	"net/http"
	"net/netip"
	"strings"
)

// Peer returns the IP address of the client. It is the address of the socket, unless the socket belongs to a trusted proxy. In
// that case Peer reads the addresses of X-Forwarded-For from the last to the first, and returns the first one that is not a
// trusted proxy. If an entry is invalid or all entries are trusted, it returns the last trusted address that it read.
func Peer(r *http.Request, trusted []netip.Prefix) string {
	host := socketHost(r.RemoteAddr)
	if len(trusted) == 0 {
		return host
	}
	peer, ok := parseIP(host)
	if !ok || !contains(trusted, peer) {
		return host
	}
	hops := strings.Split(strings.Join(r.Header["X-Forwarded-For"], ","), ",")
	client := peer
	for i := len(hops) - 1; i >= 0; i-- {
		ip, ok := parseIP(strings.TrimSpace(hops[i]))
		if !ok {
			return client.String()
		}
		client = ip
		if !contains(trusted, ip) {
			break
		}
	}
	return client.String()
}

func contains(list []netip.Prefix, ip netip.Addr) bool {
	for _, p := range list {
		if p.Contains(ip) {
			return true
		}
	}
	return false
}

func parseIP(s string) (netip.Addr, bool) {
	ip, err := netip.ParseAddr(strings.Trim(s, "[]"))
	if err != nil {
		return netip.Addr{}, false
	}
	return ip.Unmap().WithZone(""), true
}

// socketHost returns addr without port and brackets. It does not allocate.
func socketHost(addr string) string {
	i := strings.LastIndexByte(addr, ':')
	if i < 0 {
		return addr
	}
	return strings.TrimSuffix(strings.TrimPrefix(addr[:i], "["), "]")
}
