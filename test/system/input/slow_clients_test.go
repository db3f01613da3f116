package input

import (
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/signalcast/signalcast/test/system/stack"
)

// TestSlowClientsAreDisconnected checks that the server closes connections on which neither the request nor the answer makes
// progress, and that it answers other requests in the meantime.
func TestSlowClientsAreDisconnected(t *testing.T) {
	s := stack.Exclusive(t, stack.Hubs(2))
	c := &slowClients{
		server: netip.MustParseAddrPort(strings.TrimPrefix(s.Hub, "http://")), from: netip.MustParsePrefix("127.250.0.0/16"),
	}
	t.Cleanup(c.close)
	c.open(t, stack.Size(t, 200, 2000, 2000), stack.Size(t, 50, 500, 500), stack.Size(t, 50, 500, 500))
	if n := c.established(t); n == 0 {
		t.Fatal("the server has accepted none of the slow connections; want most of them")
	}
	readDuring(t, s)
	// The server allows 2 s for a request header, 4 s for a body and 5 s for writing an answer.
	stack.Eventually(t, 20*time.Second, "the end of all slow connections", func() bool { return c.established(t) == 0 })
}

// readDuring sends 50 read requests per second and requires that all are answered.
func readDuring(t *testing.T, s *stack.Stack) {
	t.Helper()
	crowd := stack.NewCrowd(50)
	stack.Steady(t, 50, time.Duration(stack.Size(t, 1, 4, 4))*time.Second, func(i int) {
		path := []string{"/api/signals/feed", "/api/operator/leaderboard"}[i%2]
		if a := crowd.Do(t, http.MethodGet, s.Hub+path); a.Status != http.StatusOK {
			t.Errorf("GET %s was answered %d; want 200\n%.200s", path, a.Status, a.Body)
		}
	})
}

// slowClients are connections to one server. No other client uses their source addresses.
type slowClients struct {
	server netip.AddrPort
	from   netip.Prefix

	mu    sync.Mutex
	conns []net.Conn
	wait  sync.WaitGroup
}

// open opens slow connections of three kinds. heads connections send half of a request header, bodies connections send one byte
// of a body per second, and deaf connections do not read the answer.
func (c *slowClients) open(t *testing.T, heads, bodies, deaf int) {
	stack.Each(heads+bodies+deaf, 64, func(i int) {
		dialer := net.Dialer{Timeout: 10 * time.Second, LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 250, byte(i/200), byte(1+i%200))}}
		conn, err := dialer.Dial("tcp", c.server.String())
		if err != nil {
			t.Errorf("open a slow connection: %v", err)
			return
		}
		c.mu.Lock()
		c.conns = append(c.conns, conn)
		c.mu.Unlock()
		switch {
		case i < heads:
			_, err = fmt.Fprintf(conn, "GET /api/signals/feed HTTP/1.1\r\nHost: %s\r\nX-Slow: ", c.server)
		case i < heads+bodies:
			_, err = fmt.Fprintf(conn, "POST /api/auth/privy HTTP/1.1\r\nHost: %s\r\n"+
				"Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n", c.server)
			c.wait.Go(func() { writeUntilClosed(conn, " ", time.Second) })
		default:
			request := fmt.Sprintf("GET /openapi.json HTTP/1.1\r\nHost: %s\r\n\r\n", c.server)
			c.wait.Go(func() { writeUntilClosed(conn, strings.Repeat(request, 16), 0) })
		}
		if err != nil {
			t.Errorf("write to a slow connection: %v", err)
		}
	})
}

func writeUntilClosed(conn net.Conn, text string, pause time.Duration) {
	for {
		if _, err := conn.Write([]byte(text)); err != nil {
			return
		}
		time.Sleep(pause)
	}
}

func (c *slowClients) close() {
	for _, conn := range c.conns {
		_ = conn.Close()
	}
	c.wait.Wait()
}

// established returns the number of slow connections that the server has not closed. It reads the connection table of the
// kernel.
func (c *slowClients) established(t *testing.T) (n int) {
	t.Helper()
	raw, err := os.ReadFile("/proc/net/tcp")
	if err != nil {
		t.Fatal(err)
	}
	const established, closeWait = "01", "08"
	for line := range strings.Lines(string(raw)) {
		fields := strings.Fields(line)
		if len(fields) < 4 || fields[3] != established && fields[3] != closeWait {
			continue
		}
		if kernelAddress(fields[1]) == c.server && c.from.Contains(kernelAddress(fields[2]).Addr()) {
			n++
		}
	}
	return n
}

// kernelAddress parses an address of /proc/net/tcp, which consists of four bytes in little-endian order and a port, in
// hexadecimal. For the header line of the table, the result is invalid.
func kernelAddress(text string) netip.AddrPort {
	host, port, _ := strings.Cut(text, ":")
	raw, err := hex.DecodeString(host + port)
	if err != nil || len(raw) != 6 {
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{raw[3], raw[2], raw[1], raw[0]}), uint16(raw[4])<<8|uint16(raw[5]))
}
