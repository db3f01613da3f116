package edge

import (
	"net/http"

	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
	"github.com/signalcast/signalcast/services/hub/internal/grant"
)

// protocolBase is where programs of others come in. Behind it nothing reads a
// cookie: its routes take app tokens, operator keys and an app's own credentials.
const protocolBase = "/api/protocol/v1"

// Who may call the protocol's routes.
const (
	delegate = caller.TakeToken | caller.TakeKey
	proven   = caller.TakeClient
	client   = caller.TakeClient | caller.TakeNone // a public app has nothing to prove
	owner    = caller.TakeSession
)

// protocolRoutes are those of apps, sign-in, identity and grants.
func (s *server) protocolRoutes() []route {
	const get, post, patch, del = http.MethodGet, http.MethodPost, http.MethodPatch, http.MethodDelete
	const p, proto = protocolBase, web.Protocol
	const authorization, resource = "/.well-known/oauth-authorization-server", "/.well-known/oauth-protected-resource"
	return []route{
		{method: get, path: p, who: public, cors: proto, cache: cacheSpec, handler: s.issuerDocument()},
		{method: get, path: authorization + p, who: public, cors: web.Open, cache: cacheSpec, handler: s.issuerDocument()},
		{method: get, path: resource + p, who: public, cors: web.Open, cache: cacheSpec, handler: s.resourceDocument("")},
		{method: get, path: resource + p + "/mcp", who: public, cors: web.Open, cache: cacheSpec, handler: s.resourceDocument("/mcp")},

		{method: post, path: "/api/dev/apps", who: login, handler: s.registerApp},
		{method: get, path: "/api/dev/apps", who: login, cache: cacheNever, handler: s.listApps},
		{method: patch, path: "/api/dev/apps/:appId", who: login, handler: s.changeApp},
		{method: del, path: "/api/dev/apps/:appId", who: login, handler: s.disableApp},
		{method: post, path: "/api/dev/apps/:appId/secret", who: login, handler: s.renewSecret},
		{method: post, path: "/api/admin/apps/:appId", who: admin, handler: s.trustApp},
		{method: get, path: p + "/apps/:appId", who: public, cors: proto, cache: cacheShort, handler: s.publicApp},

		{method: post, path: p + "/oauth/token", who: client, cors: proto, handler: s.oauth(s.token)},
		{method: post, path: p + "/oauth/revoke", who: client, cors: proto, handler: s.oauth(s.revokeToken)},
		{method: post, path: p + "/oauth/introspect", who: proven, cors: proto, handler: s.oauth(s.introspect)},

		{method: get, path: p + "/me", who: delegate, scope: grant.ProfileRead, cors: proto, cache: cacheNever, handler: s.me},
		{method: get, path: p + "/passports/:id", who: public, cors: proto, cache: cacheShort, handler: s.passport},
		{method: get, path: p + "/grants", who: delegate, cors: proto, cache: cacheNever, handler: s.grantsOfBearer, permission: grant.Read},
		{method: del, path: p + "/grants/:grantId", who: delegate, cors: proto, handler: s.revokeAsBearer, permission: grant.Signal},
		{method: get, path: "/api/user/grants", who: owner, cache: cacheNever, handler: s.grantsOfUser},
		{method: del, path: "/api/user/grants/:grantId", who: owner, handler: s.revokeAsUser},
	}
}
