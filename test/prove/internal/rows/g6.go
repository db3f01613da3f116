package rows

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/system/openapi"
)

// g6 has everybody but the owner ask for what somebody owns, under its true name and
// under names that could be read as it.
var g6 = frame.Row{
	ID: "G6", Title: "only the owner touches an object",
	Fault: frame.Fault{What: "an app ends the grants of other apps"},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		doc, err := openapi.Load(env.Root)
		if err != nil {
			return nil, err
		}
		e, err := settle(ctx, env, "g6-owner")
		if err != nil {
			return nil, err
		}
		others, err := strangers(ctx, env, e)
		if err != nil {
			return nil, err
		}
		b := &burglary{env: env, seen: seen, e: e, others: others}
		b.whole(doc)
		for _, d := range b.doors() {
			if err := b.try(ctx, d); err != nil {
				return nil, err
			}
		}
		b.ownerDoes(ctx)
		seen.Check(b.cells >= 300 || env.Size == frame.Small, "only %d cells", b.cells)
		seen.Promise(fmt.Sprintf("wrong accepts 0 of %s", frame.Number(b.cells)), fmt.Sprintf("%d of %s", b.taken, frame.Number(b.cells)))
		seen.Figure("cells", b.cells)
		seen.Volume("%d doors to what somebody owns, %d others, %s cells", len(b.doors()), len(others), frame.Number(b.cells))
		return seen, nil
	},
}

// forgery is something that must not act for the owner.
type forgery struct {
	name string
	as   client.Credential
}

const administrator = "an administrator"

// nobodys are doors to what belongs to all.
var nobodys = []string{"POST /api/network/tapes/{id}/view", "POST /api/live/{handle}/view", "POST /api/live/{handle}/clip"}

// burglary is what others try on an estate.
type burglary struct {
	env    *frame.Env
	seen   *frame.Seen
	e      *estate
	others []forgery

	cells, taken int
}

// ownDoor is a route that acts on something that is somebody's own. Where the address
// or the body names it, name is the true one and make puts another into its place.
type ownDoor struct {
	op    string // in the words of the description
	name  string
	make  func(name string) client.Request
	own   client.Credential // as whom the owner comes
	api   bool              // at the ledger's own host
	gives bool              // a read: what it shows must not be the owner's
	self  bool              // it acts on what the caller has, whoever that is
	keeps bool              // the owner's own turn would end what later doors need
	admin bool              // an administrator may as well
}

// strangers are all kinds of others.
func strangers(ctx context.Context, env *frame.Env, e *estate) ([]forgery, error) {
	p, err := signUp(ctx, env, "g6-other", 1)
	if err != nil {
		return nil, err
	}
	older, err := mintWith(ctx, env, env.Stack.API+"/api/v1/agent/keys", p.login, nil)
	if err != nil {
		return nil, err
	}
	same, err := grantTo(ctx, env, e.app, p.session, strings.Join(everyScope, " "))
	if err != nil {
		return nil, err
	}
	app, err := newApp(ctx, env, p.login, "confidential", everyScope...)
	if err != nil {
		return nil, err
	}
	beside, err := grantTo(ctx, env, app, e.session, strings.Join(everyScope, " "))
	if err != nil {
		return nil, err
	}
	return []forgery{
		{"nobody", nil},
		{"another's key", p.keys[0].Key},
		{"another's older key", older.Key},
		{"another's session", p.session},
		{"another's login", p.login},
		{"another at the developer's page", developer(string(p.login))},
		{"the same app for another", byBearer(same.Access)},
		{"another app of the owner", byBearer(beside.Access)},
		{"another app", app.basic()},
		{administrator, env.Admin()},
		{"the scheduler", byQuery("secret", env.Stack.CronSecret)},
	}, nil
}

