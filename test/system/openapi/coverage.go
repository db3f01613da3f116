package openapi

import (
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/signalcast/signalcast/test/system/stack"
)

// Main runs the tests of a package with stack.Main. It checks every response that a test client receives from a service. If
// the function complete returns true, Main requires responses of each operation for which the function claims returns true: a
// successful response and an error, as far as the document describes them. If claims is nil, no operation is required.
func Main(m *testing.M, claims func(*Operation) bool) {
	stack.Observe(observe)
	stack.Main(m, func() error { return seen.report(claims, complete()) })
}

// complete reports whether the command line selects all tests of the package: it contains none of the flags -short, -run,
// -skip and -list.
func complete() bool {
	return !testing.Short() && !slices.ContainsFunc([]string{"test.run", "test.skip", "test.list"}, func(name string) bool {
		f := flag.Lookup(name)
		return f != nil && f.Value.String() != ""
	})
}

// Shared returns the OpenAPI document of the repository. All tests of a binary share one value and must not change it.
var Shared = sync.OnceValues(func() (*Document, error) {
	root, err := stack.Root()
	if err != nil {
		return nil, err
	}
	return Load(root)
})

// coverage counts the checked responses of this test binary and contains the mistakes found in them.
type coverage struct {
	mu            sync.Mutex
	answers       int // number of responses checked with their body
	heads         int // number of responses checked by status and content type only
	good, refused map[*Operation]bool
	wrong         []string
	before        map[[sha256.Size]byte]bool // hashes of checked responses; equal responses are not checked again
}

var seen = &coverage{good: map[*Operation]bool{}, refused: map[*Operation]bool{}, before: map[[sha256.Size]byte]bool{}}

// observe checks a response of a service. A mistake fails the test run, and also the test t that sent the request, unless t is
// nil.
func observe(t testing.TB, service string, r *http.Request, res *http.Response) {
	kind := res.Header.Get("Content-Type")
	if res.StatusCode == http.StatusSwitchingProtocols || kind == "text/event-stream" { // the body is a stream
		CheckHead(service, r.Method, r.URL, res.StatusCode, kind)
		return
	}
	doc, err := Shared()
	if err != nil {
		seen.violated("%v", err)
		return
	}
	body, err := readBody(res)
	if err != nil {
		return // the client receives the error
	}
	var wrong []string
	if a := (answer{service, r, res.StatusCode, res.Header, body}); seen.first(a) {
		wrong = doc.mistakes(a)
	}
	if op := doc.at(service, r.URL.Path)[operationMethod(r.Method)]; op != nil && len(wrong) == 0 {
		seen.add(op, res.StatusCode, true)
	}
	for _, one := range wrong {
		if seen.violated("%s %s: %d: %s", r.Method, r.URL, res.StatusCode, one); t != nil {
			t.Errorf("%s %s: %d: %s\n%.600s", r.Method, r.URL, res.StatusCode, one, body)
		}
	}
}

// CheckHead checks only the status and the content type of a response. It is for websockets, streams and pages in a browser,
// whose body a test client does not read. A mistake fails the test run.
func CheckHead(service, method string, u *url.URL, status int, kind string) {
	doc, err := Shared()
	if err != nil || method == http.MethodOptions {
		return
	}
	op := doc.at(service, u.Path)[operationMethod(method)]
	switch {
	case op == nil && (status == http.StatusNotFound || status == http.StatusMethodNotAllowed):
		return
	case op == nil:
		seen.violated("%s %s%s: answered %d, but the path is not documented", method, service, u.Path, status)
		return
	case !op.Knows(status):
		seen.violated("%s: status %d is not documented", op.Name(), status)
		return
	}
	kind, _, _ = strings.Cut(kind, ";")
	content := op.op.Responses.Status(status).Value.Content
	if status != http.StatusNotModified && len(content) > 0 && kind != "" && content.Get(kind) == nil {
		seen.violated("%s: %d with %s is not documented", op.Name(), status, kind)
		return
	}
	seen.add(op, status, false)
}

// first records a response. It returns false if an equal response was recorded before. The comparison ignores the headers Date
// and X-Request-Id.
func (c *coverage) first(a answer) bool {
	h := a.header.Clone()
	h.Del("Date")
	h.Del("X-Request-Id")
	sum := sha256.Sum256(fmt.Append(nil, a.host, a.request.Method, a.request.URL.Path, a.status, h, string(a.body)))
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.before[sum]
	c.before[sum] = true
	return !before
}

// add counts a correct response of an operation. whole is true if the body was checked as well.
func (c *coverage) add(op *Operation, status int, whole bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if whole {
		c.answers++
	} else {
		c.heads++
	}
	switch {
	case status >= 400:
		c.refused[op] = true
	case status != http.StatusNotModified:
		c.good[op] = true
	}
}

func (c *coverage) violated(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wrong = append(c.wrong, fmt.Sprintf(format, args...))
}

// momentary is the name of an operation that responds with success only while the price of a market moves. The method report
// does not require this response.
const momentary = "GET hub/s/{eventKey}"

// report prints the number of checked responses. It returns an error if a response had a mistake. If complete is true, it also
// returns an error if a response that Main requires is missing.
func (c *coverage) report(claims func(*Operation) bool, complete bool) error {
	doc, err := Shared()
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	lacking := []string{}
	claimed := 0
	for _, op := range doc.Operations {
		if claims == nil || !claims(op) {
			continue
		}
		claimed++
		if op.documents("1", "2", "3") && op.Name() != momentary && !c.good[op] {
			lacking = append(lacking, op.Name()+" gave no successful answer")
		}
		if op.documents("4") && !c.refused[op] {
			lacking = append(lacking, op.Name()+" gave no error answer")
		}
	}
	_, _ = fmt.Fprintf(os.Stdout,
		"OpenAPI: checked %d answers and %d answer heads, %d mistakes; %d requirements not covered for %d operations\n",
		c.answers, c.heads, len(c.wrong), len(lacking), claimed)
	if !complete {
		lacking = nil
	}
	if len(c.wrong)+len(lacking) == 0 {
		return nil
	}
	return errors.New(strings.Join(slices.Concat(c.wrong[:min(len(c.wrong), 20)], lacking), "\n"))
}

// documents reports whether the document contains a response of the operation whose status begins with one of the digits.
func (o *Operation) documents(digits ...string) bool {
	for status := range o.op.Responses.Map() {
		if slices.Contains(digits, status[:1]) {
			return true
		}
	}
	return false
}

var uuidForm = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

// init registers validators for the string formats of the document, because the OpenAPI library validates only registered
// formats.
func init() {
	for format, valid := range map[string]func(text string) bool{
		"uuid":      uuidForm.MatchString,
		"uri":       func(text string) bool { u, err := url.Parse(text); return err == nil && u.IsAbs() },
		"date-time": func(text string) bool { _, err := time.Parse(time.RFC3339, text); return err == nil },
		"date":      func(text string) bool { _, err := time.Parse(time.DateOnly, text); return err == nil },
	} {
		openapi3.DefineStringFormatValidator(format, openapi3.NewCallbackValidator(func(text string) error {
			if !valid(text) {
				return fmt.Errorf("%.80q does not have the format %s", text, format)
			}
			return nil
		}))
	}
}
