package process

import (
	"encoding/base64"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/signalcast/signalcast/test/system/openapi"
	"github.com/signalcast/signalcast/test/system/stack"
)

// TestMetricsAndMemoryAreBounded sends requests with a path, query, method, user agent, credential or origin that was never
// sent before. New metric series may have only known label values. The memory of a service may grow by less than 128 MB.
func TestMetricsAndMemoryAreBounded(t *testing.T) {
	s := system(t)
	const mayGrow = 128 << 20 // caches of refused credentials and the logs of rate limits use less than this
	f := newFlood(t, s)
	f.send(t, "before", len(f.reads)*len(variations)) // creates each series that such requests can cause
	before := f.measure(t)
	f.send(t, "during", stack.Size(t, 3_000, 50_000, 100_000))
	after := f.measure(t)
	for _, service := range openapi.Hosts {
		known := f.knownRoutes(t, service)
		if n := len(before[service].series); n < 100 {
			t.Errorf("%s has %d metric series; want at least 100", service, n)
		}
		for _, name := range slices.Sorted(maps.Keys(after[service].series)) {
			if !before[service].series[name] && !hasKnownLabels(name, known) {
				t.Errorf("%s has the new metric series %s; want none", service, name)
			}
		}
		if grown := after[service].memory - before[service].memory; grown > mayGrow {
			t.Errorf("the memory of %s has grown by %d MB; want at most %d", service, grown>>20, mayGrow>>20)
		}
	}
}

// flood sends requests to every documented read operation.
type flood struct {
	s         *stack.Stack
	crowd     *stack.Crowd
	reads     []*openapi.Operation
	addresses map[string]string
}

func newFlood(t *testing.T, s *stack.Stack) *flood {
	t.Helper()
	doc := openapi.ForTest(t)
	f := &flood{s: s, crowd: stack.NewCrowd(400), addresses: map[string]string{"hub": s.Hub, "api": s.API, "clock": s.Clock}}
	for _, op := range doc.Operations {
		// These operations keep the connection open or export all data.
		long := strings.Contains(op.Path, "/ws") || strings.Contains(op.Path, "stream") || strings.Contains(op.Path, "export")
		if op.Method == http.MethodGet && !op.Gone() && !long {
			f.reads = append(f.reads, op)
		}
	}
	return f
}

// request is a request of a flood.
type request struct {
	method, url string
	sets        []stack.Set
}

var variations = []func(r *request, word string){
	func(r *request, word string) { r.url += "/" + word },
	func(r *request, word string) {
		host, _, _ := strings.Cut(strings.TrimPrefix(r.url, "http://"), "/")
		r.url = "http://" + host + "/" + word
	},
	func(r *request, word string) { r.method = "X" + strings.ToUpper(word[:12]) },
	func(r *request, word string) { r.sets = append(r.sets, stack.Header("User-Agent", word)) },
	func(r *request, word string) { r.url += "?" + word + "=1&cursor=" + word },
	func(r *request, word string) { r.sets = append(r.sets, stack.Bearer("dk_"+word+word[:11])) },
	func(r *request, word string) { r.sets = append(r.sets, stack.Bearer("db_live_"+word+word[:11])) },
	func(r *request, word string) { r.sets = append(r.sets, stack.Bearer("dat_"+word+word[:11])) },
	func(r *request, word string) {
		r.sets = append(r.sets, stack.Header("Cookie", "db_uid="+word+"; db_sig="+word), stack.Header("Sec-Fetch-Site", "same-origin"))
	},
	func(r *request, word string) {
		r.sets = append(r.sets, stack.Header("Origin", "https://"+word+".example"), stack.Header("X-Forwarded-For", word),
			stack.Header("X-Request-Id", word), stack.Header("Traceparent", "00-"+word+"-01"))
	},
}

var pathParameter = regexp.MustCompile(`\{[^}]*\}`)