// doors lists the routes to what the estate holds.
func (b *burglary) doors() []ownDoor {
	e := b.e
	at := func(method, path string, body any) func(string) client.Request {
		return func(name string) client.Request {
			return client.Request{Method: method, URL: strings.Replace(path, "*", url.PathEscape(name), 1), Body: body}
		}
	}
	query := func(method, path string) func(string) client.Request {
		return func(name string) client.Request {
			return client.Request{Method: method, URL: path + url.QueryEscape(name)}
		}
	}
	form := func(path, field string, more url.Values) func(string) client.Request {
		return func(name string) client.Request {
			q := client.Request{Method: http.MethodPost, URL: path, Header: http.Header{"Sec-Fetch-Site": {"same-origin"}}}
			values := url.Values{field: {name}}
			for k, v := range more {
				values[k] = v
			}
			asForm(&q, values)
			return q
		}
	}
	const p = protocolPath
	key, session, login := client.Credential(e.keys[0].Key), client.Credential(e.session), client.Credential(e.login)
	return append(append(b.doorsOfHook(), b.doorsOfDesk()...), []ownDoor{
		{op: "GET /api/dev/keys", make: at("GET", "/api/dev/keys", nil), own: login, gives: true},
		{op: "GET /api/dev/apps", make: at("GET", "/api/dev/apps", nil), own: login, gives: true},
		{op: "GET /api/dev/whoami", make: at("GET", "/api/dev/whoami", nil), own: login, gives: true},
		{op: "GET /api/user/grants", make: at("GET", "/api/user/grants", nil), own: session, gives: true},
		{op: "GET " + p + "/grants", make: at("GET", p+"/grants", nil), own: key, gives: true},
		{op: "GET " + p + "/me", make: at("GET", p+"/me", nil), own: key, gives: true},
		{op: "GET /api/identity/claim", make: at("GET", "/api/identity/claim", nil), own: session, gives: true},
		{op: "GET /apps", make: at("GET", "/apps", nil), own: session, gives: true},
		{op: "GET /dev", make: at("GET", "/dev", nil), own: developer(string(e.token)), gives: true},
		{op: "POST /api/signals/{id}/events", name: e.signal, own: key, make: at("POST", "/api/signals/*/events", map[string]any{"type": "note", "payload": map[string]any{"text": "not mine"}})},
		{op: "POST /api/m/{marketId}/streams", name: e.market, own: session, self: true, make: at("POST", "/api/m/*/streams", map[string]any{
			"url": "https://video.example/theirs.m3u8", "label": "theirs", "handle": e.Handle,
		})},
		{op: "DELETE /api/m/{marketId}/streams", name: e.market, own: session, self: true, make: at("DELETE", "/api/m/*/streams", nil)},
		{op: "DELETE /api/streamer/signal", own: session, self: true, make: at("DELETE", "/api/streamer/signal", nil)},
		{op: "GET /api/streamer/me", own: session, gives: true, make: at("GET", "/api/streamer/me", nil)},
		{op: "DELETE /api/user/follow", name: e.friend.Handle, own: session, self: true, make: query("DELETE", "/api/user/follow?handle=")},
		{op: "POST /u/{handle}/follow", name: e.friend.Handle, own: session, self: true, keeps: true, make: func(name string) client.Request {
			return form("/u/"+url.PathEscape(name)+"/follow", "x", nil)("")
		}},
		{op: "POST /u/{handle}/unfollow", name: e.friend.Handle, own: session, self: true, keeps: true, make: func(name string) client.Request {
			return form("/u/"+url.PathEscape(name)+"/unfollow", "x", nil)("")
		}},
		{op: "POST /profile/claims/drop", name: "partner", own: session, self: true, keeps: true, make: form("/profile/claims/drop", "station", nil)},
		{op: "POST /dev/apps/change", name: e.app.id, own: developer(string(e.token)), make: form("/dev/apps/change", "app", url.Values{"name": {"taken over"}}), keeps: true},
		{op: "POST /dev/apps/secret", name: e.app.id, own: developer(string(e.token)), make: form("/dev/apps/secret", "app", nil), keeps: true},
		{op: "POST /dev/apps/disable", name: e.app.id, own: developer(string(e.token)), make: form("/dev/apps/disable", "app", url.Values{"sure": {"yes"}}), keeps: true},
		{op: "POST /dev/signers/revoke", name: e.signer, own: developer(string(e.token)), make: form("/dev/signers/revoke", "key", nil), keeps: true},
		{op: "POST /api/identity/claim", name: e.wallet, own: client.All(session, byHeader("Privy-Id-Token", e.identity)), make: func(name string) client.Request {
			return client.Request{URL: "/api/identity/claim", Body: map[string]any{"address": name, "handle": e.Handle}}
		}},
		{op: "DELETE /api/identity/claim", name: "partner", own: session, self: true, make: query("DELETE", "/api/identity/claim?station=")},
		{op: "POST " + p + "/oauth/introspect", name: e.granted.Access, own: e.app.basic(), gives: true, make: form(p+"/oauth/introspect", "token", nil)},
		{op: "POST " + p + "/oauth/revoke", name: e.granted.Access, own: e.app.basic(), self: true, keeps: true, make: form(p+"/oauth/revoke", "token", nil)},
		{op: "POST " + p + "/oauth/token", name: e.granted.Refresh, own: e.app.basic(), make: form(p+"/oauth/token", "refresh_token", url.Values{"grant_type": {"refresh_token"}})},
		{op: "DELETE " + p + "/signers/{publicKey}", name: e.signer, own: key, make: at("DELETE", p+"/signers/*", nil), keeps: true},
		{op: "DELETE /api/user/signers/{publicKey}", name: e.signer, own: session, make: at("DELETE", "/api/user/signers/*", nil)},
		{op: "DELETE " + p + "/grants/{grantId}", name: e.granted.Grant, own: key, make: at("DELETE", p+"/grants/*", nil), keeps: true},
		{op: "POST /apps/revoke", name: e.granted.Grant, own: session, make: form("/apps/revoke", "grant", nil), keeps: true},
		{op: "DELETE /api/user/grants/{grantId}", name: e.granted.Grant, own: session, make: at("DELETE", "/api/user/grants/*", nil)},
		{op: "POST /dev/keys/revoke", name: e.keys[1].ID, own: developer(string(e.token)), make: form("/dev/keys/revoke", "id", nil), keeps: true},
		{op: "DELETE /api/dev/keys", name: e.keys[1].ID, own: login, make: query("DELETE", "/api/dev/keys?id=")},
		{op: "PATCH /api/dev/apps/{appId}", name: e.app.id, own: login, make: at("PATCH", "/api/dev/apps/*", map[string]any{"name": "taken over"})},
		{op: "POST /api/dev/apps/{appId}/secret", name: e.app.id, own: login, make: at("POST", "/api/dev/apps/*/secret", map[string]any{"immediate": true})},
		{op: "DELETE /api/dev/apps/{appId}", name: e.app.id, own: login, make: at("DELETE", "/api/dev/apps/*", nil)},
	}...)
}

