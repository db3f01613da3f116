package limit

import "net/netip"

// AddrKey is the key of an address: itself for IPv4, the /64 network for IPv6,
// of which one household has a whole one.
func AddrKey(a netip.Addr) string {
	a = a.Unmap().WithZone("")
	if a.Is6() {
		if p, err := a.Prefix(64); err == nil {
			return p.String()
		}
	}
	return a.String()
}
