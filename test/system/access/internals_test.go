package access

import (
	"bufio"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/signalcast/signalcast/test/system/openapi"
	"github.com/signalcast/signalcast/test/system/stack"
)

// reflection lists gRPC methods that describe a server or its health.
var reflection = []string{
	"grpc.reflection.v1.ServerReflection/ServerReflectionInfo", "grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
	"grpc.health.v1.Health/Check",
}

// internalPaths lists paths that servers often use for metrics, profiles and settings.
var internalPaths = append([]string{
	"metrics", "metrics/", "routes", "debug", "debug/", "debug/routes", "debug/vars", "debug/pprof", "debug/pprof/", "debug/pprof/heap",
	"debug/pprof/goroutine", "debug/pprof/profile", "debug/pprof/cmdline", "debug/pprof/symbol", "debug/pprof/trace", "debug/requests",
	"debug/events", "debug/statsviz", "debug/config", "pprof", "pprof/heap", "vars", "expvar", "stats", "config", "env", "actuator",
	"actuator/env", "actuator/heapdump", "server-status", "internal", "internal/metrics", "api/metrics", "api/v1/metrics", "api/debug/pprof/",
	"api/protocol/v1/metrics", "_metrics", "prometheus", "federate", "swagger", "graphql", ".env", ".git/config",
}, reflection...)