// doorsOfHook are those to a webhook; the one that ends it is the last.
func (b *burglary) doorsOfHook() []ownDoor {
	door := func(method, rest string, body any) ownDoor {
		return ownDoor{
			op: method + " " + hooksPath + "/{id}" + rest, name: b.e.hook.id, own: b.e.keys[0].Key, api: true, make: func(name string) client.Request {
				return client.Request{Method: method, URL: hooksPath + "/" + url.PathEscape(name) + rest, Body: body}
			},
		}
	}
	list := ownDoor{op: "GET " + hooksPath, own: b.e.keys[0].Key, api: true, gives: true, make: func(string) client.Request {
		return client.Request{Method: http.MethodGet, URL: hooksPath}
	}}
	return []ownDoor{
		list, door("GET", "", nil), door("GET", "/deliveries", nil), door("PATCH", "", map[string]any{"active": false, "description": "taken over"}),
		door("POST", "/test", nil), door("POST", "/secret", nil), door("DELETE", "", nil),
	}
}

// doorsOfDesk are those to a station, and what an administrator alone says of it and of a
// market; the one that ends it is the last.
func (b *burglary) doorsOfDesk() []ownDoor {
	door := func(method, rest string, body any) ownDoor {
		return ownDoor{
			op: method + " " + stationsPath + "/{stationId}" + rest, name: b.e.desk, own: b.e.keys[0].Key, api: true, make: func(name string) client.Request {
				return client.Request{Method: method, URL: stationsPath + "/" + url.PathEscape(name) + rest, Body: body}
			},
		}
	}
	ruling := door("POST", "/status", map[string]any{"status": "paused"})
	ruling.own, ruling.admin = b.env.Admin(), true
	end := door("DELETE", "", nil)
	end.admin = true
	lane := ownDoor{op: "PUT /api/v1/markets/{marketId}/lane", name: b.e.market, own: b.env.Admin(), api: true, admin: true, make: func(name string) client.Request {
		return client.Request{Method: "PUT", URL: "/api/v1/markets/" + url.PathEscape(name) + "/lane", Body: map[string]any{"lane": "SCIENCE"}}
	}}
	decides := func(op, path, name string, body map[string]any) ownDoor {
		return ownDoor{op: op, name: name, own: b.env.Admin(), admin: true, make: func(name string) client.Request {
			return client.Request{Method: http.MethodPost, URL: path + url.PathEscape(name), Body: body}
		}}
	}
	rated := decides("POST /api/admin/markets/{marketId}", "/api/admin/markets/", b.e.market, map[string]any{"rated": true, "reason": "audited"})
	trusted := decides("POST /api/admin/apps/{appId}", "/api/admin/apps/", b.e.app.id, map[string]any{"trusted": true})
	return []ownDoor{door("PUT", "", map[string]any{"description": "taken over"}), door("POST", "/heartbeat", nil), ruling, lane, rated, trusted, end}
}

