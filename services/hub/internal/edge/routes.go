package edge

import (
	"net/http"
	"slices"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
	"github.com/signalcast/signalcast/services/hub/internal/grant"
	"github.com/signalcast/signalcast/services/hub/internal/market"
	"github.com/signalcast/signalcast/services/hub/internal/share"
)

// Cache rules of successful reads.
const (
	cacheNow     = "public, s-maxage=5"
	cacheShort   = "public, s-maxage=10"
	cacheClaimed = "public, s-maxage=300"
	cacheBoard   = "public, s-maxage=60, stale-while-revalidate=300"
	cachePulse   = "public, s-maxage=300"
	cacheProgram = "public, s-maxage=30, stale-while-revalidate=60"
	cacheTapes   = "public, max-age=0, s-maxage=60, stale-while-revalidate=300"
	cacheWire    = "public, s-maxage=30"
	cacheEmpty   = "public, s-maxage=1" // of a programme with nothing in it, which is soon filled
	cacheCard    = "public, s-maxage=60"
	cacheLive    = "public, s-maxage=5"
	cacheSpec    = "public, max-age=300"
	cachePrivate = "private, no-store"
	cacheNever   = "no-store"
)

// cacheHistory is how long caches keep a history, by its interval.
var cacheHistory = map[market.Interval]string{
	market.Hour: "public, s-maxage=30",
	market.Day:  "public, s-maxage=60",
	market.Week: "public, s-maxage=300",
	market.All:  "public, s-maxage=900",
}

// longAct is the time of acts that work through many markets or signals.
const longAct = 2 * time.Minute

// Who may call. A credential of a kind that a route does not take is refused.
const (
	public    = caller.TakeNone
	reader    = caller.TakeNone | caller.TakeSession
	author    = caller.TakeSession | caller.TakeKey
	login     = caller.TakeLogin
	admin     = caller.TakeAdmin
	scheduler = caller.TakeAdmin | caller.TakeCron
)

// route is one line of the table.
type route struct {
	method, path string
	who          caller.Take
	cors         web.CORS
	cache        string // of a successful GET
	empty        func(echo.Context) any
	handler      echo.HandlerFunc
	timeout      time.Duration // zero: the edge's own
	inCall       bool          // the ledger checks the key inside the act
	scope        grant.Scope   // what app tokens and keys need; empty: the handler checks it
	permission   string        // what a strict key needs where scope is empty
	resource     string        // what app tokens have to be for; empty: the protocol's own routes
	agents       bool          // takes the messages of agents: each tool says what it needs
}

