package delivery_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/safedial"
	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/api/internal/delivery"
	"github.com/signalcast/signalcast/services/api/internal/webhook"
)

// TestAnswers checks that only the status of a response counts. Redirects are not followed, and an endless body is not read. A
// request without a response times out, and private addresses are rejected.
func TestAnswers(t *testing.T) {
	t.Parallel()
	var elsewhere, written atomic.Int64
	target := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	t.Cleanup(target.Close)
	over := make(chan struct{})
	mux := http.NewServeMux()
	for path, status := range map[string]int{"/200": 200, "/204": 204, "/400": 400, "/410": 410, "/500": 500} {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
	}
	for path, status := range map[string]int{"/301": 301, "/307": 307, "/308": 308} {
		mux.Handle(path, http.RedirectHandler(target.URL, status))
	}
	mux.HandleFunc("/endless", func(w http.ResponseWriter, _ *http.Request) {
		defer close(over)
		chunk := []byte(strings.Repeat("x", 64<<10))
		for written.Load() < 1<<30 {
			n, err := w.Write(chunk)
			if err != nil {
				return
			}
			written.Add(int64(n))
		}
	})
	mux.HandleFunc("/hangs", func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	})
	mux.HandleFunc("/header", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X", strings.Repeat("x", 64<<10))
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	send := func(o safedial.Options, url string) webhook.Outcome {
		sender := delivery.NewSender(o, time.Now)
		defer sender.Close()
		return sender.Send(t.Context(), webhook.Post{URL: url, Body: []byte(`{}`)})
	}
	open := safedial.Options{Private: true, Timeout: time.Second}
	for path, want := range map[string]webhook.Outcome{
		"/200": {Status: 200}, "/204": {Status: 204}, "/400": {Status: 400, Error: "status"}, "/410": {Status: 410, Error: "status"}, "/500": {Status: 500, Error: "status"},
		"/301": {Status: 301, Error: "redirect"}, "/307": {Status: 307, Error: "redirect"}, "/308": {Status: 308, Error: "redirect"},
		"/endless": {Status: 200}, "/hangs": {Error: "timeout"}, "/header": {Error: "connect"},
	} {
		got := send(open, s.URL+path)
		if got.Status != want.Status || got.Error != want.Error || (got.Message() == "") != (want.Error == "") {
			t.Errorf("%s: %+v, want %+v", path, got, want)
		}
	}
	select {
	case <-over:
	case <-time.After(20 * time.Second):
		t.Error("the endless answer is still being read")
	}
	if n := written.Load(); n > 32<<20 { // the buffers of the kernel accept some of the bytes
		t.Errorf("%d bytes of the endless response were read; want at most 32 MiB", n)
	}
	if got := send(open, target.URL+"/"); got.Error != "" {
		t.Error("the target of the redirects is not reachable directly")
	}
	if n := elsewhere.Load(); n != 1 {
		t.Errorf("%d redirects were followed", n-1)
	}
	for _, url := range []string{s.URL + "/200", "http://10.0.0.1/", "https://169.254.169.254/", "https://[::1]/", "https://[::ffff:127.0.0.1]/"} {
		if got := send(safedial.Options{Timeout: 5 * time.Second}, url); got.Error != "address_not_allowed" || got.Status != 0 {
			t.Errorf("%s: outcome %+v, want address_not_allowed", url, got)
		}
	}
	s.Close()
	plain := "https" + strings.TrimPrefix(target.URL, "http")
	for url, want := range map[string]string{
		s.URL + "/200": "connection refused", plain: "the endpoint does not answer in TLS", "http://no-such-host.invalid/": "the host name does not exist",
	} {
		if got := send(open, url); got.Error != "connect" || got.Message() != want {
			t.Errorf("%s: %+v with the message %q, want %q", url, got, got.Message(), want)
		}
	}
}

