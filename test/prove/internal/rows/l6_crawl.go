package rows

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

// crawler looks for the inside of one process at its public face.
type crawler struct {
	name, addr, inner string
	seen              *frame.Seen
	found             *atomic.Int64
}

func (c *crawler) wrong(form string, args ...any) {
	c.found.Add(1)
	c.seen.Wrong("%s: %s", c.name, fmt.Sprintf(form, args...))
}

// insides are the paths under which programs show themselves.
var insides = []string{
	"metrics", "metrics/", "routes", "debug", "debug/", "debug/routes", "debug/vars", "debug/pprof", "debug/pprof/", "debug/pprof/heap", "debug/pprof/goroutine",
	"debug/pprof/profile", "debug/pprof/cmdline", "debug/pprof/symbol", "debug/pprof/trace", "debug/requests", "debug/events", "debug/statsviz", "debug/config",
	"pprof", "pprof/heap", "vars", "expvar", "stats", "status", "config", "env", "actuator", "actuator/env", "actuator/heapdump", "server-status", "internal", "internal/metrics",
	"api/metrics", "api/v1/metrics", "api/debug/pprof/", "api/protocol/v1/metrics", "_metrics", "prometheus", "federate", "swagger", "graphql", ".env", ".git/config",
	"grpc.reflection.v1.ServerReflection/ServerReflectionInfo", "grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", "grpc.health.v1.Health/Check",
}

// tricks are ways to spell a path that something on the way, or the router, could take
// for the plain one.
var tricks = []func(path string) string{
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

type target struct{ method, path, host string }

func (c *crawler) targets() (all []target) {
	for _, p := range insides {
		for _, trick := range tricks {
			all = append(all, target{http.MethodGet, trick(p), c.addr})
		}
		for _, method := range []string{"HEAD", "POST", "OPTIONS", "TRACE", "PROPFIND"} {
			all = append(all, target{method, "/" + p, c.addr})
		}
		for _, host := range []string{c.inner, "localhost", "internal", "metrics", "127.0.0.1"} {
			all = append(all, target{http.MethodGet, "/" + p, host})
		}
	}
	return all
}

// signs are what the inside looks like, whatever the path.
var signs = []string{"# HELP", "# TYPE", "go_goroutines", "goroutine profile", "/debug/pprof", "memstats", "cmdline", `"routes":[`, "heap profile", "[core]", "grpc.reflection"}

func hasSign(text string) string {
	for _, sign := range signs {
		if strings.Contains(text, sign) {
			return sign
		}
	}
	return ""
}

// control shows that the inside is there, and that its signs are known.
func (c *crawler) control(ctx context.Context) error {
	for _, path := range []string{"/metrics", "/routes"} {
		status, body, err := rawAsk(ctx, 0, c.inner, target{http.MethodGet, path, c.inner})
		if err != nil || status != http.StatusOK || hasSign(body) == "" {
			return fmt.Errorf("%s of %s does not show what is looked for: %d, %w", path, c.name, status, err)
		}
	}
	return nil
}

// ask wants an answer that says no.
func (c *crawler) ask(ctx context.Context, i int, t target) {
	status, body, err := rawAsk(ctx, i, c.addr, t)
	switch sign := hasSign(body); {
	case err != nil:
		c.seen.Wrong("%s: %s %s was not answered: %v", c.name, t.method, t.path, err)
	case sign != "":
		c.wrong("%s %s (host %s) shows %q", t.method, t.path, t.host, sign)
	case status == http.StatusTooManyRequests:
		c.seen.Wrong("%s: %s %s met the limit, which proves nothing", c.name, t.method, t.path)
	case status < http.StatusBadRequest:
		c.wrong("%s %s (host %s) was answered %d %.80s", t.method, t.path, t.host, status, body)
	case status >= http.StatusInternalServerError:
		c.seen.Wrong("%s: %s %s was answered %d", c.name, t.method, t.path, status)
	}
}

// rawAsk writes a request as it is, from one of many addresses.
func rawAsk(ctx context.Context, i int, addr string, t target) (status int, body string, err error) {
	d := net.Dialer{Timeout: 5 * time.Second, LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 77, byte(i/200), byte(1+i%200))}}
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: %s\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", t.method, t.path, t.host); err != nil {
		return 0, "", err
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: t.method})
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	return resp.StatusCode, fmt.Sprint(resp.Header) + string(raw), err
}
