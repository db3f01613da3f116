package telemetry

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/signalcast/signalcast/pkg/version"
)

// Prefix is the prefix of all metric names.
const Prefix = "sc_"

// Durations contains the limits of histogram buckets in seconds. The range is from a cached read to a request that times out.
var Durations = []float64{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5}

// Metrics is the metric registry of one service. Methods that register a metric panic if its name is already
// registered, because that is a programming error.
type Metrics struct {
	reg      *prometheus.Registry
	requests *prometheus.HistogramVec
	degraded *prometheus.CounterVec
	pages    *prometheus.CounterVec
	builds   *prometheus.CounterVec
	shared   *prometheus.CounterVec
}

// NewMetrics returns a registry with the metrics of the build, the process, the Go runtime and HTTP.
func NewMetrics(service string, build version.Build) *Metrics {
	m := &Metrics{reg: prometheus.NewRegistry()}
	m.reg.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: Prefix + "build_info", Help: "Always 1. The labels identify the build.",
			ConstLabels: prometheus.Labels{"service": service, "version": build.Version, "commit": build.Commit, "goversion": build.Go},
		}, func() float64 { return 1 }),
	)
	m.requests = m.Histogram("http_request_seconds", "Time to answer HTTP requests.", Durations, "method", "route", "status")
	m.degraded = m.Counter("http_degraded_total", "Responses without the data of a failed source.", "route", "source")
	m.pages = m.Counter("http_page_hits_total", "Requests answered from a cached page.", "method", "route", "status")
	m.builds = m.Counter("cache_builds_total", "Answers that this process built for a cache that all replicas share.", "cache")
	m.shared = m.Counter("cache_shared_reads_total", "Answers that another replica had built and this process read from Redis.", "cache")
	return m
}

// CacheBuilds returns a function that counts one answer that this process built for the named shared cache. It can be used as
// httpcache.SharedConfig.Builds.
func (m *Metrics) CacheBuilds(cache string) func() { return m.builds.WithLabelValues(cache).Inc }

// CacheReads returns a function that counts one answer of the named shared cache that was read from Redis. It can be used as
// httpcache.SharedConfig.Reads.
func (m *Metrics) CacheReads(cache string) func() { return m.shared.WithLabelValues(cache).Inc }

// CountPage returns a function that counts one response from a cached page. It can be used as
// httpcache.HandlerOptions.Count.
func (m *Metrics) CountPage(method, route string, status int) func() {
	return m.pages.WithLabelValues(method, route, strconv.Itoa(status)).Inc
}

// Registerer returns the registry, for collectors of other packages.
func (m *Metrics) Registerer() prometheus.Registerer { return m.reg }

// Handler returns an HTTP handler that writes all metrics of the registry in the Prometheus format.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.reg, promhttp.HandlerOpts{Registry: m.reg, MaxRequestsInFlight: 4, Timeout: 5 * time.Second})
}

// Counter registers and returns the counter sc_<name> with the given labels.
func (m *Metrics) Counter(name, help string, labels ...string) *prometheus.CounterVec {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: Prefix + name, Help: help}, labels)
	m.reg.MustRegister(c)
	return c
}

// GaugeFunc registers the gauge sc_<name>. The function read returns its value at each scrape.
func (m *Metrics) GaugeFunc(name, help string, read func() float64) {
	m.reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: Prefix + name, Help: help}, read))
}

// Histogram registers and returns the histogram sc_<name> with the given buckets and labels.
func (m *Metrics) Histogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	h := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: Prefix + name, Help: help, Buckets: buckets}, labels)
	m.reg.MustRegister(h)
	return h
}

// ObserveHTTP records one HTTP response. It can be used as httpx.Config.Observe. route is the pattern of the route,
// or empty if no route matched.
func (m *Metrics) ObserveHTTP(method, route string, status int, took time.Duration) {
	if route == "" {
		route = "none"
	}
	m.requests.WithLabelValues(method, route, strconv.Itoa(status)).Observe(took.Seconds())
}

// Degraded counts one response with X-Degraded. It can be used as httpx.Config.Degraded.
func (m *Metrics) Degraded(route, source string) { m.degraded.WithLabelValues(route, source).Inc() }
