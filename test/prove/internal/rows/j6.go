package rows

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/system/openapi"
)

// j6 shows a token of each scope to every route of the description, and then takes
// grants away under fire. What a token may do is written down here, not read from
// the description.
var j6 = frame.Row{
	ID: "J6", Title: "an app token works only under /api/protocol/ and within its grant, and dies with the grant",
	Fault: frame.Fault{What: "a token opens what a key opens"},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		doc, err := openapi.Load(env.Root)
		if err != nil {
			return nil, err
		}
		c := creep{env: env, seen: seen, doc: doc}
		for i := range 4 { // one session has thirty looks at the page a minute
			p, err := signUp(ctx, env, fmt.Sprintf("j6-person-%d", i), 1)
			if err != nil {
				return nil, err
			}
			c.people = append(c.people, p)
		}
		if c.app, err = newApp(ctx, env, c.people[0].login, "public", allScopes...); err != nil {
			return nil, err
		}
		if c.market, err = markets(ctx, env, "J6", 1); err != nil {
			return nil, err
		}
		scopes := allScopes[:env.Of(2, len(allScopes), len(allScopes))]
		for i, scope := range scopes {
			if err := c.walk(ctx, i, scope); err != nil {
				return nil, err
			}
		}
		trials := env.Of(1, 9, 40)
		for i := range trials {
			if err := c.revoke(ctx, i); err != nil {
				return nil, err
			}
		}
		seen.Figure("cells", c.cells)
		seen.Promise("accepts outside 0, after revoke 0", fmt.Sprintf("%d of %s, %d of %d", c.outside, frame.Number(c.cells), c.late, c.after))
		seen.Volume("%d routes × %d scopes and refresh tokens, %d revocations", len(doc.Operations), len(scopes), trials)
		return seen, nil
	},
}

// allScopes are all that an app can ask for.
var allScopes = []string{
	"profile:read", "signal:create", "prediction:create", "signer:create", "offline_access", "profile:update", "station:create",
	"station:update", "broadcast:create", "broadcast:goLive", "market:create", "resolution:create",
}

// opened are the routes that an app token opens, with the scope that it needs; empty:
// any. They stand under /api/protocol/v1.
var opened = map[string]string{
	"GET /me":                     "profile:read",
	"GET /grants":                 "",
	"DELETE /grants/{grantId}":    "",
	"POST /signers/challenge":     "signer:create",
	"POST /signers":               "signer:create",
	"DELETE /signers/{publicKey}": "",
	"POST /messages":              "",
	"POST /predictions":           "prediction:create",
	"POST /signals":               "signal:create",
}

// creep is an app that tries what it was not given.
type creep struct {
	env    *frame.Env
	seen   *frame.Seen
	doc    *openapi.Document
	people []person
	app    app
	market []string

	mu             sync.Mutex
	cells, outside int
	late, after    int // taken of those begun after a revocation
}

// walk shows the tokens of one grant to every route.
func (c *creep) walk(ctx context.Context, i int, scope string) error {
	by := c.people[i%len(c.people)].session
	t, err := grantTo(ctx, c.env, c.app, by, scope)
	if err != nil {
		return fmt.Errorf("grant %s: %w", scope, err)
	}
	c.seen.Check(t.Scope == scope, "the grant of %s has %s", scope, t.Scope)
	var lasting tokens
	if i == 0 {
		if lasting, err = grantTo(ctx, c.env, c.app, by, scope+" offline_access"); err != nil {
			return fmt.Errorf("grant %s: %w", scope, err)
		}
	}
	frame.Each(len(c.doc.Operations), 8, func(k int) {
		op := c.doc.Operations[k]
		if op.Path == "/ws" {
			return // it is no request with an answer; it takes no credential of an app
		}
		r := c.request(op, i+k)
		r.As = client.Key(t.Access)
		c.judge(ctx, op, r, scope)
		if lasting.Refresh != "" {
			r.As = client.Key(lasting.Refresh)
			c.judge(ctx, op, r, "")
		}
	})
	return nil
}

// request is one to a route, with a body that it would take.
func (c *creep) request(op *openapi.Operation, i int) client.Request {
	path := strings.NewReplacer(
		"{marketId}", c.market[0], "{id}", "0199f0a4-2222-7000-8000-000000000002", "{handle}", c.people[0].Handle,
		"{grantId}", "0199f0a4-2222-7000-8000-000000000003", "{appId}", c.app.id, "{publicKey}", strings.Repeat("ab", 32),
		"{type}", "signal.create", "{eventKey}", "none", "{file}", "app.css",
	).Replace(op.Path)
	host := map[string]string{"hub": c.env.Hub(i), "api": c.env.Stack.API, "clock": c.env.Stack.Clock}[op.Host]
	r := client.Request{Method: op.Method, URL: host + path}
	switch {
	case op.Form():
		r.Body, r.Header = []byte("decision=approve&request=x"), formed
	case op.Body() != nil:
		r.Body = draftOf(op.Body(), c.market[0], c.people[0].Handle, i)
	case op.Method == http.MethodPost:
		r.Body = []byte("{}")
	}
	return r
}

