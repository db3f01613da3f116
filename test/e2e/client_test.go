package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// httpClient follows no redirect and keeps no cookie.
var httpClient = &http.Client{
	Timeout: 20 * time.Second,
	Transport: &watcher{next: &http.Transport{
		MaxIdleConnsPerHost: 64, DialContext: (&net.Dialer{Timeout: 3 * time.Second}).DialContext,
	}},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// option shapes a request.
type option func(*http.Request)

func with(name, value string) option {
	return func(r *http.Request) { r.Header.Add(name, value) }
}

func bearer(token string) option { return with("Authorization", "Bearer "+token) }

// payload is a body of JSON: text as it is, anything else encoded.
func payload(v any) option {
	return func(r *http.Request) {
		raw, ok := v.(string)
		if !ok {
			b, err := json.Marshal(v)
			if err != nil {
				panic(err) // a mistake in a test
			}
			raw = string(b)
		}
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(raw)), int64(len(raw))
		if r.Header.Get("Content-Type") == "" {
			r.Header.Set("Content-Type", "application/json")
		}
	}
}

// admin is the secret of the people who run the service.
func (s *stack) admin() option { return with("x-admin-secret", s.AdminSecret) }

// obj is a JSON object in a request.
type obj map[string]any

// answer is a whole answer.
type answer struct {
	t      testing.TB
	what   string
	status int
	header http.Header
	body   []byte
	again  bool // it was asked for more than once
}

// try sends a request; the error is that of the connection.
func try(t testing.TB, method, url string, opts ...option) (*answer, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(watched(context.Background(), t), method, url, nil) // cleanups send as well
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range opts {
		o(r)
	}
	res, err := httpClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	return &answer{t: t, what: method + " " + url, status: res.StatusCode, header: res.Header, body: body}, nil
}

// patience is how long send asks again when a service is there and too busy. A
// read gives its database 300 ms, which a machine under tests may need for itself.
const patience = 15 * time.Second

// send is try where the connection must hold. As the protocol tells its callers,
// it asks again for what is unavailable or less than whole.
func send(t testing.TB, method, url string, opts ...option) *answer {
	t.Helper()
	end := time.Now().Add(patience)
	for again := false; ; again = true {
		a, err := try(t, method, url, opts...)
		if err != nil {
			t.Fatal(err)
		}
		a.again = again
		if !a.busy() || time.Now().After(end) {
			return a
		}
		asked.Add(1)
		<-time.After(200 * time.Millisecond)
	}
}

// asked counts what had to be asked again.
var asked atomic.Int64

func (a *answer) busy() bool {
	switch a.header.Get("X-Degraded") {
	case "db", "timeout", "signal_service":
		return true
	}
	code := errorCode(a.body)
	return a.status == http.StatusServiceUnavailable && (code == "db_unavailable" || code == "signal_service_unavailable")
}

func get(t testing.TB, url string, opts ...option) *answer {
	t.Helper()
	return send(t, http.MethodGet, url, opts...)
}

func post(t testing.TB, url string, opts ...option) *answer {
	t.Helper()
	return send(t, http.MethodPost, url, opts...)
}

// is demands a status.
func (a *answer) is(status int) *answer {
	a.t.Helper()
	if a.status != status {
		a.t.Fatalf("%s: %d, want %d\n%s", a.what, a.status, status, a.body)
	}
	return a
}

// fails demands an error.
func (a *answer) fails(status int, code string) *answer {
	a.t.Helper()
	if a.status != status || errorCode(a.body) != code {
		a.t.Errorf("%s: %d %s, want %d %s\n%s", a.what, a.status, errorCode(a.body), status, code, a.body)
	}
	return a
}

var errNoMember = errors.New("no such member")

// at finds a value by its path: "signals.0.id".
func (a *answer) at(path string) any {
	a.t.Helper()
	var v any
	d := json.NewDecoder(bytes.NewReader(a.body))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		a.t.Fatalf("%s: %v\n%s", a.what, err, a.body)
	}
	v, err := dig(v, path)
	if err != nil {
		a.t.Fatalf("%s: %s: %v\n%s", a.what, path, err, a.body)
	}
	return v
}

func dig(v any, path string) (any, error) {
	for name := range strings.SplitSeq(path, ".") {
		switch in := v.(type) {
		case map[string]any:
			member, ok := in[name]
			if !ok {
				return nil, errNoMember
			}
			v = member
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i >= len(in) {
				return nil, errNoMember
			}
			v = in[i]
		default:
			return nil, errNoMember
		}
	}
	return v, nil
}

// str is the text at a path.
func (a *answer) str(path string) string {
	a.t.Helper()
	s, ok := a.at(path).(string)
	if !ok {
		a.t.Fatalf("%s: %s is no text\n%s", a.what, path, a.body)
	}
	return s
}

// list is the list at a path.
func (a *answer) list(path string) []any {
	a.t.Helper()
	l, ok := a.at(path).([]any)
	if !ok {
		a.t.Fatalf("%s: %s is no list\n%s", a.what, path, a.body)
	}
	return l
}

// has compares values at paths; numbers are compared as they are written.
func (a *answer) has(want obj) *answer {
	a.t.Helper()
	for path, w := range want {
		if got := a.at(path); !same(got, w) {
			a.t.Errorf("%s: %s is %v, want %v\n%s", a.what, path, got, w, a.body)
		}
	}
	return a
}

func same(got, want any) bool {
	if n, ok := got.(json.Number); ok {
		w, err := json.Marshal(want)
		return err == nil && n.String() == string(w)
	}
	return got == want
}

// into decodes the answer.
func (a *answer) into(v any) {
	a.t.Helper()
	if err := json.Unmarshal(a.body, v); err != nil {
		a.t.Fatalf("%s: %v\n%s", a.what, err, a.body)
	}
}
