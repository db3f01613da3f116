package httpapi

import (
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/httpcache"
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
	"github.com/signalcast/signalcast/services/hub/internal/grant"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/liveapi"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/mcp"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/oauthapi"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/reads"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/request"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
	"github.com/signalcast/signalcast/services/hub/internal/share"
)

// Cache-Control values of successful responses to GET requests.
const (
	cacheNow     = "public, s-maxage=5"
	cacheShort   = request.CacheShort
	cacheBoard   = "public, s-maxage=60, stale-while-revalidate=300"
	cachePulse   = "public, s-maxage=300"
	cacheProgram = "public, s-maxage=30, stale-while-revalidate=60"
	cacheTapes   = "public, max-age=0, s-maxage=60, stale-while-revalidate=300"
	cacheWire    = "public, s-maxage=30"
	cacheCard    = "public, s-maxage=60"
	cacheLive    = "public, s-maxage=5"
	cacheSpec    = "public, max-age=300"
	cacheNever   = view.CacheNever
)

// adminTimeout is the time limit of admin requests, which can change many markets or calls.
const adminTimeout = 2 * time.Minute

// Sets of credential kinds that routes accept.
const (
	public    = caller.AcceptNone
	reader    = caller.AcceptNone | caller.AcceptSession
	author    = caller.AcceptSession | caller.AcceptKey
	login     = caller.AcceptLogin
	admin     = caller.AcceptAdmin
	scheduler = caller.AcceptAdmin | caller.AcceptCron
)

// route describes one method of one path: its handler, the accepted credentials, and the rules for caches and for browsers of
// other origins.
type route struct {
	method, path string
	who          caller.Accepted
	cors         httpx.CORS
	cache        string                 // Cache-Control of a successful GET; empty: no-store
	empty        func(echo.Context) any // returns the response while a dependency is unavailable; nil: answer with the error
	handler      echo.HandlerFunc
	timeout      time.Duration // time limit of a request; zero: the default of the router; negative: none
	inCall       bool          // the ledger checks the operator key together with the write
	scope        grant.Scope   // scope that an app token or key needs; empty: the handler checks it
	permission   string        // permission that a strict key needs if scope is empty
	resource     string        // resource that an app token must be issued for; empty: the protocol routes
	agents       bool          // MCP endpoint: the permission depends on the tool
	hot          cachedRead    // cached read that Server.front can answer without routing; nil: none
}

// newRoute returns a route. Routes below oauthapi.Base are protocol routes: they ignore cookies, and scripts of any origin may
// call them.
func newRoute(method string, who caller.Accepted, path string, h echo.HandlerFunc) route {
	r := route{method: method, path: path, who: who, handler: h}
	if strings.HasPrefix(path, oauthapi.Base) {
		r.cors = httpx.Protocol
	}
	return r
}

// get returns a GET route that accepts the credential kinds in who. The functions post, patch and del return routes with other
// methods.
func get(who caller.Accepted, path string, h echo.HandlerFunc) route {
	return newRoute(http.MethodGet, who, path, h)
}

func post(who caller.Accepted, path string, h echo.HandlerFunc) route {
	return newRoute(http.MethodPost, who, path, h)
}

func patch(who caller.Accepted, path string, h echo.HandlerFunc) route {
	return newRoute(http.MethodPatch, who, path, h)
}

func del(who caller.Accepted, path string, h echo.HandlerFunc) route {
	return newRoute(http.MethodDelete, who, path, h)
}

// read returns a public GET route. cache is the Cache-Control value of successful responses.
func read(path, cache string, h echo.HandlerFunc) route { return get(public, path, h).cached(cache) }

// open returns a public GET route that scripts of any origin may call (CORS). cache is the Cache-Control value of successful
// responses.
func open(path, cache string, h echo.HandlerFunc) route {
	return read(path, cache, h).openTo(httpx.Open)
}

// openTo sets the CORS class of the route.
func (r route) openTo(class httpx.CORS) route { r.cors = class; return r }

// cached sets the Cache-Control value of successful responses.
func (r route) cached(rule string) route { r.cache = rule; return r }

