package openapi

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// answer is an HTTP response of a service with its complete, uncompressed body.
type answer struct {
	host    string
	request *http.Request
	status  int
	header  http.Header
	body    []byte
}

// at returns the documented operations of a host for the path of a request, by method. If several paths match, the one with the
// fewest parameters takes precedence.
func (d *Document) at(host, path string) map[string]*Operation {
	best, found := "", map[string]*Operation{}
	for _, o := range d.Operations {
		if o.Host != host || !matches(o.Path, path) {
			continue
		}
		switch {
		case o.Path == best:
		case best == "" || strings.Count(o.Path, "{") < strings.Count(best, "{"):
			best, found = o.Path, map[string]*Operation{}
		default:
			continue
		}
		found[o.Method] = o
	}
	return found
}

func matches(pattern, path string) bool {
	want, got := strings.Split(pattern, "/"), strings.Split(path, "/")
	for i, part := range want {
		switch {
		case part == "{rest}":
			return len(got) > i
		case i >= len(got), part != got[i] && (!strings.HasPrefix(part, "{") || got[i] == ""):
			return false
		}
	}
	return len(want) == len(got)
}

// operationMethod returns the method of the documented operation that handles a request: GET for a HEAD request, else the method
// itself.
func operationMethod(method string) string {
	if method == http.MethodHead {
		return http.MethodGet
	}
	return method
}

// mistakes returns texts that describe where a response differs from the document, and which rules for all responses it
// violates.
func (d *Document) mistakes(a answer) []string {
	found := d.at(a.host, a.request.URL.Path)
	op := found[operationMethod(a.request.Method)]
	var wrong []string
	if op == nil {
		wrong = undocumented(found, a)
	} else {
		wrong = append(op.mistakes(a), op.cachingMistakes(a)...)
	}
	wrong = append(wrong, commonMistakes(a)...)
	wrong = append(wrong, secretMistakes(op, a)...)
	star, get := a.header.Get("Access-Control-Allow-Origin"), found[http.MethodGet]
	open := get != nil && get.readableByAll() && slices.Contains([]string{"GET", "HEAD", "OPTIONS"}, a.request.Method)
	open = open || a.host == "hub" && len(found) > 0 && strings.HasPrefix(a.request.URL.Path, "/api/protocol/") // with any method
	if open != (star == "*") || !open && star != "" {
		wrong = append(wrong, fmt.Sprintf("Access-Control-Allow-Origin is %q", star))
	}
	return wrong
}

// readableByAll reports whether the operation must allow pages of any origin to read its responses. This applies to operations
// for which Open returns true, and to the health checks of api and clock.
func (o *Operation) readableByAll() bool {
	if o.Health() {
		return o.Host != "hub"
	}
	return o.Open()
}

