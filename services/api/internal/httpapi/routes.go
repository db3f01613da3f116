package httpapi

import (
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/services/api/internal/webhook"
)

// Values of the header Cache-Control for successful reads.
const (
	cacheBoard    = "public, s-maxage=60, stale-while-revalidate=300"
	cacheFeed     = "public, no-cache" // caches must revalidate each time
	cacheAura     = "public, s-maxage=30"
	cacheStations = "public, s-maxage=10"
	cacheCalls    = "public, s-maxage=10"
	cacheOne      = "public, s-maxage=30, stale-while-revalidate=60"
)

// Kinds of callers of a route. A credential of a kind that a route does not list is rejected, except on public GET routes, which
// accept every valid credential.
const (
	public = "public"
	key    = "key"
	login  = "jwt"
	admin  = "admin"
)

// Permissions of operator keys that routes of this package require.
const (
	read      = "read"
	broadcast = "broadcast"
)

// noLimit is the timeout of a route whose connections stay open. It means that there is no time limit.
const noLimit = -1

// routes returns the public routes of the api, including the retired ones.
func (s *Server) routes() []httpx.Route {
	const get, post = http.MethodGet, http.MethodPost
	return append([]httpx.Route{
		{Method: get, Path: "/api/v1/feed", Who: []string{public}, CORS: httpx.Open, Cache: cacheFeed, Handler: s.readers.Read(s.feed), Empty: emptyFeed},
		{Method: get, Path: "/api/v1/feed/stream", Who: []string{public}, CORS: httpx.Open, Handler: s.readers.Read(s.sockets.stream), Timeout: noLimit},
		{Method: get, Path: "/api/v1/signals/leaderboard", Who: []string{public}, CORS: httpx.Open, Cache: cacheBoard, Handler: s.readers.Read(s.board), Empty: s.emptyBoard},
		{Method: get, Path: "/api/v1/signals/external", Who: []string{public}, CORS: httpx.Open, Cache: cacheAura, Handler: s.readers.Read(s.top("external", s.showExternal)), Empty: s.emptyExternal},
		{Method: get, Path: "/api/v1/oracle/markets/:marketId", Who: []string{public}, CORS: httpx.Open, Cache: cacheOne, Handler: s.readers.Read(s.oracleMarket)},
		{Method: get, Path: "/api/aura/score", Who: []string{public}, CORS: httpx.Open, Cache: cacheAura, Handler: s.readers.Read(s.score)},
		{Method: get, Path: "/api/aura/top", Who: []string{public}, CORS: httpx.Open, Cache: cacheAura, Handler: s.readers.Read(s.top("top", showTop)), Empty: s.emptyTop},
		{Method: get, Path: "/api/aura/history", Who: []string{public}, CORS: httpx.Open, Cache: cacheAura, Handler: s.readers.Read(s.attentionHistory), EmptyFor: emptyHistory},
		{Method: get, Path: "/api/v1/signals", Who: []string{public}, CORS: httpx.Open, Cache: cacheCalls, Handler: s.readers.Read(s.calls), Empty: emptyCalls},
		{Method: get, Path: "/api/v1/signals/categories", Who: []string{public}, CORS: httpx.Open, Cache: cacheBoard, Handler: s.readers.Read(s.categories), Empty: s.emptyCategories},
		{Method: post, Path: "/api/v1/signals/categorize", Who: []string{key}, Permission: read, Handler: s.withKey(read, s.categorise)},
		{Method: http.MethodPut, Path: "/api/v1/markets/:marketId/lane", Who: []string{admin}, Handler: s.ruleLane},
		{Method: get, Path: "/api/v1/users/me", Who: []string{key}, Permission: read, Handler: s.withKey(read, s.userMe)},
		{Method: get, Path: "/api/v1/users/:handle/signals", Who: []string{key, admin}, Permission: read, Handler: s.userSignals},
		{Method: get, Path: "/api/v1/users/:handle/stats", Who: []string{key, admin}, Permission: read, Handler: s.userStats},
		{Method: post, Path: "/api/v1/agent/keys", Who: []string{login}, Handler: s.mintKey},
		{Method: post, Path: "/api/v1/webhooks", Who: []string{key}, Permission: read, Handler: s.withKey(read, s.registerWebhook)},
		{Method: get, Path: "/api/v1/webhooks", Who: []string{key}, Permission: read, Handler: s.withKey(read, s.listWebhooks)},
		{Method: get, Path: "/api/v1/webhooks/:id", Who: []string{key}, Permission: read, Handler: s.withKey(read, s.oneWebhook)},
		{Method: http.MethodPatch, Path: "/api/v1/webhooks/:id", Who: []string{key}, Permission: read, Handler: s.withKey(read, s.changeWebhook)},
		{Method: http.MethodDelete, Path: "/api/v1/webhooks/:id", Who: []string{key}, Permission: read, Handler: s.withKey(read, s.deleteWebhook)},
		{Method: post, Path: "/api/v1/webhooks/:id/test", Who: []string{key}, Permission: read, Handler: s.withKey(read, s.testWebhook), Timeout: webhook.AnswerWithin + 2*time.Second},
		{Method: post, Path: "/api/v1/webhooks/:id/secret", Who: []string{key}, Permission: read, Handler: s.withKey(read, s.renewWebhook)},
		{Method: get, Path: "/api/v1/webhooks/:id/deliveries", Who: []string{key}, Permission: read, Handler: s.withKey(read, s.listDeliveries)},
		{Method: post, Path: "/api/v1/webhooks/:id/deliveries/:deliveryId/resend", Who: []string{key}, Permission: read, Handler: s.withKey(read, s.resendDelivery)},
		{Method: get, Path: "/api/v1/stations", Who: []string{public}, CORS: httpx.Open, Cache: cacheStations, Handler: s.readers.Read(s.listStations), Empty: emptyStations},
		{Method: get, Path: "/api/v1/stations/:stationId", Who: []string{public}, CORS: httpx.Open, Cache: cacheStations, Handler: s.readers.Read(s.oneStation)},
		{Method: get, Path: "/api/v1/stations/:stationId/program", Who: []string{public}, CORS: httpx.Open, Cache: cacheOne, Handler: s.readers.Read(s.stationProgram)},
		{Method: post, Path: "/api/v1/stations", Who: []string{key}, Permission: broadcast, Handler: s.withKey(broadcast, s.createStation)},
		{Method: http.MethodPut, Path: "/api/v1/stations/:stationId", Who: []string{key}, Permission: broadcast, Handler: s.withKey(broadcast, s.changeStation)},
		{Method: http.MethodDelete, Path: "/api/v1/stations/:stationId", Who: []string{key, admin}, Permission: broadcast, Handler: s.dropStation},
		{Method: post, Path: "/api/v1/stations/:stationId/heartbeat", Who: []string{key}, Permission: broadcast, Handler: s.withKey(broadcast, s.beatStation)},
		{Method: post, Path: "/api/v1/stations/:stationId/status", Who: []string{admin}, Handler: s.ruleStation},
		{Method: get, Path: "/ws", Who: []string{public, key}, Permission: read, Handler: s.socket, Timeout: noLimit},
	}, retired()...)
}

// errGone is the error of every retired route.
var errGone = apperr.New(apperr.Gone, "gone",
	"channels were replaced by stations; use /api/v1/stations").With("successor", "/api/v1/stations")

// retired returns the routes of an earlier version of the protocol. They return 410 (Gone).
func retired() []httpx.Route {
	var out []httpx.Route
	for _, path := range [...]string{"/api/v1/channels", "/api/v1/channels/*"} {
		for _, method := range [...]string{
			http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		} {
			r := httpx.Route{Method: method, Path: path, Who: []string{public}, Handler: func(echo.Context) error { return errGone }}
			if method == http.MethodGet {
				r.CORS = httpx.Open
			}
			out = append(out, r)
		}
	}
	return out
}
