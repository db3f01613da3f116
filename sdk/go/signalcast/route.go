package signalcast

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/google/uuid"
)

// route describes an operation of the OpenAPI document: its credentials and whether the client may retry it.
type route struct {
	pattern string // method and path
	bearer  bool   // takes a key or a token; other operations reject one
	session bool   // takes session cookies
	keyed   bool   // the same Idempotency-Key returns the first result
	again   bool   // repeatable without a key
	stream  bool   // the response is not one JSON document
}

// atlas contains the routes of all operations. It finds the route of a request with the pattern matching of net/http.
type atlas struct {
	mux *http.ServeMux
	by  map[string]*route
}

func newAtlas() *atlas {
	a := &atlas{mux: http.NewServeMux(), by: make(map[string]*route, len(routes))}
	for i := range routes {
		r := &routes[i]
		a.by[r.pattern] = r
		a.mux.Handle(r.pattern, http.NotFoundHandler())
	}
	return a
}

// find returns the route of a request. under is the path of the base URL. For an unknown operation, it returns a route that
// accepts a bearer credential and on which only reads are retried.
func (a *atlas) find(r *http.Request, under string) *route {
	asked := &http.Request{Method: r.Method, Host: r.Host, URL: r.URL}
	if rest, ok := strings.CutPrefix(r.URL.Path, under); ok && under != "" {
		u := *r.URL
		u.Path, u.RawPath = rest, ""
		asked.URL = &u
	}
	if _, pattern := a.mux.Handler(asked); a.by[pattern] != nil {
		return a.by[pattern]
	}
	return &route{
		pattern: r.Method + " " + r.URL.Path, bearer: true,
		again: r.Method == http.MethodGet || r.Method == http.MethodHead,
	}
}

// requireIDs returns an error if the path of a request, or a query parameter that names an object, has an empty id. A service
// would answer an empty id like an unknown object. under is the path of the base URL.
func requireIDs(r *http.Request, under string) error {
	path := strings.TrimPrefix(r.URL.EscapedPath(), under)
	if strings.Contains(path, "//") || len(path) > 1 && strings.HasSuffix(path, "/") || strings.Contains(path, uuid.Nil.String()) {
		return fmt.Errorf("signalcast: %s %s: an id in the path is empty", r.Method, path)
	}
	query := r.URL.Query()
	for _, name := range [...]string{"id", "handle", "market", "marketId"} {
		if values, ok := query[name]; ok && (values[0] == "" || values[0] == uuid.Nil.String()) {
			return fmt.Errorf("signalcast: %s %s: the parameter %s is empty", r.Method, path, name)
		}
	}
	return nil
}

// twice reports whether the client may retry the request after a lost response.
func (rt *route) twice(r *http.Request) bool {
	return rt.again || rt.keyed && r.Header.Get("Idempotency-Key") != ""
}
