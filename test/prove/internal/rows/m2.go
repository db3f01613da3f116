package rows

import (
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/prove/stack"
	"github.com/signalcast/signalcast/test/system/openapi"
)

// grownMost is how much memory a service may hold more after the flood than before: its
// negative caches and the logs of its limits are bounded, at less than this together.
const grownMost = 128 << 20

// m2 asks all services things that nobody asked before, each with a path, a handle, a
// key, a method, an agent or a query of its own, and counts the series of their metrics.
var m2 = frame.Row{
	ID: "M2", Title: "metrics stay bounded", Limit: 2 * time.Minute,
	Fault: frame.Fault{What: "invented methods are labels"},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		doc, err := openapi.Load(env.Root)
		if err != nil {
			return nil, err
		}
		f := &flood{env: env, seen: seen, hosts: map[string]string{"hub": env.Hub(0), "api": env.Stack.API, "clock": env.Stack.Clock}}
		for _, op := range doc.Operations {
			// The one lasts, the other reads all there is.
			if op.Method == http.MethodGet && !op.Gone() && !strings.Contains(op.Path, "/ws") && !strings.Contains(op.Path, "stream") && !strings.Contains(op.Path, "export") {
				f.reads = append(f.reads, op)
			}
		}
		// What every series needs to be there once: each read, in each way.
		f.send(ctx, "first", len(f.reads)*len(ways))
		before, err := f.look(ctx)
		if err != nil {
			return nil, err
		}
		keys, err := f.kept(ctx)
		if err != nil {
			return nil, err
		}
		n := env.Of(3_000, 50_000, 100_000)
		f.send(ctx, "then", n)
		after, err := f.look(ctx)
		if err != nil {
			return nil, err
		}
		more, err := f.kept(ctx)
		if err != nil {
			return nil, err
		}
		seen.Figure("redisKeysMore", more-keys)
		growth, first := 0, 0
		for _, service := range openapi.Hosts {
			g, u := f.compare(ctx, service, before[service], after[service])
			growth, first = growth+g, first+u
		}
		for status, count := range f.tally() {
			seen.Figure("answers"+status, count)
		}
		seen.Check(f.limited.Load() == 0, "%d requests met a limit, and prove nothing", f.limited.Load())
		seen.Figure("firstUse", first)
		seen.Promise("growth 0", fmt.Sprintf("growth %d", growth))
		seen.Volume("%s distinct requests in %d ways at %d reads, %s series before, %d that happened for the first time",
			frame.Number(n), len(ways), len(f.reads), frame.Number(total(before)), first)
		return seen, ctx.Err()
	},
}

// flood sends what was never sent before.
type flood struct {
	env   *frame.Env
	seen  *frame.Seen
	hosts map[string]string
	reads []*openapi.Operation

	limited, failed atomic.Int64
	answers         [600]atomic.Int64
}

// ways are what is different in each request; the word is one that never came before.
var ways = []func(r *client.Request, word string){
	func(r *client.Request, word string) { r.URL += "/" + word },
	func(r *client.Request, word string) { // after the host
		host, _, _ := strings.Cut(strings.TrimPrefix(r.URL, "http://"), "/")
		r.URL = "http://" + host + "/" + word
	},
	func(r *client.Request, word string) { r.Method = "X" + strings.ToUpper(word[:12]) },
	func(r *client.Request, word string) { r.Header.Set("User-Agent", word) },
	func(r *client.Request, word string) { r.URL += "?" + word + "=1&cursor=" + word },
	func(r *client.Request, word string) { r.As = client.Key("dk_" + word + word[:11]) },
	func(r *client.Request, word string) { r.As = client.Key("db_live_" + word + word[:11]) },
	func(r *client.Request, word string) { r.As = client.Key("dat_" + word + word[:11]) },
	func(r *client.Request, word string) { r.As = client.Session{UID: word, Sig: word} },
	func(r *client.Request, word string) {
		r.Header.Set("Origin", "https://"+word+".example")
		r.Header.Set("X-Forwarded-For", word)
		r.Header.Set("X-Request-Id", word)
		r.Header.Set("Traceparent", "00-"+word+"-01")
	},
}

// inPath matches the parameters of a path.
var inPath = regexp.MustCompile(`\{[^}]*\}`)

// send sends n requests. No two of them are the same, nor are those of two purposes.
func (f *flood) send(ctx context.Context, purpose string, n int) {
	frame.Each(n, 2*abreast, func(i int) {
		if ctx.Err() != nil {
			return
		}
		source := f.env.Rand(fmt.Sprint("m2", purpose, i))
		op := f.reads[i%len(f.reads)]
		path := inPath.ReplaceAllStringFunc(op.Path, func(string) string { return freshWord(source) })
		if strings.Contains(op.Path, "{marketId}") && i%2 == 0 {
			path = strings.ReplaceAll(op.Path, "{marketId}", fmt.Sprint("native-", fmt.Sprintf("%016x%016x", source.Uint64(), source.Uint64())))
			path = inPath.ReplaceAllString(path, "x")
		}
		r := client.Request{Method: http.MethodGet, URL: f.hosts[op.Host] + path, Header: http.Header{}}
		ways[i/len(f.reads)%len(ways)](&r, freshWord(source))
		a := f.env.Client.Do(ctx, r)
		switch {
		case a.Err != nil:
			f.failed.Add(1)
			f.seen.Wrong("%s %s was not answered: %v", r.Method, r.URL, a.Err)
		case a.Status == http.StatusTooManyRequests:
			f.limited.Add(1)
		}
		if a.Status < len(f.answers) {
			f.answers[a.Status].Add(1)
		}
	})
}

