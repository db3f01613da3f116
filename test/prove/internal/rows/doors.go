package rows

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

// door is one way to write, with a request that is right.
type door struct {
	name, method, path string
	api                bool // at the ledger's own host
	as                 client.Credential
	body               map[string]any // nil: none
	fields             []member       // members of the body, in the order in which they are read
}

// member is one member of a body that a door reads.
type member struct {
	name string
	kind memberKind
	need bool
}

// memberKind is what a member holds.
type memberKind int

const (
	aText memberKind = iota
	aNumber
	aTruth
	aList
	anObject
)

// request is the right request with changes to its body, at the i-th hub.
func (d door) request(env *frame.Env, i int, change map[string]any) client.Request {
	r := d.raw(env, i, nil)
	if d.body != nil {
		body := maps.Clone(d.body)
		maps.Copy(body, change)
		r.Body = body
	}
	return r
}

// raw is the request with another body.
func (d door) raw(env *frame.Env, i int, body []byte) client.Request {
	host := env.Hub(i)
	if d.api {
		host = env.Stack.API
	}
	r := client.Request{Method: d.method, URL: host + d.path, As: d.as}
	if body != nil {
		r.Body = body
	}
	return r
}

// cast is who and what the doors need.
type cast struct {
	person
	market string       // open, and not called by the person
	signal string       // the person's own, on another market
	other  client.Login // somebody else's: logins are counted over all hosts
	hook   hook         // the person's own
}

// gather makes a cast.
func gather(ctx context.Context, env *frame.Env, row, name string) (cast, error) {
	p, err := signUp(ctx, env, name, 2)
	if err != nil {
		return cast{}, err
	}
	ids, err := markets(ctx, env, row, 2)
	if err != nil {
		return cast{}, err
	}
	a := env.Client.File(ctx, env.Hub(0), p.keys[0].Key, client.Call{Market: ids[0], Yes: true, Price: 5000})
	if err := a.Into(http.StatusOK, nil); err != nil {
		return cast{}, fmt.Errorf("file a call: %w", err)
	}
	other, err := env.Client.Login(ctx, env.Stack.IDP, name+"-other")
	if err != nil {
		return cast{}, err
	}
	h, err := register(ctx, env, p.keys[0].Key)
	return cast{person: p, market: ids[1], signal: a.Text("id"), other: other, hook: h}, err
}

// doors lists every way to write.
func doors(env *frame.Env, c cast) []door {
	return slices.Concat(authorDoors(c), hookDoors(c), adminDoors(env, c))
}

// authorDoors are those of people and their keys.
func authorDoors(c cast) []door {
	call := map[string]any{"marketId": c.market, "direction": "YES", "priceAtPrediction": 5000}
	label := map[string]any{"label": "a key", "permissions": []string{"read"}}
	callFields := []member{
		{"marketId", aText, true},
		{"direction", aText, true},
		{"priceAtPrediction", aNumber, true},
		{"marketTitle", aText, false},
		{"channelId", aText, false},
		{"confidence", aNumber, false},
		{"crowdYesAtSignal", aNumber, false},
		{"timeToResolution", aNumber, false},
		{"source", aText, false},
		{"mediaAssetId", aText, false},
		{"textTake", aText, false},
		{"reach", aNumber, false},
		{"clobTokenId", aText, false},
		{"crowdLeanBps", aNumber, false},
	}
	labelFields := []member{{"label", aText, true}, {"permissions", aList, false}}
	return []door{
		{name: "a call by key", method: "POST", path: "/api/predictions", as: c.keys[0].Key, body: call, fields: callFields},
		{name: "a call by session", method: "POST", path: "/api/predictions", as: c.session, body: call, fields: callFields},
		{
			name: "an event", method: "POST", path: "/api/signals/" + c.signal + "/events", as: c.keys[1].Key,
			body:   map[string]any{"type": "note", "payload": map[string]any{"text": "later"}},
			fields: []member{{"type", aText, true}, {"payload", anObject, false}},
		},
		{name: "a sign-in", method: "POST", path: "/api/auth/privy", as: c.login, body: map[string]any{}},
		{name: "a key", method: "POST", path: "/api/dev/keys", as: c.login, body: label, fields: labelFields},
		{name: "a key of the ledger's host", method: "POST", path: "/api/v1/agent/keys", api: true, as: c.other, body: label, fields: labelFields},
		{name: "a revocation", method: "DELETE", path: "/api/dev/keys?id=" + c.keys[0].ID, as: c.login},
	}
}

