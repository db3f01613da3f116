package rows

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/system/openapi"
)

// h1 asks every path in every method as a page of every kind of site would. What such
// a page may read is the specification's list of prefixes, not what the services or
// their description say.
var h1 = frame.Row{
	ID: "H1", Title: "other sites may read what is listed, and nothing else",
	Fault: frame.Fault{What: "a path that may be read may be written from anywhere, too"},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		doc, err := openapi.Load(env.Root)
		if err != nil {
			return nil, err
		}
		r, err := mintRing(ctx, env, "h1-holder")
		if err != nil {
			return nil, err
		}
		v := visits{env: env, seen: seen, ring: r, read: map[string]bool{}}
		var paths []*openapi.Operation // one for each path of a host
		for _, op := range doc.Operations {
			if op.Method == http.MethodGet && op.Public() {
				v.read[op.Host+op.Path] = true
			}
			if !slices.ContainsFunc(paths, func(p *openapi.Operation) bool { return p.Host == op.Host && p.Path == op.Path }) {
				paths = append(paths, op)
			}
		}
		frame.Each(len(paths), 6, func(i int) { v.path(ctx, paths[i], i) })
		tricks := v.tricks(ctx)
		v.agrees(doc)
		seen.Promise(fmt.Sprintf("cells %s of %s, credentials allowed 0", frame.Number(int(v.cells.Load())), frame.Number(int(v.cells.Load()))),
			fmt.Sprintf("cells %s of %s, credentials allowed %d", frame.Number(int(v.good.Load())), frame.Number(int(v.cells.Load())), v.allowed.Load()))
		seen.Figure("cells", v.cells.Load())
		seen.Volume("%d paths of three services, %d methods, %d kinds of sites, %d spellings of other paths", len(paths), len(methods), len(visitors), tricks)
		return seen, nil
	},
}

// methods are the methods; visitors the values of Origin ("" is none, HUB is our own).
var (
	methods  = []string{http.MethodGet, http.MethodPost, http.MethodDelete, http.MethodOptions}
	visitors = []string{"", "HUB", "https://evil.example", "null"}
)

// visits are the requests of pages.
type visits struct {
	env  *frame.Env
	seen *frame.Seen
	ring *ring
	read map[string]bool // by host and path: anybody may read it

	cells, good, allowed atomic.Int64
}

// openPrefixes is the list of the specification (rule 1); behind it what is retired
// (contract 4.18.2) and what describes the protocol.
var openPrefixes = []string{
	"/api/polymarket/", "/api/broadcast/", "/api/oracle/featured", "/api/embed/", "/api/card/", "/api/c/", "/api/fashion/signals",
	"/api/network/", "/api/situations",
	"/api/operator/{handle}/record", "/api/operator/{handle}/skill", // they say nothing that the receipts do not
	"/api/channel", "/.well-known/",
}

// class is what the lists say of a path: "" nothing, "open", or "protocol".
func (v *visits) class(host, path, method string) string {
	listed := func(p string) bool { return strings.HasPrefix(path, p) }
	switch {
	case host == "hub" && underProtocol(path):
		return "protocol"
	case method != http.MethodGet && method != http.MethodOptions, !v.read[host+path]:
		return ""
	case host != "hub", slices.ContainsFunc(openPrefixes, listed):
		return "open"
	}
	return ""
}

// path asks one path in each method as each site.
func (v *visits) path(ctx context.Context, op *openapi.Operation, i int) {
	if holds(op) { // of which rows E tell
		return
	}
	for _, method := range methods {
		for _, site := range visitors {
			q := client.Request{Method: method, URL: hostOf(v.env, op.Host, i) + v.ring.path(op), Header: v.header(site, method)}
			a := patiently(ctx, v.env, q)
			v.cells.Add(1)
			if why := v.judge(a, v.class(op.Host, op.Path, method), method); why != "" {
				v.seen.Wrong("%s %s%s from %q %s", method, op.Host, op.Path, site, why)
				continue
			}
			v.good.Add(1)
		}
	}
}

func (v *visits) header(site, method string) http.Header {
	h := http.Header{"Accept": {"application/json"}}
	if site == "HUB" {
		site = v.env.Stack.Hub
	}
	if site != "" {
		h.Set("Origin", site)
	}
	if method == http.MethodOptions {
		h.Set("Access-Control-Request-Method", http.MethodPost)
		h.Set("Access-Control-Request-Headers", "authorization, x-admin-secret")
	}
	return h
}

