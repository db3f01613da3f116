package outage

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/test/system/openapi"
	"github.com/signalcast/signalcast/test/system/stack"
)

// outage is a failure of one dependency of the services.
type outage struct {
	dependency string
	how        stack.Outage
}

func (o outage) String() string { return o.dependency + " " + string(o.how) }

// outages returns all kinds of failures for all dependencies.
func outages() (out []outage) {
	for _, dependency := range []string{"api", "redis", "postgres", "clock", "venue", "identity keys"} {
		for _, how := range stack.Outages {
			out = append(out, outage{dependency, how})
		}
	}
	return out
}

const (
	// readsAtOnce is the number of concurrent reads.
	readsAtOnce = 4
	// readWithin is the guaranteed time of an answer during an outage. normalWithin is the guaranteed time of the
	// recovery after it.
	readWithin, normalWithin = time.Second, 2 * time.Second
)

// TestReadsDuringOutages reads the documented GET routes of a copy of the services while each dependency of the copy
// fails.
//
// Every answer must have a documented status and form, within a second. Only single objects may be answered with 503;
// lists are empty and name the dependency in X-Degraded. Such an answer must not be cacheable, and must not contain
// values that the healthy system does not return. After the outage all routes must be normal within two seconds.
func TestReadsDuringOutages(t *testing.T) {
	s := system(t)
	doc := openapi.ForTest(t)
	requireProgramme(t, s)
	all := outages()
	m := &matrix{
		healthy: map[string]string{"hub": s.Hub, "api": s.API, "clock": s.Clock},
		objects: newObjects(t, s, len(all)+1), copy: startCopy(t, s), doc: doc, facts: map[string]*facts{},
	}
	m.reads = m.objects.reads(doc, 0, 0)
	m.addFacts(t, m.reads)
	m.requireNormal(t)
	for i, o := range all {
		t.Run(o.String(), func(t *testing.T) {
			if testing.Short() && i > 0 {
				t.Skip("one outage is enough for a short run")
			}
			m.during(t, i, o)
		})
	}
}

// requireProgramme waits until the system has a programme. Before that, lists are empty even without an outage.
func requireProgramme(t *testing.T, s *stack.Stack) {
	t.Helper()
	stack.Eventually(t, time.Minute, "a programme with segments", func() bool { return stack.Get(t, s.Clock+"/program/timeline").Int("total") > 0 })
}

// matrix reads the routes of a copy of the services, and compares the answers with those of the healthy system.
type matrix struct {
	healthy map[string]string // base URLs of the services of the healthy system
	objects *objects
	copy    *serviceCopy
	doc     *openapi.Document
	reads   []read            // one read of each route
	facts   map[string]*facts // answers of the healthy system, by read
	slowest time.Duration     // slowest answer of the copy without an outage
}

// answered is a read with its answer.
type answered struct {
	read
	stack.Answer
	took time.Duration
	err  error
}

func (a answered) degraded() bool { return a.Header.Get("X-Degraded") != "" }

func (a answered) String() string {
	_, query, _ := strings.Cut(a.path, "?")
	return fmt.Sprintf("%s?%s: %d (X-Degraded %q) %.160s", a.op.Name(), query, a.Status, a.Header.Get("X-Degraded"), a.Body)
}

func ask(t *testing.T, addresses map[string]string, reads []read) []answered {
	t.Helper()
	out := make([]answered, len(reads))
	stack.Each(len(reads), readsAtOnce, func(i int) {
		r := reads[i]
		began := time.Now()
		a, err := r.client.Try(t, http.MethodGet, addresses[r.op.Host]+r.path, r.credential)
		out[i] = answered{r, a, time.Since(began), err}
	})
	return out
}

// addFacts sends reads to the healthy system and adds its answers to the facts.
func (m *matrix) addFacts(t *testing.T, reads []read) {
	t.Helper()
	for _, a := range ask(t, m.healthy, reads) {
		if a.err != nil {
			t.Fatal(a.err)
		}
		if m.facts[a.key()] == nil {
			m.facts[a.key()] = newFacts(a.Answer)
		}
		m.facts[a.key()].add(a.Answer)
	}
}

