package access

import (
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalcast/signalcast/test/system/openapi"
	"github.com/signalcast/signalcast/test/system/stack"
)

// object is a placeholder in ownedRoute. Requests contain the name of the object instead.
const object = "*"

// ownedRoute is a route that reads or changes an object that a person owns.
type ownedRoute struct {
	operation string // "METHOD /path" in the OpenAPI document
	as        string // kind of credential that the owner uses
	id        string // id of the object; empty if the request names none
	path      string // path with placeholders for the object; empty: the path of the operation
	body      stack.JSON
	form      url.Values

	api       bool // the api serves the route, not the hub
	reads     bool // the route shows objects of the caller
	self      bool // the route acts on the caller's own objects, so it may succeed for any caller
	skipOwner bool // the test does not call the route as the owner, because the call would end objects that later routes need
	byAdmin   bool // an administrator may call the route
}

// ownedRoutes returns the routes in an order in which the owner can call all of them successfully.
func ownedRoutes(w *stack.Owner) []ownedRoute {
	const p = stack.ProtocolPath
	webhook := func(method, rest string, body stack.JSON) ownedRoute {
		path := webhooksPath + "/" + object + rest
		name := method + " " + webhooksPath + "/{id}" + rest
		return ownedRoute{operation: name, as: "key", id: w.Webhook, path: path, body: body, api: true}
	}
	station := func(method, rest string, body stack.JSON) ownedRoute {
		path := stationsPath + "/" + object + rest
		name := method + " " + stationsPath + "/{stationId}" + rest
		return ownedRoute{operation: name, as: "key", id: w.Station, path: path, body: body, api: true}
	}
	byAdmin := func(r ownedRoute, as string) ownedRoute {
		r.byAdmin, r.as = true, as
		return r
	}
	session := func(operation, id string, r ownedRoute) ownedRoute {
		r.operation, r.as, r.id, r.self = operation, "session", id, true
		return r
	}
	developer := func(path, id string, form url.Values) ownedRoute {
		return ownedRoute{operation: "POST /dev" + path, as: "developer", id: id, form: form, skipOwner: true}
	}
	taken := stack.JSON{"description": "taken over"}
	return []ownedRoute{
		{operation: "GET " + webhooksPath, as: "key", api: true, reads: true},
		webhook("GET", "", nil), webhook("GET", "/deliveries", nil), webhook("PATCH", "", taken.With("active", false)),
		webhook("POST", "/test", nil), webhook("POST", "/secret", nil), webhook("DELETE", "", nil),
		{
			operation: "POST " + webhooksPath + "/{id}/deliveries/{deliveryId}/resend", as: "key", api: true, skipOwner: true, // no delivery waits
			id: w.Webhook, path: webhooksPath + "/" + object + "/deliveries/" + w.Webhook + "/resend",
		},

		station("PUT", "", taken), station("POST", "/heartbeat", nil), byAdmin(station("POST", "/status", stack.JSON{"status": "paused"}), "admin"),
		{operation: "PUT /api/v1/markets/{marketId}/lane", as: "admin", id: w.Market, body: stack.JSON{"lane": "SCIENCE"}, api: true, byAdmin: true},
		{operation: "POST /api/admin/markets/{marketId}", as: "admin", id: w.Market, body: stack.JSON{"rated": true, "reason": "audited"}, byAdmin: true},
		{operation: "POST /api/admin/apps/{appId}", as: "admin", id: w.App.ID, body: stack.JSON{"trusted": true}, byAdmin: true},
		byAdmin(station("DELETE", "", nil), "key"),

		{operation: "GET /api/dev/keys", as: "login", reads: true},
		{operation: "GET /api/dev/apps", as: "login", reads: true},
		{operation: "GET /api/dev/whoami", as: "login", reads: true},
		{operation: "GET /api/user/grants", as: "session", reads: true},
		{operation: "GET " + p + "/grants", as: "key", reads: true},
		{operation: "GET " + p + "/me", as: "key", reads: true},
		{operation: "GET /api/identity/claim", as: "session", reads: true},
		{operation: "GET /settings/apps", as: "session", reads: true},
		{operation: "GET /following", as: "session", reads: true},
		{operation: "GET /notifications", as: "session", reads: true},
		{operation: "GET /settings/notifications", as: "session", reads: true},
		{operation: "GET /api/user/notifications", as: "key", reads: true},
		{operation: "GET /dev", as: "developer", reads: true},
		{operation: "GET /api/streamer/me", as: "session", reads: true},
		{
			operation: "POST /api/signals/{id}/events", as: "key", id: w.Call,
			body: stack.JSON{"type": "note", "payload": stack.JSON{"text": "not mine"}},
		},
		{
			operation: "POST /api/m/{marketId}/streams", as: "session", id: w.Market, self: true,
			body: stack.JSON{"url": "https://video.example/theirs.m3u8", "label": "theirs", "handle": w.Handle},
		},
		session("DELETE /api/m/{marketId}/streams", w.Market, ownedRoute{}),
		session("DELETE /api/streamer/signal", "", ownedRoute{}),
		session("DELETE /api/user/follow", w.Friend.Handle, ownedRoute{path: "/api/user/follow?handle=" + object}),
		session("POST /receipts/{id}/events", w.Call, ownedRoute{
			form: url.Values{"type": {"reaffirm"}, "idempotencyKey": {"theirs"}}, skipOwner: true,
		}),
		session("POST /u/{handle}/follow", w.Friend.Handle, ownedRoute{form: url.Values{}, skipOwner: true}),
		session("POST /u/{handle}/mute", w.Friend.Handle, ownedRoute{form: url.Values{}, skipOwner: true}),
		session("POST /u/{handle}/unmute", w.Friend.Handle, ownedRoute{form: url.Values{}, skipOwner: true}),
		session("POST /u/{handle}/unfollow", w.Friend.Handle, ownedRoute{form: url.Values{}, skipOwner: true}),
		session("POST /studio", "", ownedRoute{form: url.Values{"displayName": {"not mine"}}}),
		session("POST /report", "", ownedRoute{form: url.Values{"subject": {"profile:" + w.Handle}, "reason": {"not mine"}}}),
		session("POST /settings/sessions/revoke", "", ownedRoute{form: url.Values{"session": {"1"}}}),
		session("POST /settings/sessions/revoke-all", "", ownedRoute{form: url.Values{}, skipOwner: true}),
		{operation: "GET /settings", as: "session", reads: true},
		session("POST /settings/delete", "", ownedRoute{form: url.Values{"handle": {w.Handle}}, skipOwner: true}),
		session("POST /settings/delete/cancel", "", ownedRoute{form: url.Values{}, skipOwner: true}),
		session("POST /settings/push", "", ownedRoute{form: url.Values{"session": {"1"}}}),
		session("POST /settings/email", "", ownedRoute{form: url.Values{"digest": {"daily"}}}),
		session("POST /settings/handle", "", ownedRoute{form: url.Values{"handle": {w.Handle}}, skipOwner: true}),
		session("POST /welcome", "", ownedRoute{form: url.Values{"skip": {"1"}}}),
		session("POST /settings/export", "", ownedRoute{form: url.Values{}, skipOwner: true}),
		session("POST /profile/claims/drop", "partner", ownedRoute{form: url.Values{"station": {object}}, skipOwner: true}),
		developer("/apps/change", w.App.ID, url.Values{"app": {object}, "name": {"taken over"}}),
		developer("/apps/secret", w.App.ID, url.Values{"app": {object}}),
		developer("/apps/disable", w.App.ID, url.Values{"app": {object}, "sure": {"yes"}}),
		developer("/signers/revoke", w.Signer.PublicKey, url.Values{"key": {object}}),
		{operation: "POST /api/identity/claim", as: "identity", id: w.Wallet, body: stack.JSON{"address": object, "handle": w.Handle}},
		session("DELETE /api/identity/claim", "partner", ownedRoute{path: "/api/identity/claim?station=" + object}),
		{operation: "POST " + p + "/oauth/introspect", as: "client", id: w.Tokens.Access, form: url.Values{"token": {object}}, reads: true},
		{operation: "POST " + p + "/oauth/revoke", as: "client", id: w.Tokens.Access, form: url.Values{"token": {object}}, self: true, skipOwner: true},
		{
			operation: "POST " + p + "/oauth/token", as: "client", id: w.Tokens.Refresh,
			form: url.Values{"refresh_token": {object}, "grant_type": {"refresh_token"}},
		},
		{operation: "DELETE " + p + "/signers/{publicKey}", as: "key", id: w.Signer.PublicKey, skipOwner: true},
		{operation: "DELETE /api/user/signers/{publicKey}", as: "session", id: w.Signer.PublicKey},
		{operation: "DELETE " + p + "/grants/{grantId}", as: "key", id: w.Tokens.Grant, skipOwner: true},
		{operation: "POST /apps/revoke", as: "session", id: w.Tokens.Grant, form: url.Values{"grant": {object}}, skipOwner: true},
		{operation: "DELETE /api/user/grants/{grantId}", as: "session", id: w.Tokens.Grant},
		developer("/keys/revoke", w.SecondKeyID, url.Values{"id": {object}}),
		{operation: "DELETE /api/dev/keys", as: "login", id: w.SecondKeyID, path: "/api/dev/keys?id=" + object},
		{operation: "PATCH /api/dev/apps/{appId}", as: "login", id: w.App.ID, body: stack.JSON{"name": "taken over"}},
		{operation: "POST /api/dev/apps/{appId}/secret", as: "login", id: w.App.ID, body: stack.JSON{"immediate": true}},
		{operation: "DELETE /api/dev/apps/{appId}", as: "login", id: w.App.ID},
	}
}