// orEmpty makes the route respond with 200 and the result of the function empty while a dependency is unavailable. The response
// is marked as degraded.
func (r route) orEmpty(empty func(echo.Context) any) route { r.empty = empty; return r }

// empty returns the zero value of the struct type T with empty slices instead of nil, so that JSON has [] for them.
func empty[T any](echo.Context) any {
	var v T
	for _, member := range reflect.ValueOf(&v).Elem().Fields() {
		if member.Kind() == reflect.Slice {
			member.Set(reflect.MakeSlice(member.Type(), 0, 0))
		}
	}
	return v
}

// cachedRead is a read with cached responses, such as view.Read. Handle serves a request, Book returns the cache, and Key returns
// the cache key of a query string. EmptyFor returns the response while a dependency is unavailable.
type cachedRead interface {
	Handle(echo.Context) error
	Key(rawQuery string) string
	Book() *httpcache.Cache
	EmptyFor(echo.Context) any
}

// fromCache sets the handler of the route. It also lets Server.front respond from the cache of the read, without routing.
func (r route) fromCache(from cachedRead) route { r.handler, r.hot = from.Handle, from; return r }

// fromCacheOrEmpty is like fromCache, for a route that responds with 200 and an empty value while a dependency is unavailable.
func (r route) fromCacheOrEmpty(from cachedRead) route {
	return r.fromCache(from).orEmpty(from.EmptyFor)
}

// within sets the time limit of requests to the route; a negative value means none.
func (r route) within(d time.Duration) route { r.timeout = d; return r }

// checkedInCall leaves the check of an operator key to the ledger, which checks the key together with the write. The hub then
// needs no separate check.
func (r route) checkedInCall() route { r.inCall = true; return r }

// permit sets the permission that an operator key needs. Without a scope, the route requires it only of strict keys.
func (r route) permit(permission string) route { r.permission = permission; return r }

// needs sets the scope that an app token or operator key needs.
func (r route) needs(scope grant.Scope) route { r.scope = scope; return r }

