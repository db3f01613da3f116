package web

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalcast/signalcast/test/system/openapi"
	"github.com/signalcast/signalcast/test/system/stack"
)

const (
	foreignHost   = "evil-host.example"
	plantedHeader = "X-Planted"
	plantedLine   = "planted in a log"
)

// lineBreaks are texts that would start a new line, or refer to another host, if the output did not encode them.
var lineBreaks = []string{
	"a\r\n" + plantedHeader + ": 1\r\n\r\n<b>", "a\n" + plantedHeader + ": 1", "a\r" + plantedHeader + ": 1", "a\x00b",
	"a%0d%0a" + plantedHeader + ":%201", "a%00b", "a\u2028" + plantedHeader + ": 1",
	"a\n{\"level\":\"ERROR\",\"msg\":\"" + plantedLine + "\"}",
	"//" + foreignHost + "/", "https://" + foreignHost + "/\r\n", `\\` + foreignHost,
}

// withoutHost is the number of texts at the beginning of lineBreaks that contain no host. Strings of a body receive only these
// texts, because texts of users may contain hosts.
const withoutHost = 8

// underForeignHost is a Set that sends a request with the Host header of another host.
func underForeignHost(r *http.Request) {
	r.Host = foreignHost
	for name, value := range map[string]string{
		"Accept": "text/html, application/json", "X-Forwarded-Host": foreignHost,
		"X-Forwarded-Server": foreignHost, "X-Forwarded-Proto": "gopher",
		"X-Forwarded-Port": "6666", "X-Host": foreignHost,
		"X-Original-Url": "https://" + foreignHost + "/", "X-Rewrite-Url": "/" + foreignHost,
		"Forwarded": "host=" + foreignHost + ";proto=gopher", "X-Forwarded-Prefix": "//" + foreignHost,
		"X-Request-Id": "a " + plantedHeader + " " + foreignHost,
	} {
		r.Header.Set(name, value)
	}
}

// linkAway matches a link to foreignHost in an HTML page or in JSON.
var linkAway = regexp.MustCompile(`(?i)(?:\b(?:href|src|action|formaction|content)="(?:\d+;\s*url=)?` +
	`|"\w*(?:url|uri|href|html|link)":")` +
	`(?:[a-z]+:)?[/\\]{2}(?:[^/"]*@)?` + regexp.QuoteMeta(foreignHost))

// headerAway matches a URL of foreignHost in a header.
var headerAway = regexp.MustCompile(`(?://|\\\\|http%3A%2F%2F)` + regexp.QuoteMeta(foreignHost))

// TestInputMakesNoHeadersLinksOrLogLines checks that the texts of a request cannot create headers, links to other hosts, or log
// lines.
func TestInputMakesNoHeadersLinksOrLogLines(t *testing.T) {
	t.Parallel()
	s, doc := webStack(t), openapi.ForTest(t)
	j := &injector{
		s: s, crowd: stack.NewCrowd(100), operators: s.SeedOperators(t, 80), person: s.NewOperator(t), refused: map[string]string{},
	}
	j.session = j.person.Session(t)
	j.values = map[string]string{"marketId": s.NewNativeMarket(t, 5000, nil), "handle": j.person.Handle}
	stack.Each(len(doc.Operations), 3, func(i int) {
		o := doc.Operations[i]
		if o.Streams() || o.Health() || signsOut(o) || o.Path == "/api/admin/daily-digest" {
			return
		}
		j.operation(t, o, i)
	})
	if n := j.sent.Load(); n <= 500 {
		t.Errorf("%d requests were sent; want more than 500", n)
	}
	j.requireOneLogLineEach(t)
}

type injector struct {
	s         *stack.Stack
	crowd     *stack.Crowd
	operators []*stack.Operator
	person    *stack.Operator
	session   stack.Set
	values    map[string]string

	sent    atomic.Int64
	mu      sync.Mutex
	refused map[string]string // operations by the id of a refused request
}

