package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"time"

	"github.com/signalcast/signalcast/pkg/localdb"
	"github.com/signalcast/signalcast/test/system/stack"
)

// pages lists the measured cached pages. For the first page, responses with status 304 are measured too.
var pages = []struct{ name, path string }{
	{"page", "/api/signals/feed?type=recent&limit=50"},
	{"featured", "/api/polymarket/featured"},
	{"wire", "/api/wire"},
}

var nginxConf = template.Must(template.New("nginx").Parse(`daemon off; worker_processes 1;
pid {{.Dir}}/nginx.pid; error_log {{.Dir}}/nginx.err;
{{if .User}}user {{.User}};{{end}}
events { worker_connections 12000; use epoll; }
http {
  access_log off; sendfile on; tcp_nopush on; tcp_nodelay on;
  keepalive_timeout 600; keepalive_requests 100000000;
  open_file_cache max=100 inactive=600s; open_file_cache_valid 600s;
  types { application/json json; } default_type application/json;
  gzip_static on; etag on;
  client_body_temp_path {{.Dir}}/n1; proxy_temp_path {{.Dir}}/n2;
  fastcgi_temp_path {{.Dir}}/n3; uwsgi_temp_path {{.Dir}}/n4; scgi_temp_path {{.Dir}}/n5;
  server { listen {{.Addr}} backlog=4096; root {{.Dir}}/www; add_header Cache-Control "public, s-maxage=10"; }
}
`))

// reads measures requests per second for cached pages of the hub, and for the same bytes from nginx and from a bare net/http
// server. For the first page it also measures answers with status 304. Servers and load generator run on different cores.
func (b *bench) reads() {
	hub := b.main.side("hub", map[string]string{})
	limit, worker := b.startNginx()
	for i, page := range pages {
		b.main.refreshBook(hub.URL)
		answer := stack.Get(b, hub.URL+page.path).Require(http.StatusOK)
		fmt.Printf("%s: %d bytes\n", page.name, len(answer.Body))
		check(os.WriteFile(b.pageFile(page.name), answer.Body, 0o644))
		jobs := []*readJob{
			{name: "nginx " + page.name, url: limit + "/" + page.name + ".json", pid: worker},
			{name: page.name, url: hub.URL + page.path, pid: hub.PID()},
		}
		if i == 0 {
			jobs = append(jobs, &readJob{name: "304", url: hub.URL + page.path, tag: answer.Header.Get("Etag"), pid: hub.PID()})
		}
		b.scope(func() { b.readPage(page.name, jobs) })
	}
}

// readJob is one measured server and URL, with its measurements. A job with a tag sends conditional requests, to which the
// response is 304.
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

// readPage measures the jobs of one page alternately and reports the ratios. The jobs are nginx, the product, and optionally 304
// responses of the product. readPage adds jobs for a bare net/http server.
func (b *bench) readPage(name string, jobs []*readJob) {
	url, pid := b.startPlain(name)
	floor := &readJob{name: "net/http " + name, url: url, pid: pid}
	floor304 := &readJob{name: "net/http 304", url: url, tag: plainTag, pid: pid}
	all := append(slices.Clone(jobs), floor)
	if len(jobs) == 3 {
		all = append(all, floor304)
	}
	for range b.rounds {
		for _, job := range all {
			b.awaitIdle()
			r := b.wrk(job)
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
		b.report.ratio("read 304 / nginx full page, cpu", "us", lower, 1.3, jobs[2].cpu(), ref.cpu())
		b.report.ratio("read 304 / net/http alone, cpu", "us", lower, 0, jobs[2].cpu(), floor304.cpu())
		b.report.ratio("net/http alone, 304 / nginx full page, cpu", "us", lower, 0, floor304.cpu(), ref.cpu())
	}
}

// pageFile returns the path of the file that contains the bytes of a page.
func (b *bench) pageFile(name string) string {
	return filepath.Join(b.dir, "nginx", "www", name+".json")
}

// startNginx starts nginx, which serves the page files. It returns its URL and the process ID of its worker.
func (b *bench) startNginx() (url string, worker int) {
	dir, addr, user := filepath.Join(b.dir, "nginx"), stack.FreeAddr(b), ""
	check(os.MkdirAll(filepath.Join(dir, "www"), 0o755))
	if os.Getuid() == 0 {
		user = "root"
	}
	var conf bytes.Buffer
	check(nginxConf.Execute(&conf, map[string]any{"Dir": dir, "Addr": addr, "User": user}))
	path := filepath.Join(dir, "nginx.conf")
	check(os.WriteFile(path, conf.Bytes(), 0o644))
	nginx := b.serve(nil, "nginx", "-c", path)
	b.awaitListener(addr)
	stack.Eventually(b, 5*time.Second, "a worker process of nginx", func() bool { return len(localdb.Family(nginx.PID())) > 1 })
	return "http://" + addr, localdb.Family(nginx.PID())[1]
}

const plainTag = `"plain"`

// startPlain starts plainServer with the file of a page. It returns the URL and the process ID.
func (b *bench) startPlain(page string) (url string, pid int) {
	addr := stack.FreeAddr(b)
	server := b.serve(nil, own(), "plain-server", addr, b.pageFile(page))
	b.awaitListener(addr)
	return "http://" + addr + "/", server.PID()
}

// plainServer is the helper program plain-server, which serves a file from memory with a bare net/http server. It responds with
// 304 to a request that contains the ETag plainTag. Its arguments are an address and a file.
func plainServer(ctx context.Context, args []string) {
	body := must(os.ReadFile(args[1]))
	length, tag := []string{strconv.Itoa(len(body))}, []string{plainTag}
	handle := func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h["Etag"] = tag
		if r.Header.Get("If-None-Match") == plainTag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		h["Content-Type"], h["Content-Length"] = []string{"application/json"}, length
		_, _ = w.Write(body)
	}
	s := &http.Server{Addr: args[0], ReadHeaderTimeout: 5 * time.Second, Handler: http.HandlerFunc(handle)}
	context.AfterFunc(ctx, func() { _ = s.Close() })
	if err := s.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		check(err)
	}
}

// read contains the measurements of one run of wrk. rate is in requests per second, and cpu is the CPU time of the server in
// microseconds per request.
type read struct {
	rate float64
	p99  time.Duration
	cpu  float64
}

// wrk runs the load generator wrk with 64 connections against the server of a job and returns the measurements.
func (b *bench) wrk(job *readJob) (r read) {
	args := []string{"-t1", "-c64", fmt.Sprintf("-d%.0fs", max(1, b.length.Seconds())), "--latency", job.url}
	if job.tag != "" {
		args = append(args, "-H", "If-None-Match: "+job.tag)
	}
	before := procTime(job.pid)
	out := output(pinned(b.ctx, loadCore, "wrk", args...))
	spent, n := procTime(job.pid)-before, 0.0
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		switch {
		case len(f) > 3 && f[1] == "requests" && f[2] == "in":
			n = must(strconv.ParseFloat(f[0], 64))
		case len(f) == 2 && f[0] == "Requests/sec:":
			r.rate = must(strconv.ParseFloat(f[1], 64))
		case len(f) == 2 && f[0] == "99%":
			r.p99 = must(time.ParseDuration(f[1]))
		case strings.Contains(line, "Non-2xx"), strings.Contains(line, "Socket errors"):
			check(fmt.Errorf("load of %s: %s", job.name, strings.TrimSpace(line)))
		}
	}
	r.cpu = micros(spent, n)
	return r
}