// requireNormal fails the test unless the copy answers every route like the healthy system.
func (m *matrix) requireNormal(t *testing.T) {
	t.Helper()
	left := m.reads
	for end := time.Now().Add(recoverWithin); len(left) > 0; stack.Wait(t, 250*time.Millisecond) {
		var again []read
		for _, a := range ask(t, m.copy.addresses, left) {
			m.slowest = max(m.slowest, a.took)
			incomplete := m.abnormal(a) || len(m.facts[a.key()].missing(a.Answer)) > 0
			if incomplete && time.Now().Before(end) { // the service has just started, or the machine is loaded
				again = append(again, a.read)
				continue
			}
			documented := a.Status == http.StatusOK || !a.op.Knows(http.StatusOK) && a.Status < 500 ||
				a.Status == http.StatusSeeOther && a.op.Knows(http.StatusSeeOther) // a page that redirects to the sign-in
			if incomplete || !documented {
				t.Errorf("the answer without an outage is not normal: %v", a)
			}
			m.requireDocumented(t, a)
		}
		m.addFacts(t, again) // the healthy system may have computed the missing values in the meantime
		left = again
	}
	if t.Failed() {
		t.FailNow()
	}
}

// abnormal reports whether an answer is degraded or has a status that the healthy system does not return. Status 429 is not
// abnormal, because the reads with one credential can reach its rate limit.
func (m *matrix) abnormal(a answered) bool {
	f := m.facts[a.key()]
	if a.err == nil && a.Status == http.StatusTooManyRequests {
		return false
	}
	return a.err != nil || f == nil || !f.status[a.Status] || a.degraded()
}

func (m *matrix) requireDocumented(t *testing.T, a answered) {
	t.Helper()
	if a.err != nil {
		t.Errorf("the answer of %s is not documented: %v", a.op.Name(), a.err)
	} else if err := a.op.Check(t.Context(), "http://127.0.0.1"+a.path, a.Status, a.Header, a.Body); err != nil {
		line, _, _ := strings.Cut(err.Error(), "\n")
		t.Errorf("%v: %s", a, line)
	}
}

// during makes one dependency fail, sends reads, and requires that all routes recover. During each outage it reads a quarter of
// the routes, so that it reads each route once for each dependency. With SYSTEM_SIZE=full it reads all routes during each
// outage.
func (m *matrix) during(t *testing.T, i int, o outage) {
	known, fresh := m.selection(t, i)
	if o.dependency != "venue" { // objects that only the venue has must be read during an outage of the venue
		m.addFacts(t, fresh)
	}
	proxy := m.copy.proxies[o.dependency]
	proxy.Break(t, o.how)
	answers := append(ask(t, m.copy.addresses, fresh), ask(t, m.copy.addresses, known)...)
	proxy.Repair(t)
	m.requireRecovery(t)
	m.addFacts(t, append(fresh, known...))

	limit, degraded := readWithin+machineFactor*max(m.slowest, 200*time.Millisecond), 0
	for _, a := range answers {
		if a.took > limit {
			t.Errorf("%v: answered after %v; want at most %v", a, a.took, limit)
		}
		if a.err == nil && a.Status != http.StatusOK && a.Status != http.StatusServiceUnavailable && !m.facts[a.key()].status[a.Status] {
			t.Errorf("%v: the healthy system never answers with this status", a)
		}
		m.requireDocumented(t, a)
		if a.degraded() || a.Status >= 500 {
			degraded++
		}
		m.requireConsistent(t, a)
	}
	t.Logf("%d answers, of which %d were degraded or 503", len(answers), degraded)
	if degraded == 0 && o == outages()[0] {
		t.Error("no answer was degraded or 503 during the outage of the api")
	}
}

// selection returns the reads for the outage with index i: known are reads of objects that were read before, and fresh are
// reads of objects that were not.
func (m *matrix) selection(t *testing.T, i int) (known, fresh []read) {
	warm, cold := m.objects.reads(m.doc, 0, i+1), m.objects.reads(m.doc, i+1, i+1)
	kinds := len(stack.Outages)
	share := stack.Size(t, 1, kinds, 1)
	for n := range warm {
		if (n+i+i/kinds)%share != 0 {
			continue
		}
		known = append(known, warm[n])
		if cold[n].path != warm[n].path {
			fresh = append(fresh, cold[n])
		}
	}
	return known, fresh
}