// operation sends the texts in each parameter of an operation, and one text in each string of the body. Every parameter
// receives each text that contains a host, because links are created separately for each parameter. It receives only a third of
// the line breaks, because all parameters share the code that writes headers and log lines. With SYSTEM_SIZE=full it receives
// all of them.
func (j *injector) operation(t *testing.T, o *openapi.Operation, n int) {
	base := j.s.Base(o.Host, n)
	if o.Method == http.MethodGet {
		j.send(t, o, base+o.Fill(j.values))
	}
	share := stack.Size(t, 5, 3, 1) // one in share line breaks is sent
	for i, p := range o.Parameters() {
		if !p.Text || p.In == "header" {
			continue
		}
		for k, text := range lineBreaks {
			if k < withoutHost && (n+i+k)%share != 0 {
				continue
			}
			if p.In == "path" {
				values := maps.Clone(j.values)
				values[p.Name] = url.PathEscape(text)
				j.send(t, o, base+o.Fill(values))
			} else {
				j.send(t, o, base+o.Fill(j.values)+"?"+url.Values{p.Name: {text}}.Encode())
			}
		}
	}
	for i, at := range openapi.TextPaths(o.Body()) {
		text := lineBreaks[(n+i)%withoutHost]
		body := stack.Body(bodyWith(at, text))
		if o.Form() {
			body = stack.Form(url.Values{at[0]: {text}})
		}
		j.send(t, o, base+o.Fill(j.values), body)
	}
}

// bodyWith returns a body that contains only the text, at the given path.
func bodyWith(at openapi.MemberPath, text string) any {
	if len(at) == 0 {
		return text
	}
	rest := bodyWith(at[1:], text)
	if at[0] == "0" {
		return []any{rest}
	}
	return stack.JSON{at[0]: rest}
}

// credential returns a credential that the operation accepts.
func (j *injector) credential(o *openapi.Operation) stack.Set {
	switch {
	case o.Takes("operatorKey"):
		return stack.Bearer(j.operators[int(j.sent.Load())%len(j.operators)].Key)
	case o.Takes("adminSecret"):
		return j.s.Admin()
	case o.Takes("sessionId"):
		return j.session
	case o.Takes("identityToken"):
		return stack.Bearer(j.person.Login)
	}
	return func(*http.Request) {}
}

func (j *injector) send(t *testing.T, o *openapi.Operation, url string, body ...stack.Set) {
	a := j.crowd.Do(t, o.Method, url, append(body, j.credential(o), underForeignHost)...)
	j.sent.Add(1)
	for name, values := range a.Header {
		value := strings.Join(values, " ")
		if name == plantedHeader || strings.ContainsAny(value, "\r\n\x00") || strings.Contains(value, plantedHeader) {
			t.Errorf("the answer to %s %.200q contains the injected header %s: %.100q", o.Method, url, name, value)
		}
		if headerAway.MatchString(value) {
			t.Errorf("the answer to %s %.200q refers to another host in the header %s: %.100q", o.Method, url, name, value)
		}
	}
	if link := linkAway.Find(a.Body); link != nil {
		t.Errorf("the answer to %s %.200q contains a link to another host: %q", o.Method, url, link)
	} else if !strings.Contains(url, foreignHost) && a.Contains(foreignHost) {
		t.Errorf("the answer to %s %.200q contains the host name that the request sent; want none", o.Method, url)
	}
	if a.Status >= http.StatusBadRequest {
		j.mu.Lock()
		j.refused[a.Header.Get("X-Request-Id")] = o.Name()
		j.mu.Unlock()
	}
}

// requireOneLogLineEach requires exactly one line in the access log for each refused request, and no line that a request has
// injected. It waits, because a request is logged after its answer.
func (j *injector) requireOneLogLineEach(t *testing.T) {
	t.Helper()
	var lines map[string]int
	complete := func() bool {
		lines = j.accessLog(t)
		for id := range j.refused {
			if lines[id] != 1 {
				return false
			}
		}
		return true
	}
	for end := time.Now().Add(5 * time.Second); !complete() && time.Now().Before(end); {
		stack.Wait(t, 200*time.Millisecond)
	}
	for id, operation := range j.refused {
		if n := lines[id]; n != 1 {
			t.Errorf("%s: the request %.80q has %d lines in the access log; want 1", operation, id, n)
		}
	}
}

// accessLog returns the number of lines in the access logs by request id. It requires that every line of a log is a JSON line
// that the service has written.
func (j *injector) accessLog(t *testing.T) map[string]int {
	t.Helper()
	lines := map[string]int{}
	for _, path := range j.s.Logs(t) {
		service, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(path), ".log"), "-")
		if service != "hub" && service != "api" && service != "clock" {
			continue
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		raw = raw[:strings.LastIndexByte(string(raw), '\n')+1] // the last line may be incomplete
		for text := range strings.Lines(string(raw)) {
			var line struct {
				Msg       string
				RequestID string `json:"request_id"`
			}
			if err := json.Unmarshal([]byte(text), &line); err != nil || strings.HasPrefix(line.Msg, plantedLine) {
				t.Fatalf("the log of %s contains the line %.150q; want JSON", service, text)
			}
			if line.Msg == "request" {
				lines[line.RequestID]++
			}
		}
	}
	return lines
}
