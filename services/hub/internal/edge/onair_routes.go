package edge

import (
	"net/http"

	"github.com/signalcast/signalcast/services/hub/internal/grant"
)

// onairRoutes are those of operators who are live.
func (s *server) onairRoutes() []route {
	const get, post, del = http.MethodGet, http.MethodPost, http.MethodDelete
	return []route{
		{method: get, path: "/api/streamer/signal", who: public, cache: cacheLive, handler: s.overlaySignal, empty: emptyOverlay},
		{method: post, path: "/api/streamer/signal", who: author, handler: s.setOverlay, permission: grant.Broadcast},
		{method: del, path: "/api/streamer/signal", who: author, handler: s.clearOverlay, permission: grant.Broadcast},

		{method: post, path: "/api/streamer/heartbeat", who: author, handler: s.heartbeat, permission: grant.Broadcast},
		{method: get, path: "/api/streamers/live", who: public, cache: cacheLive, handler: s.live, empty: emptyLive},
		{method: post, path: "/api/live/:handle/view", who: public, handler: s.view},

		{method: post, path: "/api/streamer/register", who: session, handler: s.registerStreamer},
		{method: get, path: "/api/streamer/me", who: author, cache: cacheNever, handler: s.ownStreamer, permission: grant.Read},
		{method: post, path: "/api/admin/streamers", who: admin, handler: s.approveStreamer},
		{method: get, path: "/api/streamer/stream/state", who: public, cache: cacheLive, handler: s.streamState},

		{method: get, path: "/api/streamer/receipts", who: public, cache: cacheShort, handler: s.receipts, empty: emptyReceipts},
		{method: get, path: "/api/streamer/recap", who: public, cache: cacheShort, handler: s.recap},
		{method: get, path: "/api/streamer/analytics", who: author | admin, cache: cacheNever, handler: s.analytics, permission: grant.Read},
	}
}
