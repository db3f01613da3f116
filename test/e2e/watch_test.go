package e2e

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3filter"
)

// watcher stands between the tests and the system and holds every answer
// against the description and against what holds for all answers.
type watcher struct {
	next http.RoundTripper
	seen sync.Map // answers that were judged before, by their hash
}

type testKey struct{}

// watched marks whose request it is.
func watched(ctx context.Context, t testing.TB) context.Context {
	return context.WithValue(ctx, testKey{}, t)
}

// RoundTrip implements http.RoundTripper.
func (w *watcher) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := w.next.RoundTrip(r)
	if err != nil {
		return res, err
	}
	if res.StatusCode == http.StatusSwitchingProtocols || res.Header.Get("Content-Type") == "text/event-stream" { // they go on
		coverage.header("a test", r.Method, r.URL, res.StatusCode, res.Header.Get("Content-Type"))
		return res, nil
	}
	host := partAt(r.URL)
	if host == "" {
		return res, nil // not a service of ours: the issuer, the simulator
	}
	body, err := io.ReadAll(res.Body)
	_ = res.Body.Close()
	res.Body = io.NopCloser(bytes.NewReader(body))
	if err != nil {
		return res, err
	}
	t, named := r.Context().Value(testKey{}).(testing.TB)
	for _, wrong := range w.judge(host, r, res, body) {
		if named {
			t.Errorf("%s %s: %d: %s\n%.600s", r.Method, r.URL, res.StatusCode, wrong, body)
		}
		coverage.violated("%s %s: %d: %s", r.Method, r.URL, res.StatusCode, wrong)
	}
	return res, nil
}

// host is the service behind an address.
func (s *stack) host(u *url.URL) string {
	switch "http://" + u.Host {
	case s.Hub:
		return "hub"
	case s.API:
		return "api"
	case s.Clock:
		return "clock"
	}
	return ""
}

func (w *watcher) judge(host string, r *http.Request, res *http.Response, body []byte) (wrong []string) {
	doc, err := described()
	if err != nil {
		return []string{err.Error()}
	}
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	if res.Header.Get("Content-Encoding") == "gzip" {
		if body, err = gunzip(body); err != nil {
			say("broken gzip: %v", err)
		}
	}
	found := doc.find(host, r.URL.Path)
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	op := found[method]
	if op == nil {
		wrong = append(wrong, unknown(found, r, res, body)...)
	} else {
		mistakes := w.documented(doc, op, r, res, body)
		if len(mistakes) == 0 {
			coverage.saw(op, res.StatusCode, true)
		}
		wrong = append(wrong, mistakes...)
		wrong = append(wrong, caching(op, r, res)...)
	}
	wrong = append(wrong, everywhere(res, body)...)
	wrong = append(wrong, secrets(host, op, body)...)
	star := res.Header.Get("Access-Control-Allow-Origin")
	get := found[http.MethodGet]
	open := get != nil && get.open() && (method == http.MethodGet || method == http.MethodOptions)
	open = open || host == "hub" && len(found) > 0 && strings.HasPrefix(r.URL.Path, "/api/protocol/") // with any method
	if open != (star == "*") || !open && star != "" {
		say("Access-Control-Allow-Origin is %q", star)
	}
	return wrong
}

func gunzip(body []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// unknown judges answers to what is not described: another method, another path.
func unknown(found map[string]*operation, r *http.Request, res *http.Response, body []byte) (wrong []string) {
	status, code := http.StatusNotFound, "not_found"
	if len(found) > 0 {
		status, code = http.StatusMethodNotAllowed, "method_not_allowed"
		if allow := res.Header.Get("Allow"); allow != methods(found) {
			wrong = append(wrong, fmt.Sprintf("Allow is %q, described are %q", allow, methods(found)))
		}
		if r.Method == http.MethodOptions {
			if res.StatusCode != http.StatusNoContent || len(body) > 0 {
				wrong = append(wrong, "a preflight is 204 without a body")
			}
			return wrong
		}
	}
	if res.StatusCode != status || r.Method != http.MethodHead && errorCode(body) != code {
		wrong = append(wrong, fmt.Sprintf("want %d %s", status, code))
	}
	return wrong
}

// documented holds an answer against its operation. The validator compiles a
// schema each time, so an answer that was judged before is not judged again.
func (w *watcher) documented(doc *document, op *operation, r *http.Request, res *http.Response, body []byte) []string {
	if op.op.Responses.Status(res.StatusCode) == nil {
		return []string{"the status is not described"}
	}
	if r.Method == http.MethodHead || res.StatusCode == http.StatusNotModified {
		if len(body) > 0 {
			return []string{"there is a body"}
		}
		return nil
	}
	sum := sha256.Sum256([]byte(op.name() + strconv.Itoa(res.StatusCode) + fmt.Sprint(res.Header["Content-Type"], res.Header["Retry-After"]) + string(body)))
	if _, before := w.seen.LoadOrStore(sum, true); before {
		return nil
	}
	input := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: r, Route: op.route(doc.spec)},
		Status:                 res.StatusCode, Header: res.Header,
		Options: &openapi3filter.Options{IncludeResponseStatus: true, MultiError: true},
	}
	input.SetBodyBytes(body)
	if err := openapi3filter.ValidateResponse(r.Context(), input); err != nil {
		return []string{err.Error()}
	}
	media := op.op.Responses.Status(res.StatusCode).Value.Content.Get(res.Header.Get("Content-Type"))
	var value any
	if media == nil || !strings.Contains(res.Header.Get("Content-Type"), "json") || json.Unmarshal(body, &value) != nil {
		return nil // text, which has no members
	}
	return formats(media.Schema, value, "")
}

