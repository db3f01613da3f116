package httpx

import (
	"net/http"
)

// CORS is the class of a route for browsers of other origins.
type CORS uint8

// The classes. Credentials are never allowed in any of them.
const (
	None     CORS = iota // no header at all
	Open                 // public read: any origin, GET
	Protocol             // bearer only: any origin, GET, POST and DELETE
)

// One value each, shared by all answers: nothing appends to them.
var (
	corsStar    = []string{"*"}
	corsMaxAge  = []string{"86400"}
	corsExpose  = []string{"Retry-After, WWW-Authenticate, X-Degraded, RateLimit, RateLimit-Policy"}
	corsHeaders = []string{"authorization, content-type, idempotency-key"}
	corsOpen    = []string{"GET, OPTIONS"}
	corsProto   = []string{"GET, POST, DELETE, OPTIONS"}
)

// Headers are the CORS headers of a class, for answers made outside an Router.
// The values are shared and must not be changed.
func (k CORS) Headers() http.Header {
	h := make(http.Header, 5)
	k.set(h)
	return h
}

func (k CORS) set(h http.Header) {
	switch k {
	case Open:
		h["Access-Control-Allow-Methods"] = corsOpen
	case Protocol:
		h["Access-Control-Allow-Methods"] = corsProto
		h["Access-Control-Allow-Headers"] = corsHeaders
	default:
		return
	}
	h["Access-Control-Allow-Origin"] = corsStar
	h["Access-Control-Max-Age"] = corsMaxAge
	h["Access-Control-Expose-Headers"] = corsExpose
}

// cors is the class of one request on a path: the class of its own method.
// A preflight, and a method that the path does not have, get the class of the
// protocol, or of the public read when the method could be one. So a write
// that shares its path with a public read never gets a star.
func (p *path) cors(method string) CORS {
	if p == nil {
		return None
	}
	if k, ok := p.class[method]; ok {
		return k
	}
	if p.proto {
		return Protocol
	}
	if method == http.MethodOptions {
		return p.class[http.MethodGet]
	}
	return None
}

// SameOrigin reports whether a browser sent the request from a page of origin, which is scheme and host of the public pages.
// It compares the Origin header and reads Sec-Fetch-Site if there is none; a request with neither is not from such a page. The
// Host header is not used: the client chooses it, and it has no scheme.
func SameOrigin(r *http.Request, origin string) bool {
	if origins := r.Header["Origin"]; len(origins) > 0 {
		return len(origins) == 1 && origins[0] == origin
	}
	return r.Header.Get("Sec-Fetch-Site") == "same-origin"
}