// routes returns all routes of the hub except the HTML pages and the retired routes.
func (s *Server) routes() []route {
	venueA := "/api/" + s.VenueA
	tapes, operators := s.stations.NetworkTapes(), s.stations.NetworkOperators()
	return append(slices.Concat(
		s.protocolRoutes(), s.messageRoutes(), s.accountRoutes(), s.agentRoutes(), s.onairRoutes(), s.videoRoutes(),
		s.moderationRoutes(),
	), []route{
		post(login, "/api/auth/privy", s.settings.SignIn),
		del(public, "/api/auth/privy", s.settings.SignOut),

		post(login, "/api/dev/keys", request.Body(s.settings.MintKey)),
		get(login, "/api/dev/keys", s.settings.ListKeys),
		del(login, "/api/dev/keys", s.settings.RevokeKey),
		get(login, "/api/dev/whoami", s.settings.WhoAmI),

		post(author, "/api/predictions", s.filing.File).checkedInCall().permit(grant.Signal),
		post(author, "/api/signals/:id/events", s.filing.AppendEvent).checkedInCall().permit(grant.Signal),

		read("/api/signals/feed", cacheShort, nil).fromCacheOrEmpty(s.reads.Feed()),
		read("/api/signals/:id", cacheShort, request.BySignal(s.reads.Signal)),
		read("/api/signals/:id/events", cacheShort, request.BySignal(s.reads.Events)),

		read("/api/m/:marketId", cacheShort, request.ByMarket(s.reads.Market)),
		read("/api/m/:marketId/signals", cacheShort, request.ByMarket(s.reads.MarketLedger)).orEmpty(s.reads.EmptyLedger),
		get(reader, "/api/m/:marketId/crowd", request.ByMarket(s.reads.Crowd)).cached(cacheShort).orEmpty(s.reads.EmptyCrowd),

		read("/api/m/:marketId/related", cacheShort, request.ByMarket(s.reads.Related)),
		read("/api/m/:marketId/sentiment", cacheShort, request.ByMarket(s.reads.Sentiment)),
		read("/api/m/:marketId/streams", cacheShort, request.ByMarket(s.live.MarketStreams)).orEmpty(empty[openapi.MarketStreams]),
		post(author, "/api/m/:marketId/streams", request.Body(s.live.BindStream)).permit(grant.Broadcast),
		del(author, "/api/m/:marketId/streams", s.live.UnbindStream).permit(grant.Broadcast),
		read("/api/m/:marketId/clips", cacheShort, request.ByMarket(s.live.MarketClips)).orEmpty(liveapi.EmptyClips),
		open("/api/markets", cacheShort, nil).fromCacheOrEmpty(s.reads.ListMarkets()),
		read("/api/markets/airable", cacheProgram, nil).fromCacheOrEmpty(s.reads.Airable()),

		read("/api/wire", cacheWire, nil).fromCache(s.reads.WireMoves()),
		open("/api/situations", cacheWire, nil).fromCache(s.reads.WireSituations()),
		read("/s/:eventKey", cacheWire, s.reads.EventRedirect),
		open("/api/oracle/featured", cacheProgram, nil).fromCache(s.reads.OracleFeatured()),
		open("/api/fashion/signals", cacheShort, nil).fromCacheOrEmpty(s.reads.Fashion()),

		open("/api/network/market/:marketId", cacheShort, request.ByMarket(s.stations.NetworkMarket)),
		open("/api/network/tapes", cacheTapes, tapes.Handle).orEmpty(tapes.EmptyFor),
		post(public, "/api/network/tapes/:id/view", s.stations.ViewTape),
		open("/api/network/operators", cacheBoard, operators.Handle).orEmpty(operators.EmptyFor),
		open("/api/network/crowd", cacheShort, s.stations.Gaps).orEmpty(s.stations.EmptyGaps),

		open(venueA+"/featured", cacheProgram, nil).fromCache(s.reads.Featured()),
		open(venueA+"/market-history", reads.CacheHistory[protocol.IntervalDay], s.reads.MarketHistory).
			orEmpty(empty[openapi.History]),
		open(venueA+"/history", reads.CacheHistory[protocol.IntervalHour], s.reads.OldHistory).
			orEmpty(empty[openapi.OldHistory]),
		open(venueA+"/markets", cacheShort, s.reads.FindMarkets).orEmpty(empty[openapi.MarketRows]),
		open(venueA+"/market", cacheShort, s.reads.VenueMarket),
		open(venueA+"/resolved", cacheShort, s.reads.Resolved).orEmpty(empty[openapi.ResolvedRows]),

		read("/api/resolution/outcome", cacheShort, s.reads.Outcome),
		read("/api/resolution/markets", cacheShort, s.reads.Natives).orEmpty(empty[openapi.NativeMarkets]),
		post(admin, "/api/resolution/finalize", request.Body(s.admin.Finalize)).within(adminTimeout),
		post(admin, "/api/resolution/dispute", request.Body(s.admin.Dispute)).within(adminTimeout),

		get(scheduler, "/api/admin/resolve-signals", s.admin.Scan).within(adminTimeout),
		post(scheduler, "/api/admin/resolve-signals", s.admin.ResolveSignals).within(adminTimeout),
		post(admin, "/api/admin/markets", request.Body(s.admin.CreateMarket)),
		post(admin, "/api/admin/markets/:marketId", request.Body(s.admin.RateMarket)),
		get(admin, "/api/admin/pins", s.admin.ListPins),
		post(admin, "/api/admin/pins", request.Body(s.admin.Pin)),
		del(admin, "/api/admin/pins", s.admin.Unpin),
		post(admin, "/api/admin/operators", request.Body(s.admin.Classify)),
		post(admin, "/api/admin/clips", request.Body(s.admin.BoostClip)),

		open("/api/operator/:handle/record", cacheNever, request.ByHandle(s.reads.Record)).within(-1),
		read("/api/operator/leaderboard", cacheBoard, nil).fromCacheOrEmpty(s.reads.Board()),
		read("/api/operator/:handle", cacheBoard, request.ByHandle(s.reads.Atom)),
		open("/api/operator/:handle/skill", cacheBoard, request.ByHandle(s.reads.Skill)).within(reads.SkillTimeout + time.Second),
		get(caller.AcceptKey, "/api/network/field-record/me", s.reads.OwnFieldRecord).permit(grant.Read).openTo(httpx.Open),
		open("/api/network/field-record/:handle", cacheBoard, request.ByHandle(s.reads.FieldRecord)),
		open("/api/network/pulse", cachePulse, s.reads.Pulse).within(reads.PulseTimeout + time.Second),

		open("/api/broadcast/program", cacheProgram, nil).fromCache(s.live.BroadcastProgram()),
		open("/api/broadcast/schedule", cacheProgram, nil).fromCache(s.live.Schedule()),
		open("/api/broadcast/spotlight", cacheNow, nil).fromCache(s.live.Spotlight()),
		open("/api/broadcast/feed", cacheShort, nil).fromCache(s.live.BroadcastFeed()),
		open("/api/broadcast/bumpers", cacheProgram, nil).fromCache(s.live.Bumpers()),
		open("/api/broadcast/influence", cacheBoard, nil).fromCache(s.live.Influence()),
		get(admin, "/api/broadcast/preempt", s.admin.Preempts),
		post(admin, "/api/broadcast/preempt", request.Body(s.admin.Preempt)),
		open("/api/network/program", cacheProgram, nil).fromCache(s.live.NetworkProgram()),

		open("/api/embed/operator/:handle", cacheShort, s.embeds.Embedded(share.Operator, "handle")),
		open("/api/embed/market/:marketId", cacheShort, s.embeds.Embedded(share.Market, "marketId")),
		open("/api/embed/signal/:id", cacheShort, s.embeds.Embedded(share.Signal, "id")),
		open("/api/embed/oembed", cacheShort, s.embeds.Oembed),
		open("/api/card/:kind/:id", cacheCard, s.embeds.Card),
		open("/api/c/:code", view.CacheClaimed, s.embeds.Short),

		read("/openapi.json", cacheSpec, servePage(s.description)),
		read("/docs/openapi.json", cacheSpec, servePage(s.description)),
		read("/docs/openapi.yaml", cacheSpec, servePage(s.source)),
		read("/llms.txt", cacheSpec, servePage(s.overview)),
	}...)
}

