package httpx

import (
	"net/http"
	"net/netip"
	"strings"
)

// Peer is the address of the client: the socket's, or, when the socket belongs
// to a trusted proxy, the last address in X-Forwarded-For that does not.
// A header that cannot be read is not believed at all.
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

// socketHost cuts the port off without allocating.
func socketHost(addr string) string {
	i := strings.LastIndexByte(addr, ':')
	if i < 0 {
		return addr
	}
	return strings.TrimSuffix(strings.TrimPrefix(addr[:i], "["), "]")
}