// unowned lists routes that change a named object although everyone may use them.
var unowned = []string{
	"POST /api/network/tapes/{id}/view", "POST /api/live/{handle}/view", "POST /api/live/{handle}/clip", "POST /m/{marketId}/call",
	"POST /m/{marketId}/watch",
}

// request returns the method, path and body of the request for the object with this name.
func (r ownedRoute) request(name string) (method, path string, body stack.Set) {
	method, path, _ = strings.Cut(r.operation, " ")
	if open := strings.IndexByte(path, '{'); open >= 0 && r.path == "" {
		path = path[:open] + object + path[strings.IndexByte(path, '}')+1:]
	}
	if r.path != "" {
		path = r.path
	}
	path = strings.Replace(path, object, url.QueryEscape(name), 1)
	if at := strings.IndexByte(path, '?'); at < 0 {
		path = strings.Replace(path, "+", "%20", 1)
	}
	switch {
	case r.form != nil:
		values := url.Values{}
		for field, value := range r.form {
			values.Set(field, strings.Replace(value[0], object, name, 1))
		}
		return method, path, combine(stack.Form(values), stack.Header("Sec-Fetch-Site", "same-origin"))
	case r.body != nil:
		sent := stack.JSON{}
		for member, value := range r.body {
			if sent[member] = value; value == object {
				sent[member] = name
			}
		}
		return method, path, stack.Body(sent)
	}
	return method, path, nil
}