// retired returns the former channel routes, which answer 410 Gone.
func (s *Server) retired() []route {
	var out []route
	for _, path := range [...]string{"/api/channels", "/api/channels/*", "/api/channel/*"} {
		for _, method := range [...]string{
			http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		} {
			r := route{method: method, path: path, who: public, handler: gone}
			if method == http.MethodGet {
				r.cors = httpx.Open
			}
			out = append(out, r)
		}
	}
	return out
}

// permissionOf returns the permission that an operator key needs on a route. Without a scope, the route requires it only of
// strict keys.
func permissionOf(r route) string {
	if r.scope != "" {
		return grant.PermissionFor(r.scope)
	}
	return r.permission
}

// credentialNames returns the names that the API description uses for credential kinds.
func credentialNames(who caller.Accepted) []string {
	var out []string
	for _, w := range [...]struct {
		take caller.Accepted
		name string
	}{
		{caller.AcceptNone, "public"},
		{caller.AcceptSession, "session"},
		{caller.AcceptKey, "key"},
		{caller.AcceptLogin, "jwt"},
		{caller.AcceptAdmin, "admin"},
		{caller.AcceptCron, "cron"},
		{caller.AcceptToken, "token"},
		{caller.AcceptClient, "client"},
	} {
		if who.Has(w.take) {
			out = append(out, w.name)
		}
	}
	return out
}

// Sets of credential kinds that protocol routes accept.
const (
	delegate           = caller.AcceptToken | caller.AcceptKey
	confidentialClient = caller.AcceptClient
	client             = caller.AcceptClient | caller.AcceptNone // a public app has no secret
)

