package e2e

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// coverage is what the whole run saw of the description: which operations gave a good answer
// and which refused, each held against it, and what did not fit.
var coverage = &counts{good: map[string]bool{}, refused: map[string]bool{}}

type counts struct {
	mu            sync.Mutex
	answers       int // judged whole: status, headers and body
	heads         int // judged by status and headers: a socket, a stream, what a browser asked
	good, refused map[string]bool
	wrong         []string
}

// saw notes an answer of an operation that fits.
func (c *counts) saw(op *operation, status int, whole bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if whole {
		c.answers++
	} else {
		c.heads++
	}
	switch {
	case status >= 400:
		c.refused[op.name()] = true
	case status != http.StatusNotModified:
		c.good[op.name()] = true
	}
}

// violated notes an answer that does not fit, where no test is at hand to fail.
func (c *counts) violated(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wrong = append(c.wrong, fmt.Sprintf(format, args...))
}

// passing is the one operation that gives a good answer only while something moves: the
// tests of the hub hold that answer against the description.
const passing = "hub GET /s/{eventKey}"

// report prints what was seen, and tells whether it is enough: no violation, and, of a
// run of all tests, every operation with a good answer and with a refusal.
func (c *counts) report(out io.Writer, whole bool) bool {
	doc, err := described()
	if err != nil {
		_, _ = fmt.Fprintln(out, "contract:", err)
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var lacking []string
	good, refused, wantGood, wantRefused := 0, 0, 0, 0
	for _, op := range doc.ops {
		succeeds, refuses := op.begins("1", "2", "3"), op.begins("4")
		if succeeds && op.name() != passing {
			wantGood++
			if c.good[op.name()] {
				good++
			} else {
				lacking = append(lacking, op.name()+" gave no good answer")
			}
		}
		if refuses {
			wantRefused++
			if c.refused[op.name()] {
				refused++
			} else {
				lacking = append(lacking, op.name()+" refused nothing")
			}
		}
	}
	_, _ = fmt.Fprintf(out, "contract: %d answers and %d heads of answers held against it, violations %d; of %d operations %d of %d gave a good answer (one comes and goes), %d of %d a refusal\n",
		c.answers, c.heads, len(c.wrong), len(doc.ops), good, wantGood, refused, wantRefused)
	for _, line := range c.wrong[:min(len(c.wrong), 20)] {
		_, _ = fmt.Fprintln(out, "contract:", line)
	}
	if whole {
		slices.Sort(lacking)
		for _, line := range lacking {
			_, _ = fmt.Fprintln(out, "contract:", line)
		}
	}
	return len(c.wrong) == 0 && (!whole || len(lacking) == 0)
}

// begins tells whether a status that begins so is described.
func (o *operation) begins(digits ...string) bool {
	for status := range o.op.Responses.Map() {
		if slices.Contains(digits, status[:1]) {
			return true
		}
	}
	return false
}

// ours are the addresses of the stack, which stay while it runs.
var ours = sync.OnceValues(func() (*stack, error) { return read(shared.run.dir) })

// partAt is the service behind an address; empty: none of ours, or nothing runs.
func partAt(u *url.URL) string {
	if shared.run == nil {
		return ""
	}
	s, err := ours()
	if err != nil {
		return ""
	}
	return s.host(u)
}

// header holds status and headers of an answer against the description where its body is
// not at hand: a websocket, a stream that goes on, what a browser was told.
func (c *counts) header(who, method string, u *url.URL, status int, kind string) {
	doc, err := described()
	host := partAt(u)
	if err != nil || host == "" || method == http.MethodOptions {
		return
	}
	if method == http.MethodHead {
		method = http.MethodGet
	}
	found := doc.find(host, u.Path)
	op := found[method]
	switch {
	case op == nil && (status == http.StatusNotFound || status == http.StatusMethodNotAllowed):
		return
	case op == nil:
		c.violated("%s: %s %s %s: %d, and it is not described", who, method, host, u.Path, status)
		return
	}
	res := op.op.Responses.Status(status)
	if res == nil {
		c.violated("%s: %s: the status %d is not described", who, op.name(), status)
		return
	}
	kind, _, _ = strings.Cut(kind, ";")
	if content := res.Value.Content; status != http.StatusNotModified && len(content) > 0 && kind != "" && content.Get(kind) == nil {
		c.violated("%s: %s: %d with %s is not described", who, op.name(), status, kind)
		return
	}
	c.saw(op, status, false)
}