// judge says what speaks against an answer; empty: nothing.
func (v *visits) judge(a client.Answer, class, method string) string {
	if a.Err != nil {
		return a.Err.Error()
	}
	if a.Header.Get("Access-Control-Allow-Credentials") != "" {
		v.allowed.Add(1)
		return "allows credentials"
	}
	origin, allowed, headers := a.Header.Values("Access-Control-Allow-Origin"), a.Header.Get("Access-Control-Allow-Methods"), a.Header.Get("Access-Control-Allow-Headers")
	var want []string
	wantMethods, wantHeaders := "", ""
	switch class {
	case "open":
		want, wantMethods = []string{"*"}, "GET, OPTIONS"
	case "protocol":
		want, wantMethods, wantHeaders = []string{"*"}, "GET, POST, DELETE, OPTIONS", "authorization, content-type, idempotency-key"
	}
	switch {
	case !slices.Equal(origin, want):
		return fmt.Sprintf("may be read by %q, listed %q (%d)", origin, want, a.Status)
	case allowed != wantMethods:
		return fmt.Sprintf("allows the methods %q, listed %q", allowed, wantMethods)
	case headers != wantHeaders:
		return fmt.Sprintf("allows the headers %q, listed %q", headers, wantHeaders)
	case class != "" && !strings.Contains(a.Header.Get("Access-Control-Expose-Headers"), "Retry-After, WWW-Authenticate, X-Degraded"):
		return "hides what a reader has to know"
	case method == http.MethodOptions && class != "" && a.Header.Get("Access-Control-Max-Age") != "86400":
		return "is asked for again at once"
	}
	return ""
}

// tricks spell paths that are not listed so that they begin as listed ones do.
func (v *visits) tricks(ctx context.Context) (n int) {
	for _, path := range []string{
		"/api/network/../predictions", "/api/network/..%2fpredictions", "/api/network/%2e%2e/predictions", "/api/network/.%2e/predictions",
		"/api/network/../../api/predictions", "/api/embed/../predictions", "/api/c/../predictions", "/api/card/..;/predictions", "//api/predictions",
		"/api//predictions", "/api/protocol/v1/../../predictions", "/api/protocol/v1/%2e%2e/%2e%2e/predictions", "/api/predictions/", "/api/predictions/.",
		"/api/predictions/../network/", "/API/NETWORK/../predictions", "/api/networks", "/api/embedded", "/api/cards", "/api/broadcasts", "/api/situation",
		"/api/polymarketx/featured", "/api/fashion/signalsx", "/api/oracle/featuredx", "/api/protocol/v1x/me", "/api/protocol/v10/me", "/api/m/1/../../network/crowd",
		"/api/network%2f..%2fpredictions", "/api/network/%00/../predictions", "/api/user/follow/../../network/crowd",
	} {
		for i, method := range []string{http.MethodPost, http.MethodDelete, http.MethodOptions} {
			q := client.Request{Method: method, URL: v.env.Hub(i) + path, Header: v.header("https://evil.example", method)}
			if method == http.MethodPost {
				q.Body = map[string]any{"marketId": v.ring.market, "direction": "YES", "priceAtPrediction": 5000}
			}
			q.As = v.ring.session
			a := v.env.Client.Do(ctx, q)
			n++
			v.cells.Add(1)
			open := a.Header.Get("Access-Control-Allow-Origin") != "" && !strings.HasPrefix(path, "/api/protocol/")
			switch {
			case a.Err != nil:
				v.seen.Wrong("%s %s: %v", method, path, a.Err)
			case open && method != http.MethodOptions, a.Header.Get("Access-Control-Allow-Credentials") != "":
				v.seen.Wrong("%s %s may be written from anywhere: %.120s", method, path, a)
			case a.Status < 300 && method != http.MethodOptions:
				v.seen.Wrong("%s %s was let in from another site: %.120s", method, path, a)
			default:
				v.good.Add(1)
			}
		}
	}
	return n
}

// agrees holds what the description says of its operations against the lists.
func (v *visits) agrees(doc *openapi.Document) {
	for _, op := range doc.Operations {
		if holds(op) || health(op) { // told of in words
			continue
		}
		listed := v.class(op.Host, op.Path, op.Method) != ""
		v.seen.Check(op.Open() == listed, "%s is described as open: %v, and listed: %v", op.Name(), op.Open(), listed)
	}
}
