package httpx_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/httpx"
)

// bundle is a Router with routes of every kind. It records log records, metrics and degraded responses.
type bundle struct {
	*httpx.Router
	log bytes.Buffer

	mu       sync.Mutex
	observed []string
	degraded []string
}

var (
	errDB   = apperr.New(apperr.Unavailable, "db_unavailable", "database unavailable")
	errSlow = apperr.New(apperr.Limited, "rate_limited", "too many requests").With("limit", 60).With("retryAfterMs", int64(1201))
)

type list struct {
	Markets []string `json:"markets"`
}

func setup(t *testing.T, extra ...httpx.Route) *bundle {
	t.Helper()
	b := &bundle{}
	now := time.Date(2026, 9, 18, 12, 0, 0, 0, time.UTC)
	health := httpx.NewHealth("n1", func() time.Time { return now })
	health.Up()
	b.Router = httpx.New(httpx.Config{
		Log:    slog.New(slog.NewJSONHandler(&b.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Now:    func() time.Time { return now },
		NewID:  func() string { return "0199f0a4-0000-7000-8000-000000000001" },
		Health: health,
		Observe: func(method, route string, status int, _ time.Duration) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.observed = append(b.observed, method+" "+route+" "+http.StatusText(status))
		},
		Degraded: func(route, source string) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.degraded = append(b.degraded, route+" "+source)
		},
	})
	ok := func(c echo.Context) error { return httpx.OK(c, map[string]string{"id": c.Param("id"), "a<b": "&"}) }
	empty := func() any { return list{Markets: []string{}} }
	httpx.Mount(b.Router, append([]httpx.Route{
		{Method: "GET", Path: "/api/network/m/:id", CORS: httpx.Open, Cache: "public, s-maxage=30", Handler: ok},
		{Method: "POST", Path: "/api/network/m/:id", Handler: ok},
		{Method: "GET", Path: "/api/private", Handler: ok},
		{Method: "POST", Path: "/api/write", Handler: func(echo.Context) error { return errDB.Wrap(errors.New("dial tcp secret-host")) }},
		{Method: "POST", Path: "/api/protocol/v1/messages", CORS: httpx.Protocol, Handler: func(echo.Context) error {
			return apperr.New(apperr.Unauthenticated, "unauthenticated", "").With("reason", "bad_signature").With("error", "x")
		}},
		{Method: "GET", Path: "/api/limited", CORS: httpx.Open, Handler: func(echo.Context) error { return errSlow }},
		{Method: "GET", Path: "/api/boom", CORS: httpx.Open, Handler: func(echo.Context) error { return errors.New("insert signal: password=hunter2") }},
		{Method: "GET", Path: "/api/panic", Handler: func(echo.Context) error { panic("ouch") }},
		{Method: "GET", Path: "/api/list", CORS: httpx.Open, Cache: "s-maxage=30", Empty: empty, Handler: func(c echo.Context) error {
			switch c.QueryParam("how") {
			case "db":
				return errDB
			case "boom":
				return errors.New("boom")
			case "panic":
				panic("ouch")
			case "slow":
				return errDB.Wrap(context.DeadlineExceeded)
			case "late":
				return context.DeadlineExceeded
			case "source":
				return errDB.With("source", "venue")
			case "invalid":
				return apperr.New(apperr.Invalid, "missing_market", "")
			case "limited":
				return errSlow
			}
			return httpx.OK(c, list{Markets: []string{"1"}})
		}},
	}, extra...))
	return b
}

func (b *bundle) do(method, target string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	b.ServeHTTP(w, r)
	return w
}

