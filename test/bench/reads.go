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
	"slices"
	"strconv"
	"strings"
	"syscall"
	"text/template"
	"time"

	"github.com/signalcast/signalcast/pkg/localdb"
)

// connections that wrk holds open in the read job.
const connections = "64"

// pages are the cached pages that are measured; the 304 of the first one, too.
var pages = []struct{ name, path string }{
	{"page", "/api/signals/feed?type=recent&limit=50"},
	{"featured", "/api/polymarket/featured"},
	{"wire", "/api/wire"},
}

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

// reads compares each cached page, and the 304 of the first, with nginx serving the
// same bytes, and with the library underneath alone. The servers have one core, the
// load has the other.
func (b *bench) reads(ctx context.Context) error {
	hub, child, err := b.stack.pinned(ctx, "hub")
	if err != nil {
		return err
	}
	defer child.Stop(context.Background(), syscall.SIGTERM, 5*time.Second)
	limit, nginx, err := b.startNginx(ctx)
	if err != nil {
		return err
	}
	defer nginx.Stop(context.Background(), syscall.SIGTERM, 5*time.Second)
	workers := children(nginx.PID())
	if len(workers) == 0 {
		return errors.New("nginx has no worker")
	}
	for i, page := range pages {
		if err := b.seed.moved(ctx, hub); err != nil {
			return err
		}
		tag, err := b.copyPage(ctx, page.name, hub+page.path)
		if err != nil {
			return err
		}
		jobs := []*readJob{
			{name: "nginx " + page.name, url: limit + "/" + page.name + ".json", pid: workers[0]},
			{name: page.name, url: hub + page.path, pid: child.PID()},
		}
		if i == 0 {
			jobs = append(jobs, &readJob{name: "304", url: hub + page.path, tag: tag, pid: child.PID()})
		}
		if err := b.readPage(ctx, page.name, jobs); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// readJob is one server under load, and what was seen of it.
type readJob struct {
	name, url, tag string
	pid            int
	seen           []read
}

func (j *readJob) cpu() []float64  { return each(j.seen, func(r read) float64 { return r.cpu }) }
func (j *readJob) rate() []float64 { return each(j.seen, func(r read) float64 { return r.rate }) }
func (j *readJob) tail() []float64 {
	return each(j.seen, func(r read) float64 { return float64(r.p99.Microseconds()) })
}

// readPage measures nginx, our page, our 304 when it is asked for, and the bare
// library, in turns.
func (b *bench) readPage(ctx context.Context, name string, jobs []*readJob) error {
	plain, server, err := b.startPlain(ctx, name)
	if err != nil {
		return err
	}
	defer server.Stop(context.Background(), syscall.SIGTERM, 5*time.Second)
	floor := &readJob{name: "net/http " + name, url: plain, pid: server.PID()}
	floorAgain := &readJob{name: "net/http 304", url: plain, tag: plainTag, pid: server.PID()}
	all := append(slices.Clone(jobs), floor)
	if len(jobs) == 3 {
		all = append(all, floorAgain)
	}
	for range b.rounds {
		for _, job := range all {
			b.calm(ctx)
			r, err := wrk(ctx, job.url, job.tag, job.pid, b.length)
			if err != nil {
				return fmt.Errorf("%s: %w", job.name, err)
			}
			fmt.Printf("read name=%q rps=%.0f p99=%s server_us_per_req=%.2f\n", job.name, r.rate, r.p99, r.cpu)
			job.seen = append(job.seen, r)
		}
	}
	ref, full := jobs[0], jobs[1]
	b.report.ratio("read "+name+" / nginx, cpu", "us", lower, 2.4, full.cpu(), ref.cpu())
	b.report.ratio("read "+name+" / nginx, rate", "per s", higher, 0.42, full.rate(), ref.rate())
	b.report.ratio("read "+name+" / nginx, p99", "us", lower, 3, full.tail(), ref.tail())
	b.report.ratio("read "+name+" / net/http alone, cpu", "us", lower, 0, full.cpu(), floor.cpu())
	if len(jobs) == 3 {
		again := jobs[2]
		b.report.ratio("read 304 / nginx full page, cpu", "us", lower, 1.3, again.cpu(), ref.cpu())
		b.report.ratio("read 304 / net/http alone, cpu", "us", lower, 0, again.cpu(), floorAgain.cpu())
		b.report.ratio("net/http alone, 304 / nginx full page, cpu", "us", lower, 0, floorAgain.cpu(), ref.cpu())
	}
	return nil
}

// copyPage keeps a page of ours where nginx and the bare library find it, and gives
// its tag.
func (b *bench) copyPage(ctx context.Context, name, url string) (tag string, err error) {
	status, page, err := get(ctx, url, nil)
	if err != nil || status != http.StatusOK {
		return "", fmt.Errorf("read %s: status %d, %w", url, status, err)
	}
	body, err := io.ReadAll(page.Body)
	if err != nil {
		return "", err
	}
	fmt.Printf("%s: %d bytes\n", name, len(body))
	return page.Header.Get("Etag"), os.WriteFile(b.pageFile(name), body, 0o644)
}

func (b *bench) pageFile(name string) string {
	return filepath.Join(b.dir, "nginx", "www", name+".json")
}

func each[T any](list []T, of func(T) float64) []float64 {
	out := make([]float64, len(list))
	for i, v := range list {
		out[i] = of(v)
	}
	return out
}

// startNginx serves the copied pages as files.
func (b *bench) startNginx(ctx context.Context) (url string, child *localdb.Child, err error) {
	dir := filepath.Join(b.dir, "nginx")
	if err := os.MkdirAll(filepath.Join(dir, "www"), 0o755); err != nil {
		return "", nil, err
	}
	if err := os.WriteFile(b.pageFile("ready"), []byte("{}"), 0o644); err != nil {
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
	url = fmt.Sprintf("http://127.0.0.1:%d", port)
	if err := answers(ctx, url+"/ready.json"); err != nil {
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