// send sends n requests. No two requests of all calls of send are equal; purpose makes the calls different.
func (f *flood) send(t *testing.T, purpose string, n int) {
	t.Helper()
	stack.Each(n, 8, func(i int) {
		words := rand.New(rand.NewPCG(uint64(i), uint64(len(purpose))<<8|uint64(purpose[0])))
		op := f.reads[i%len(f.reads)]
		path := op.Path
		if i%2 == 0 {
			path = strings.ReplaceAll(path, "{marketId}", fmt.Sprintf("native-%016x%016x", words.Uint64(), words.Uint64()))
		}
		path = pathParameter.ReplaceAllStringFunc(path, func(string) string { return newWord(words) })
		r := request{method: http.MethodGet, url: f.addresses[op.Host] + path}
		variations[i/len(f.reads)%len(variations)](&r, newWord(words))
		a, err := f.crowd.Try(t, r.method, r.url, r.sets...)
		if err != nil || a.Status == http.StatusTooManyRequests {
			t.Errorf("%s %s was answered %v (error %v); want an answer other than 429", r.method, r.url, a, err)
		}
	})
}

func newWord(source *rand.Rand) string {
	raw := make([]byte, 24)
	for i := range raw {
		raw[i] = byte(source.Uint32())
	}
	return base64.RawURLEncoding.EncodeToString(raw)
}

// measurement contains the metric series and the memory of a service.
type measurement struct {
	series map[string]bool
	memory int64
}

func (f *flood) measure(t *testing.T) map[string]measurement {
	t.Helper()
	out := map[string]measurement{}
	for _, service := range openapi.Hosts {
		m := measurement{series: map[string]bool{}, memory: stack.RSS(t, f.s.PID(t, service))}
		page := stack.Get(t, "http://"+f.s.Setting(t, service, "METRICS_ADDR")+"/metrics").Require(http.StatusOK)
		for line := range strings.Lines(string(page.Body)) {
			if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
				m.series[line[:strings.LastIndexByte(line, ' ')]] = true
			}
		}
		out[service] = m
	}
	return out
}

func (f *flood) knownRoutes(t *testing.T, service string) map[string]bool {
	t.Helper()
	known := map[string]bool{"none": true, "": true}
	for _, route := range f.s.Routes(t, service) {
		_, pattern, _ := strings.Cut(route, " ")
		known[pattern] = true
	}
	return known
}

var (
	seriesLabel = regexp.MustCompile(`([a-z_]+)="([^"]*)"`)
	// labelValues matches the values of labels that have a small set of values.
	labelValues = map[string]*regexp.Regexp{
		"method":   regexp.MustCompile(`^(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|OTHER)$`),
		"status":   regexp.MustCompile(`^[1-5][0-9]{2}$`),
		"code":     regexp.MustCompile(`^[0-9]{4}$`),
		"le":       regexp.MustCompile(`^(?:[0-9.e+-]+|\+Inf)$`),
		"source":   regexp.MustCompile(`^[a-z_]{2,24}$`),
		"limit":    regexp.MustCompile(`^(?:hub|api|clock)?-?(?:key|session|token|client|consent|login)$`),
		"provider": regexp.MustCompile(`^(?:` + strings.Join(stack.Venues, "|") + `)$`),
		"op":       regexp.MustCompile(`^[a-z_]{2,24}$`),
		"result":   regexp.MustCompile(`^[a-z_]{2,24}$`),
	}
)

// hasKnownLabels reports whether a metric series belongs to a metric of the services and all its labels have known values. Such
// series may be new, because a series is created when its event happens for the first time, for example the first answer of a
// route with a status.
func hasKnownLabels(name string, routes map[string]bool) bool {
	labels := seriesLabel.FindAllStringSubmatch(name, -1)
	for _, l := range labels {
		if l[1] == "route" && routes[l[2]] {
			continue
		}
		if values := labelValues[l[1]]; values == nil || !values.MatchString(l[2]) {
			return false
		}
	}
	return len(labels) > 0 && (strings.HasPrefix(name, "sc_") || strings.HasPrefix(name, "venue_request"))
}