// hookDoors are those of webhooks, at the ledger's own host.
func hookDoors(c cast) []door {
	fields := []member{{"types", aList, false}, {"description", aText, false}}
	one := func(name, method, rest string) door {
		return door{name: name, method: method, path: hooksPath + "/" + c.hook.id + rest, api: true, as: c.keys[1].Key}
	}
	change := one("a change of a webhook", "PATCH", "")
	change.body, change.fields = map[string]any{"active": true}, append(fields, member{"active", aTruth, false}, member{"channels", aList, false})
	return []door{
		{
			name: "a webhook", method: "POST", path: hooksPath, api: true, as: c.keys[1].Key, body: hookDraft(),
			fields: append(fields, member{"url", aText, true}, member{"channels", aList, true}, member{"since", aNumber, false}),
		},
		change,
		one("a test of a webhook", "POST", "/test"),
		one("a new secret of a webhook", "POST", "/secret"),
		one("the end of a webhook", "DELETE", ""),
	}
}

// adminDoors are those of the administrators.
func adminDoors(env *frame.Env, c cast) []door {
	const native = "native-ffffffffffffffffffffffffffffffff"
	cutoff := time.Now().AddDate(0, 1, 0).UTC().Format(time.RFC3339)
	market := member{"marketId", aText, true}
	post := func(name, path string, body map[string]any, fields ...member) door {
		return door{name: name, method: "POST", path: path, as: env.Admin(), body: body, fields: fields}
	}
	return []door{
		post("a market", "/api/admin/markets",
			map[string]any{"question": "Will this market ever be made?", "lane": "OTHER", "cutoffAt": cutoff},
			member{"question", aText, true}, member{"cutoffAt", aText, true}, member{"lane", aText, true}, member{"description", aText, false},
			member{"resolvesBy", aText, false}, member{"resolutionSource", aText, false}, member{"initialYesBps", aNumber, false}),
		post("a claim", "/api/resolution/finalize", map[string]any{"marketId": native, "verdict": "YES"},
			market, member{"verdict", aText, true}, member{"reason", aText, false}, member{"finalizedBy", aText, false},
			member{"resolver", aText, false}, member{"source", aText, false}, member{"proofUrl", aText, false}),
		post("a forced claim", "/api/admin/resolve-signals", map[string]any{"marketId": native, "outcome": "YES"},
			market, member{"outcome", aText, true}),
		post("a dispute", "/api/resolution/dispute", map[string]any{"marketId": native, "disputed": true},
			market, member{"disputed", aTruth, false}, member{"reason", aText, false}),
		post("a kind", "/api/admin/operators", map[string]any{"handle": c.Handle, "operatorType": "human"},
			member{"handle", aText, true}, member{"operatorType", aText, false}, member{"house", aTruth, false}),
		{name: "a scan", method: "POST", path: "/api/admin/resolve-signals", as: env.Admin()},
	}
}

// reachable waits until every hub reaches the ledger and its database again. A
// hub counts as ready before, since it answers what it can without them.
func reachable(ctx context.Context, env *frame.Env, market string) error {
	for _, hub := range env.Hubs {
		var a client.Answer
		ok, err := frame.Until(ctx, 10*time.Second, func() (bool, error) {
			a = env.Client.Do(ctx, client.Request{URL: hub + "/api/resolution/outcome?market=" + market})
			return a.Status == http.StatusOK, nil
		})
		if err != nil {
			return err
		}
		if !ok {
			return fmt.Errorf("%s does not reach the ledger: %s", hub, a)
		}
	}
	return nil
}
