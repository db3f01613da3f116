package rows

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/system/openapi"
)

// h5 puts the ends of lines and headers of its own into every text that a route takes,
// and says of every request that it was sent to another host.
var h5 = frame.Row{
	ID: "H5", Title: "no header, log line or link is made from input",
	Fault: frame.Fault{What: "pages link to the host that the request names"},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		doc, err := openapi.Load(env.Root)
		if err != nil {
			return nil, err
		}
		r, err := mintRing(ctx, env, "h5-holder")
		if err != nil {
			return nil, err
		}
		ops, err := pool(ctx, env, "h5", 40, 2)
		if err != nil {
			return nil, err
		}
		s := splits{env: env, seen: seen, ring: r, asked: map[string]string{}, lines: map[string]int{}}
		for i := range ops {
			s.keys = append(s.keys, ops[i].Keys...)
		}
		var list []*openapi.Operation
		for _, op := range doc.Operations {
			if !holds(op) && !health(op) {
				list = append(list, op)
			}
		}
		frame.Each(len(list), 6, func(i int) { s.operation(ctx, list[i], i) })
		logged, err := s.logs(ctx)
		if err != nil {
			return nil, err
		}
		sent := s.sent.Load()
		seen.Check(sent > 500, "%d requests: the row has looked at nothing", sent)
		seen.Promise("new headers 0, evil host 0, log lines = requests",
			fmt.Sprintf("new headers %d, evil host %d, log lines %d of %d", s.headers.Load(), s.links.Load(), logged, len(s.asked)))
		seen.Figure("requests", sent)
		seen.Volume("%d operations, %s requests, %d texts", len(list), frame.Number(int(sent)), len(breaks))
		return seen, nil
	},
}

const (
	evilHost   = "evil-host.example"
	evilHeader = "X-Planted"
	evilLine   = "planted in a log"
)

// breaks are texts that end a line where they are taken for what they say.
var breaks = []string{
	"a\r\n" + evilHeader + ": 1\r\n\r\n<b>", "a\n" + evilHeader + ": 1", "a\r" + evilHeader + ": 1", "a\x00b",
	"a%0d%0a" + evilHeader + ":%201", "a%00b", "a\u2028" + evilHeader + ": 1",
	"a\n{\"level\":\"ERROR\",\"msg\":\"" + evilLine + "\"}", "//" + evilHost + "/", "https://" + evilHost + "/\r\n", `\\` + evilHost,
}

// lies are headers that name another host.
var lies = map[string]string{
	"X-Forwarded-Host": evilHost, "X-Forwarded-Server": evilHost, "X-Forwarded-Proto": "gopher", "X-Forwarded-Port": "6666", "X-Host": evilHost,
	"X-Original-Url": "https://" + evilHost + "/", "X-Rewrite-Url": "/" + evilHost, "Forwarded": "host=" + evilHost + ";proto=gopher",
	"X-Forwarded-Prefix": "//" + evilHost, "X-Request-Id": "a " + evilHeader + " " + evilHost,
}

// elsewhere sends a request to our address under the name of another host.
var elsewhere = client.By(func(r *http.Request) {
	r.Host = evilHost
	for name, value := range lies {
		r.Header.Set(name, value)
	}
})

// splits are the requests.
type splits struct {
	env  *frame.Env
	seen *frame.Seen
	ring *ring
	keys []client.Key

	next, sent, headers, links atomic.Int64
	mu                         sync.Mutex
	asked                      map[string]string // which door was asked, by the id of the request
	lines                      map[string]int    // of the logs, by the same
}

// operation asks one door for what exists, then with a bad text in each place.
func (s *splits) operation(ctx context.Context, op *openapi.Operation, n int) {
	host := hostOf(s.env, op.Host, n)
	real := s.ring.path(op)
	if op.Method == http.MethodGet {
		s.ask(ctx, op, client.Request{URL: host + real})
	}
	for _, p := range op.Parameters() {
		if !p.Text || p.In == "header" {
			continue
		}
		for _, text := range s.some(n) {
			path := real
			if p.In == "path" {
				path = strings.Replace(op.Path, "{"+p.Name+"}", url.PathEscape(text), 1)
			} else {
				path += map[bool]string{true: "&", false: "?"}[strings.Contains(path, "?")] + url.Values{p.Name: {text}}.Encode()
			}
			s.ask(ctx, op, client.Request{Method: op.Method, URL: host + s.filled(path)})
		}
	}
	for i, at := range openapi.Texts(op.Body()) {
		text := breaks[(n+i)%8] // no host: what people say of themselves is theirs to say
		q := client.Request{Method: op.Method, URL: host + real, Header: http.Header{}}
		if op.Form() {
			asForm(&q, url.Values{at[0]: {text}})
		} else {
			q.Body = placed(at, text)
		}
		s.ask(ctx, op, q)
	}
}