// spellings returns variants of a name that a parser might interpret as the same name.
func spellings(name string) []string {
	if name == "" {
		return nil
	}
	last := "0"
	if strings.HasSuffix(name, "0") {
		last = "1"
	}
	return []string{strings.ToUpper(name), "{" + name + "}", "urn:uuid:" + name, name + "\x00", " " + name, name[:len(name)-1] + last}
}

// stranger contains the credentials of a person who owns none of the owner's objects.
type stranger struct {
	*stack.Operator
	browser stack.Set
	app     *stack.App
}

// credentials returns the credentials of a stranger by kind.
func (o stranger) credentials() map[string]stack.Set {
	return map[string]stack.Set{
		"key": stack.Bearer(o.Key), "login": stack.Bearer(o.Login), "session": o.browser, "developer": developer(o.Login), "identity": o.browser,
		"client": func(r *http.Request) { r.SetBasicAuth(o.app.ID, o.app.Secret) },
	}
}

// TestOnlyOwnersReachTheirObjects checks that only the owner can read and change the objects that a person owns
// (guarantee G6).
func TestOnlyOwnersReachTheirObjects(t *testing.T) {
	t.Parallel()
	s := accessStack(t)
	w, c := s.NewOwner(t), stack.NewCrowd(200)
	routes := ownedRoutes(w)
	requireAllOwnedRoutes(t, routes)
	var others []stranger // used one after another, because each has rate limits
	for range 4 {
		o := s.NewOperator(t)
		others = append(others, stranger{o, o.Session(t), o.NewApp(t, "confidential", stack.ProtocolScopes...)})
	}
	scopes := strings.Join(stack.ProtocolScopes, " ")
	sameApp := w.App.Grant(t, others[0].browser, scopes)
	otherApp := others[0].app.Grant(t, w.Browser, scopes)
	agentKey := mintAgentKey(t, s, others[0].Login, stack.JSON{"label": "agent"})
	send := func(r ownedRoute, name string, as stack.Set) stack.Answer {
		base := s.HubAt(rand.IntN(2))
		if r.api {
			base = s.API
		}
		method, path, body := r.request(name)
		return sendPatiently(t, c, method, base+path, combine(as, body))
	}
	for i, r := range routes {
		t.Run(r.operation, func(t *testing.T) {
			before := w.Holdings(t)
			other := others[i%len(others)].credentials()
			for kind, as := range map[string]stack.Set{
				"nothing": nil, "a stranger's key": other["key"], "a stranger's agent key": stack.Bearer(agentKey), "a stranger's session": other["session"],
				"a stranger's login": other["login"], "a stranger's developer cookie": other["developer"], "a stranger's application": other["client"],
				"the same application for a stranger": stack.Bearer(sameApp.Access), otherAppOfOwner: stack.Bearer(otherApp.Access),
				"the admin secret": s.Admin(), "the cron secret": query("secret", s.CronSecret),
			} {
				if kind != "the admin secret" || !r.byAdmin {
					r.requireRefused(t, w, send(r, r.id, as), kind, r.id)
				}
			}
			for k, name := range spellings(r.id) {
				if as := others[(i+k)%len(others)].credentials()[r.as]; as != nil {
					r.requireRefused(t, w, send(r, name, as), "a stranger's "+r.as, name)
				}
			}
			if diff := cmp.Diff(before, w.Holdings(t)); diff != "" {
				t.Errorf("requests of other callers changed objects of the owner (-before +after):\n%s", diff)
			}
		})
	}
	owner := map[string]stack.Set{
		"key": stack.Bearer(w.Key), "login": stack.Bearer(w.Login), "session": w.Browser, "developer": developer(w.Login), "admin": s.Admin(),
		"identity": combine(w.Browser, stack.Header("Privy-Id-Token", w.IdentityToken)),
		"client":   func(r *http.Request) { r.SetBasicAuth(w.App.ID, w.App.Secret) },
	}
	for _, r := range routes {
		if r.skipOwner {
			continue
		}
		if a := send(r, r.id, owner[r.as]); a.Status >= 400 {
			t.Errorf("%s by the owner was answered %d; want a success: %.200s", r.operation, a.Status, a.Body)
		}
	}
}

