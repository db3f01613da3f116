package web

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalcast/signalcast/test/system/openapi"
	"github.com/signalcast/signalcast/test/system/stack"
)

// openReads are path prefixes of the hub. Pages of any origin may send the read operations with these prefixes.
var openReads = []string{
	"/api/polymarket/", "/api/broadcast/", "/api/oracle/featured", "/api/embed/", "/api/card/", "/api/c/", "/api/fashion/signals",
	"/api/network/", "/api/situations", "/api/operator/{handle}/record", "/api/operator/{handle}/skill", "/api/channel",
	"/.well-known/oauth-",
}

const (
	closed   = ""
	readable = "GET, OPTIONS"
	protocol = "GET, POST, DELETE, OPTIONS"
)

func inProtocol(path string) bool {
	return path == stack.ProtocolPath || strings.HasPrefix(path, stack.ProtocolPath+"/")
}

// allowedMethods returns the required value of Access-Control-Allow-Methods for a method of a path: closed, readable or
// protocol.
func allowedMethods(doc *openapi.Document, host, path, method string) string {
	if host == "hub" && inProtocol(path) {
		return protocol
	}
	public := path == "/api/network/field-record/me" || slices.ContainsFunc(doc.Operations, func(o *openapi.Operation) bool {
		return o.Host == host && o.Path == path && o.Method == http.MethodGet && o.Public()
	})
	listed := host != "hub" || path == "/api/markets" || slices.ContainsFunc(openReads, func(prefix string) bool { return strings.HasPrefix(path, prefix) })
	if public && listed && (method == http.MethodGet || method == http.MethodOptions) {
		return readable
	}
	return closed
}

// corsHeaders are the headers by which a browser decides what a page of another origin may do.
type corsHeaders struct {
	Origins                       []string
	Methods, Headers, Credentials string
	MaxAge                        string // of preflight answers
	ExposesErrors                 bool   // exposes the headers that a client needs after an error
}

func corsHeadersOf(a stack.Answer, method string) corsHeaders {
	get := func(name string) string { return a.Header.Get("Access-Control-" + name) }
	out := corsHeaders{
		Origins: a.Header.Values("Access-Control-Allow-Origin"), Methods: get("Allow-Methods"), Headers: get("Allow-Headers"),
		Credentials:   get("Allow-Credentials"),
		ExposesErrors: strings.Contains(get("Expose-Headers"), "Retry-After, WWW-Authenticate, X-Degraded"),
	}
	if method == http.MethodOptions {
		out.MaxAge = get("Max-Age")
	}
	return out
}

func wantedHeaders(allowed, method string) corsHeaders {
	if allowed == closed {
		return corsHeaders{}
	}
	out := corsHeaders{Origins: []string{"*"}, Methods: allowed, ExposesErrors: true}
	switch {
	case allowed == protocol:
		out.Headers = "authorization, content-type, idempotency-key"
	case method == http.MethodOptions:
		out.Headers = "authorization"
	}
	if method == http.MethodOptions {
		out.MaxAge = "86400"
	}
	return out
}

// fromOrigin returns a Set that makes a request look like one that a page with this origin sends. If origin is empty, no page
// sends the request.
func fromOrigin(origin, method string) stack.Set {
	return func(r *http.Request) {
		r.Header.Set("Accept", "application/json")
		if origin != "" {
			r.Header.Set("Origin", origin)
		}
		if method == http.MethodOptions {
			r.Header.Set("Access-Control-Request-Method", http.MethodPost)
			r.Header.Set("Access-Control-Request-Headers", "authorization, x-admin-secret")
		}
	}
}

