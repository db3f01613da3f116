package httpcache

import (
	"net/http"
	"strings"
)

// Hot is a route whose cached pages a Handler serves.
type Hot struct {
	// Pattern is the path of the route. At most one of its segments may be a parameter, written "*".
	Pattern string
	// Cache and Key must be those of the route's own handler. Key returns the cache key for the parameter and the raw
	// query. If Key returns false, the next handler answers the request.
	Cache *Cache
	Key   func(param, rawQuery string) (string, bool)
	// Header contains the headers of every response, such as those for CORS and Cache-Control.
	Header http.Header
}

// HandlerOptions configure a Handler. All fields may be nil.
type HandlerOptions struct {
	// Allow reports whether the caller may be answered, and may set response headers. If Allow returns false, the next
	// handler answers and sends the error.
	Allow func(http.ResponseWriter, *http.Request) bool
	// Count is called once per method, route and status by NewHandler, and returns a function that is called for each
	// such response. Responses take microseconds and are not timed, because two clock readings would cost a tenth of
	// that.
	Count func(method, route string, status int) func()
}

// Handler answers requests for hot routes from the cache. It passes all other requests to the next handler. These are cache
// misses, writes, and requests with a credential, whose limits and rights only the router checks.
type Handler struct {
	next  http.Handler
	o     HandlerOptions
	exact map[string]*hot
	param []*hot
}

// hot is a Hot with precomputed values. Its header is a list, which is faster to copy than a map.
type hot struct {
	Hot
	before, after string
	header        []headerLine
	count         [2][2]func() // index: GET or HEAD; status 200 or 304
}

type headerLine struct {
	name   string
	values []string
}

// NewHandler returns a Handler for a fixed set of routes. next handles all requests that the Handler does not answer.
func NewHandler(next http.Handler, o HandlerOptions, routes ...Hot) *Handler {
	if o.Count == nil {
		o.Count = func(string, string, int) func() { return func() {} }
	}
	f := &Handler{next: next, o: o, exact: make(map[string]*hot)}
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
func (f *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if (r.Method == http.MethodGet || r.Method == http.MethodHead) && r.URL.RawPath == "" &&
		r.Header["Authorization"] == nil && r.Header["Cookie"] == nil {
		if h, param := f.find(r.URL.Path); h != nil && f.answer(w, r, h, param) {
			return
		}
	}
	f.next.ServeHTTP(w, r)
}

func (f *Handler) find(path string) (*hot, string) {
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

// answer writes the cached page and returns true. It returns false and writes no body if h.Key rejects the query, no
// page is cached, or Allow returns false.
func (f *Handler) answer(w http.ResponseWriter, r *http.Request, h *hot, param string) bool {
	key, ok := h.Key(param, r.URL.RawQuery)
	if !ok {
		return false
	}
	p := h.Cache.Peek(key)
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
