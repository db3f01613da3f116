package replicas

import (
	"bytes"
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/signalcast/signalcast/test/system/stack"
)

func TestMain(m *testing.M) { stack.Main(m) }

// service has two replicas of a service and the balancer in front of them.
type service struct {
	*stack.Balancer
	replicas [2]*stack.Side
	metrics  [2]string // URLs
}

// start starts two replicas of a service. They wait up to 5 s for Redis, so that a busy machine does not look like an outage.
func start(t *testing.T, s *stack.Stack, name string) *service {
	t.Helper()
	v := &service{}
	for i := range v.replicas {
		metrics := stack.FreeAddr(t)
		v.metrics[i] = "http://" + metrics + "/metrics"
		v.replicas[i] = s.Side(t, name, map[string]string{
			"REPLICAS": "2", "REDIS_TIMEOUT": "5s", "TRUSTED_PROXIES": "127.0.0.1/32", "METRICS_ADDR": metrics, "RATE_LIMIT_ANON": "600",
		})
	}
	v.Balancer = stack.NewBalancer(t, v.replicas[:]...)
	v.RequireAllReady(t)
	return v
}

// count returns the values of a counter of a shared cache in both replicas.
func (v *service) count(t *testing.T, metric, cache string) (out [2]int) {
	t.Helper()
	for i, url := range v.metrics {
		for line := range strings.Lines(string(stack.Get(t, url).Require(http.StatusOK).Body)) {
			if text, ok := strings.CutPrefix(strings.TrimSpace(line), metric+`{cache="`+cache+`"} `); ok {
				n, err := strconv.Atoi(text)
				if err != nil {
					t.Fatal(err)
				}
				out[i] = n
			}
		}
	}
	return out
}

// TestOneReplicaBuildsForAll sends concurrent reads to two replicas of each service. An answer must be built once in all replicas
// while it is fresh, and every reader must receive a complete answer.
func TestOneReplicaBuildsForAll(t *testing.T) {
	s := stack.Shared(t)
	market := s.NewVenueMarket(t, "polymarket", 0.4, nil)
	market.Read(t)
	stack.Eventually(t, time.Minute, "a programme with segments", func() bool { return stack.Get(t, s.Clock+"/program/timeline").Int("total") > 0 })
	hub, api, clock := start(t, s, "hub"), start(t, s, "api"), start(t, s, "clock")
	for _, tc := range []struct {
		*service
		cache, path string
		fresh       time.Duration
	}{
		{hub, "wire", "/api/wire?limit=7", 10 * time.Second},
		{hub, "situations", "/api/situations?limit=7", 10 * time.Second},
		{hub, "tiles", "/api/oracle/featured?limit=7", 10 * time.Second},
		{hub, "airable", "/api/markets/airable?limit=7", 30 * time.Second},
		{hub, "markets", "/api/markets?limit=7", time.Second},
		{hub, "related", "/api/m/" + market.ID + "/related", 5 * time.Second},
		{hub, "network", "/api/network/operators?limit=7", 2 * time.Second},
		{hub, "board", "/api/operator/leaderboard?limit=7", time.Second},
		{hub, "plan", "/api/broadcast/influence?limit=7", 10 * time.Second},
		{api, "board", "/api/v1/signals/leaderboard?limit=7", time.Second},
		{clock, "programme", "/program/timeline?limit=7", time.Second},
	} {
		t.Run(tc.cache+" "+tc.path, func(t *testing.T) {
			builds, reads := tc.count(t, "sc_cache_builds_total", tc.cache), tc.count(t, "sc_cache_shared_reads_total", tc.cache)
			crowd := stack.NewCrowd(20)
			began := time.Now()
			stack.Each(60, 8, func(int) {
				a, err := crowd.Try(t, http.MethodGet, tc.URL+tc.path)
				if err != nil || a.Status != http.StatusOK || a.Header.Get("X-Degraded") != "" {
					t.Errorf("%s was answered %v (error %v); want 200 without X-Degraded", tc.path, a, err)
				}
			})
			// The counters are read after the answers, so a build in the background may have been counted too.
			built, read := tc.count(t, "sc_cache_builds_total", tc.cache), tc.count(t, "sc_cache_shared_reads_total", tc.cache)
			total, most := built[0]+built[1]-builds[0]-builds[1], 1+int(time.Since(began)/tc.fresh)
			t.Logf("%s: %d builds for 60 requests to two replicas", tc.path, total)
			if total < 1 || total > most {
				t.Errorf("two replicas built the answer to %s %d times, want 1 to %d", tc.path, total, most)
			}
			if read[0]+read[1] == reads[0]+reads[1] {
				t.Errorf("no replica read the answer to %s that the other one had built", tc.path)
			}
		})
	}
}

