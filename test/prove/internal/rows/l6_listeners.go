package rows

import (
	"context"
	"encoding/hex"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/system/openapi"
)

// boundBy are the TCP addresses that a process listens on, as the kernel has them.
func boundBy(pid int) ([]netip.AddrPort, error) {
	own := map[string]bool{}
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		if to, err := os.Readlink(file); err == nil { // it may be closed by now
			own[strings.TrimSuffix(strings.TrimPrefix(to, "socket:["), "]")] = true
		}
	}
	var all []netip.AddrPort
	for _, table := range []string{"tcp", "tcp6"} {
		raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/%s", pid, table))
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(raw)) {
			const waiting = "0A"
			words := strings.Fields(line)
			if len(words) < 10 || words[3] != waiting || !own[words[9]] {
				continue
			}
			at, err := boundTo(words[1])
			if err != nil {
				return nil, err
			}
			all = append(all, at)
		}
	}
	return all, nil
}

// boundTo reads an address as the kernel writes it: words of four bytes, each the
// wrong way round.
func boundTo(text string) (netip.AddrPort, error) {
	host, port, _ := strings.Cut(text, ":")
	raw, err := hex.DecodeString(host)
	if err != nil {
		return netip.AddrPort{}, err
	}
	for i := 0; i+4 <= len(raw); i += 4 {
		slices.Reverse(raw[i : i+4])
	}
	addr, ok := netip.AddrFromSlice(raw)
	n, err := strconv.ParseUint(port, 16, 16)
	if err != nil || !ok {
		return netip.AddrPort{}, fmt.Errorf("%q is no address: %w", text, err)
	}
	return netip.AddrPortFrom(addr.Unmap(), uint16(n)), nil
}

// listens wants a process to listen where it was told to and nowhere else, and its inner
// listeners to be of this machine alone.
func (c *crawler) listens(where []netip.AddrPort, told map[string]string) {
	public, inner := []string{told["HTTP_ADDR"], told["ORIGIN_LISTEN"]}, []string{told["METRICS_ADDR"], told["GRPC_ADDR"]}
	for _, at := range where {
		switch {
		case slices.Contains(public, at.String()):
		case !slices.Contains(inner, at.String()):
			c.wrong("it listens at %s, which nobody told it", at)
		case !at.Addr().IsLoopback() && !at.Addr().IsPrivate():
			c.wrong("it listens for its own kind at %s, which is public", at)
		}
	}
	c.seen.Check(len(where) >= 2, "%s listens at %d places: none were read", c.name, len(where))
}

// published matches the port of a container that compose.yaml gives to the machine.
var published = regexp.MustCompile(`"127\.0\.0\.1:[^"]*:(\d+)"`)

// publicMetrics starts each service with its metrics on every interface, which it
// refuses, and wants compose.yaml to publish no port but those of the public faces.
func publicMetrics(ctx context.Context, env *frame.Env, seen *frame.Seen) (refused int, err error) {
	for _, service := range openapi.Hosts[:env.Of(1, 3, 3)] {
		for _, addr := range []string{":9090", "0.0.0.0:9090", "[::]:9090"} {
			settings, err := spoiled{service: service}.good(env)
			if err != nil {
				return refused, err
			}
			settings["METRICS_ADDR"] = addr
			code, out, err := startWith(ctx, env, service, settings)
			if err != nil {
				return refused, err
			}
			if code == 2 && strings.Contains(out, "METRICS_ADDR") {
				refused++
				continue
			}
			seen.Wrong("%s takes %s for its metrics: code %d %.100s", service, addr, code, out)
		}
	}
	raw, err := os.ReadFile(filepath.Join(env.Root, "compose.yaml"))
	if err != nil {
		return refused, err
	}
	faces := []string{"8080", "8083", "1935"} // of the services, of the video, of encoders
	ports := published.FindAllSubmatch(raw, -1)
	for _, m := range ports {
		seen.Check(slices.Contains(faces, string(m[1])), "compose.yaml publishes port %s of a container", m[1])
	}
	seen.Check(len(ports) >= 3, "compose.yaml publishes %d ports: none were read", len(ports))
	return refused, nil
}
