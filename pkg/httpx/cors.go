package httpx

import (
	"net/http"
)

// CORS is the class of a route: it determines the CORS headers of its responses.
type CORS uint8

// CORS classes of routes. No class allows credentials.
const (
	None     CORS = iota // no CORS headers
	Open                 // read: any origin may send GET, also with a bearer credential
	Protocol             // protocol routes with a bearer key: any origin may send GET, POST and DELETE
)

// Values of CORS headers. All responses share them, so no code may append to them.
var (
	corsStar    = []string{"*"}
	corsMaxAge  = []string{"86400"}
	corsExpose  = []string{"Retry-After, WWW-Authenticate, X-Degraded, RateLimit, RateLimit-Policy, X-Ignored"}
	corsHeaders = []string{"authorization, content-type, idempotency-key"}
	corsBearer  = []string{"authorization"}
	corsOpen    = []string{"GET, OPTIONS"}
	corsProto   = []string{"GET, POST, DELETE, OPTIONS"}
)

// Headers returns the CORS headers of a class, for responses that do not pass through a Router. The caller must not
// change the values.
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

// setPreflight sets the CORS headers of a response to OPTIONS. Only this response lists the headers that a script may send.
func (k CORS) setPreflight(h http.Header) {
	k.set(h)
	if k == Open {
		h["Access-Control-Allow-Headers"] = corsBearer
	}
}

// cors returns the CORS class for a request with the given method. For a method that has a route, it is the class of that route.
// A preflight request, or a method that the path does not have, gets Protocol if any route of the path is a protocol route.
// Otherwise a preflight gets the class of GET, and any other method gets None.
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

// SameOrigin reports whether a browser sent r from a page of origin (scheme and host of the public pages). r must have exactly
// one Origin header with this value. Without an Origin header, it must have Sec-Fetch-Site: same-origin. SameOrigin does not use
// the Host header, because the client chooses it and it has no scheme.
func SameOrigin(r *http.Request, origin string) bool {
	if origins := r.Header["Origin"]; len(origins) > 0 {
		return len(origins) == 1 && origins[0] == origin
	}
	return r.Header.Get("Sec-Fetch-Site") == "same-origin"
}
