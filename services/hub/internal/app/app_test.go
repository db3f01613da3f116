package app

import (
	"encoding/json"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalcast/signalcast/pkg/testkit"
)

// From a token of the provider to a call on the record, and back out.
func TestFromLoginToCall(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	h := w.hub()
	h.ready()
	token := w.issuer.token(t, "did:privy:tidewatch")
	status, head, body := h.do("POST", "/api/auth/privy", "", "Authorization", "Bearer "+token)
	if status != 200 || len(head["Set-Cookie"]) != 2 {
		t.Fatal(status, head, body)
	}
	status, _, body = h.do("POST", "/api/dev/keys", `{"label":"bot"}`, "Authorization", "Bearer "+token)
	var minted struct{ Key, ID string }
	if err := json.Unmarshal([]byte(body), &minted); err != nil || status != 201 {
		t.Fatal(status, body)
	}
	const call = `{"marketId":"701122","direction":"YES","priceAtPrediction":3150}`
	status, head, body = h.do("POST", "/api/predictions", call, "Authorization", "Bearer "+minted.Key)
	if status != 200 || head.Get("RateLimit-Policy") != `"hub";q=60;w=60` || !strings.HasPrefix(head.Get("RateLimit"), `"hub";r=59;t=`) {
		t.Fatal(status, head, body)
	}
	var filed struct{ ID string }
	if err := json.Unmarshal([]byte(body), &filed); err != nil {
		t.Fatal(err)
	}
	if status, _, body = h.do("GET", "/api/signals/"+filed.ID, ""); status != 200 || !strings.Contains(body, `"callsign":"tidewatch"`) {
		t.Error(status, body)
	}
	if status, _, body = h.do("GET", "/receipts/"+filed.ID, "", "Accept", "application/json"); status != 200 || !strings.Contains(body, `"resolution":null`) {
		t.Error(status, body)
	}
	if status, head, body = h.do("GET", "/receipts/"+filed.ID, "", "Accept", "text/html"); status != 200 || !strings.HasPrefix(head.Get("Content-Type"), "text/html") {
		t.Error(status, head, body)
	}
	for name, bad := range map[string]string{"tampered": token[:len(token)-4] + "AAAA", "foreign": newIssuer(t).token(t, "did:privy:tidewatch")} {
		if status, _, body = h.do("POST", "/api/dev/keys", `{"label":"x"}`, "Authorization", "Bearer "+bad); status != 401 {
			t.Errorf("%s token: %d %s", name, status, body)
		}
	}
	for _, secret := range []string{minted.Key, token, strings.Split(token, ".")[2]} {
		if strings.Contains(h.logs.String(), secret) {
			t.Error("a credential is in the log")
		}
	}
}

// Sixty calls with a key in any minute over all hubs, however they race.
// Exactly 60 of 1,000 requests of one key to two hubs are accepted, each refusal says when the next one is, and another key
// is not affected.
func TestKeyLimitOverTwoHubs(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	// A test machine may be so busy that 50 ms pass for nothing, which is what
	// the next test is about.
	w.environ["REDIS_TIMEOUT"] = "5s"
	hubs := []*hub{w.hub(), w.hub()}
	key := w.ledger.AddKey(w.ledger.AddOperator("mara_k").GetId())
	var accepted, limited, other atomic.Int32
	var wg sync.WaitGroup
	began := time.Now()
	places := make(chan struct{}, 100) // a hub sheds what it cannot answer in time
	for i := range 1000 {
		wg.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			status, head, body := hubs[i%2].do("POST", "/api/predictions", `{}`, "Authorization", "Bearer "+key)
			switch status {
			case http.StatusBadRequest: // past the limit, stopped by the shape
				accepted.Add(1)
			case http.StatusTooManyRequests:
				limited.Add(1)
				checkRefusal(t, head, body, began)
			default:
				other.Add(1)
				t.Log(status, body)
			}
		})
	}
	wg.Wait()
	if accepted.Load() != 60 || limited.Load() != 940 || other.Load() != 0 {
		t.Errorf("%d accepted, %d limited, %d other", accepted.Load(), limited.Load(), other.Load())
	}
	if n := w.ledger.Count("File"); n != 0 {
		t.Errorf("%d refused calls reached the ledger", n)
	}
	calm := w.ledger.AddKey(w.ledger.AddOperator("otto").GetId())
	if status, _, body := hubs[0].do("POST", "/api/predictions", `{}`, "Authorization", "Bearer "+calm); status != http.StatusBadRequest {
		t.Errorf("a request of another key: %d %s; want 400", status, body)
	}
}

