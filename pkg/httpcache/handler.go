package httpcache

import (
	"net/http"
	"strings"
)

// Hot is a route that a Front answers from a book.
type Hot struct {
	// Pattern is a path; at most one of its segments may be a parameter, "*".
	Pattern string
	// Book and Key must be those of the route's own handler. Key sees the
	// parameter and the raw query; false leaves the request to the handler.
	Book *Book
	Key  func(param, rawQuery string) (string, bool)
	// Header is set on every answer: CORS, Cache-Control and the like.
	Header http.Header
}

// FrontOptions of a Front; all may be nil.
type FrontOptions struct {
	// Allow says whether this caller may be answered; it may set headers.
	// When it refuses, the next handler answers, and knows how to refuse.
	Allow func(http.ResponseWriter, *http.Request) bool
	// Count is asked once for each method, route and status and gives what to
	// call for every such answer. Answers are not timed: they take
	// microseconds, and two readings of the clock would be a tenth of that.
	Count func(method, route string, status int) func()
}

// Front answers hits of hot routes and passes on everything else: misses,
// writes, and callers with a credential, whose limits and rights the router
// knows.
type Front struct {
	next  http.Handler
	o     FrontOptions
	exact map[string]*hot
	param []*hot
}

// hot is a Hot with its header as a list, which is quicker to copy than a map.
type hot struct {
	Hot
	before, after string
	header        []headerLine
	count         [2][2]func() // GET, HEAD; 200, 304
}

type headerLine struct {
	name   string
	values []string
}

// NewFront makes a Front for a fixed set of routes.
func NewFront(next http.Handler, o FrontOptions, routes ...Hot) *Front {
	if o.Count == nil {
		o.Count = func(string, string, int) func() { return func() {} }
	}
	f := &Front{next: next, o: o, exact: make(map[string]*hot)}
	for _, r := range routes {
		h := &hot{Hot: r}
		for name, values := range r.Header {
			h.header = append(h.header, headerLine{http.CanonicalHeaderKey(name), values[:len(values):len(values)]})
		}
		h.header = append(h.header, headerLine{"X-Content-Type-Options", []string{"nosniff"}})
		for i, method := range [...]string{http.MethodGet, http.MethodHead} {
			for j, status := range [...]int{http.StatusOK, http.StatusNotModified} {
				h.count[i][j] = o.Count(method, r.Pattern, status)
			}
		}
		var ok bool
		if h.before, h.after, ok = strings.Cut(r.Pattern, "*"); ok {
			f.param = append(f.param, h)
		} else {
			f.exact[r.Pattern] = h
		}
	}
	return f
}

// ServeHTTP implements http.Handler.
func (f *Front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if (r.Method == http.MethodGet || r.Method == http.MethodHead) && r.URL.RawPath == "" &&
		r.Header["Authorization"] == nil && r.Header["Cookie"] == nil {
		if h, param := f.find(r.URL.Path); h != nil && f.answer(w, r, h, param) {
			return
		}
	}
	f.next.ServeHTTP(w, r)
}

func (f *Front) find(path string) (*hot, string) {
	if h := f.exact[path]; h != nil {
		return h, ""
	}
	for _, h := range f.param {
		if len(path) <= len(h.before)+len(h.after) || !strings.HasPrefix(path, h.before) || !strings.HasSuffix(path, h.after) {
			continue
		}
		if param := path[len(h.before) : len(path)-len(h.after)]; strings.IndexByte(param, '/') < 0 {
			return h, param
		}
	}
	return nil, ""
}

// answer reports whether it answered.
func (f *Front) answer(w http.ResponseWriter, r *http.Request, h *hot, param string) bool {
	key, ok := h.Key(param, r.URL.RawQuery)
	if !ok {
		return false
	}
	p := h.Book.Peek(key)
	if p == nil || f.o.Allow != nil && !f.o.Allow(w, r) {
		return false
	}
	header := w.Header()
	for i := range h.header {
		header[h.header[i].name] = h.header[i].values
	}
	method, status := 0, 0
	if r.Method == http.MethodHead {
		method = 1
	}
	if p.WriteTo(w, r) == http.StatusNotModified {
		status = 1
	}
	h.count[method][status]()
	return true
}
