package httpx

import (
	"net/http"
	"net/netip"
	"strings"
)

// Peer returns the IP address of the client. Without a trusted proxy, that is the address of the socket. If the socket belongs to
// a trusted proxy, Peer reads X-Forwarded-For from its last address back to the first one that is not a trusted proxy, and
// returns that address. If an entry is not an IP address or the header ends, Peer returns the address before.
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