const otherAppOfOwner = "another application of the owner"

// requireRefused reports an error unless the answer refuses a caller who does not own the object.
func (r ownedRoute) requireRefused(t *testing.T, w *stack.Owner, a stack.Answer, who, name string) {
	t.Helper()
	shown := slices.ContainsFunc([]string{w.ID, w.SecondKeyID, w.Tokens.Grant, w.Wallet, w.Signer.PublicKey, w.Webhook}, a.Contains)
	switch {
	case a.Status == http.StatusTooManyRequests || a.Status >= 500:
		t.Errorf("%s as %s with %q was answered %d %.200s; want a refusal that names the required credential", r.operation, who, name, a.Status, a.Body)
	case r.reads && shown && who != otherAppOfOwner: // another application of the owner may read the owner's profile
		t.Errorf("%s as %s shows objects of the owner: %d %.400s", r.operation, who, a.Status, a.Body)
	case !r.reads && !r.self && a.Status < 400:
		t.Errorf("%s as %s with %q was answered %d %.200s; want a refusal", r.operation, who, name, a.Status, a.Body)
	}
}

// requireAllOwnedRoutes reports an error for each route of the OpenAPI document that changes a named object and is
// missing in the list.
func requireAllOwnedRoutes(t *testing.T, routes []ownedRoute) {
	t.Helper()
	for _, op := range openapi.ForTest(t).Operations {
		name := op.Method + " " + op.Path
		changes := strings.Contains(op.Path, "{") && op.Method != http.MethodGet && !op.Gone() ||
			strings.HasPrefix(op.Path, "/api/user/") && op.Method == http.MethodDelete
		listed := slices.ContainsFunc(routes, func(r ownedRoute) bool { return r.operation == name }) || slices.Contains(unowned, name)
		if changes && !listed {
			t.Errorf("%s changes a named object but is missing in ownedRoutes and in unowned", name)
		}
	}
}
