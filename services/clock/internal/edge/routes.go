package edge

import (
	"net/http"

	"github.com/signalcast/signalcast/pkg/web"
)

// Cache rules of the programme.
const (
	cacheProgram = "public, s-maxage=30, stale-while-revalidate=60"
	cacheEmpty   = "public, s-maxage=1" // of a programme with nothing in it, which is soon filled
	cacheNow     = "public, s-maxage=5" // shortened so that it never passes the next boundary
)

var public = []string{"public"}

// routes is the list of everything that the clock serves. None takes a credential.
func (h *handlers) routes() []web.Route {
	return []web.Route{
		{Method: http.MethodGet, Path: "/program/timeline", Who: public, CORS: web.Open, Cache: cacheProgram, Handler: web.Anonymous(h.timeline), Empty: h.emptyProgram},
		{Method: http.MethodGet, Path: "/program/channel", Who: public, CORS: web.Open, Cache: cacheProgram, Handler: web.Anonymous(h.channel), Empty: h.emptyProgram},
		{Method: http.MethodGet, Path: "/program/now", Who: public, CORS: web.Open, Cache: cacheNow, Handler: web.Anonymous(h.nowOn), Empty: h.emptySegment},
		{Method: http.MethodGet, Path: "/program/next", Who: public, CORS: web.Open, Cache: cacheNow, Handler: web.Anonymous(h.nextOn), Empty: h.emptySegment},
	}
}