// filled puts what exists into the places of a path that are left.
func (s *splits) filled(path string) string {
	return strings.NewReplacer("{marketId}", s.ring.market, "{handle}", s.ring.Handle, "{id}", noID, "{kind}", "operator", "{type}", "signal.create",
		"{appId}", noID, "{publicKey}", noKey, "{eventKey}", "x", "{file}", "app.css", "{stationId}", "partner", "{code}", "2222222").Replace(path)
}

// some are the texts for one place: all of them, or two where little is tried.
func (s *splits) some(n int) []string {
	if s.env.Size != frame.Small {
		return breaks
	}
	return []string{breaks[n%len(breaks)], breaks[(n+5)%len(breaks)]}
}

// placed is a body with a text in one place.
func placed(at openapi.Place, text string) any {
	if len(at) == 0 {
		return text
	}
	rest := placed(at[1:], text)
	if at[0] == "0" {
		return []any{rest}
	}
	return map[string]any{at[0]: rest}
}

// credential is one that the door takes.
func (s *splits) credential(op *openapi.Operation) client.Credential {
	switch {
	case op.Takes("operatorKey"):
		return s.keys[int(s.next.Add(1))%len(s.keys)]
	case op.Takes("adminSecret"):
		return s.env.Admin()
	case op.Takes("sessionId"):
		return s.ring.session
	case op.Takes("identityToken"):
		return s.ring.login
	}
	return nil
}

func (s *splits) ask(ctx context.Context, op *openapi.Operation, q client.Request) {
	if op.Path == "/api/admin/daily-digest" || op.Path == "/api/auth/privy" && op.Method == http.MethodDelete {
		return // it would send letters, or end the session of this row
	}
	if q.Header == nil {
		q.Header = http.Header{}
	}
	q.Header["Accept"] = []string{"text/html, application/json"}
	q.As = elsewhere
	if as := s.credential(op); as != nil {
		q.As = client.All(as, elsewhere)
	}
	a := s.env.Client.Do(ctx, q)
	s.sent.Add(1)
	if a.Err != nil {
		s.seen.Wrong("%s: %v", op.Name(), a.Err)
		return
	}
	s.judge(op, q, a)
	if a.Status >= http.StatusBadRequest {
		s.mu.Lock()
		s.asked[a.Header.Get("X-Request-Id")] = op.Name()
		s.mu.Unlock()
	}
}

// judge looks for what was planted.
func (s *splits) judge(op *openapi.Operation, q client.Request, a client.Answer) {
	for name, values := range a.Header {
		told := strings.Join(values, " ")
		if name == evilHeader || strings.ContainsAny(told, "\r\n\x00") || strings.Contains(told, evilHeader) {
			s.headers.Add(1)
			s.seen.Wrong("%s of %.200q has the header %s: %.100q", op.Name(), q.URL, name, told)
		}
		if pointsAway(told) {
			s.links.Add(1)
			s.seen.Wrong("%s of %.200q leads away in %s: %.100q", op.Name(), q.URL, name, told)
		}
	}
	body := string(a.Body)
	away := linkAway.FindString(body)
	if said := q.URL + fmt.Sprint(q.Body); away == "" && !strings.Contains(said, evilHost) && strings.Contains(body, evilHost) {
		away = body[max(0, strings.Index(body, evilHost)-60):]
	}
	if away != "" {
		s.links.Add(1)
		s.seen.Wrong("%s of %.200q leads away: %.120q", op.Name(), q.URL, away)
	}
}

// linkAway is a link to the host that was named, in a page or in JSON. A text that was
// typed may be shown as a text.
var linkAway = regexp.MustCompile(`(?i)(?:\b(?:href|src|action|formaction|content)="(?:\d+;\s*url=)?|"\w*(?:url|uri|href|html|link)":")(?:[a-z]+:)?[/\\]{2}(?:[^/"]*@)?` + regexp.QuoteMeta(evilHost))

// pointsAway tells whether a header leads to the host that was named.
func pointsAway(told string) bool {
	return strings.Contains(told, "//"+evilHost) || strings.Contains(told, `\\`+evilHost) || strings.Contains(told, "http%3A%2F%2F"+evilHost)
}

// logs counts the lines of each request, and those that nobody wrote. The line of a
// request is written behind its answer.
func (s *splits) logs(ctx context.Context) (found int, err error) {
	var forged []string
	_, err = frame.Until(ctx, 5*time.Second, func() (bool, error) {
		clear(s.lines)
		forged, found = nil, 0
		err := eachLogged(s.env, func(l logged) {
			if l.broken || strings.HasPrefix(l.Msg, evilLine) {
				forged = append(forged, l.text)
			} else if _, ours := s.asked[l.RequestID]; ours && l.Msg == "request" {
				s.lines[l.RequestID]++
			}
		})
		for id := range s.asked {
			if s.lines[id] == 1 {
				found++
			}
		}
		return found == len(s.asked), err
	})
	for _, text := range forged {
		s.seen.Wrong("a log has the line %.150q", text)
	}
	for id, of := range s.asked {
		if n := s.lines[id]; n != 1 {
			s.seen.Wrong("the request %.80q of %s has %d lines", id, of, n)
		}
	}
	return found, err
}
