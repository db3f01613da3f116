package outage

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/test/system/stack"
)

// target is a read request and the client that sends it.
type target struct {
	client *stack.Client
	url    string
	sets   []stack.Set
}

// abnormal sends the request and returns a text that states what is wrong with the answer, or "" if the answer is complete.
func (r target) abnormal(t *testing.T) string {
	t.Helper()
	a, err := r.client.Try(t, http.MethodGet, r.url, r.sets...)
	switch {
	case err != nil:
		return err.Error()
	case a.Status != http.StatusOK || a.Header.Get("X-Degraded") != "":
		return r.url + ": " + a.String()
	}
	return ""
}

// TestHungRedisDelaysOnlyTheFirstReads sends read requests at a constant rate while Redis does not answer. Half of the requests
// have a session, whose rate limit is counted in Redis. Only the first requests may wait for Redis. After that, each process
// must count locally.
func TestHungRedisDelaysOnlyTheFirstReads(t *testing.T) {
	s := system(t)
	const rate, bound = 200, 80 * time.Millisecond
	market := s.NewNativeMarket(t, 5000, nil)
	var list []target
	for range 20 {
		o := s.NewOperator(t)
		session := o.Session(t)
		for _, url := range []string{
			s.HubAt(len(list)) + "/api/signals/feed", s.HubAt(len(list)) + "/api/m/" + market, s.API + "/api/v1/feed",
			s.HubAt(len(list)) + "/api/operator/leaderboard",
		} {
			crowd := target{o.Client, s.HubAt(len(list)/2) + "/api/m/" + market + "/crowd", []stack.Set{session}}
			list = append(list, crowd, target{client: o.Client, url: url})
		}
	}
	read := func(d time.Duration) *stack.Times {
		times := &stack.Times{}
		stack.Steady(t, rate, d, func(i int) {
			r := list[i%len(list)]
			began := time.Now()
			a, err := r.client.Try(t, http.MethodGet, r.url, r.sets...)
			times.Add(time.Since(began))
			if err != nil || a.Status != http.StatusOK && a.Status != http.StatusServiceUnavailable {
				t.Errorf("%s was answered %v (error %v); want 200, or 503 on a loaded machine", r.url, a, err)
			}
		})
		return times
	}
	before := read(2 * time.Second)
	resume := s.Hang(t, "redis")
	during := read(time.Duration(stack.Size(t, 3, 6, 10)) * time.Second)
	resume()
	t.Logf("median %v before, %v during; 99%% within %v before, %v during", before.Quantile(.5), during.Quantile(.5),
		before.Quantile(.99), during.Quantile(.99))
	// The reads before the outage show the delays that the machine itself causes.
	for quantile, allowed := range map[float64]time.Duration{.5: bound / 4, .99: bound} {
		if got, most := during.Quantile(quantile), 3*allowed+2*before.Quantile(quantile); got > most {
			t.Errorf("while Redis does not answer, quantile %v of the reads is %v; want at most %v", quantile, got, most)
		}
	}
}

// TestReadsWhilePostgresHangs sends read requests while all processes of Postgres are suspended. Each request must be
// answered within 400 ms. All answers must be normal within a second after Postgres continues.
func TestReadsWhilePostgresHangs(t *testing.T) {
	s := system(t)
	const bound, normalAfter = 400 * time.Millisecond, time.Second
	a := s.NewAuthor(t)
	session := a.Session(t)
	var list []target
	for i, path := range []string{
		"/api/m/" + a.Market + "/crowd", "/api/m/" + a.Market + "/signals", "/api/signals/" + a.CallID,
		"/api/signals/" + a.CallID + "/events", "/api/resolution/outcome?market=" + a.Market, "/api/resolution/markets",
		"/api/m/" + a.Market, "/api/signals/feed", "/api/operator/leaderboard",
	} {
		list = append(list, target{client: a.Client, url: s.HubAt(i) + path}, target{client: stack.NewClient(), url: s.HubAt(i+1) + path})
	}
	list = append(list,
		target{client: a.Client, url: s.API + "/api/v1/feed"},
		target{client: a.Client, url: s.API + "/api/v1/signals/leaderboard"},
		target{a.Client, s.Hub + "/api/m/" + a.Market + "/crowd", []stack.Set{session}})
	abnormal := func() string {
		var wrong []string
		for _, r := range list {
			if why := r.abnormal(t); why != "" {
				wrong = append(wrong, why)
			}
		}
		return strings.Join(wrong, "\n")
	}
	began := time.Now()
	if wrong := abnormal(); wrong != "" {
		t.Fatalf("answers that are not normal before the outage:\n%s", wrong)
	}
	once := time.Since(began) // time that the machine needs for all reads
	resume := s.Hang(t, "postgres")
	times := &stack.Times{}
	stack.Steady(t, 40, time.Duration(stack.Size(t, 2, 5, 5))*time.Second, func(i int) {
		r := list[i%len(list)]
		began := time.Now()
		answer, err := r.client.Try(t, http.MethodGet, r.url, r.sets...)
		took := time.Since(began)
		times.Add(took)
		if err != nil || answer.Status != http.StatusOK && answer.Status != http.StatusServiceUnavailable {
			t.Errorf("%s was answered %v (error %v); want 200 or 503", r.url, answer, err)
		}
		if took > machineFactor*bound {
			t.Errorf("%s was answered after %v; want at most %v plus the tolerance for a loaded machine", r.url, took, bound)
		}
	})
	resume()
	wrong := "unknown"
	began = time.Now()
	for end := began.Add(15 * time.Second); wrong != "" && time.Now().Before(end); {
		wrong = abnormal()
	}
	if took := time.Since(began); wrong != "" || took > machineFactor*(normalAfter+once) {
		t.Errorf("%v after Postgres continued, these reads are not normal; want all normal within %v:\n%s", took, normalAfter, wrong)
	}
	t.Logf("slowest answer while Postgres did not respond: %v", times.Quantile(1))
}
