package safedial_test

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/signalcast/signalcast/pkg/safedial"
)

// privateAddresses contains addresses that are not public: this host, private networks, tunnels and translators to them, and
// unallocated ranges.
const privateAddresses = `
0.0.0.0 0.0.0.1 0.255.255.255 10.0.0.0 10.0.0.1 10.96.0.1 10.244.1.7 10.255.255.255
100.64.0.0 100.64.0.1 100.100.100.200 100.127.255.255 127.0.0.0 127.0.0.1 127.0.0.53 127.1.2.3 127.255.255.255
169.254.0.0 169.254.0.1 169.254.169.253 169.254.169.254 169.254.170.2 169.254.255.255 168.63.129.16
172.16.0.0 172.16.0.1 172.17.0.1 172.20.10.1 172.31.255.255 192.0.0.0 192.0.0.1 192.0.0.8 192.0.0.170 192.0.0.192 192.0.0.255
192.0.2.0 192.0.2.1 192.0.2.255 192.31.196.1 192.52.193.1 192.88.99.0 192.88.99.1 192.88.99.255 192.168.0.0 192.168.0.1 192.168.1.1 192.168.255.255
192.175.48.1 198.18.0.0 198.18.0.1 198.19.255.255 198.51.100.0 198.51.100.1 198.51.100.255 203.0.113.0 203.0.113.1 203.0.113.255
224.0.0.0 224.0.0.1 224.0.0.251 239.255.255.250 239.255.255.255 240.0.0.0 240.0.0.1 250.1.2.3 255.255.255.254 255.255.255.255
:: ::1 ::2 ::7f00:1 ::127.0.0.1 ::a00:1 ::ffff:0.0.0.0 ::ffff:10.0.0.1 ::ffff:100.64.0.1 ::ffff:127.0.0.1 ::ffff:169.254.169.254
::ffff:172.16.0.1 ::ffff:192.168.0.1 ::ffff:198.18.0.1 ::ffff:224.0.0.1 ::ffff:255.255.255.255 ::ffff:0:127.0.0.1
64:ff9b::7f00:1 64:ff9b::a00:1 64:ff9b::a9fe:a9fe 64:ff9b::808:808 64:ff9b:1::1 64:ff9b:1::7f00:1
100::1 100:0:0:1::1 2001::1 2001:0:7f00:1:: 2001:0:4136:e378:8000:63bf:3fff:fdd2 2001:1::1 2001:2::1 2001:4:112::1 2001:10::1 2001:20::1 2001:30::1 2001:db8::1 2001:db8:ffff::1
2002:7f00:1:: 2002:a00:1:: 2002:a9fe:a9fe:: 2002:c0a8:1:: 2002:808:808:: 2620:4f:8000::1 3fff::1 3fff:fff::1 5f00::1
fc00::1 fc00:1::1 fd00::1 fd00:ec2::254 fd20:ce::254 fdff:ffff::1 fe80::1 fe80::1%lo fe80::a9fe:a9fe fe80::1%1 febf::1 fec0::1 feff::1
ff01::1 ff02::1 ff02::2 ff05::1:3 ff0e::1 ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 4000::1 8000::1 2606:4700::1111%eth0 1::1`

// publicAddresses contains public addresses, some of them adjacent to ranges that are not public.
const publicAddresses = `
1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 93.184.216.34 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 169.253.255.255 169.255.0.0
172.15.255.255 172.32.0.0 192.0.1.0 192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0 223.255.255.255 ::ffff:8.8.8.8
2001:200::1 2001:4860:4860::8888 2003::1 2606:4700:4700::1111 2a00:1450:4001::200e`

func TestTable(t *testing.T) {
	t.Parallel()
	in := strings.Fields(privateAddresses)
	if len(in) < 120 {
		t.Errorf("%d addresses, want at least 120", len(in))
	}
	for _, s := range in {
		if safedial.Public(netip.MustParseAddr(s)) {
			t.Errorf("%s is public", s)
		}
	}
	for _, s := range strings.Fields(publicAddresses) {
		if !safedial.Public(netip.MustParseAddr(s)) {
			t.Errorf("%s is not public", s)
		}
	}
	if safedial.Public(netip.Addr{}) {
		t.Error("the zero address is public")
	}
}

// TestNothingIsDialled checks that requests to each of privateAddresses, and to other notations of 127.0.0.1, fail
// before a connection is made.
func TestNothingIsDialled(t *testing.T) {
	t.Parallel()
	client := safedial.Client(safedial.Options{})
	for _, s := range strings.Fields(privateAddresses) {
		host := s
		if strings.Contains(s, ":") {
			host = "[" + strings.Replace(s, "%", "%25", 1) + "]"
		}
		if err := get(t, client, "http://"+host+":9/"); !errors.Is(err, safedial.ErrAddress) {
			t.Errorf("%s: %v", s, err)
		}
	}
	hits, port := canary(t)
	for _, host := range []string{"localhost", "2130706433", "0177.0.0.1", "0x7f.1", "127.1", "0x7f000001", "0"} {
		if err := get(t, client, "http://"+host+":"+port+"/"); err == nil {
			t.Errorf("a connection to %s was made", host)
		}
	}
	if n := hits.Load(); n != 0 {
		t.Errorf("%d connections, want 0", n)
	}
}