// TestTestDelivery checks that a test delivery is signed and logged, and that a second one within five seconds is rejected.
func TestTestDelivery(t *testing.T) {
	t.Parallel()
	b, r := setup(t, 1), newReceiver(t)
	h, secret := b.register(webhook.Draft{URL: r.url, Channels: []string{"signals"}})
	r.setStatus(418)
	d, err := b.webhooks.Test(t.Context(), b.mara, h.ID)
	if err != nil || d.Status != 418 || d.Error != "status" || d.Attempt != 1 {
		t.Fatalf("failed test delivery: %+v, %v", d, err)
	}
	p := r.waitFor(1)[0]
	if err := verify(&p, secret, b.clock.Now()); err != nil || len(p.Events) != 1 || p.Events[0].Op != "test" || p.DeliveryID != d.ID {
		t.Errorf("request %s: %v", p.body, err)
	}
	if _, err := b.webhooks.Test(t.Context(), b.mara, h.ID); err == nil {
		t.Error("a second test delivery was allowed at once")
	}
	b.clock.Advance(5 * time.Second)
	r.setStatus(200)
	if d, err = b.webhooks.Test(t.Context(), b.mara, h.ID); err != nil || d.Error != "" {
		t.Errorf("second test delivery: %+v, %v", d, err)
	}
	if log := b.attempts(h.ID, 2); log[0].ID != d.ID || log[0].First != 0 || log[0].Events != 0 {
		t.Errorf("log: %+v", log)
	}
	if now := b.get(h.ID); now.Cursor != 0 || !now.FailingSince.IsZero() {
		t.Errorf("a test delivery changed the webhook: %+v", now)
	}
	b.clock.Advance(webhook.KeepDeliveries + time.Second)
	if err := b.store.SweepDeliveries(t.Context()); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, time.Second, func() bool { return len(b.attempts(h.ID, 0)) == 0 })
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	for _, good := range []string{
		"https://bot.example", "https://bot.example/", "https://bot.example:8443/a/b?c=d&e=%20", "https://93.184.216.34/x",
		"https://xn--bcher-kva.example/", "https://bot.example./", "https://bot.example/" + strings.Repeat("a", 480),
	} {
		if !delivery.AllowedURL(false)(good) {
			t.Errorf("%s is rejected", good)
		}
	}
	bad := []string{
		"", "x", "bot.example", "//bot.example/", "http://bot.example/", "ftp://bot.example/", "HTTPS:bot.example", "https:///x", "https://",
		"https://user@bot.example/", "https://user:pw@bot.example/", "https://bot.example/#x", "https://bot.example/#", "https://bot.example:0/",
		"https://bot.example:65536/", "https://bot.example:/", "https://bot.example:x/", "https://bot example/", "https://bot.example/ ", "https://bot.example\\@evil.example/",
		"https://bücher.example/", "https://bot.example/\r\nX: y", "https://bot.example/" + strings.Repeat("a", 481), "javascript:alert(1)", "file:///etc/passwd", "https://%31%32%37.0.0.1/",
	}
	inside := []string{
		"https://127.0.0.1/", "https://10.0.0.1/", "https://169.254.169.254/latest/", "https://[::1]/", "https://[::ffff:127.0.0.1]/", "https://[fe80::1%25lo]/",
		"https://localhost/", "https://LOCALHOST./", "https://a.localhost/", "https://redis/", "https://postgres:5432/", "https://metadata.google.internal/", "https://printer.local/",
		"https://2130706433/", "https://127.1/", "https://0x7f.1/", "https://0x7f000001/", "https://0177.0.0.1/", "https://127.0.0.1./", "https://1.2.3.0x4/",
	}
	for _, raw := range append(bad, inside...) {
		if delivery.AllowedURL(false)(raw) {
			t.Errorf("%q is accepted", raw)
		}
	}
	for _, raw := range []string{"http://127.0.0.1:9999/hook", "https://localhost/", "http://receiver:80/x"} {
		if !delivery.AllowedURL(true)(raw) {
			t.Errorf("%s is rejected with private addresses allowed", raw)
		}
	}
	if delivery.AllowedURL(true)("http://user@127.0.0.1/") || delivery.AllowedURL(true)("ftp://127.0.0.1/") {
		t.Error("invalid URLs are accepted with private addresses allowed")
	}
}