// requireRecovery fails the test unless all routes of the copy are normal again within a time limit.
func (m *matrix) requireRecovery(t *testing.T) {
	t.Helper()
	began, left := time.Now(), m.reads
	limit := normalWithin + min(machineFactor*max(m.slowest, 200*time.Millisecond), normalWithin)
	for {
		var still []answered
		for _, a := range ask(t, m.copy.addresses, left) {
			if m.abnormal(a) {
				still = append(still, a)
			}
		}
		if len(still) == 0 {
			if took := time.Since(began); took > limit {
				t.Errorf("all routes are normal only %v after the outage; want at most %v", took, limit)
			}
			return
		}
		if time.Since(began) > recoverWithin {
			t.Fatalf("%v after the outage %d routes are not normal, the first: %v", recoverWithin, len(still), still[0])
		}
		left = nil
		for _, a := range still {
			left = append(left, a.read)
		}
		stack.Wait(t, 80*time.Millisecond)
	}
}

// requireConsistent fails the test if an incomplete answer may be cached, if an existing object is answered with 404, or if the
// answer contains values that the healthy system does not return.
func (m *matrix) requireConsistent(t *testing.T, a answered) {
	t.Helper()
	if a.err != nil {
		return // requireDocumented has already reported the answer
	}
	f, cache := m.facts[a.key()], a.Header.Get("Cache-Control")
	if (a.degraded() || a.Status >= 500) && !slices.Contains(strings.Split(cache, ", "), "no-store") {
		t.Errorf("%v: Cache-Control is %q; want no-store", a, cache)
	}
	if a.Status == http.StatusNotFound && !f.status[a.Status] {
		t.Errorf("%v: the object exists; want no 404", a)
	}
	if lists := f.missing(a.Answer); len(lists) > 0 && !a.degraded() {
		t.Errorf("%v: %s is empty without X-Degraded", a, strings.Join(lists, ", "))
	}
	if a.Status == http.StatusOK && (a.degraded() || strings.Contains(a.op.Path, "{")) { // complete lists are not checked, because they change with time
		if said := f.unknownValues(a); len(said) > 0 {
			t.Errorf("%v: the healthy system does not return the values %s", a, strings.Join(said[:min(len(said), 3)], ", "))
		}
	}
}

// serviceCopy is a second instance of the three services with the same database. All its connections to dependencies pass
// through proxies.
type serviceCopy struct {
	addresses map[string]string // base URLs of the public listeners
	proxies   map[string]*stack.Proxy
}

func startCopy(t *testing.T, s *stack.Stack) *serviceCopy {
	t.Helper()
	c := &serviceCopy{addresses: map[string]string{}, proxies: map[string]*stack.Proxy{}}
	through := map[string]string{} // addresses of the proxies by the addresses that they replace
	for dependency, address := range map[string]string{
		"redis": s.RedisURL, "postgres": s.DatabaseURL, "venue": s.Venues, "identity keys": s.IDP,
	} {
		u, err := url.Parse(address)
		if err != nil || u.Host == "" {
			t.Fatalf("the address of %s has no host: %v", dependency, err)
		}
		p := stack.NewProxy(t, u.Host)
		c.proxies[dependency] = p
		prefix := ""
		if dependency == "identity keys" { // the setting contains the issuer URL as a name, which must not change
			prefix = `"jwksURL":"http://`
		}
		through[prefix+u.Host] = prefix + p.Addr
	}
	for _, service := range []string{"api", "clock", "hub"} {
		side := s.Side(t, service, s.Rerouted(t, service, through))
		c.addresses[service] = side.URL
		if side.GRPC != "" {
			p := stack.NewProxy(t, side.GRPC)
			c.proxies[service] = p
			through[s.Setting(t, service, "GRPC_ADDR")] = p.Addr
		}
	}
	return c
}