// TestCrossOriginAccess checks that pages of other origins may send only the listed reads and the requests of the protocol.
func TestCrossOriginAccess(t *testing.T) {
	t.Parallel()
	s, doc, crowd := webStack(t), openapi.ForTest(t), stack.NewCrowd(100)
	values := map[string]string{"marketId": s.NewNativeMarket(t, 5000, nil), "handle": s.NewOperator(t).Handle}
	samePath := func(a, b *openapi.Operation) bool { return a.Host == b.Host && a.Path == b.Path }
	paths := slices.CompactFunc(slices.Clone(doc.Operations), samePath)
	stack.Each(len(paths), 3, func(i int) {
		o := paths[i]
		if o.Streams() {
			return
		}
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete, http.MethodOptions} {
			want := wantedHeaders(allowedMethods(doc, o.Host, o.Path, method), method)
			for _, origin := range []string{"", s.Hub, "https://evil.example", "null"} {
				a := crowd.Retry(t, method, s.Base(o.Host, i)+o.Fill(values), fromOrigin(origin, method))
				if diff := cmp.Diff(want, corsHeadersOf(a, method)); diff != "" {
					t.Errorf("%s %s%s from origin %q: status %d, headers (-want +got):\n%s", method, o.Host, o.Path, origin, a.Status, diff)
				}
			}
		}
	})
}

// TestOpenOperationsAreDescribed checks that the OpenAPI document marks an operation as open if and only if this test lists it.
func TestOpenOperationsAreDescribed(t *testing.T) {
	t.Parallel()
	doc := openapi.ForTest(t)
	for _, o := range doc.Operations {
		want := allowedMethods(doc, o.Host, o.Path, o.Method) != closed
		if !o.Streams() && !o.Health() && o.Open() != want {
			t.Errorf("%s: x-signalcast-cors-open is %v; want %v", o.Name(), o.Open(), want)
		}
	}
}

// TestPathTricksGiveNoCrossOriginAccess checks that other origins cannot send a write by using a path that only resembles an
// open path.
func TestPathTricksGiveNoCrossOriginAccess(t *testing.T) {
	t.Parallel()
	s := webStack(t)
	session, market, crowd := s.NewOperator(t).Session(t), s.NewNativeMarket(t, 5000, nil), stack.NewCrowd(10)
	for i, path := range []string{
		"/api/network/../predictions", "/api/network/..%2fpredictions", "/api/network/%2e%2e/predictions",
		"/api/network/.%2e/predictions",
		"/api/network/../../api/predictions", "/api/embed/../predictions", "/api/c/../predictions", "/api/card/..;/predictions",
		"//api/predictions", "/api//predictions", "/api/protocol/v1/../../predictions", "/api/protocol/v1/%2e%2e/%2e%2e/predictions",
		"/api/predictions/", "/api/predictions/.", "/api/predictions/../network/", "/API/NETWORK/../predictions", "/api/networks",
		"/api/embedded", "/api/cards", "/api/broadcasts", "/api/situation", "/api/polymarketx/featured", "/api/fashion/signalsx",
		"/api/oracle/featuredx", "/api/protocol/v1x/me", "/api/protocol/v10/me", "/api/m/1/../../network/crowd",
		"/api/network%2f..%2fpredictions", "/api/network/%00/../predictions", "/api/user/follow/../../network/crowd",
	} {
		for _, method := range []string{http.MethodPost, http.MethodDelete, http.MethodOptions} {
			sets := []stack.Set{session, withoutFetchMetadata, fromOrigin("https://evil.example", method)}
			if method == http.MethodPost {
				sets = append(sets, stack.Body(stack.Call(market, "YES", 5000)))
			}
			a := crowd.Do(t, method, s.HubAt(i)+path, sets...)
			got, preflight := corsHeadersOf(a, method), method == http.MethodOptions
			open := len(got.Origins) > 0 && !strings.HasPrefix(path, "/api/protocol/") && !preflight
			if open || got.Credentials != "" || a.Status < 300 && !preflight {
				t.Errorf("%s %s from another origin was answered %d with the headers %+v; want a refusal without CORS access", method, path, a.Status, got)
			}
		}
	}
}