// freshWord is one that nobody has said before.
func freshWord(source *rand.Rand) string {
	raw := make([]byte, 24)
	for i := range raw {
		raw[i] = byte(source.Uint32())
	}
	return base64.RawURLEncoding.EncodeToString(raw)
}

// looked is what a service shows of itself.
type looked struct {
	series map[string]bool
	memory int64
}

func total(all map[string]looked) (n int) {
	for _, l := range all {
		n += len(l.series)
	}
	return n
}

func (f *flood) look(ctx context.Context) (map[string]looked, error) {
	all := map[string]looked{}
	for _, service := range openapi.Hosts {
		pid := f.env.Stack.PID(service)
		told, err := stack.Environment(pid)
		if err != nil {
			return nil, err
		}
		a := f.env.Client.Do(ctx, client.Request{URL: "http://" + told["METRICS_ADDR"] + "/metrics"})
		if a.Status != http.StatusOK {
			return nil, fmt.Errorf("the metrics of %s: %s", service, a)
		}
		l := looked{series: map[string]bool{}}
		for line := range strings.Lines(string(a.Body)) {
			if name := strings.TrimSpace(line); name != "" && name[0] != '#' {
				l.series[name[:strings.LastIndexByte(name, ' ')]] = true
			}
		}
		if l.memory, err = stack.RSS(pid); err != nil {
			return nil, err
		}
		all[service] = l
	}
	return all, nil
}

// label matches one label of a series.
var label = regexp.MustCompile(`([a-z_]+)="([^"]*)"`)

// compare counts the series that came. Those whose labels are of fixed lists come when
// something happens for the first time, a status of a route or the end of a sweep of a
// venue, and are counted apart: there are never more of them than the lists allow.
func (f *flood) compare(ctx context.Context, service string, before, after looked) (growth, first int) {
	routes, err := f.env.Stack.Routes(ctx, service)
	if err != nil {
		f.seen.Wrong("the routes of %s: %v", service, err)
	}
	patterns := map[string]bool{"none": true, "": true}
	for _, r := range routes {
		_, pattern, _ := strings.Cut(r, " ")
		patterns[pattern] = true
	}
	for _, name := range slices.Sorted(maps.Keys(after.series)) {
		switch {
		case before.series[name]:
		case ofLists(name, patterns):
			first++
		default:
			growth++
			f.seen.Wrong("%s has a new series %s", service, name)
		}
	}
	grown := after.memory - before.memory
	f.seen.Figure(service+"GrownBytes", grown)
	f.seen.Check(grown < grownMost, "%s holds %d MB more than before", service, grown>>20)
	f.seen.Check(len(before.series) > 100, "%s shows %d series: they were not read", service, len(before.series))
	return growth, first
}

// fixed are the labels that have few values, by how those look; routes are known.
var fixed = map[string]*regexp.Regexp{
	"method":   regexp.MustCompile(`^(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|OTHER)$`),
	"status":   regexp.MustCompile(`^[1-5][0-9]{2}$`),
	"code":     regexp.MustCompile(`^[0-9]{4}$`),
	"le":       regexp.MustCompile(`^(?:[0-9.e+-]+|\+Inf)$`),
	"source":   regexp.MustCompile(`^[a-z_]{2,24}$`),
	"limit":    regexp.MustCompile(`^(?:hub|api|clock)?-?(?:key|session|token|client|consent|login)$`),
	"provider": regexp.MustCompile(`^(?:` + strings.Join(providers, "|") + `)$`),
	"op":       regexp.MustCompile(`^[a-z_]{2,24}$`),
	"result":   regexp.MustCompile(`^[a-z_]{2,24}$`),
}

// ofLists tells whether a series is one of ours that has labels of fixed lists alone.
func ofLists(name string, patterns map[string]bool) bool {
	labels := label.FindAllStringSubmatch(name, -1)
	for _, l := range labels {
		if l[1] == "route" && patterns[l[2]] {
			continue
		}
		if list := fixed[l[1]]; list == nil || !list.MatchString(l[2]) {
			return false
		}
	}
	return len(labels) > 0 && strings.HasPrefix(name, "sc_")
}

// tally is how many answers of each status came.
func (f *flood) tally() map[string]int64 {
	out := map[string]int64{}
	for status := range f.answers {
		if n := f.answers[status].Load(); n > 0 {
			out[fmt.Sprint(status)] = n
		}
	}
	return out
}

// kept counts the keys of Redis.
func (f *flood) kept(ctx context.Context) (int64, error) {
	opt, err := redis.ParseURL(f.env.Stack.RedisURL)
	if err != nil {
		return 0, err
	}
	db := redis.NewClient(opt)
	defer func() { _ = db.Close() }()
	return db.DBSize(ctx).Result()
}