// at is a request to a door, at the i-th hub unless it is one of the ledger's.
func (d ownDoor) at(env *frame.Env, i int, name string, as client.Credential) client.Request {
	q := d.make(name)
	host := env.Hub(i)
	if d.api {
		host = env.Stack.API
	}
	q.URL, q.As = host+q.URL, as
	return q
}

// whole wants every described route that names an object of somebody among the doors.
func (b *burglary) whole(doc *openapi.Document) {
	var known []string
	for _, d := range b.doors() {
		known = append(known, d.op)
	}
	for _, op := range doc.Operations {
		names := strings.Contains(op.Path, "{") && op.Method != http.MethodGet && !op.Gone() || strings.HasPrefix(op.Path, "/api/user/") && op.Method == http.MethodDelete
		b.seen.Check(!names || slices.Contains(known, op.Method+" "+op.Path) || slices.Contains(nobodys, op.Method+" "+op.Path), "%s names an object, and nobody asks whose", op.Name())
	}
}

// readings are names that could be read as one.
func readings(name string) []string {
	if name == "" {
		return []string{""}
	}
	last := name[:len(name)-1] + map[bool]string{true: "1", false: "0"}[strings.HasSuffix(name, "0")]
	return []string{name, strings.ToUpper(name), "{" + name + "}", "urn:uuid:" + name, name + "\x00", " " + name, last}
}

// try lets all others ask at a door, and wants that the estate is as before.
func (b *burglary) try(ctx context.Context, d ownDoor) error {
	before, err := b.e.holds(ctx, b.env)
	if err != nil {
		return err
	}
	for i, other := range b.others {
		if d.admin && other.name == administrator {
			continue
		}
		for k, name := range readings(d.name) {
			if b.env.Size == frame.Small && k > 0 {
				break
			}
			a := inTime(ctx, b.env, d.at(b.env, i+k, name, other.as))
			b.cells++
			if why := b.wrong(d, a, other.name); why != "" {
				b.taken++
				b.seen.Wrong("%s as %s with %q: %s: %.200s", d.op, other.name, name, why, a)
			}
		}
	}
	after, err := b.e.holds(ctx, b.env)
	if err != nil {
		return err
	}
	if before != after {
		b.taken++
		b.seen.Wrong("%s by others changed what the owner holds", d.op)
	}
	return nil
}

// wrong says what speaks against an answer to somebody else.
func (b *burglary) wrong(d ownDoor, a client.Answer, who string) string {
	if a.Err != nil || a.Status == http.StatusTooManyRequests || a.Status >= 500 {
		return "no answer to go by"
	}
	// The owner's other app speaks for the owner, and may say who that is.
	if who != "another app of the owner" {
		for _, mine := range []string{b.e.ID, b.e.keys[1].ID, b.e.app.id, b.e.granted.Grant, b.e.wallet, b.e.signer, b.e.hook.id} {
			if d.gives && strings.Contains(string(a.Body), mine) && mine != b.e.app.id {
				return "shows what is the owner's"
			}
		}
	}
	if d.gives || d.self {
		return ""
	}
	if a.Status < 400 {
		return "is let in"
	}
	return ""
}

// ownerDoes has the owner ask at each door: it opens.
func (b *burglary) ownerDoes(ctx context.Context) {
	for i, d := range b.doors() {
		if d.keeps || b.env.Size == frame.Small {
			continue
		}
		a := inTime(ctx, b.env, d.at(b.env, i, d.name, d.own))
		b.seen.Check(a.Err == nil && a.Status < 400, "%s by the owner: %.160s", d.op, a)
	}
}