// TestRebinding checks that a name that resolves to a public address at first and to a private one later is rejected.
func TestRebinding(t *testing.T) {
	t.Parallel()
	hits, port := canary(t)
	r := resolver(t, "93.184.216.34", "127.0.0.1")
	if found, err := r.LookupNetIP(t.Context(), "ip4", "hook.example."); err != nil || !safedial.Public(found[0]) {
		t.Fatalf("first lookup: addresses %v, error %v", found, err)
	}
	if err := get(t, safedial.Client(safedial.Options{Resolver: r}), "http://hook.example.:"+port+"/"); !errors.Is(err, safedial.ErrAddress) || hits.Load() != 0 {
		t.Errorf("error %v, %d connections; want ErrAddress and 0", err, hits.Load())
	}
	// With Private the same request succeeds.
	if err := get(t, safedial.Client(safedial.Options{Resolver: r, Private: true}), "http://hook.example.:"+port+"/"); err != nil || hits.Load() == 0 {
		t.Errorf("with Private: error %v, %d connections", err, hits.Load())
	}
}

// TestNoProxyNoRedirect checks that the client ignores the proxy settings of the environment and does not follow
// redirects.
func TestNoProxyNoRedirect(t *testing.T) {
	hits, port := canary(t)
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:"+port)
	from := httptest.NewServer(http.RedirectHandler("http://127.0.0.1:"+port+"/", http.StatusTemporaryRedirect))
	t.Cleanup(from.Close)
	if err := get(t, safedial.Client(safedial.Options{Private: true}), from.URL); err != nil || hits.Load() != 0 {
		t.Errorf("redirect: error %v, %d connections to its target; want none", err, hits.Load())
	}
	if err := get(t, safedial.Client(safedial.Options{}), "http://10.1.2.3/"); !errors.Is(err, safedial.ErrAddress) || hits.Load() != 0 {
		t.Errorf("private address: error %v, %d connections to the proxy; want ErrAddress and 0", err, hits.Load())
	}
}

// first answers requests to a public host with a redirect, and sends all others with its client.
type first struct {
	to   string
	next http.RoundTripper
}

func (f first) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Host != "public.example" {
		return f.next.RoundTrip(r)
	}
	return &http.Response{StatusCode: http.StatusFound, Header: http.Header{"Location": {f.to}}, Body: http.NoBody, Request: r}, nil
}

// TestRedirects checks that a client follows at most the permitted number of redirects, none to a private address, and none from
// https to http.
func TestRedirects(t *testing.T) {
	t.Parallel()
	hits, port := canary(t)
	loop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n, _ := strconv.Atoi(strings.Trim(r.URL.Path, "/")); n > 0 {
			http.Redirect(w, r, "/"+strconv.Itoa(n-1), http.StatusFound)
		}
	}))
	t.Cleanup(loop.Close)
	open := safedial.Client(safedial.Options{Private: true, Redirects: 3})
	if err := get(t, open, loop.URL+"/3"); err != nil {
		t.Errorf("three redirects: %v", err)
	}
	if err := get(t, open, loop.URL+"/4"); !errors.Is(err, safedial.ErrRedirect) {
		t.Errorf("four redirects: %v, want ErrRedirect", err)
	}
	for to, want := range map[string]error{
		"https://127.0.0.1:" + port + "/": safedial.ErrAddress, "https://[::1]:" + port + "/": safedial.ErrAddress,
		"https://169.254.169.254/": safedial.ErrAddress, "https://localhost:" + port + "/": safedial.ErrAddress, "http://127.0.0.1:" + port + "/": safedial.ErrRedirect,
	} {
		c := safedial.Client(safedial.Options{Redirects: 3})
		c.Transport = first{to, c.Transport}
		if err := get(t, c, "https://public.example/"); !errors.Is(err, want) {
			t.Errorf("redirect to %s: %v, want %v", to, err, want)
		}
	}
	if n := hits.Load(); n != 0 {
		t.Errorf("%d connections to private addresses, want 0", n)
	}
}

func get(t *testing.T, c *http.Client, url string) error {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.Do(r)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// canary starts a server that counts connections and returns its port.
func canary(t *testing.T) (hits *atomic.Int64, port string) {
	t.Helper()
	hits = new(atomic.Int64)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			hits.Add(1)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	_, port, err := net.SplitHostPort(s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return hits, port
}

// resolver returns a DNS resolver that answers the first query with one address and later queries with another.
func resolver(t *testing.T, first, then string) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	go func() {
		answer, buf := netip.MustParseAddr(first), make([]byte, 512)
		for {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			q := buf[:n]
			end := 12 // end of the question, which follows the header
			for q[end] != 0 {
				end += int(q[end]) + 1
			}
			kind := binary.BigEndian.Uint16(q[end+1:])
			out := append([]byte{q[0], q[1], 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0}, q[12:end+5]...)
			if kind == 1 {
				out[7] = 1
				out = append(out, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4)
				out = append(out, answer.AsSlice()...)
				answer = netip.MustParseAddr(then)
			}
			_, _ = conn.WriteTo(out, from)
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}