// checkRefusal checks that a 429 states how long to wait, in three places that agree: until 60 s after the first of the 60
// requests, which was sent after began.
func checkRefusal(t *testing.T, head http.Header, body string, began time.Time) {
	t.Helper()
	var b struct {
		Error        string
		Limit        int
		RetryAfterMs int64
	}
	if err := json.Unmarshal([]byte(body), &b); err != nil {
		t.Error(err)
	}
	least := 60_000 - time.Since(began).Milliseconds() - 1
	if b.Error != "rate_limited" || b.Limit != 60 || b.RetryAfterMs < max(1, least) || b.RetryAfterMs > 60_000 {
		t.Errorf("refused with %s; want limit 60 and a wait of %d to 60000 ms", body, least)
	}
	seconds := strconv.FormatInt((b.RetryAfterMs+999)/1000, 10)
	if head.Get("Retry-After") != seconds || head.Get("RateLimit") != `"hub";r=0;t=`+seconds || head.Get("RateLimit-Policy") != `"hub";q=60;w=60` {
		t.Errorf("refused with a wait of %d ms, Retry-After %q, RateLimit %q, RateLimit-Policy %q; want %s s",
			b.RetryAfterMs, head.Get("Retry-After"), head.Get("RateLimit"), head.Get("RateLimit-Policy"), seconds)
	}
}

// Without Redis each hub allows its share: bounded, not open, not closed.
func TestKeyLimitWithoutRedis(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	server := testkit.RedisServer(t)
	w.environ["REDIS_URL"] = server.URL()
	hubs := []*hub{w.hub(), w.hub()}
	testkit.Kill(t, server.PID())
	key := w.ledger.AddKey(w.ledger.AddOperator("mara_k").GetId())
	accepted := 0
	for i := range 200 {
		status, _, body := hubs[i%2].do("POST", "/api/predictions", `{}`, "Authorization", "Bearer "+key)
		switch status {
		case http.StatusBadRequest:
			accepted++
		case http.StatusTooManyRequests:
		default:
			t.Fatal(status, body)
		}
	}
	if accepted != 60 {
		t.Errorf("%d accepted without Redis, want 2 shares of 30", accepted)
	}
}

func TestRandomKeysTouchNoRedis(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	h := w.hub()
	for i := range 50 {
		h.do("POST", "/api/predictions", `{}`, "Authorization", "Bearer dk_"+strings.Repeat(string(rune('A'+i%26)), 42)+string(rune('a'+i/26)))
	}
	keys, err := testkit.KV(t, w.redis).Keys(t.Context(), "*").Result()
	if err != nil || len(keys) != 0 {
		t.Errorf("%v %v", keys, err)
	}
	if n := w.ledger.Count("VerifyKey"); n != 50 {
		t.Errorf("%d questions for 50 keys", n)
	}
}

// A revoked key is refused by every hub in every request that starts after
// the revocation was answered.
func TestRevokedOnEveryHub(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	hubs := []*hub{w.hub(), w.hub()}
	token := w.issuer.token(t, "did:privy:tidewatch")
	for range 5 {
		_, _, body := hubs[0].do("POST", "/api/dev/keys", `{"label":"x"}`, "Authorization", "Bearer "+token)
		var key struct{ Key, ID string }
		if err := json.Unmarshal([]byte(body), &key); err != nil {
			t.Fatal(body)
		}
		var revoked atomic.Bool
		var wg sync.WaitGroup
		for _, h := range hubs {
			wg.Go(func() {
				for i := 0; i < 25; i++ {
					after := revoked.Load()
					status, _, body := h.do("POST", "/api/predictions",
						`{"marketId":"701122","direction":"YES","priceAtPrediction":1}`, "Authorization", "Bearer "+key.Key)
					if after && status != http.StatusUnauthorized {
						t.Errorf("after the revocation: %d %s", status, body)
					}
				}
			})
		}
		if status, _, body := hubs[1].do("DELETE", "/api/dev/keys?id="+key.ID, "", "Authorization", "Bearer "+token); status != 200 {
			t.Error(status, body)
		}
		revoked.Store(true)
		wg.Wait()
		for _, h := range hubs {
			// Also with a body that does not fit: who has no say does not hear about it.
			if status, _, body := h.do("POST", "/api/predictions", `{}`, "Authorization", "Bearer "+key.Key); status != http.StatusUnauthorized {
				t.Errorf("%d %s", status, body)
			}
		}
	}
}

func TestAddressLimit(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	h := w.hub("RATE_LIMIT_ANON", "20")
	refused := 0
	for range 30 {
		status, head, body := h.do("GET", "/api/signals/feed", "")
		if status != http.StatusTooManyRequests {
			continue
		}
		refused++
		if head.Get("Retry-After") == "" || !strings.Contains(body, `"limit":20`) || head.Get("Cache-Control") != "no-store" {
			t.Error(head, body)
		}
	}
	if refused != 10 {
		t.Errorf("%d of 30 refused, want 10", refused)
	}
	if status, _, _ := h.do("OPTIONS", "/api/network/program", ""); status != http.StatusTooManyRequests {
		t.Errorf("a preflight is not counted: %d", status)
	}
	if status, _, _ := h.do("GET", "/api/nothing", ""); status != http.StatusTooManyRequests {
		t.Errorf("an unknown path is not counted: %d", status)
	}
	if status, _, _ := h.do("GET", "/healthz", ""); status != http.StatusOK {
		t.Errorf("health is counted: %d", status)
	}
}