func TestErrorShape(t *testing.T) {
	t.Parallel()
	b := setup(t)
	cases := []struct {
		method, target string
		status         int
		body           string
		header         map[string]string
	}{
		{"GET", "/nope", 404, `{"error":"not_found","message":"there is no resource at this path"}`, nil},
		{"GET", "/api/network/../private", 404, `{"error":"not_found","message":"there is no resource at this path"}`, map[string]string{"Access-Control-Allow-Origin": ""}},
		{"DELETE", "/api/network/m/1", 405, `{"error":"method_not_allowed","message":"this path does not support the method; the header Allow lists the supported methods"}`, map[string]string{"Allow": "GET, HEAD, OPTIONS, POST"}},
		{"FOO", "/api/private", 405, `{"error":"method_not_allowed","message":"this path does not support the method; the header Allow lists the supported methods"}`, map[string]string{"Allow": "GET, HEAD, OPTIONS"}},
		{"POST", "/healthz", 405, `{"error":"method_not_allowed","message":"this path does not support the method; the header Allow lists the supported methods"}`, map[string]string{"Allow": "GET, HEAD, OPTIONS"}},
		{"POST", "/api/write", 503, `{"error":"db_unavailable","message":"database unavailable"}`, map[string]string{"Retry-After": "1"}},
		{"POST", "/api/protocol/v1/messages", 401, `{"error":"unauthenticated","reason":"bad_signature"}`, map[string]string{"Www-Authenticate": "Bearer", "Access-Control-Allow-Origin": "*"}},
		{"GET", "/api/limited", 429, `{"error":"rate_limited","message":"too many requests","limit":60,"retryAfterMs":1201}`, map[string]string{"Retry-After": "2", "Access-Control-Allow-Origin": "*"}},
		{"GET", "/api/boom", 500, `{"error":"internal_error","message":"an internal error occurred; retry later, and report the value of the header X-Request-Id if it persists"}`, map[string]string{"Retry-After": ""}},
		{"GET", "/api/panic", 500, `{"error":"internal_error","message":"an internal error occurred; retry later, and report the value of the header X-Request-Id if it persists"}`, nil},
	}
	for _, c := range cases {
		w := b.do(c.method, c.target)
		if w.Code != c.status || w.Body.String() != c.body {
			t.Errorf("%s %s: status %d, body %s", c.method, c.target, w.Code, w.Body)
		}
		if w.Header().Get("Cache-Control") != "no-store" || w.Header().Get("X-Content-Type-Options") != "nosniff" ||
			w.Header().Get("X-Request-Id") == "" || w.Header().Get("Content-Type") != "application/json; charset=utf-8" {
			t.Errorf("%s %s: wrong headers %v", c.method, c.target, w.Header())
		}
		for name, want := range c.header {
			if got := w.Header().Get(name); got != want {
				t.Errorf("%s %s: %s is %q, want %q", c.method, c.target, name, got, want)
			}
		}
	}
	log := b.log.String()
	for _, want := range []string{`"error":"panic: ouch"`, "password=hunter2", "dial tcp", `"request_id":"0199f0a4`, `"stack":"goroutine`} {
		if !strings.Contains(log, want) {
			t.Errorf("the log does not contain %s", want)
		}
	}
	if n := strings.Count(log, "hunter2"); n != 1 {
		t.Errorf("an error was logged %d times, want 1", n)
	}
	if got := b.observed[len(b.observed)-1]; got != "GET /api/panic Internal Server Error" {
		t.Errorf("the last observed request is %q", got)
	}
}

func TestEveryKindHasAStatus(t *testing.T) {
	t.Parallel()
	for k := apperr.Internal + 1; k <= apperr.Unavailable; k++ {
		if got := httpx.Status(k); got == http.StatusInternalServerError {
			t.Errorf("kind %d has no status", k)
		}
	}
}

func TestCORSMatrix(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const none, open, proto = "", "GET, OPTIONS", "GET, POST, DELETE, OPTIONS"
	want := map[string]map[string]string{
		"/api/network/m/1":          {"GET": open, "HEAD": open, "OPTIONS": open, "POST": none, "DELETE": none, "PUT": none},
		"/api/list":                 {"GET": open, "OPTIONS": open, "POST": none},
		"/api/private":              {"GET": none, "OPTIONS": none, "POST": none},
		"/api/write":                {"GET": none, "OPTIONS": none, "POST": none},
		"/api/protocol/v1/messages": {"GET": proto, "OPTIONS": proto, "POST": proto, "DELETE": proto},
		"/API/network/m/1":          {"GET": none, "OPTIONS": none},
		"//api/network/m/1":         {"GET": none, "OPTIONS": none},
		"/api/network/%2e%2e/write": {"GET": none, "OPTIONS": none},
		"/api/network/../write":     {"GET": none, "POST": none, "OPTIONS": none},
	}
	for target, methods := range want {
		for method, class := range methods {
			for _, origin := range []string{"", "https://hub.example", "https://evil.example", "null"} {
				w := b.do(method, target, "Origin", origin, "Access-Control-Request-Method", "POST")
				h := w.Header()
				star := h.Get("Access-Control-Allow-Origin")
				if h.Get("Access-Control-Allow-Methods") != class || (class == none) != (star == "") || star != "" && star != "*" {
					t.Errorf("%s %s from origin %q: Allow-Origin %q, Allow-Methods %q", method, target, origin, star, h.Get("Access-Control-Allow-Methods"))
				}
				if h.Get("Access-Control-Allow-Credentials") != "" {
					t.Errorf("%s %s allows credentials", method, target)
				}
				if class != none && (h.Get("Access-Control-Max-Age") != "86400" || !strings.Contains(h.Get("Access-Control-Expose-Headers"), "X-Degraded")) {
					t.Errorf("%s %s: wrong CORS headers %v", method, target, h)
				}
				allowed := map[string]string{proto: "authorization, content-type, idempotency-key"}[class]
				if class == open && method == "OPTIONS" {
					allowed = "authorization"
				}
				if h.Get("Access-Control-Allow-Headers") != allowed {
					t.Errorf("%s %s allows headers %q", method, target, h.Get("Access-Control-Allow-Headers"))
				}
			}
		}
	}
	if w := b.do("OPTIONS", "/api/network/m/1"); w.Code != 204 || w.Body.Len() != 0 || w.Header().Get("Allow") != "GET, HEAD, OPTIONS, POST" {
		t.Errorf("preflight: %d %q %v", w.Code, w.Body, w.Header())
	}
}