// TestBothReplicasAnswerTheSame checks that two replicas answer with the same bytes while an answer is fresh.
func TestBothReplicasAnswerTheSame(t *testing.T) {
	s := stack.Shared(t)
	hub := start(t, s, "hub")
	const path = "/api/network/pulse"
	// Both are read again if the answer is built between the two reads.
	stack.Eventually(t, 20*time.Second, "the same pulse from both replicas", func() bool {
		first := stack.Send(t, http.MethodGet, hub.replicas[0].URL+path).Require(http.StatusOK)
		second := stack.Send(t, http.MethodGet, hub.replicas[1].URL+path).Require(http.StatusOK)
		return bytes.Equal(first.Body, second.Body) // contains the time of the build
	})
}

// TestAddressLimitOfAllReplicas sends more requests from one IP address than its limit permits, to two replicas of each service.
// All replicas together may allow the 600 requests of a minute and those of one second more, which are 10.
func TestAddressLimitOfAllReplicas(t *testing.T) {
	s := stack.Shared(t)
	for name, path := range map[string]string{"hub": "/api/signals/feed", "api": "/api/v1/feed", "clock": "/program/now"} {
		t.Run(name, func(t *testing.T) {
			v, client := start(t, s, name), stack.NewClient()
			var allowed, refused atomic.Int64
			began := time.Now()
			stack.Each(stack.Size(t, 900, 1500, 3000), 8, func(int) {
				a, err := client.Try(t, http.MethodGet, v.URL+path)
				switch {
				case err != nil:
					t.Errorf("%s: %v", path, err)
				case a.Status == http.StatusTooManyRequests:
					refused.Add(1)
				default:
					allowed.Add(1)
				}
			})
			// A request that is sent a minute later has its place in the next window.
			minutes := 1 + int64(time.Since(began)/time.Minute)
			t.Logf("two replicas allowed %d requests of one address and refused %d", allowed.Load(), refused.Load())
			if n := allowed.Load(); n < 600 || n > 610*minutes {
				t.Errorf("two replicas allowed %d requests of one address in %v, want 600 to %d", n, time.Since(began), 610*minutes)
			}
			if refused.Load() == 0 && minutes == 1 {
				t.Error("no request was refused with 429")
			}
		})
	}
}

// dial opens a websocket from the address of a client. It returns nil if the server refuses it with 429.
func dial(t *testing.T, client *stack.Client, base string, header http.Header) *websocket.Conn {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	web := *client.HTTP()
	web.Timeout = 0 // it would close the websocket
	c, res, err := websocket.Dial(ctx, "ws"+strings.TrimPrefix(base, "http")+"/ws", &websocket.DialOptions{HTTPClient: &web, HTTPHeader: header})
	if err == nil {
		t.Cleanup(func() { _ = c.CloseNow() })
		return c
	}
	if res == nil || res.StatusCode != http.StatusTooManyRequests {
		t.Errorf("the websocket was refused with %v, want 429", err)
	}
	return nil
}

// TestSocketLimitsOfAllReplicas opens websockets through two replicas of the api. An IP address may have 20 open in all replicas,
// and a key 5. The connections of a replica that is killed count for a few seconds only.
func TestSocketLimitsOfAllReplicas(t *testing.T) {
	s := stack.Shared(t)
	api, operator := start(t, s, "api"), s.NewOperator(t)
	open := func(n int, client func(i int) *stack.Client, header http.Header) (out []*websocket.Conn) {
		var mu sync.Mutex
		stack.AtOnce(n, func(i int) {
			if c := dial(t, client(i), api.URL, header); c != nil {
				mu.Lock()
				defer mu.Unlock()
				out = append(out, c)
			}
		})
		return out
	}
	keyed := open(15, func(int) *stack.Client { return stack.NewClient() }, http.Header{"Authorization": {"Bearer " + operator.Key}})
	if len(keyed) != 5 {
		t.Errorf("a key has %d websockets open in two replicas, want 5", len(keyed))
	}
	client := stack.NewClient()
	sockets := open(50, func(int) *stack.Client { return client }, nil)
	t.Logf("two replicas accepted %d of 15 websockets of a key and %d of 50 of an address", len(keyed), len(sockets))
	if len(sockets) != 20 {
		t.Errorf("an address has %d websockets open in two replicas, want 20", len(sockets))
	}
	if err := sockets[0].Close(websocket.StatusNormalClosure, ""); err != nil {
		t.Logf("close a websocket: %v", err)
	}
	opens := func() bool { return dial(t, client, api.URL, nil) != nil }
	stack.Eventually(t, 20*time.Second, "a websocket in place of a closed one", opens)
	if opens() {
		t.Error("a websocket above the limit was opened, want 429")
	}
	api.replicas[0].Kill()
	stack.Eventually(t, time.Minute, "a websocket in place of those of the killed replica", func() bool {
		return dial(t, client, api.replicas[1].URL, nil) != nil
	})
}
