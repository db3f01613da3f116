package localdb

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"strings"
)

// lowestPort is the lowest port that FreePort chooses at random. These ports are below the range of outgoing connections. A
// client that repeatedly dials a port of that range while the server is unavailable can connect to itself and then occupies
// the port.
const lowestPort = 20000

// FreePort returns a TCP port of 127.0.0.1 on which no process listens now. Another process may use it before the
// caller does.
func FreePort() (int, error) {
	if top := ephemeralFloor(); top > lowestPort+1000 {
		for range 100 {
			port := lowestPort + rand.IntN(top-lowestPort)
			if PortFree(port) {
				return port, nil
			}
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// PortFree reports whether a server could listen on 127.0.0.1:port now.
func PortFree(port int) bool {
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return false
	}
	return l.Close() == nil
}

// ephemeralFloor returns the lowest port that the kernel assigns to outgoing connections. If that port cannot be read,
// ephemeralFloor returns 32768.
func ephemeralFloor() int {
	raw, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if err != nil {
		return 32768
	}
	var low, high int
	if _, err := fmt.Sscan(strings.TrimSpace(string(raw)), &low, &high); err != nil {
		return 32768
	}
	return low
}