func TestGracefulEmpty(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for how, source := range map[string]string{"db": "db", "boom": "internal", "panic": "internal", "late": "timeout", "slow": "db", "source": "venue"} {
		w := b.do("GET", "/api/list?how="+how)
		if w.Code != 200 || w.Body.String() != `{"markets":[]}` || w.Header().Get("X-Degraded") != source ||
			w.Header().Get("Cache-Control") != "no-store" || w.Header().Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("how=%s: status %d, body %s, header %v", how, w.Code, w.Body, w.Header())
		}
	}
	if len(b.degraded) != 6 || strings.Count(b.log.String(), "answered empty") != 6 {
		t.Errorf("degraded %v, want 6 entries and log records", b.degraded)
	}
	if w := b.do("GET", "/api/list?how=invalid"); w.Code != 400 {
		t.Errorf("an invalid request was answered with status %d, want 400", w.Code)
	}
	if w := b.do("GET", "/api/list?how=limited"); w.Code != 429 {
		t.Errorf("a rate limited request was answered with status %d, want 429", w.Code)
	}
	if w := b.do("GET", "/api/list"); w.Body.String() != `{"markets":["1"]}` || w.Header().Get("Cache-Control") != "s-maxage=30" || w.Header().Get("X-Degraded") != "" {
		t.Errorf("without a failure: body %s, header %v", w.Body, w.Header())
	}
}

func TestGracefulEmptyByRequest(t *testing.T) {
	t.Parallel()
	b := setup(t, httpx.Route{
		Method: "GET", Path: "/api/m/:id/signals",
		EmptyFor: func(c echo.Context) any { return map[string]any{"marketId": c.Param("id"), "count": 0} },
		Timeout:  time.Millisecond,
		Handler: func(c echo.Context) error {
			<-c.Request().Context().Done()
			return c.Request().Context().Err()
		},
	})
	w := b.do("GET", "/api/m/kalshi-A%3AB/signals")
	if w.Code != 200 || w.Body.String() != `{"count":0,"marketId":"kalshi-A:B"}` || w.Header().Get("X-Degraded") != "timeout" {
		t.Errorf("status %d, body %s, header %v", w.Code, w.Body, w.Header())
	}
}

func TestParams(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for target, want := range map[string]string{
		"/api/network/m/701122": "701122", "/api/network/m/a%3Ab": "a:b", "/api/network/m/a%2541": "a%41", "/api/network/m/%C3%A9": "é",
		"/api/network/m/a%2Fb": "", "/api/network/m/a/b": "", "/api/network/m/a%00": "", "/api/network/m/%ff": "",
	} {
		w := b.do("GET", target)
		var got struct{ ID string }
		if w.Code == 200 {
			if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
				t.Fatal(err)
			}
		}
		if got.ID != want || (want == "") != (w.Code == 404) {
			t.Errorf("%s: status %d, parameter %q", target, w.Code, got.ID)
		}
	}
	if w := b.do("GET", "/api/network/m/1"); !strings.Contains(w.Body.String(), `"a<b":"&"`) {
		t.Errorf("the JSON contains HTML escapes: %s", w.Body)
	}
}

func TestHead(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := httptest.NewServer(b)
	defer s.Close()
	res, err := http.Head(s.URL + "/api/network/m/1")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != 200 || res.ContentLength <= 0 || res.Header.Get("Cache-Control") != "public, s-maxage=30" {
		t.Errorf("HEAD: status %d, length %d, header %v", res.StatusCode, res.ContentLength, res.Header)
	}
}

func TestMountTwicePanics(t *testing.T) {
	t.Parallel()
	b := setup(t)
	defer func() {
		if recover() == nil {
			t.Error("mounting a route twice did not panic")
		}
	}()
	httpx.Mount(b.Router, []httpx.Route{{Method: "POST", Path: "/api/network/m/:market", Handler: func(echo.Context) error { return nil }}})
}

func TestMiddlewareRunsAfterTheHeadersAreSet(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Use(func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(echo.Context) error { return errSlow }
	})
	w := b.do("GET", "/api/network/m/1")
	if w.Code != 429 || w.Header().Get("Access-Control-Allow-Origin") != "*" || w.Header().Get("X-Request-Id") == "" {
		t.Errorf("status %d, header %v; want 429 with the headers of the router", w.Code, w.Header())
	}
	if w := b.do("GET", "/healthz"); w.Code != 200 || w.Body.String() != `{"ok":true,"nonce":"n1"}` {
		t.Errorf("health check with a rate limit: status %d, body %s", w.Code, w.Body)
	}
	if n := len(b.Table()); n != 11 {
		t.Errorf("%d routes in the table, want 11", n)
	}
}

// TestMetricsHaveKnownMethods checks that the metrics have a single label value for all unknown methods.
func TestMetricsHaveKnownMethods(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for method, want := range map[string]string{"GET": "GET ", "XINVENTED1": "OTHER ", "get": "OTHER "} {
		b.do(method, "/api/list")
		if got := b.observed[len(b.observed)-1]; !strings.HasPrefix(got, want) {
			t.Errorf("%s is observed as %q; want %q", method, got, want)
		}
	}
}
