package venue

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalcast/signalcast/services/api/internal/market"
)

// serve starts a test host with the handler h and returns a client for it. hits counts the requests.
func serve(t *testing.T, h http.HandlerFunc) (c *Client, hits *atomic.Int32) {
	t.Helper()
	hits = &atomic.Int32{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hits.Add(1)
		h(w, r)
	}))
	t.Cleanup(srv.Close)
	c, err := NewClient("polymarket", srv.URL+"/base/", 1000, NewMeter(prometheus.NewRegistry()), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	return c, hits
}

func reply(status int, kind, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func TestRetries(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		answer  http.HandlerFunc
		hits    int32
		refused int
	}{
		{"500 of the venue", reply(500, "application/json", `{"type":"internal error"}`), 3, 0},
		{"503 page", reply(503, "text/html", "<html>"), 3, 0},
		{"403 page", reply(403, "text/plain", "error code: 1010"), 1, 0},
		{"404 of the venue", reply(404, "application/json", `{"error":"id not found"}`), 1, 404},
		{"404 page of a proxy", reply(404, "text/html", "<html>"), 1, 0},
		{"422", reply(422, "application/json; charset=utf-8", `{"error":"id is invalid"}`), 1, 422},
		{"200 page", reply(200, "text/html", "<html>"), 1, 0},
		{"200 without a type", reply(200, "", "{}"), 1, 0},
		{"redirect", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) }, 1, 0},
		{"truncated", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "{")
		}, 3, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			client, hits := serve(t, c.answer)
			body, err := client.Get(t.Context(), "x", "/thing", nil)
			var refused *RefusedError
			if errors.As(err, &refused) != (c.refused != 0) || c.refused != 0 && refused.Status != c.refused {
				t.Errorf("wrong error type: %v", err)
			}
			if c.refused == 0 && !errors.Is(err, market.ErrUnavailable) || body != nil || hits.Load() != c.hits {
				t.Errorf("body %q, %d requests, want %d, %v", body, hits.Load(), c.hits, err)
			}
		})
	}
}

func TestASecondTryHelps(t *testing.T) {
	t.Parallel()
	var n atomic.Int32
	c, hits := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if n.Add(1) == 1 {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		if r.URL.Path != "/base/thing" || r.URL.RawQuery != "a=1" || strings.HasPrefix(r.UserAgent(), "Go-http-client") || r.UserAgent() == "" {
			t.Errorf("wrong request: %s %s", r.URL, r.UserAgent())
		}
		reply(200, "application/json", `{"ok":1}`)(w, r)
	})
	body, err := c.Get(t.Context(), "x", "/thing", map[string][]string{"a": {"1"}})
	if err != nil || string(body) != `{"ok":1}` || hits.Load() != 2 {
		t.Errorf("%s %v after %d", body, err, hits.Load())
	}
}

func TestPostIsNotRepeated(t *testing.T) {
	t.Parallel()
	c, hits := serve(t, reply(503, "text/html", "busy"))
	if _, err := c.Post(t.Context(), "x", "/thing", []byte("[]")); !errors.Is(err, market.ErrUnavailable) || hits.Load() != 1 {
		t.Errorf("%v after %d", err, hits.Load())
	}
}

func TestBodyCeiling(t *testing.T) {
	t.Parallel()
	var body bytes.Buffer
	z := gzip.NewWriter(&body)
	for range 24 {
		if _, err := z.Write(make([]byte, 1<<20)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	c, hits := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(body.Bytes()) // the client stops reading in the middle
	})
	c.http.Timeout = time.Minute // a busy machine decompresses slowly; only the size limit must end the request
	if got, err := c.Get(t.Context(), "x", "/thing", nil); !errors.Is(err, market.ErrUnavailable) || got != nil || hits.Load() != 1 {
		t.Errorf("%d bytes, %v, %d requests", len(got), err, hits.Load())
	}
}

func TestCallerDeadline(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	c, _ := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-gate:
		case <-r.Context().Done():
		}
	})
	defer close(gate)
	ctx, cancel := context.WithTimeout(t.Context(), 80*time.Millisecond)
	defer cancel()
	start := time.Now()
	if _, err := c.Get(ctx, "x", "/thing", nil); !errors.Is(err, market.ErrUnavailable) {
		t.Error(err)
	}
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("the request took %v; want about 80 ms", took)
	}
}

func TestBreakerOpens(t *testing.T) {
	t.Parallel()
	c, hits := serve(t, reply(500, "application/json", "{}"))
	for range 10 {
		if _, err := c.Post(t.Context(), "x", "/thing", []byte("{}")); !errors.Is(err, market.ErrUnavailable) {
			t.Error(err)
		}
	}
	if hits.Load() != breakAfter {
		t.Errorf("%d requests reached the host", hits.Load())
	}
}

func TestCanceledCallIsNoFailure(t *testing.T) {
	t.Parallel()
	c, _ := serve(t, reply(200, "application/json", "{}"))
	for range 2 * breakAfter {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, _ = c.Get(ctx, "x", "/thing", nil)
	}
	if _, err := c.Get(t.Context(), "x", "/thing", nil); err != nil {
		t.Error(err)
	}
}

func TestBaseURLs(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"", "ftp://x", "http://", "http://user:pw@host", "http://host?x=1", "://", "host"} {
		if _, err := NewClient("p", bad, 1, nil, time.Now); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
	if _, err := NewClient("p", "https://host", 0, nil, time.Now); err == nil {
		t.Error("rate 0 was accepted")
	}
}

func TestUnknownWordsAreBounded(t *testing.T) {
	t.Parallel()
	reg := prometheus.NewRegistry()
	m := NewMeter(reg)
	for i := range 500 {
		m.UnknownWord("p", "f", strings.Repeat("x", i%60)+string(rune('a'+i%26)))
	}
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if n := len(f.GetMetric()); n > maxWords+1 {
			t.Errorf("metric %s has %d series", f.GetName(), n)
		}
	}
}