// routes is the whole public face of the hub but for its pages.
func (s *server) routes() []route {
	const get, post, del = http.MethodGet, http.MethodPost, http.MethodDelete
	venueA := "/api/" + s.VenueA
	return append(slices.Concat(s.protocolRoutes(), s.messageRoutes(), s.accountRoutes(), s.agentRoutes(), s.onairRoutes(), s.videoRoutes(), s.moderationRoutes()), []route{
		{method: post, path: "/api/auth/privy", who: login, handler: s.signIn},
		{method: del, path: "/api/auth/privy", who: public, handler: s.signOut},

		{method: post, path: "/api/dev/keys", who: login, handler: s.mintKey},
		{method: get, path: "/api/dev/keys", who: login, cache: cacheNever, handler: s.listKeys},
		{method: del, path: "/api/dev/keys", who: login, handler: s.revokeKey},
		{method: get, path: "/api/dev/whoami", who: login, cache: cacheNever, handler: s.whoAmI},

		{method: post, path: "/api/predictions", who: author, handler: s.file, inCall: true, permission: grant.Signal},
		{method: post, path: "/api/signals/:id/events", who: author, handler: s.appendEvent, inCall: true, permission: grant.Signal},

		{method: get, path: "/api/signals/feed", who: public, cache: cacheShort, handler: s.feed, empty: s.emptyFeed},
		{method: get, path: "/api/signals/:id", who: public, cache: cacheShort, handler: s.signal},
		{method: get, path: "/api/signals/:id/events", who: public, cache: cacheShort, handler: s.events},

		{method: get, path: "/api/m/:marketId", who: public, cache: cacheShort, handler: s.market},
		{method: get, path: "/api/m/:marketId/signals", who: public, cache: cacheShort, handler: s.marketLedger, empty: s.emptyLedger},
		{method: get, path: "/api/m/:marketId/crowd", who: reader, cache: cacheShort, handler: s.crowd, empty: s.emptyCrowd},

		{method: get, path: "/api/m/:marketId/related", who: public, cache: cacheShort, handler: s.related},
		{method: get, path: "/api/m/:marketId/sentiment", who: public, cache: cacheShort, handler: s.sentiment},
		{method: get, path: "/api/m/:marketId/streams", who: public, cache: cacheShort, handler: s.marketStreams, empty: emptyStreams},
		{method: post, path: "/api/m/:marketId/streams", who: author, handler: s.bindStream, permission: grant.Broadcast},
		{method: del, path: "/api/m/:marketId/streams", who: author, handler: s.unbindStream, permission: grant.Broadcast},
		{method: get, path: "/api/m/:marketId/clips", who: public, cache: cacheShort, handler: s.marketClips, empty: emptyClips},
		{method: get, path: "/api/markets/airable", who: public, cache: cacheProgram, handler: s.airable, empty: s.emptyAirable},

		{method: get, path: "/api/wire", who: public, cache: cacheWire, handler: s.wireMoves},
		{method: get, path: "/api/situations", who: public, cors: web.Open, cache: cacheWire, handler: s.wireSituations},
		{method: get, path: "/s/:eventKey", who: public, cache: cacheWire, handler: s.story},
		{method: get, path: "/api/oracle/featured", who: public, cors: web.Open, cache: cacheProgram, handler: s.oracleFeatured},
		{method: get, path: "/api/fashion/signals", who: public, cors: web.Open, cache: cacheShort, handler: s.fashion, empty: s.emptyFashion},

		{method: get, path: "/api/network/market/:marketId", who: public, cors: web.Open, cache: cacheShort, handler: s.networkMarket},
		{method: get, path: "/api/network/tapes", who: public, cors: web.Open, cache: cacheTapes, handler: s.networkTapes, empty: s.emptyTapes},
		{method: post, path: "/api/network/tapes/:id/view", who: public, handler: s.viewTape},
		{method: get, path: "/api/network/operators", who: public, cors: web.Open, cache: cacheBoard, handler: s.networkOperators, empty: s.emptyNetwork},
		{method: get, path: "/api/network/crowd", who: public, cors: web.Open, cache: cacheShort, handler: s.gaps, empty: s.emptyGaps},

		{method: get, path: venueA + "/featured", who: public, cors: web.Open, cache: cacheProgram, handler: s.featured},
		{method: get, path: venueA + "/market-history", who: public, cors: web.Open, cache: cacheHistory[market.Day], handler: s.marketHistory, empty: emptyHistory},
		{method: get, path: venueA + "/history", who: public, cors: web.Open, cache: cacheHistory[market.Hour], handler: s.oldHistory, empty: emptyOldHistory},
		{method: get, path: venueA + "/markets", who: public, cors: web.Open, cache: cacheShort, handler: s.findMarkets, empty: emptyRows},
		{method: get, path: venueA + "/market", who: public, cors: web.Open, cache: cacheShort, handler: s.venueMarket},
		{method: get, path: venueA + "/resolved", who: public, cors: web.Open, cache: cacheShort, handler: s.resolved, empty: emptyResolved},

		{method: get, path: "/api/resolution/outcome", who: public, cache: cacheShort, handler: s.outcome},
		{method: get, path: "/api/resolution/markets", who: public, cache: cacheShort, handler: s.natives, empty: s.emptyNatives},
		{method: post, path: "/api/resolution/finalize", who: admin, handler: s.finalize, timeout: longAct},
		{method: post, path: "/api/resolution/dispute", who: admin, handler: s.dispute, timeout: longAct},

		{method: get, path: "/api/admin/resolve-signals", who: scheduler, cache: cacheNever, handler: s.scan, timeout: longAct},
		{method: post, path: "/api/admin/resolve-signals", who: scheduler, handler: s.resolveSignals, timeout: longAct},
		{method: post, path: "/api/admin/markets", who: admin, handler: s.createMarket},
		{method: post, path: "/api/admin/markets/:marketId", who: admin, handler: s.rateMarket},
		{method: get, path: "/api/admin/pins", who: admin, cache: cacheNever, handler: s.listPins},
		{method: post, path: "/api/admin/pins", who: admin, handler: s.pin},
		{method: del, path: "/api/admin/pins", who: admin, handler: s.unpin},
		{method: post, path: "/api/admin/operators", who: admin, handler: s.classify},

		{method: get, path: "/api/operator/:handle/record", who: public, cors: web.Open, cache: cacheNever, handler: s.record, timeout: -1},
		{method: get, path: "/api/operator/leaderboard", who: public, cache: cacheBoard, handler: s.board, empty: s.emptyBoard},
		{method: get, path: "/api/operator/:handle", who: public, cache: cacheBoard, handler: s.atom},
		{method: get, path: "/api/operator/:handle/skill", who: public, cors: web.Open, cache: cacheBoard, handler: s.skill, timeout: skillTimeout + time.Second},
		{method: get, path: "/api/network/field-record/me", who: caller.TakeKey, cache: cacheNever, handler: s.ownFieldRecord, permission: grant.Read},
		{method: get, path: "/api/network/field-record/:handle", who: public, cors: web.Open, cache: cacheBoard, handler: s.fieldRecord},
		{method: get, path: "/api/network/pulse", who: public, cors: web.Open, cache: cachePulse, handler: s.pulse, timeout: pulseTimeout + time.Second},

		{method: get, path: "/api/broadcast/program", who: public, cors: web.Open, cache: cacheProgram, handler: s.broadcastProgram},
		{method: get, path: "/api/broadcast/schedule", who: public, cors: web.Open, cache: cacheProgram, handler: s.schedule},
		{method: get, path: "/api/broadcast/spotlight", who: public, cors: web.Open, cache: cacheNow, handler: s.spotlight},
		{method: get, path: "/api/broadcast/feed", who: public, cors: web.Open, cache: cacheShort, handler: s.broadcastFeed},
		{method: get, path: "/api/broadcast/bumpers", who: public, cors: web.Open, cache: cacheProgram, handler: s.bumpers},
		{method: get, path: "/api/broadcast/influence", who: public, cors: web.Open, cache: cacheBoard, handler: s.influence},
		{method: get, path: "/api/broadcast/preempt", who: admin, cache: cacheNever, handler: s.preempts},
		{method: post, path: "/api/broadcast/preempt", who: admin, handler: s.preempt},
		{method: get, path: "/api/network/program", who: public, cors: web.Open, cache: cacheProgram, handler: s.networkProgram},

		{method: get, path: "/api/embed/operator/:handle", who: public, cors: web.Open, cache: cacheShort, handler: s.embedded(share.Operator, "handle")},
		{method: get, path: "/api/embed/market/:marketId", who: public, cors: web.Open, cache: cacheShort, handler: s.embedded(share.Market, "marketId")},
		{method: get, path: "/api/embed/signal/:id", who: public, cors: web.Open, cache: cacheShort, handler: s.embedded(share.Signal, "id")},
		{method: get, path: "/api/embed/oembed", who: public, cors: web.Open, cache: cacheShort, handler: s.oembed},
		{method: get, path: "/api/card/:kind/:id", who: public, cors: web.Open, cache: cacheCard, handler: s.card},
		{method: get, path: "/api/c/:code", who: public, cors: web.Open, cache: cacheClaimed, handler: s.short},

		{method: get, path: "/openapi.json", who: public, cache: cacheSpec, handler: readyMade(s.description)},
		{method: get, path: "/docs/openapi.json", who: public, cache: cacheSpec, handler: readyMade(s.description)},
		{method: get, path: "/docs/openapi.yaml", who: public, cache: cacheSpec, handler: readyMade(s.source)},
		{method: get, path: "/llms.txt", who: public, cache: cacheSpec, handler: readyMade(s.overview)},
	}...)
}

// retired lists the routes of an older age, gone with every method.
func (s *server) retired() []route {
	var out []route
	for _, path := range [...]string{"/api/channels", "/api/channels/*", "/api/channel/*"} {
		for _, method := range [...]string{
			http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		} {
			r := route{method: method, path: path, who: public, handler: gone}
			if method == http.MethodGet {
				r.cors = web.Open
			}
			out = append(out, r)
		}
	}
	return out
}

// permissionOf is what a strict key needs on a route.
func permissionOf(r route) string {
	if r.scope != "" {
		return grant.PermissionFor(r.scope)
	}
	return r.permission
}

// words names a Take for people and for the comparison with the description.
func words(who caller.Take) []string {
	var out []string
	for _, w := range [...]struct {
		take caller.Take
		name string
	}{
		{caller.TakeNone, "public"},
		{caller.TakeSession, "session"},
		{caller.TakeKey, "key"},
		{caller.TakeLogin, "jwt"},
		{caller.TakeAdmin, "admin"},
		{caller.TakeCron, "cron"},
		{caller.TakeToken, "token"},
		{caller.TakeClient, "client"},
	} {
		if who.Has(w.take) {
			out = append(out, w.name)
		}
	}
	return out
}
