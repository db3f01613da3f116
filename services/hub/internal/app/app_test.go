package app

import (
	"encoding/json"
	"io"
	"mime/quotedprintable"
	"net/http"
	"net/mail"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/hub/internal/mail/mailtest"
)

func TestRandomKeysTouchNoRedis(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	h := w.hub()
	for i := range 50 {
		h.do("POST", "/api/predictions", `{}`, "Authorization", "Bearer dk_"+strings.Repeat(string(rune('A'+i%26)), 42)+string(rune('a'+i/26)))
	}
	keys, err := testkit.KV(t, w.redis).Keys(t.Context(), "*").Result()
	if err != nil || len(keys) != 0 {
		t.Errorf("keys in Redis: %v, error %v; want none", keys, err)
	}
	if n := w.ledger.Count("VerifyKey"); n != 50 {
		t.Errorf("%d key lookups in the ledger for 50 requests", n)
	}
}

func TestHealthIsNotLimited(t *testing.T) {
	t.Parallel()
	h := newTown(t).hub("RATE_LIMIT_ANON", "1")
	for path, want := range map[string]int{"/api/signals/feed": http.StatusTooManyRequests, "/healthz": http.StatusOK} {
		h.do("GET", path, "")
		if status, _, body := h.do("GET", path, ""); status != want {
			t.Errorf("the second request of %s: %d %s, want %d", path, status, body, want)
		}
	}
}

// TestKeyLimitOverTwoHubs checks that two hubs together accept exactly 60 of 1,000 requests of one key. Each refusal must state
// when the next request is possible. Another key must not be affected.
func TestKeyLimitOverTwoHubs(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	// A busy test machine may need more than 50 ms for an answer of Redis. The next test covers a Redis that does not answer.
	w.environ["REDIS_TIMEOUT"] = "5s"
	hubs := []*hub{w.hub(), w.hub()}
	key := w.ledger.AddKey(w.ledger.AddOperator("mara_k").GetId())
	var accepted, limited, other atomic.Int32
	var wg sync.WaitGroup
	began := time.Now()
	slots := make(chan struct{}, 24) // a hub rejects requests that it cannot answer in time
	for i := range 1000 {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			status, head, body := hubs[i%2].do("POST", "/api/predictions", `{}`, "Authorization", "Bearer "+key)
			switch status {
			case http.StatusBadRequest: // within the limit; the body is invalid
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
		t.Errorf("%d requests accepted, %d limited, %d failed otherwise; want exactly 60 accepted and none failed", accepted.Load(), limited.Load(), other.Load())
	}
	if n := w.ledger.Count("File"); n != 0 {
		t.Errorf("%d refused calls reached the ledger", n)
	}
	calm := w.ledger.AddKey(w.ledger.AddOperator("otto").GetId())
	hubs[0].json(http.StatusBadRequest, "POST", "/api/predictions", `{}`, "Authorization", "Bearer "+calm)
}

// checkRefusal checks that a 429 answer states the wait in three places that agree. The wait must end 60 s after the first of the
// 60 accepted requests, which was sent after began.
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

// TestKeyLimitWithoutRedis checks that without Redis each of two hubs allows its share of the limit, 30 of 60 requests.
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
	equal(t, accepted, 60)
}

// post configures the hubs of the fixture to send the digest by SMTP to two recipients. It returns the mail server.
func (w *town) post(t *testing.T) *mailtest.Server {
	t.Helper()
	box := mailtest.Serve(t, "")
	w.environ["DIGEST_SMTP_URL"] = "smtp://" + box.Addr
	w.environ["DIGEST_FROM"] = "Signalcast <desk@hub.example>"
	w.environ["DIGEST_TO"] = "ann@desk.example,bob@desk.example"
	return box
}

// TestDigestByMail checks that one mail a day is sent to all recipients, even if two hubs receive concurrent requests and one
// request follows a restart. The mail must contain no secret.
func TestDigestByMail(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	box := w.post(t)
	hubs := []*hub{w.hub(), w.hub()}
	path := "/api/admin/daily-digest"
	secrets := []string{"x-admin-secret", w.environ["ADMIN_SECRET"]}
	var sent, already atomic.Int32
	var wg sync.WaitGroup
	for i := range 12 {
		wg.Go(func() {
			switch status, _, body := hubs[i%2].do("POST", path, "", secrets...); {
			case status == 200 && strings.Contains(body, `"sent":2`):
				sent.Add(1)
			case status == 200 && strings.Contains(body, `"already":true`):
				already.Add(1)
			default:
				t.Error("digest request:", status, body)
			}
		})
	}
	wg.Wait()
	hubs[1].stop()
	restarted := w.hub()
	status, _, body := restarted.do("POST", path+"?secret="+w.environ["CRON_SECRET"], "")
	if status != 200 || !strings.Contains(body, `"already":true`) {
		t.Error("digest request after a restart:", status, body)
	}
	mails := box.Mails()
	if sent.Load() != 1 || already.Load() != 11 || len(mails) != 1 {
		t.Fatalf("%d answers sent, %d answers already sent, %d mails; want one mail of one answer", sent.Load(), already.Load(), len(mails))
	}
	checkDigest(t, w, mails[0])
}

// checkDigest checks the addresses, headers and text of the digest of the previous day, and that it contains no secret of the hub.
func checkDigest(t *testing.T, w *town, got mailtest.Mail) {
	t.Helper()
	equal(t, got.From, "desk@hub.example", got.To)
	equal(t, strings.Join(got.To, " "), "ann@desk.example bob@desk.example", got.From, got.To)
	m, err := mail.ReadMessage(strings.NewReader(got.Text))
	must(t, err)
	day := time.Now().UTC().AddDate(0, 0, -1).Format(time.DateOnly)
	if at, err := m.Header.Date(); err != nil || time.Since(at) > time.Hour || m.Header.Get("Subject") != "Signalcast, "+day {
		t.Errorf("unexpected Date or Subject: headers %v, error %v", m.Header, err)
	}
	if id := m.Header.Get("Message-Id"); id != "<digest-"+day+"@hub.example>" {
		t.Errorf("Message-ID %q", id)
	}
	raw, err := io.ReadAll(quotedprintable.NewReader(m.Body))
	if err != nil || m.Header.Get("Content-Transfer-Encoding") != "quoted-printable" {
		t.Fatal(err, m.Header)
	}
	text := string(raw)
	for _, part := range []string{day + " (UTC)", "Calls filed: 0.", "Independent calls in 7 days: 0"} {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in\n%s", part, text)
		}
	}
	for name, value := range w.environ {
		if strings.HasSuffix(name, "SECRET") || strings.HasSuffix(name, "SECRETS") || name == "HUB_KEYS" || name == "DATABASE_URL" {
			if strings.Contains(text, value) || strings.Contains(got.Text, value) {
				t.Errorf("%s is in the mail", name)
			}
		}
	}
}
