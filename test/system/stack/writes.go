package stack

import (
	"maps"
	"net/http"
	"testing"
	"time"
)

// Author is an operator with the objects to which the requests of WriteRoutes refer.
type Author struct {
	*Operator
	Market   string // an open market without a call of the operator
	CallID   string // id of a call of the operator on another market
	KeyID    string // id of a key that a request of WriteRoutes revokes
	Webhook  string // id of a webhook
	session  Set
	otherKey string
}

// WebhookDraft returns a request body that creates a webhook. Neither the host of its URL nor the market of its channel exists.
func WebhookDraft() JSON {
	return JSON{"url": "https://hooks.example/events", "channels": []string{"market:native-ffffffffffffffffffffffffffffffff"}}
}

// NewAuthor signs a new operator in and creates the objects to which the requests of WriteRoutes refer.
func (s *Stack) NewAuthor(t testing.TB) *Author {
	t.Helper()
	a := &Author{Operator: s.NewOperator(t), Market: s.NewNativeMarket(t, 5000, nil)}
	a.session = a.Session(t)
	a.otherKey, a.KeyID = a.Mint(t, JSON{"label": "to be revoked"})
	a.CallID = a.File(t, Call(s.NewNativeMarket(t, 5000, nil), "YES", 5000)).Require(http.StatusOK).Text("id")
	a.Webhook = a.Do(t, http.MethodPost, s.API+"/api/v1/webhooks", Bearer(a.Key), Body(WebhookDraft())).Require(http.StatusCreated).Text("id")
	return a
}

// WriteRoute is a well-formed request of a kind that changes stored data.
type WriteRoute struct {
	Name         string
	Service      string // "hub" or "api"
	Method, Path string
	Body         JSON // nil if the request has no body

	credential Set
}

// Sets returns a Set for the credential and, if the request has a body, one for the body. The parameter change replaces members
// of the body.
func (w WriteRoute) Sets(change JSON) []Set {
	if w.Body == nil {
		return []Set{w.credential}
	}
	body := maps.Clone(w.Body)
	maps.Copy(body, change)
	return []Set{w.credential, Body(body)}
}

// WriteRoutes returns well-formed requests of operators and administrators that change stored data, including changes of
// webhooks.
func (s *Stack) WriteRoutes(a *Author) []WriteRoute {
	call, label := Call(a.Market, "YES", 5000), JSON{"label": "a key", "permissions": []string{"read"}}
	key, login := Bearer(a.Key), Bearer(a.Login)
	hook, native := "/api/v1/webhooks/"+a.Webhook, "native-ffffffffffffffffffffffffffffffff"
	market := JSON{"question": "Will this market be created?", "lane": "OTHER", "cutoffAt": Stamp(time.Now().AddDate(0, 1, 0))}
	return []WriteRoute{
		{"call by key", "hub", "POST", "/api/predictions", call, Bearer(a.otherKey)},
		{"call by session", "hub", "POST", "/api/predictions", call, a.session},
		{"event", "hub", "POST", "/api/signals/" + a.CallID + "/events", JSON{"type": "note", "payload": JSON{"text": "later"}}, key},
		{"sign-in", "hub", "POST", "/api/auth/privy", JSON{}, login},
		{"key", "hub", "POST", "/api/dev/keys", label, login},
		{"key of the api", "api", "POST", "/api/v1/agent/keys", label, login},
		{"revocation", "hub", "DELETE", "/api/dev/keys?id=" + a.KeyID, nil, login},
		{"webhook", "api", "POST", "/api/v1/webhooks", WebhookDraft(), key},
		{"change of a webhook", "api", "PATCH", hook, JSON{"active": true}, key},
		{"test of a webhook", "api", "POST", hook + "/test", nil, key},
		{"secret of a webhook", "api", "POST", hook + "/secret", nil, key},
		{"deletion of a webhook", "api", "DELETE", hook, nil, key},
		{"native market", "hub", "POST", "/api/admin/markets", market, s.Admin()},
		{"resolution", "hub", "POST", "/api/resolution/finalize", JSON{"marketId": native, "verdict": "YES"}, s.Admin()},
		{"forced resolution", "hub", "POST", "/api/admin/resolve-signals", JSON{"marketId": native, "outcome": "YES"}, s.Admin()},
		{"dispute", "hub", "POST", "/api/resolution/dispute", JSON{"marketId": native, "disputed": true}, s.Admin()},
		{"operator type", "hub", "POST", "/api/admin/operators", JSON{"handle": a.Handle, "operatorType": "human"}, s.Admin()},
		{"scan", "hub", "POST", "/api/admin/resolve-signals", nil, s.Admin()},
	}
}