func gunzip(body []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// undocumented returns the mistakes in the response to a request whose path or method is not documented. found contains the
// documented operations of the path.
func undocumented(found map[string]*Operation, a answer) (wrong []string) {
	status, code := http.StatusNotFound, "not_found"
	if len(found) > 0 {
		status, code = http.StatusMethodNotAllowed, "method_not_allowed"
		methods := []string{http.MethodOptions}
		for method := range found {
			methods = append(methods, method)
		}
		if found[http.MethodGet] != nil {
			methods = append(methods, http.MethodHead)
		}
		slices.Sort(methods)
		if got, want := a.header.Get("Allow"), strings.Join(methods, ", "); got != want {
			wrong = append(wrong, fmt.Sprintf("Allow is %q; want %q", got, want))
		}
		if a.request.Method == http.MethodOptions {
			if a.status != http.StatusNoContent || len(a.body) > 0 {
				wrong = append(wrong, "the answer to OPTIONS must be 204 without a body")
			}
			return wrong
		}
	}
	if a.status != status || a.request.Method != http.MethodHead && errorCode(a.body) != code {
		wrong = append(wrong, fmt.Sprintf("the answer must be %d %s", status, code))
	}
	return wrong
}

// mistakes returns a text for the first difference between a response and the description of the operation in the document. It
// returns nil if there is none.
func (o *Operation) mistakes(a answer) []string {
	if !o.Knows(a.status) {
		return []string{"the status is not documented"}
	}
	if a.request.Method == http.MethodHead || a.status == http.StatusNotModified {
		if len(a.body) > 0 {
			return []string{"the answer has a body; want none"}
		}
		return nil
	}
	if err := o.Check(a.request.Context(), a.request.URL.String(), a.status, a.header, a.body); err != nil {
		return []string{err.Error()}
	}
	return nil
}

// sharedSeconds returns the numbers of seconds for which shared caches may store a successful response of the operation. It
// returns nil if the document states none.
func (o *Operation) sharedSeconds() (seconds []int) {
	add := func(v any) {
		if n, ok := v.(float64); ok {
			seconds = append(seconds, int(n))
		}
	}
	switch v := o.op.Extensions["x-signalcast-shared-cache-seconds"].(type) {
	case map[string]any:
		for _, n := range v {
			add(n)
		}
	default:
		add(v)
	}
	return seconds
}

// mayBePrivate reports whether the response to a request may depend on the session cookie of the request. Pages show the
// signed-in user, and some other operations return a member about that user.
func (o *Operation) mayBePrivate(r *http.Request) bool {
	_, err := r.Cookie("db_uid")
	return err == nil && (o.Tag() == "pages" || o.Takes("sessionId"))
}

// cachingMistakes returns the mistakes in the headers Cache-Control and ETag of a response.
func (o *Operation) cachingMistakes(a answer) (wrong []string) {
	cache := a.header.Get("Cache-Control")
	read := operationMethod(a.request.Method) == http.MethodGet
	good := read && a.status == http.StatusOK && a.header.Get("X-Degraded") == ""
	private := cache == "private, no-store" && o.mayBePrivate(a.request) || cache == "private" && a.request.Header.Get("Authorization") != ""
	if (!read || a.status >= 400 || !good && a.status == http.StatusOK) && cache != "no-store" && !private {
		wrong = append(wrong, fmt.Sprintf("Cache-Control is %q; want no-store", cache))
	}
	seconds := o.sharedSeconds()
	if !good || len(seconds) == 0 || private {
		return wrong
	}
	if m := sharedAge.FindStringSubmatch(cache); m == nil {
		wrong = append(wrong, fmt.Sprintf("Cache-Control is %q", cache))
	} else if n, _ := strconv.Atoi(m[1]); !slices.Contains(seconds, n) && (o.Host != "clock" || n > seconds[0]) {
		// Answers of the clock may be cached until the next segment, but not longer than the documented time.
		wrong = append(wrong, fmt.Sprintf("Cache-Control is %q; the documented seconds are %v", cache, seconds))
	}
	if o.Knows(http.StatusNotModified) && a.header.Get("ETag") == "" {
		wrong = append(wrong, "the answer has no ETag")
	}
	return wrong
}

var (
	sharedAge = regexp.MustCompile(`^public, (?:max-age=0, )?s-maxage=(\d+)(, stale-while-revalidate=\d+)?$`)
	codeForm  = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	keyForm   = regexp.MustCompile(`(dk_|db_live_)[A-Za-z0-9_-]{43}`)
	timeForm  = regexp.MustCompile(`"\d{4}-\d\d-\d\dT[^"]*"`)
	// exactTime allows a backslash before the closing quotation mark, for JSON within a string.
	exactTime = regexp.MustCompile(`^"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\\?"$`)

	bearerChallenge   = regexp.MustCompile(`^Bearer$`)
	clientChallenge   = regexp.MustCompile(`^Basic realm="signalcast"$`)
	agentChallenge    = regexp.MustCompile(`^Bearer (error="invalid_token"|scope="(read|signal|broadcast)")$`)
	protocolChallenge = regexp.MustCompile(`^Bearer (error="invalid_token", |scope="[a-zA-Z:]+", )?resource_metadata="http[^"]+"$`)
)

// commonMistakes returns a text for each violation of a rule that applies to all responses.
func commonMistakes(a answer) (wrong []string) {
	add := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	h, path := a.header, a.request.URL.Path
	if h.Get("X-Content-Type-Options") != "nosniff" {
		add("X-Content-Type-Options is %q", h.Get("X-Content-Type-Options"))
	}
	if _, there := h["Access-Control-Allow-Credentials"]; there {
		add("Access-Control-Allow-Credentials allows pages of other origins to send credentials")
	}
	isJSON := strings.HasPrefix(h.Get("Content-Type"), "application/json")
	hasCode := codeForm.MatchString(errorCode(a.body)) || bytes.Contains(a.body, []byte(`"failed"`))
	if a.status >= 400 && isJSON && a.request.Method != http.MethodHead && !hasCode {
		add("the error has no code")
	}
	switch {
	case a.status == http.StatusUnauthorized && isJSON:
		challenge := bearerChallenge
		switch {
		case strings.HasPrefix(path, "/api/protocol/v1/oauth/"):
			challenge = clientChallenge
		case path == "/api/mcp":
			challenge = agentChallenge
		case strings.HasPrefix(path, "/api/protocol/"):
			challenge = protocolChallenge
		}
		if !challenge.MatchString(h.Get("WWW-Authenticate")) {
			add("WWW-Authenticate is %q", h.Get("WWW-Authenticate"))
		}
	case a.status == http.StatusTooManyRequests, a.status == http.StatusServiceUnavailable:
		longest := 120
		if path == "/api/protocol/v1/messages" { // some types of messages have a daily limit
			longest = 24 * 3600
		}
		if n, err := strconv.Atoi(h.Get("Retry-After")); err != nil || n < 1 || n > longest {
			add("Retry-After is %q", h.Get("Retry-After"))
		}
	case a.status >= 500:
		add("the status is a server error")
	}
	if isJSON {
		for _, at := range timeForm.FindAll(a.body, -1) {
			if !exactTime.Match(at) {
				add("a time has the wrong form: %s", at)
			}
		}
	}
	return wrong
}

// secretMistakes returns a mistake for an operator key, and one for a user ID of the identity provider, in a response that must
// not contain it. op is nil if the operation is not documented.
func secretMistakes(op *Operation, a answer) (wrong []string) {
	at := ""
	if op != nil {
		at = op.Host + op.Path
	}
	if bytes.Contains(a.body, []byte("did:idp:")) && at != "hub/api/m/{marketId}/signals" && at != "api/api/v1/signals/leaderboard" {
		wrong = append(wrong, "the answer contains a user id of the identity provider")
	}
	if keyForm.Match(a.body) && !slices.Contains([]string{"hub/api/dev/keys", "hub/dev/keys", "api/api/v1/agent/keys"}, at) {
		wrong = append(wrong, "the answer contains an operator key")
	}
	return wrong
}

// errorCode returns the code of a JSON error body, or an empty string if the body has none.
func errorCode(body []byte) string {
	var e struct {
		Error string `json:"error"`
	}
	if json.Unmarshal(body, &e) != nil {
		return ""
	}
	return e.Error
}

// readBody returns the uncompressed body of a response. It replaces res.Body, so that the caller can read the original body
// again.
func readBody(res *http.Response) ([]byte, error) {
	body, err := io.ReadAll(res.Body)
	err = errors.Join(err, res.Body.Close())
	res.Body = io.NopCloser(bytes.NewReader(body))
	if err == nil && res.Header.Get("Content-Encoding") == "gzip" {
		body, err = gunzip(body)
	}
	return body, err
}
