package signalcast

import (
	"net/http"
	"strings"
)

// route is what the document says of an operation beside its shapes.
type route struct {
	pattern string // method and path
	bearer  bool   // wants a key or a token; where none is taken, one is refused
	session bool   // takes the cookies of a session
	keyed   bool   // the same Idempotency-Key answers the first result
	again   bool   // may be sent twice as it is
	stream  bool   // answers something else than one JSON document
}

// atlas finds the route of a request; the matching is that of net/http.
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

// find gives the route of a request to a service whose address has that path. One that is
// not in the document takes a credential, as newer ones may, and only reading is sent twice.
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

// twice reports whether a request may be sent again after its answer was lost.
func (rt *route) twice(r *http.Request) bool {
	return rt.again || rt.keyed && r.Header.Get("Idempotency-Key") != ""
}
