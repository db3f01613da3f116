package page

import (
	"net/http"
	"strings"
	"time"
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
	// Observe hears of every answer of the Front; Now must be given with it.
	Observe func(method, route string, status int, took time.Duration)
	Now     func() time.Time
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
}

type headerLine struct {
	name   string
	values []string
}

// NewFront makes a Front for a fixed set of routes.
func NewFront(next http.Handler, o FrontOptions, routes ...Hot) *Front {
	if o.Now == nil {
		o.Observe = nil
	}
	f := &Front{next: next, o: o, exact: make(map[string]*hot)}
	for _, r := range routes {
		h := &hot{Hot: r}
		for name, values := range r.Header {
			h.header = append(h.header, headerLine{http.CanonicalHeaderKey(name), values[:len(values):len(values)]})
		}
		h.header = append(h.header, headerLine{"X-Content-Type-Options", []string{"nosniff"}})
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
	var began time.Time
	if f.o.Observe != nil {
		began = f.o.Now()
	}
	header := w.Header()
	for i := range h.header {
		header[h.header[i].name] = h.header[i].values
	}
	status := p.WriteTo(w, r)
	if f.o.Observe != nil {
		f.o.Observe(r.Method, h.Pattern, status, f.o.Now().Sub(began))
	}
	return true
}
