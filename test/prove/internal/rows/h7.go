package rows

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/system/openapi"
)

// h7 asks for every page, as somebody and as nobody, whole and refused, and looks at who
// may put it into a frame of his own.
var h7 = frame.Row{
	ID: "H7", Title: "a page is framed by choice alone",
	Fault: frame.Fault{What: "any site may frame any page"},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		doc, err := openapi.Load(env.Root)
		if err != nil {
			return nil, err
		}
		p, err := signUp(ctx, env, "h7-holder", 0)
		if err != nil {
			return nil, err
		}
		ids, err := markets(ctx, env, "H7", 1)
		if err != nil {
			return nil, err
		}
		w := windows{env: env, seen: seen, person: p, market: ids[0]}
		var pages []*openapi.Operation
		for _, op := range doc.Operations {
			if op.Host == "hub" && op.Method == http.MethodGet && !holds(op) && !health(op) {
				pages = append(pages, op)
			}
		}
		frame.Each(len(pages), 6, func(i int) { w.page(ctx, pages[i], i) })
		all, framed := w.all.Load(), w.framed.Load()
		seen.Check(all > 40 && framed >= 4, "%d pages, %d of which may be framed: the row has looked at nothing", all, framed)
		seen.Promise(fmt.Sprintf("as listed %d of %d", all, all), fmt.Sprintf("as listed %d of %d", all-w.wrong.Load(), all))
		seen.Figure("pages", all)
		seen.Figure("framed", framed)
		seen.Volume("%d routes, each by a session and by nobody, with what exists and with what does not", len(pages))
		return seen, nil
	},
}

// framable are the pages that others may frame, and acts what could be pressed in them:
// a link that opens elsewhere is no act.
var (
	framable = []string{"/operator/{handle}/embed", "/overlay/{handle}"}
	acts     = regexp.MustCompile(`(?i)<(form|button|input|select|textarea|iframe|object|embed)\b|\son[a-z]+\s*=`)
)

// windows look at pages.
type windows struct {
	env    *frame.Env
	seen   *frame.Seen
	person person
	market string

	all, framed, wrong atomic.Int64
}

// page asks a route in every way that gives another page.
func (w *windows) page(ctx context.Context, op *openapi.Operation, i int) {
	for _, as := range []client.Credential{nil, w.person.session} {
		for _, real := range []bool{true, false} {
			q := client.Request{URL: w.env.Hub(i) + w.address(op.Path, real), As: as, Header: http.Header{"Accept": {"text/html"}}}
			a := patiently(ctx, w.env, q)
			if a.Err != nil {
				w.seen.Wrong("%s: %v", op.Name(), a.Err)
				continue
			}
			if !strings.HasPrefix(a.Header.Get("Content-Type"), "text/html") {
				continue // nothing that a frame could show
			}
			w.all.Add(1)
			free := a.Status == http.StatusOK && slices.Contains(framable, op.Path)
			if free {
				w.framed.Add(1)
			}
			if why := unlisted(a, free); why != "" {
				w.wrong.Add(1)
				w.seen.Wrong("%s (%d): %s", op.Name(), a.Status, why)
			}
		}
	}
}

func (w *windows) address(path string, real bool) string {
	market, handle := w.market, w.person.Handle
	if !real {
		market, handle = "native-ffffffffffffffffffffffffffffffff", "nobody-of-that-name"
	}
	return strings.NewReplacer("{marketId}", market, "{handle}", handle, "{id}", noID, "{file}", "app.css", "{eventKey}", "x", "{kind}", "operator", "{code}", "2222222").Replace(path)
}

// unlisted says what is wrong with who may frame an answer; empty: nothing.
func unlisted(a client.Answer, free bool) string {
	policies, old := a.Header.Values("Content-Security-Policy"), a.Header.Values("X-Frame-Options")
	if len(policies) != 1 {
		return fmt.Sprintf("%d policies", len(policies))
	}
	ancestors := ""
	for _, directive := range strings.Split(policies[0], ";") {
		if name, rest, _ := strings.Cut(strings.TrimSpace(directive), " "); name == "frame-ancestors" {
			ancestors += rest
		}
	}
	switch {
	case !free && (ancestors != "'none'" || len(old) != 1 || old[0] != "DENY"):
		return fmt.Sprintf("it may be framed: %q, %q", ancestors, old)
	case !free:
		return ""
	case ancestors != "*" || len(old) != 0:
		return fmt.Sprintf("it may not be framed: %q, %q", ancestors, old)
	case len(a.Header.Values("Set-Cookie")) > 0:
		return "a page that may be framed gives a cookie"
	case acts.Match(bytes.ToLower(a.Body)):
		return fmt.Sprintf("a page that may be framed holds something to press: %q", acts.Find(a.Body))
	}
	return ""
}