// judge holds one cell against what the token may do. A scope of no name is that of a
// refresh token, which opens nothing.
func (c *creep) judge(ctx context.Context, op *openapi.Operation, r client.Request, scope string) {
	a := c.env.Client.Do(ctx, r)
	under, inside := strings.CutPrefix(op.Path, "/api/protocol/v1")
	needs, opens := opened[op.Method+" "+under]
	opens = opens && inside && op.Host == "hub"
	want := ""
	switch {
	case opens && scope != "" && (needs == "" || needs == scope):
		if a.Status == http.StatusUnauthorized && a.Text("reason") == "" || a.Code() == "insufficient_scope" {
			want = "to be let in"
		}
	case opens && scope != "":
		if a.Status != http.StatusForbidden || a.Code() != "insufficient_scope" || a.Text("required") != needs {
			want = "403 insufficient_scope"
		}
	case op.Gone():
		if a.Status != http.StatusGone {
			want = "410"
		}
	case op.Public():
		want = c.ignored(ctx, r, a)
	case a.Status != http.StatusUnauthorized:
		want = "401"
		if op.Form() && a.Status == http.StatusForbidden { // a form of another page, whoever sends it
			want = ""
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cells++
	if want != "" || a.Err != nil {
		c.outside++
		c.seen.Wrong("%s with %q: answered %s, not %s", op.Name(), scope, a, want)
	}
}

// ignored wants what is open for everybody either shut to a token or the same for
// nobody as for its bearer.
func (c *creep) ignored(ctx context.Context, r client.Request, a client.Answer) string {
	if a.Status == http.StatusUnauthorized {
		return ""
	}
	r.As = nil
	if nobody := c.env.Client.Do(ctx, r); nobody.Status != a.Status {
		return fmt.Sprintf("as nobody, %d", nobody.Status)
	}
	return ""
}

// Of a trial: a grant has sixty calls a minute.
const (
	bearers    = 6
	underFire  = 5
	afterwards = 4
)

// revoke takes a grant away in one of three ways, while its token is in use.
func (c *creep) revoke(ctx context.Context, i int) error {
	by := c.people[i%len(c.people)]
	t, err := grantTo(ctx, c.env, c.app, by.session, "profile:read signer:create signal:create offline_access")
	if err != nil {
		return fmt.Errorf("grant: %w", err)
	}
	p := newPen(c.env, by.ID, "j6 "+t.Grant)
	p.appID = c.app.id
	if err := p.register(ctx, c.env, client.Key(t.Access), "signal:create"); err != nil {
		return fmt.Errorf("register a signer: %w", err)
	}
	gone := make(chan struct{})
	var at time.Time
	var wg sync.WaitGroup
	taken := make(chan struct{}, bearers*underFire)
	for b := range bearers {
		wg.Go(func() {
			for k := range underFire + afterwards {
				if k == underFire {
					<-gone
				}
				a := whoIs(ctx, c.env, b+k, t.Access)
				if a.Status == http.StatusOK {
					taken <- struct{}{}
				}
				c.note(a, gone, &at)
			}
		})
	}
	for range bearers {
		select {
		case <-taken:
		case <-ctx.Done():
			close(gone)
			return ctx.Err()
		}
	}
	a := c.end(ctx, i, by, t)
	at = a.Ended
	close(gone)
	wg.Wait()
	if a.Status != http.StatusOK {
		return fmt.Errorf("the revocation was answered %s", a)
	}
	for k := range c.env.Hubs {
		a := submit(ctx, c.env, k, p.seal(p.draft("signal.create", nonceOf("j6 %s %d", t.Grant, k), time.Now(), map[string]any{
			"marketId": c.market[0], "position": "YES", "priceBps": 5000,
		})))
		c.seen.Check(a.Status == http.StatusUnauthorized && a.Text("reason") == "signer_revoked", "a signer of the grant was answered %s", a)
		a = oauth(ctx, c.env, k, "token", c.app.renews(t.Refresh))
		c.seen.Check(a.Status == http.StatusBadRequest && a.Code() == "invalid_grant", "a renewal of the grant was answered %s", a)
	}
	return nil
}

// end revokes: by the person's session, by the person's key, or by the app.
func (c *creep) end(ctx context.Context, i int, by person, t tokens) client.Answer {
	r := client.Request{Method: http.MethodDelete, URL: c.env.Hub(i) + "/api/user/grants/" + t.Grant, As: by.session}
	switch i % 3 {
	case 1:
		r.URL, r.As = protocol(c.env, i)+"/grants/"+t.Grant, by.keys[0].Key
	case 2:
		return oauth(ctx, c.env, i, "revoke", pairs(map[string]string{"token": t.Refresh, "client_id": c.app.id}))
	}
	return c.env.Client.Do(ctx, r)
}

func (c *creep) note(a client.Answer, gone <-chan struct{}, at *time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen.Check(a.Status == http.StatusOK || a.Status == http.StatusUnauthorized, "a call of a token was answered %s", a)
	select {
	case <-gone:
	default:
		return
	}
	if !a.Began.After(*at) {
		return
	}
	c.after++
	if a.Status == http.StatusOK {
		c.late++
		c.seen.Wrong("a call that was begun after the revocation was taken")
	}
}