// pathSpellings are functions that write a path in another way, which a proxy or router could treat as the same path.
var pathSpellings = []func(path string) string{
	func(p string) string { return "/" + p },
	func(p string) string { return "//" + p },
	func(p string) string { return "/./" + p },
	func(p string) string { return "/x/../" + p },
	func(p string) string { return "/api/../" + p },
	func(p string) string { return "/%2e%2e/" + p },
	func(p string) string { return "/%2f" + p },
	func(p string) string { return "/" + strings.ReplaceAll(p, "/", "%2f") },
	func(p string) string { return "/" + strings.ReplaceAll(p, "/", "//") },
	func(p string) string { return "/" + strings.ReplaceAll(p, "e", "%65") },
	func(p string) string { return "/" + strings.ReplaceAll(p, "e", "%2565") },
	func(p string) string { return "/" + strings.ToUpper(p) },
	func(p string) string { return "/" + p + "." },
	func(p string) string { return "/" + p + "..." },
	func(p string) string { return "/" + p + "%20" },
	func(p string) string { return "/" + p + "%00" },
	func(p string) string { return "/" + p + ";a=b" },
	func(p string) string { return "/" + p + "?debug=1&x=/healthz" },
	func(p string) string { return "/healthz/../" + p },
	func(p string) string { return "/healthz/" + p },
	func(p string) string { return "/healthz%2f..%2f" + p },
	func(p string) string { return `/\` + p },
	func(p string) string { return "http://127.0.0.1/" + p },
	func(p string) string { return p },
}

// internalMarks are texts that metrics, profiles and lists of routes contain.
var internalMarks = []string{
	"# HELP", "# TYPE", "go_goroutines", "goroutine profile", "/debug/pprof", "memstats", "cmdline", `"routes":[`, "heap profile", "[core]",
	"grpc.reflection",
}

func markOf(text string) string {
	for _, mark := range internalMarks {
		if strings.Contains(text, mark) {
			return mark
		}
	}
	return ""
}

// TestInternalsAreNotPublic checks that the public listener of each process serves no metrics, profiles, route lists or
// gRPC services, and that no further listener has a public address (guarantee L6).
func TestInternalsAreNotPublic(t *testing.T) {
	t.Parallel()
	s := accessStack(t)
	for i, process := range []string{"hub", "hub-2", "api", "clock"} {
		t.Run(process, func(t *testing.T) {
			t.Parallel()
			settings := s.Settings(t, process)
			public, internal := settings["HTTP_ADDR"], settings["METRICS_ADDR"]
			for _, path := range []string{"/metrics", "/routes"} { // otherwise the search could find nothing
				if status, text := rawRequest(t, i, internal, http.MethodGet, path, internal); status != http.StatusOK || markOf(text) == "" {
					t.Fatalf("%s at the internal address was answered %d without a known mark of internal data", path, status)
				}
			}
			n := i * 10_000
			request := func(method, path, host string) {
				n++
				status, text := rawRequest(t, n, public, method, path, host)
				if mark := markOf(text); mark != "" || status < 400 || status >= 500 || status == http.StatusTooManyRequests {
					t.Errorf("%s %s (host %s) was answered %d with %q; want no internal data\n%.200s", method, path, host, status, mark, text)
				}
			}
			for _, path := range internalPaths {
				for _, spell := range pathSpellings {
					request(http.MethodGet, spell(path), public)
				}
				for _, method := range []string{"HEAD", "POST", "OPTIONS", "TRACE", "PROPFIND"} {
					request(method, "/"+path, public)
				}
				for _, host := range []string{internal, "localhost", "internal", "metrics", "127.0.0.1"} {
					request(http.MethodGet, "/"+path, host)
				}
			}
			requireNoGRPC(t, public)
			requireListeners(t, s.PID(t, process), settings)
		})
	}
}

// rawRequest sends an HTTP request line and Host header exactly as given, from one of many source addresses that i selects. It
// returns the status, and the header and body as text.
func rawRequest(t *testing.T, i int, addr, method, path, host string) (status int, text string) {
	t.Helper()
	d := net.Dialer{Timeout: 5 * time.Second, LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 77, byte(i/200), byte(1+i%200))}}
	conn, err := d.DialContext(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	const request = "%s %s HTTP/1.1\r\nHost: %s\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
	if _, err := fmt.Fprintf(conn, request, method, path, host); err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	return resp.StatusCode, fmt.Sprint(resp.Header) + string(raw)
}

// requireNoGRPC reports an error if a public listener accepts HTTP/2 or gRPC.
func requireNoGRPC(t *testing.T, addr string) {
	t.Helper()
	conn, err := grpc.NewClient("passthrough:///"+addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	for _, method := range reflection {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		err := conn.Invoke(ctx, "/"+method, &emptypb.Empty{}, &emptypb.Empty{})
		cancel()
		if code := status.Code(err); code != codes.Unavailable && code != codes.DeadlineExceeded {
			t.Errorf("the gRPC method %s is answered on the public listener: %v", method, err)
		}
	}
	for name, first := range map[string]string{
		"preface of HTTP/2": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00",
		"upgrade to HTTP/2": "GET /metrics HTTP/1.1\r\nHost: " + addr + "\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n" +
			"HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA\r\n\r\n",
	} {
		conn, err := net.DialTimeout("tcp", addr, 5*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.SetDeadline(time.Now().Add(3 * time.Second))
		_, err = conn.Write([]byte(first))
		answer := make([]byte, 64)
		n := 0
		if err == nil {
			n, err = io.ReadAtLeast(conn, answer, 9)
		}
		_ = conn.Close()
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("send %s: %v", name, err)
		}
		if n > 0 && !strings.HasPrefix(string(answer[:n]), "HTTP/1.1 4") {
			t.Errorf("%s is answered %q; want a refusal of HTTP/2", name, answer[:n])
		}
	}
}

// requireListeners reports a test error for each listener of a process that its settings do not contain, and for each internal
// listener that other machines can reach.
func requireListeners(t *testing.T, pid int, settings map[string]string) {
	t.Helper()
	all := listeners(t, pid)
	for _, at := range all {
		switch {
		case slices.Contains([]string{settings["HTTP_ADDR"], settings["ORIGIN_LISTEN"]}, at.String()):
		case !slices.Contains([]string{settings["METRICS_ADDR"], settings["GRPC_ADDR"]}, at.String()):
			t.Errorf("the process listens on %s, which is not in its settings", at)
		case !at.Addr().IsLoopback() && !at.Addr().IsPrivate():
			t.Errorf("an internal listener has the public address %s", at)
		}
	}
	if len(all) < 2 {
		t.Errorf("%d listeners were found; want at least 2", len(all))
	}
}

// listeners returns the TCP addresses on which a process listens, from /proc.
func listeners(t *testing.T, pid int) (out []netip.AddrPort) {
	t.Helper()
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	if err != nil {
		t.Fatal(err)
	}
	sockets := map[string]bool{}
	for _, file := range files {
		if to, err := os.Readlink(file); err == nil { // the file may have been closed
			sockets[strings.TrimSuffix(strings.TrimPrefix(to, "socket:["), "]")] = true
		}
	}
	for _, table := range []string{"tcp", "tcp6"} {
		raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/%s", pid, table))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(raw)) {
			const listening = "0A"
			if words := strings.Fields(line); len(words) >= 10 && words[3] == listening && sockets[words[9]] {
				out = append(out, kernelAddress(t, words[1]))
			}
		}
	}
	return out
}

// kernelAddress parses an address of /proc/net/tcp: hexadecimal words of four bytes in the byte order of the machine.
func kernelAddress(t *testing.T, text string) netip.AddrPort {
	t.Helper()
	host, port, _ := strings.Cut(text, ":")
	raw, err := hex.DecodeString(host)
	for i := 0; i+4 <= len(raw); i += 4 {
		slices.Reverse(raw[i : i+4])
	}
	addr, ok := netip.AddrFromSlice(raw)
	n, portErr := strconv.ParseUint(port, 16, 16)
	if err = errors.Join(err, portErr); err != nil || !ok {
		t.Fatalf("cannot parse %q as an address: %v", text, err)
	}
	return netip.AddrPortFrom(addr.Unmap(), uint16(n))
}

// TestPublicMetricsAddressIsRefused checks that no service starts if its metrics would be reachable on all interfaces
// (guarantee L6).
func TestPublicMetricsAddressIsRefused(t *testing.T) {
	t.Parallel()
	s := accessStack(t)
	for _, service := range openapi.Hosts {
		for _, addr := range []string{":9090", "0.0.0.0:9090", "[::]:9090"} {
			if out := s.RefusedStart(t, service, map[string]string{"METRICS_ADDR": addr}); !strings.Contains(out, "METRICS_ADDR") {
				t.Errorf("the error of %s for METRICS_ADDR=%s does not name the setting: %.200s", service, addr, out)
			}
		}
	}
}

// TestComposePublishesPublicPortsOnly checks that compose.yaml publishes only the ports of services, video and encoders, and of
// the simulated venues and the development issuer, which production does not start (guarantee L6).
func TestComposePublishesPublicPortsOnly(t *testing.T) {
	t.Parallel()
	root, err := stack.Root()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(root, "compose.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	ports := regexp.MustCompile(`"127\.0\.0\.1:[^"]*:(\d+)"`).FindAllSubmatch(raw, -1)
	for _, m := range ports {
		if !slices.Contains([]string{"8080", "8083", "1935", "8090", "8091"}, string(m[1])) {
			t.Errorf("compose.yaml publishes port %s of a container, which must not be public", m[1])
		}
	}
	if len(ports) < 3 {
		t.Errorf("%d published ports were found in compose.yaml; want at least 3", len(ports))
	}
}
