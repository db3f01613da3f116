package caller

import (
	"net/netip"
	"strings"

	"github.com/mileusna/useragent"
)

// Device is the browser and the network of a sign-in. Both are coarse, so that a row does not identify a person.
type Device struct {
	Browser string // for example "Firefox on Linux"; "Other browser" if it is unknown
	Address string // prefix of the IP address: /24 of IPv4, /48 of IPv6; empty: unknown
}

// Maximum lengths in bytes: of the name of a browser, and of the part of a User-Agent header that is read.
const (
	maxBrowser = 64
	maxAgent   = 512
)

// DeviceOf returns the device of a request with a User-Agent header and an IP address. A name with characters other than printable
// ASCII is unknown.
func DeviceOf(agent, ip string) Device {
	ua := useragent.Parse(agent[:min(len(agent), maxAgent)])
	d := Device{Browser: "Other browser", Address: addressPrefix(ip)}
	name := ua.Name
	if ua.OS != "" {
		name += " on " + ua.OS
	}
	known := (ua.Mobile || ua.Tablet || ua.Desktop) && ua.Name != ""
	if known && len(name) <= maxBrowser && !strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r > '~' }) {
		d.Browser = name
	}
	return d
}

// addressPrefix returns the network of an IP address: 203.0.113.0/24 or 2001:db8:1::/48. It returns "" for another text.
func addressPrefix(ip string) string {
	a, err := netip.ParseAddr(ip)
	if err != nil {
		return ""
	}
	a = a.Unmap().WithZone("")
	bits := 24
	if a.Is6() {
		bits = 48
	}
	return netip.PrefixFrom(a, bits).Masked().String()
}