// caching judges Cache-Control and ETag.
func caching(op *operation, r *http.Request, res *http.Response) (wrong []string) {
	cache := res.Header.Get("Cache-Control")
	read := r.Method == http.MethodGet || r.Method == http.MethodHead
	good := read && res.StatusCode == http.StatusOK && res.Header.Get("X-Degraded") == ""
	if (!read || res.StatusCode >= 400 || read && !good && res.StatusCode == http.StatusOK) && cache != "no-store" {
		wrong = append(wrong, fmt.Sprintf("Cache-Control is %q, not no-store", cache))
	}
	seconds := op.shared()
	if !good || len(seconds) == 0 || cache == "private, no-store" && r.Header.Get("Cookie") != "" {
		return wrong
	}
	if m := sharedAge.FindStringSubmatch(cache); m == nil {
		wrong = append(wrong, fmt.Sprintf("Cache-Control is %q", cache))
	} else if n, _ := strconv.Atoi(m[1]); !slices.Contains(seconds, n) && (op.host != "clock" || n > seconds[0]) { // never past the next segment
		wrong = append(wrong, fmt.Sprintf("Cache-Control is %q, described are %v seconds", cache, seconds))
	}
	if op.op.Responses.Status(http.StatusNotModified) != nil && res.Header.Get("ETag") == "" {
		wrong = append(wrong, "there is no ETag")
	}
	return wrong
}

var (
	sharedAge = regexp.MustCompile(`^public, (?:max-age=0, )?s-maxage=(\d+)(, stale-while-revalidate=\d+)?$`)
	codeForm  = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	keyForm   = regexp.MustCompile(`(dk_|db_live_)[A-Za-z0-9_-]{43}`)
	timeForm  = regexp.MustCompile(`"\d{4}-\d\d-\d\dT[^"]*"`)
	goodTime  = regexp.MustCompile(`^"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\\?"$`) // an agent is told JSON in a text
)

// everywhere judges what holds for every answer.
func everywhere(res *http.Response, body []byte) (wrong []string) {
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	h := res.Header
	if h.Get("X-Content-Type-Options") != "nosniff" {
		say("no nosniff")
	}
	if _, there := h["Access-Control-Allow-Credentials"]; there {
		say("credentials are allowed to foreign pages")
	}
	json := strings.HasPrefix(h.Get("Content-Type"), "application/json")
	if res.StatusCode >= 400 && json && res.Request.Method != http.MethodHead && !codeForm.MatchString(errorCode(body)) && !bytes.Contains(body, []byte(`"failed"`)) {
		say("not the shape of an error")
	}
	switch res.StatusCode {
	case http.StatusUnauthorized:
		way := regexp.MustCompile(`^Bearer$`)
		switch path := res.Request.URL.Path; { // the protocol says more, a client proves itself otherwise
		case strings.HasPrefix(path, "/api/protocol/v1/oauth/"):
			way = regexp.MustCompile(`^Basic realm="signalcast"$`)
		case path == "/api/mcp":
			way = regexp.MustCompile(`^Bearer (error="invalid_token"|scope="(read|signal|broadcast)")$`)
		case strings.HasPrefix(path, "/api/protocol/"):
			way = regexp.MustCompile(`^Bearer (error="invalid_token", |scope="[a-zA-Z:]+", )?resource_metadata="http[^"]+"$`)
		}
		if json && !way.MatchString(h.Get("WWW-Authenticate")) {
			say("WWW-Authenticate is %q", h.Get("WWW-Authenticate"))
		}
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		longest := 120
		if res.Request.URL.Path == "/api/protocol/v1/messages" { // some kinds of messages are counted over a day
			longest = 24 * 3600
		}
		if n, err := strconv.Atoi(h.Get("Retry-After")); err != nil || n < 1 || n > longest {
			say("Retry-After is %q", h.Get("Retry-After"))
		}
	default:
		if res.StatusCode >= 500 {
			say("a server fault")
		}
	}
	if json {
		for _, at := range timeForm.FindAll(body, -1) {
			if !goodTime.Match(at) {
				say("a time in another form: %s", at)
			}
		}
	}
	return wrong
}

// secrets looks for what an answer must not show.
func secrets(host string, op *operation, body []byte) (wrong []string) {
	path := ""
	if op != nil {
		path = op.host + " " + op.path
	}
	if bytes.Contains(body, []byte("did:idp:")) && path != "hub /api/m/{marketId}/signals" && path != "api /api/v1/signals/leaderboard" {
		wrong = append(wrong, "it shows a raw provider id")
	}
	mints := path == "hub /api/dev/keys" || path == "hub /dev/keys" || path == "api /api/v1/agent/keys"
	if keyForm.Match(body) && !mints {
		wrong = append(wrong, "it shows a key")
	}
	return wrong
}

// errorCode is the code of an error body, empty when it has none.
func errorCode(body []byte) string {
	var e struct {
		Error string `json:"error"`
	}
	if json.Unmarshal(body, &e) != nil {
		return ""
	}
	return e.Error
}