// protocolRoutes returns the routes of apps, tokens, passports and grants.
func (s *Server) protocolRoutes() []route {
	const p = oauthapi.Base
	const authorization, resource = "/.well-known/oauth-authorization-server", "/.well-known/oauth-protected-resource"
	return []route{
		read(p, cacheSpec, s.oauth.IssuerDocument()),
		open(authorization+p, cacheSpec, s.oauth.IssuerDocument()),
		open(resource+p, cacheSpec, s.oauth.ResourceDocument("", grant.AllScopes())),
		open(resource+p+"/mcp", cacheSpec, s.oauth.ResourceDocument("/mcp", toolScopes(s.tools()))),

		post(login, "/api/dev/apps", request.Body(s.oauth.RegisterApp)),
		get(login, "/api/dev/apps", s.oauth.ListApps),
		patch(login, "/api/dev/apps/:appId", request.Body(s.oauth.ChangeApp)),
		del(login, "/api/dev/apps/:appId", s.oauth.DisableApp),
		post(login, "/api/dev/apps/:appId/secret", request.OptBody(s.oauth.RenewSecret)),
		post(admin, "/api/admin/apps/:appId", request.Body(s.oauth.TrustApp)),
		read(p+"/apps/:appId", cacheShort, s.oauth.PublicApp),

		post(client, p+"/oauth/token", s.oauth.Oauth(s.oauth.Token)),
		post(client, p+"/oauth/revoke", s.oauth.Oauth(s.oauth.RevokeToken)),
		post(confidentialClient, p+"/oauth/introspect", s.oauth.Oauth(s.oauth.Introspect)),

		get(delegate, p+"/me", s.oauth.Me).needs(grant.ProfileRead),
		read(p+"/passports/:id", cacheShort, s.oauth.Passport),
		get(delegate, p+"/grants", s.oauth.ListGrants).permit(grant.Read),
		del(delegate, p+"/grants/:grantId", s.oauth.RevokeGrant).permit(grant.Signal),
		get(session, "/api/user/grants", s.oauth.ListGrants),
		del(session, "/api/user/grants/:grantId", s.oauth.RevokeGrant),
	}
}

// sender is the set of credential kinds on the route for signed messages. A bearer credential is optional there.
const sender = caller.AcceptNone | delegate

// messageRoutes returns the routes of signers, signed messages and attested calls.
func (s *Server) messageRoutes() []route {
	const p = oauthapi.Base
	return []route{
		read(p+"/keys", cacheSpec, s.messages.HubKeys),
		read(p+"/schemas/:type", cacheSpec, s.messages.PayloadSchema),

		post(delegate, p+"/signers/challenge", s.messages.ChallengeSigner).needs(grant.SignerCreate),
		post(delegate, p+"/signers", s.messages.RegisterSigner).needs(grant.SignerCreate),
		get(public, p+"/signers", s.messages.ListSigners),
		get(public, p+"/signers/:publicKey", s.messages.Signer),
		del(delegate, p+"/signers/:publicKey", s.messages.RevokeSigner).permit(grant.Signal),
		del(session, "/api/user/signers/:publicKey", s.messages.RevokeSigner),

		post(sender, p+"/messages", s.messages.SubmitMessage).permit(grant.Signal),
		post(public, p+"/messages/verify", s.messages.VerifyMessage),
		read(p+"/messages", cacheShort, s.messages.ListMessages),
		read(p+"/messages/:id", cacheShort, s.messages.Message),

		post(delegate, p+"/predictions", s.filing.CreatePrediction).needs(grant.PredictionCreate),
		post(delegate, p+"/signals", s.filing.CreateSignal).needs(grant.SignalCreate),
	}
}

const session = caller.AcceptSession

