package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"text/template"
	"time"

	"github.com/signalcast/signalcast/pkg/localdb"
)

// connections that wrk holds open in the read job.
const connections = "64"

const feedPath = "/api/signals/feed?type=recent&limit=50"

var nginxConf = template.Must(template.New("nginx").Parse(`daemon off; worker_processes 1; pid {{.Dir}}/nginx.pid; error_log {{.Dir}}/nginx.err;
{{if .User}}user {{.User}};{{end}}
events { worker_connections 12000; use epoll; }
http {
  access_log off; sendfile on; tcp_nopush on; tcp_nodelay on;
  keepalive_timeout 600; keepalive_requests 100000000;
  open_file_cache max=100 inactive=600s; open_file_cache_valid 600s;
  types { application/json json; } default_type application/json;
  gzip_static on; etag on;
  client_body_temp_path {{.Dir}}/n1; proxy_temp_path {{.Dir}}/n2; fastcgi_temp_path {{.Dir}}/n3; uwsgi_temp_path {{.Dir}}/n4; scgi_temp_path {{.Dir}}/n5;
  server { listen 127.0.0.1:{{.Port}} backlog=4096; root {{.Dir}}/www; add_header Cache-Control "public, s-maxage=10"; }
}
`))

// reads compares the cached feed page, and its 304, with nginx serving the same
// bytes, and with the library underneath alone. The servers have one core, the load
// has the other.
func (b *bench) reads(ctx context.Context) error {
	hub, child, err := b.stack.pinnedHub(ctx)
	if err != nil {
		return err
	}
	defer child.Stop(context.Background(), syscall.SIGTERM, 5*time.Second)
	status, page, err := get(ctx, hub+feedPath, nil)
	if err != nil || status != http.StatusOK {
		return fmt.Errorf("read the feed: status %d, %w", status, err)
	}
	body, err := io.ReadAll(page.Body)
	if err != nil {
		return err
	}
	fmt.Printf("feed page: %d bytes\n", len(body))
	limit, nginx, err := b.startNginx(ctx, body)
	if err != nil {
		return err
	}
	defer nginx.Stop(context.Background(), syscall.SIGTERM, 5*time.Second)
	workers := children(nginx.PID())
	if len(workers) == 0 {
		return errors.New("nginx has no worker")
	}
	plain, server, err := b.startPlain(ctx)
	if err != nil {
		return err
	}
	defer server.Stop(context.Background(), syscall.SIGTERM, 5*time.Second)
	var full, again, ref, floor, floorAgain []read
	tag := page.Header.Get("Etag")
	for range b.rounds {
		for _, m := range []struct {
			name, url, tag string
			pid            int
			to             *[]read
		}{
			{"nginx", limit, "", workers[0], &ref},
			{"page", hub + feedPath, "", child.PID(), &full},
			{"304", hub + feedPath, tag, child.PID(), &again},
			{"net/http page", plain, "", server.PID(), &floor},
			{"net/http 304", plain, plainTag, server.PID(), &floorAgain},
		} {
			b.calm(ctx)
			r, err := wrk(ctx, m.url, m.tag, m.pid, b.length)
			if err != nil {
				return fmt.Errorf("%s: %w", m.name, err)
			}
			fmt.Printf("read name=%s rps=%.0f p99=%s server_us_per_req=%.2f\n", m.name, r.rate, r.p99, r.cpu)
			*m.to = append(*m.to, r)
		}
	}
	cpu := func(r read) float64 { return r.cpu }
	rate := func(r read) float64 { return r.rate }
	tail := func(r read) float64 { return float64(r.p99.Microseconds()) }
	b.report.ratio("read page / nginx, cpu", "us", lower, 2.4, each(full, cpu), each(ref, cpu))
	b.report.ratio("read page / nginx, rate", "per s", higher, 0.42, each(full, rate), each(ref, rate))
	b.report.ratio("read page / nginx, p99", "us", lower, 3, each(full, tail), each(ref, tail))
	b.report.ratio("read 304 / nginx full page, cpu", "us", lower, 1.3, each(again, cpu), each(ref, cpu))
	b.report.ratio("read page / net/http alone, cpu", "us", lower, 0, each(full, cpu), each(floor, cpu))
	b.report.ratio("read 304 / net/http alone, cpu", "us", lower, 0, each(again, cpu), each(floorAgain, cpu))
	b.report.ratio("net/http alone, 304 / nginx full page, cpu", "us", lower, 0, each(floorAgain, cpu), each(ref, cpu))
	return ctx.Err()
}

func each[T any](list []T, of func(T) float64) []float64 {
	out := make([]float64, len(list))
	for i, v := range list {
		out[i] = of(v)
	}
	return out
}

// startNginx serves one body as a file.
func (b *bench) startNginx(ctx context.Context, body []byte) (url string, child *localdb.Child, err error) {
	dir := filepath.Join(b.dir, "nginx")
	if err := os.MkdirAll(filepath.Join(dir, "www"), 0o755); err != nil {
		return "", nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, "www", "feed.json"), body, 0o644); err != nil {
		return "", nil, err
	}
	port, err := localdb.FreePort()
	if err != nil {
		return "", nil, err
	}
	user := ""
	if os.Getuid() == 0 {
		user = "root"
	}
	var conf bytes.Buffer
	if err := nginxConf.Execute(&conf, map[string]any{"Dir": dir, "Port": port, "User": user}); err != nil {
		return "", nil, err
	}
	path := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(path, conf.Bytes(), 0o644); err != nil {
		return "", nil, err
	}
	cmd := pinned(context.Background(), serverCore, "nginx", "-c", path)
	if child, err = localdb.StartChild(cmd, syscall.SIGTERM); err != nil {
		return "", nil, err
	}
	url = fmt.Sprintf("http://127.0.0.1:%d/feed.json", port)
	if err := answers(ctx, url); err != nil {
		child.Stop(context.Background(), syscall.SIGTERM, time.Second)
		return "", nil, fmt.Errorf("nginx: %w", err)
	}
	return url, child, nil
}

// read is one stretch of load.
type read struct {
	rate float64
	p99  time.Duration
	cpu  float64 // of the server, us a request
}

// wrk loads a URL from its own core and reads what the server spent.
func wrk(ctx context.Context, url, tag string, server int, length time.Duration) (read, error) {
	args := []string{"-t1", "-c" + connections, fmt.Sprintf("-d%.0fs", max(1, length.Seconds())), "--latency"}
	if tag != "" {
		args = append(args, "-H", "If-None-Match: "+tag)
	}
	before := procTime(server)
	out, err := pinned(ctx, loadCore, "wrk", append(args, url)...).CombinedOutput()
	spent := procTime(server) - before
	if err != nil {
		return read{}, commandError(err, out)
	}
	var r read
	var n float64
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		switch {
		case len(f) > 3 && f[1] == "requests" && f[2] == "in":
			n, err = strconv.ParseFloat(f[0], 64)
		case len(f) == 2 && f[0] == "Requests/sec:":
			r.rate, err = strconv.ParseFloat(f[1], 64)
		case len(f) == 2 && f[0] == "99%":
			r.p99, err = time.ParseDuration(f[1])
		case strings.Contains(line, "Non-2xx"), strings.Contains(line, "Socket errors"):
			err = errors.New(strings.TrimSpace(line))
		}
		if err != nil {
			return r, err
		}
	}
	r.cpu = micros(spent, n)
	return r, nil
}

func commandError(err error, out []byte) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return fmt.Errorf("%w: %s", err, bytes.TrimSpace(out))
	}
	return err
}