func TestAuditOfAdminActs(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	h := w.hub()
	if status, _, body := h.do("GET", "/api/admin/resolve-signals?secret="+w.environ["CRON_SECRET"], ""); status != 200 {
		t.Fatal(status, body)
	}
	if status, _, body := h.do("POST", "/api/admin/resolve-signals", `{"marketId":"1","outcome":"NO"}`, "X-Admin-Secret", w.environ["ADMIN_SECRET"]); status != 404 {
		t.Fatal(status, body)
	}
	rows := auditRows(t, testkit.Pool(t, w.database.URL("hub_rw")))
	want := []string{
		"asked cron GET /api/admin/resolve-signals   {}",
		"answered cron GET /api/admin/resolve-signals  ok {}",
		`asked admin POST /api/admin/resolve-signals 1  {"verdict": "NO"}`,
		`answered admin POST /api/admin/resolve-signals 1 market_not_found {"verdict": "NO"}`,
	}
	if strings.Join(rows, "\n") != strings.Join(want, "\n") {
		t.Errorf("audit log:\n%s", strings.Join(rows, "\n"))
	}
	for _, name := range []string{"CRON_SECRET", "ADMIN_SECRET"} {
		if strings.Contains(h.logs.String(), w.environ[name]) {
			t.Errorf("%s is in the log", name)
		}
	}
}

func auditRows(t *testing.T, pool *pgxpool.Pool) (rows []string) {
	t.Helper()
	found, err := pool.Query(t.Context(), `SELECT concat_ws(' ', stage, actor, action, target, code, detail) FROM audit_log
		WHERE ip = '127.0.0.1' AND request_id <> '' ORDER BY id`)
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	for found.Next() {
		var row string
		if err := found.Scan(&row); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	return rows
}

// What cannot be written down is not done.
func TestNoAuditNoAct(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	h := w.hub("DATABASE_URL", "postgres://hub_rw:x@127.0.0.1:1/none")
	status, head, body := h.do("POST", "/api/admin/resolve-signals", "", "X-Admin-Secret", w.environ["ADMIN_SECRET"])
	if status != 503 || !strings.Contains(body, "db_unavailable") || head.Get("Retry-After") == "" {
		t.Error(status, body)
	}
	if n := w.ledger.Count("Scan"); n != 0 {
		t.Errorf("%d scans", n)
	}
}

// The hub may start before its ledger, answers without it, and finds it when
// it comes.
func TestLedgerComesLater(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	addr := freeAddr(t)
	h := w.hub("API_ADDR", addr)
	if status, _, body := h.do("GET", "/readyz", ""); status != 503 || !strings.Contains(body, `"failed":["ledger"]`) {
		t.Error(status, body)
	}
	if status, head, body := h.do("GET", "/api/signals/feed", ""); status != 200 || head.Get("X-Degraded") != "signal_service" {
		t.Error(status, head, body)
	}
	key := w.ledger.AddKey(w.ledger.AddOperator("mara_k").GetId())
	file := func() (int, http.Header, string) {
		return h.do("POST", "/api/predictions", `{"marketId":"701122","direction":"YES","priceAtPrediction":1}`, "Authorization", "Bearer "+key)
	}
	if status, head, body := file(); status != 503 || !strings.Contains(body, "signal_service_unavailable") || head.Get("Retry-After") == "" {
		t.Error(status, head, body)
	}
	if status, _, body := h.do("GET", "/healthz", ""); status != 200 || !strings.Contains(body, `"nonce":"n-1"`) {
		t.Error(status, body)
	}
	w.serveLedger(addr)
	h.ready()
	if status, _, body := file(); status != 200 {
		t.Error(status, body)
	}
	testkit.Eventually(t, 5*time.Second, func() bool {
		_, head, body := h.do("GET", "/api/signals/feed", "")
		return head.Get("X-Degraded") == "" && strings.Contains(body, `"count":1`)
	})
}

// freeAddr is an address that nobody listens on.
func freeAddr(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// Stopping says "not ready" first, goes on serving, then closes the doors.
func TestDrain(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	h := w.hub("DRAIN_WAIT", "1s")
	h.ready()
	stopped := make(chan struct{})
	go func() { h.stop(); close(stopped) }()
	testkit.Eventually(t, 5*time.Second, func() bool {
		status, _, _ := h.do("GET", "/readyz", "")
		return status == http.StatusServiceUnavailable
	})
	if status, _, body := h.do("GET", "/api/signals/feed", ""); status != 200 {
		t.Errorf("while draining: %d %s", status, body)
	}
	<-stopped
}

func TestMetricsAreOnTheirOwnListener(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	h := w.hub()
	h.do("GET", "/api/signals/feed", "")
	h.do("GET", "/api/signals/feed", "")
	for _, path := range []string{"/metrics", "/debug/pprof/", "/debug/vars"} {
		if status, _, _ := h.do("GET", path, ""); status != http.StatusNotFound {
			t.Errorf("%s is public: %d", path, status)
		}
	}
	resp, err := w.client.Get("http://" + h.MetricsAddr() + "/metrics")
	if err != nil || resp.StatusCode != 200 {
		t.Fatal(err, resp)
	}
	_ = resp.Body.Close()
}
