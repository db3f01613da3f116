package rows

import (
	"bufio"
	"context"
	"encoding/hex"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

// i3 opens thousands of connections that hardly move and reads as usual beside
// them; a few seconds later none of them may be open.
var i3 = frame.Row{
	ID: "I3", Title: "slow clients hold nothing",
	Fault: frame.Fault{What: "no time limits on connections", Env: map[string]string{
		"HTTP_READ_HEADER_TIMEOUT": "1h", "HTTP_READ_TIMEOUT": "1h", "HTTP_WRITE_TIMEOUT": "1h", "HTTP_IDLE_TIMEOUT": "1h",
	}},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		s, err := newSlow(env.Hub(0))
		if err != nil {
			return nil, err
		}
		defer s.close()
		good := func() *frame.Times {
			times := &frame.Times{}
			steady(ctx, 50, time.Duration(env.Of(1, 4, 4))*time.Second, func(i int) {
				a := env.Client.Do(ctx, client.Request{URL: env.Hub(0) + []string{"/api/signals/feed", "/api/operator/leaderboard"}[i%2]})
				seen.Check(a.Status == 200, "a good request was answered %s", a)
				times.Add(a.Took())
			})
			return times
		}
		before := good()
		heads, bodies, deaf := env.Of(200, 2000, 2000), env.Of(50, 500, 500), env.Of(50, 500, 500)
		if err := s.open(ctx, heads, bodies, deaf); err != nil {
			return nil, err
		}
		most, err := s.established()
		if err != nil {
			return nil, err
		}
		opened := time.Now()
		during := good()
		left := most
		patience := time.Duration(env.Of(8, 20, 20)) * time.Second
		_, err = frame.Until(ctx, time.Until(opened.Add(patience)), func() (bool, error) {
			left, err = s.established()
			return left == 0, err
		})
		if err != nil {
			return nil, err
		}
		closed := time.Since(opened)
		seen.Check(left == 0, "%d connections are still open after %v", left, closed)
		const want = 50 * time.Millisecond
		p99 := during.At(.99)
		seen.Check(p99 <= generous*(want+before.At(.99)), "p99 of good requests is %v, %v before", p99, before.At(.99))
		seen.Figure("p99Before", before.At(.99))
		seen.Figure("p99", p99)
		seen.Figure("allClosed", closed)
		seen.Promise("good p99 ≤ 50 ms, open after 6 s 0", fmt.Sprintf("good p99 %d ms (%d before), open %d after %.1f s",
			p99.Milliseconds(), before.At(.99).Milliseconds(), left, closed.Seconds()))
		seen.Volume("%s heads, %d bodies, %d that never read, %d good requests", frame.Number(heads), bodies, deaf, during.Len())
		return seen, nil
	},
}

// slow are connections to one server from addresses that nobody else uses.
type slow struct {
	server netip.AddrPort
	net    netip.Prefix
	stop   context.CancelFunc
	wg     sync.WaitGroup

	mu    sync.Mutex
	conns []net.Conn
}

func newSlow(base string) (*slow, error) {
	u, err := url.Parse(base)
	if err != nil {
		return nil, err
	}
	server, err := netip.ParseAddrPort(u.Host)
	if err != nil {
		return nil, err
	}
	return &slow{server: server, net: netip.MustParsePrefix("127.250.0.0/16")}, nil
}

func (s *slow) close() {
	if s.stop != nil {
		s.stop()
	}
	for _, c := range s.conns {
		_ = c.Close()
	}
	s.wg.Wait()
}

// open makes the connections; half of a head, a body at a byte a second, and
// requests whose answers nobody reads.
func (s *slow) open(ctx context.Context, heads, bodies, deaf int) error {
	ctx, s.stop = context.WithCancel(ctx)
	errs := make([]error, heads+bodies+deaf)
	frame.Each(len(errs), 64, func(i int) {
		var c net.Conn
		if c, errs[i] = s.dial(ctx, i); errs[i] != nil {
			return
		}
		switch {
		case i < heads:
			_, errs[i] = fmt.Fprintf(c, "GET /api/signals/feed HTTP/1.1\r\nHost: %s\r\nX-Slow: ", s.server)
		case i < heads+bodies:
			_, errs[i] = fmt.Fprintf(c, "POST /api/auth/privy HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n", s.server)
			s.wg.Go(func() { trickle(ctx, c) })
		default:
			s.wg.Go(func() { s.shout(c) })
		}
	})
	for _, err := range errs {
		if err != nil {
			return fmt.Errorf("open a slow connection: %w", err)
		}
	}
	return nil
}

func (s *slow) dial(ctx context.Context, i int) (net.Conn, error) {
	from := net.IPv4(127, 250, byte(i/200), byte(1+i%200))
	d := net.Dialer{Timeout: 10 * time.Second, LocalAddr: &net.TCPAddr{IP: from}}
	c, err := d.DialContext(ctx, "tcp", s.server.String())
	if err == nil {
		s.mu.Lock()
		s.conns = append(s.conns, c)
		s.mu.Unlock()
	}
	return c, err
}

// trickle sends a byte a second until the server has had enough.
func trickle(ctx context.Context, c net.Conn) {
	for {
		if _, err := c.Write([]byte(" ")); err != nil || wait(ctx, time.Now().Add(time.Second)) != nil {
			return
		}
	}
}

// shout asks and asks and reads nothing, until both ends are full.
func (s *slow) shout(c net.Conn) {
	ask := []byte(strings.Repeat(fmt.Sprintf("GET /openapi.json HTTP/1.1\r\nHost: %s\r\n\r\n", s.server), 16))
	for {
		if _, err := c.Write(ask); err != nil {
			return
		}
	}
}

// established counts the connections of ours that the server has not closed: its
// own end of each, as the kernel tells.
func (s *slow) established() (n int, err error) {
	f, err := os.Open("/proc/net/tcp")
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close() }()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		parts := strings.Fields(lines.Text())
		if len(parts) < 4 || parts[3] != "01" && parts[3] != "08" {
			continue
		}
		local, remote := kernelAddr(parts[1]), kernelAddr(parts[2])
		if local == s.server && s.net.Contains(remote.Addr()) {
			n++
		}
	}
	return n, lines.Err()
}

// kernelAddr reads an address as the kernel writes it: hexadecimal, the four bytes
// in the order of a little machine. It is not valid when it cannot be read.
func kernelAddr(text string) netip.AddrPort {
	host, port, _ := strings.Cut(text, ":")
	raw, err := hex.DecodeString(host + port)
	if err != nil || len(raw) != 6 {
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{raw[3], raw[2], raw[1], raw[0]}), uint16(raw[4])<<8|uint16(raw[5]))
}