// accountRoutes returns the routes of follows, notifications, identity claims, payouts, profiles and the daily digest.
func (s *Server) accountRoutes() []route {
	return []route{
		get(reader, "/api/user/follow", request.ByHandleQuery(s.settings.FollowCounts)).cached(cacheBoard),
		post(session, "/api/user/follow", request.Body(s.settings.Follow)),
		del(session, "/api/user/follow", s.settings.Unfollow),

		get(author, "/api/user/notifications", s.settings.ListNotifications).permit(grant.Read),
		post(author, "/api/user/notifications/read", request.Body(s.settings.MarkNotificationsRead)).permit(grant.Read),

		get(session, "/api/identity/claim", s.settings.ListClaims),
		post(session, "/api/identity/claim", s.settings.ClaimIdentity),
		del(session, "/api/identity/claim", s.settings.DropClaim),

		open("/api/network/identity/:handle", cacheBoard, request.ByHandle(s.stations.NetworkIdentity)),
		open("/api/network/payout/:handle", cacheBoard, s.stations.NetworkPayout),

		read("/api/streamer/profile", cacheShort, request.ByHandleQuery(s.settings.Profile)),
		post(author, "/api/streamer/profile", request.Body(s.settings.ChangeProfile)).permit(grant.Broadcast),

		post(scheduler, "/api/admin/daily-digest", s.admin.DailyDigest).within(adminTimeout),
	}
}

// onairRoutes returns the routes of live broadcasts, their overlays and their statistics.
func (s *Server) onairRoutes() []route {
	return []route{
		read("/api/streamer/signal", cacheLive, request.ByHandleQuery(s.live.OverlaySignal)).orEmpty(empty[openapi.NoOverlay]),
		post(author, "/api/streamer/signal", request.Body(s.live.SetOverlay)).permit(grant.Broadcast),
		del(author, "/api/streamer/signal", s.live.ClearOverlay).permit(grant.Broadcast),

		post(author, "/api/streamer/heartbeat", request.OptBody(s.live.Heartbeat)).permit(grant.Broadcast),
		read("/api/streamers/live", cacheLive, s.live.Live).orEmpty(empty[openapi.LiveList]),
		post(public, "/api/live/:handle/view", request.OptBody(s.live.View)),

		post(session, "/api/streamer/register", request.OptBody(s.settings.RegisterStreamer)),
		get(author, "/api/streamer/me", s.live.OwnStreamer).permit(grant.Read),
		post(admin, "/api/admin/streamers", request.Body(s.admin.ApproveStreamer)),
		read("/api/streamer/stream/state", cacheLive, request.ByHandleQuery(s.live.StreamState)),

		read("/api/streamer/receipts", cacheShort, request.ByHandleQuery(s.live.Receipts)).orEmpty(liveapi.EmptyReceipts),
		read("/api/streamer/recap", cacheShort, request.ByHandleQuery(s.live.Recap)),
		get(author|admin, "/api/streamer/analytics", s.live.Analytics).permit(grant.Read),
	}
}

// videoRoutes returns the routes that provision streams and create clips.
func (s *Server) videoRoutes() []route {
	return []route{
		post(login, "/api/streamer/stream", request.OptBody(s.live.ProvisionStream)),
		post(session, "/api/live/:handle/clip", request.ByHandle(s.live.MakeClip)),
	}
}

// moderationRoutes returns the routes of reports and moderation decisions.
func (s *Server) moderationRoutes() []route {
	return []route{
		get(admin, "/api/admin/moderation", s.admin.Moderated),
		post(admin, "/api/admin/moderation", request.Body(s.admin.Moderate)),
		post(author, "/api/reports", request.Body(s.admin.Report)).permit(grant.Signal),
	}
}

// agentRoutes returns the two MCP endpoints: one for operator keys and one for app tokens.
func (s *Server) agentRoutes() []route {
	keys := post(caller.AcceptNone|caller.AcceptKey, mcp.Path, s.mcp.Message)
	tokens := post(caller.AcceptNone|caller.AcceptToken, oauthapi.Base+mcp.Part, s.mcp.Message)
	keys.agents, tokens.agents, tokens.resource = true, true, s.HubURL+oauthapi.Base+mcp.Part
	return []route{keys, tokens}
}

// errGone is the error of all retired routes.
var errGone = apperr.New(apperr.Gone, "gone",
	"channels were replaced by stations; use /api/v1/stations").With("successor", "/api/v1/stations")

func gone(echo.Context) error { return errGone }
