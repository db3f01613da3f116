package rows

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/system/openapi"
)

// i4 puts the address of a canary into every text that a caller can send, and
// lets venues and the identity provider redirect to it. Webhooks alone call where
// callers say: what they connect with is tested against a table of addresses.
var i4 = frame.Row{
	ID: "I4", Title: "a URL from a user is never fetched",
	Fault: frame.Fault{What: "the proof of a claim is looked up"},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		doc, err := openapi.Load(env.Root)
		if err != nil {
			return nil, err
		}
		bird, err := newCanary()
		if err != nil {
			return nil, err
		}
		defer bird.close()
		if err := bird.hears(); err != nil {
			return nil, err
		}
		b, err := newBait(ctx, env, seen, bird)
		if err != nil {
			return nil, err
		}
		for _, op := range doc.Operations {
			b.offer(ctx, op)
		}
		b.tokens(ctx)
		redirects, err := b.redirects(ctx)
		if err != nil {
			return nil, err
		}
		// What was taken in might be looked at later.
		if err := wait(ctx, time.Now().Add(time.Duration(env.Of(500, 1500, 10_000))*time.Millisecond)); err != nil {
			return nil, err
		}
		if env.Size != frame.Small {
			if _, err := ownTests(ctx, env, seen, "./pkg/safedial", "^(TestTable|TestNothingIsDialled|TestRebinding|TestNoProxyNoRedirect)$"); err != nil {
				return nil, err
			}
		}
		hits := bird.hits.Load()
		seen.Check(hits == 0, "%d connections were made to an address that a caller named", hits)
		seen.Check(b.accepted >= leastTaken, "of %d writes only %d were accepted", b.writes, b.accepted)
		seen.Figure("writes", b.writes)
		seen.Figure("accepted", b.accepted)
		seen.Figure("reads", b.reads)
		seen.Figure("routesThatTookNone", b.refused)
		seen.Promise("canary hits 0, redirects followed 0", fmt.Sprintf("%d hits after %d redirects", hits, redirects))
		seen.Volume("%d places in %d routes, %d writes (%d accepted), %d reads", b.places, b.routes, b.writes, b.accepted, b.reads)
		return seen, nil
	},
}

// leastTaken is how many of the writes must have been taken in: else nothing was
// laid out. Doors that want an app's token or a signature take none of them.
const leastTaken = 50

// bait is what is laid out.
type bait struct {
	env  *frame.Env
	seen *frame.Seen
	bird *canary
	cast

	routes, places, writes, reads, accepted int
	refused                                 []string // routes that took none of it
}

func newBait(ctx context.Context, env *frame.Env, seen *frame.Seen, bird *canary) (*bait, error) {
	b := &bait{env: env, seen: seen, bird: bird}
	var err error
	if b.cast, err = gather(ctx, env, "I4", "i4-writer"); err != nil {
		return nil, err
	}
	for i := range env.Of(0, moreKeys, moreKeys) {
		k, err := env.Client.Mint(ctx, env.Hub(i), b.login, fmt.Sprintf("bait %d", i))
		if err != nil {
			return nil, fmt.Errorf("mint a key: %w", err)
		}
		b.keys = append(b.keys, k)
	}
	return b, nil
}

// moreKeys share the writes. A hub that has just lost Redis allows a key half of its
// limit, and a write that is refused for that lays out nothing.
const moreKeys = 2

// offer puts the address into every text of a route, one at a time: in bodies of
// what writes, in queries of what reads.
func (b *bait) offer(ctx context.Context, op *openapi.Operation) {
	switch {
	case op.Gone():
	case op.Method == http.MethodGet:
		if b.env.Size == frame.Small || op.Takes("cronSecret") {
			return
		}
		b.routes++
		for _, p := range op.Parameters() {
			if p.Text {
				b.places++
				b.get(ctx, op, p)
			}
		}
	case op.Body() != nil:
		places, before := openapi.Texts(op.Body()), b.accepted
		b.routes, b.places = b.routes+1, b.places+len(places)
		for _, at := range places {
			for _, scheme := range []string{"https", "http"} {
				b.write(ctx, op, at, b.bird.url(scheme))
			}
		}
		b.write(ctx, op, nil, b.bird.url("https"))
		if b.accepted == before {
			b.refused = append(b.refused, op.Name())
		}
	}
}

// as is whom a route lets in.
func (b *bait) as(op *openapi.Operation, i int) client.Credential {
	switch {
	case op.Takes("adminSecret"):
		return b.env.Admin()
	case op.Takes("operatorKey"):
		return b.keys[i/2%len(b.keys)].Key // each at every hub
	case op.Takes("identityToken"):
		return b.login
	case op.Takes("sessionId"):
		return b.session
	}
	return nil
}

// path fills the path of a route: with what exists.
func (b *bait) path(op *openapi.Operation, market string) string {
	path := strings.NewReplacer("{marketId}", market, "{handle}", b.Handle, "{market}", market).Replace(op.Path)
	id := b.signal
	switch {
	case strings.Contains(path, "/m/{id}") || strings.Contains(path, "/markets/{id}"):
		id = market
	case underHooks(path):
		id = b.hook.id
	}
	return strings.Replace(path, "{id}", id, 1)
}

// write sends one body, good but for the address at a place; at none, it is in
// every member that is meant for one or holds free words.
func (b *bait) write(ctx context.Context, op *openapi.Operation, at openapi.Place, address string) {
	b.writes++
	market, err := b.env.Client.Market(ctx, b.env.Hub(0), b.env.Admin(), fmt.Sprintf("Will bait %d be taken?", b.writes), 5000)
	if err != nil {
		b.seen.Wrong("make a market: %v", err)
		return
	}
	body := draftOf(op.Body(), market, b.Handle, b.writes)
	if op.Method == http.MethodPatch && underHooks(op.Path) {
		delete(body, "url") // it takes no other than its own
	}
	if at == nil {
		for _, name := range []string{"proofUrl", "resolutionSource", "url", "streamUrl", "imageUrl", "textTake", "reason", "description", "text"} {
			if _, there := body[name]; there {
				body[name] = address
			}
		}
	} else {
		plantAt(body, at, address)
	}
	r := client.Request{
		Method: op.Method, URL: hostOf(b.env, op.Host, b.writes) + b.path(op, market), As: b.as(op, b.writes), Body: body,
		Header: http.Header{"Idempotency-Key": {fmt.Sprintf("bait-%d", b.writes)}},
	}
	if op.Form() {
		fields := url.Values{}
		for name, value := range body {
			fields.Set(name, fmt.Sprint(value))
		}
		r.Body, r.As = []byte(fields.Encode()), nil
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", b.env.Hub(0))
	}
	a := b.env.Client.Do(ctx, r)
	b.seen.Check(a.Err == nil && a.Status < 500 && a.Status != http.StatusTooManyRequests, "%s with an address at %s: %s", op.Name(), strings.Join(at, "."), a)
	b.seen.Check(!underHooks(op.Path) || body["url"] != address || a.Status == http.StatusBadRequest, "a webhook to %s: %s", address, a)
	if a.Status < 300 && a.Err == nil {
		b.accepted++
	}
}

// get sends a query with the address in one parameter.
func (b *bait) get(ctx context.Context, op *openapi.Operation, p openapi.Parameter) {
	b.reads++
	path, query := b.path(op, b.market), ""
	switch p.In {
	case "path":
		path = strings.Replace(op.Path, "{"+p.Name+"}", url.PathEscape(b.bird.url("http")), 1)
	case "query":
		query = "?" + url.Values{p.Name: {b.bird.url("http")}}.Encode()
	}
	r := client.Request{Method: op.Method, URL: hostOf(b.env, op.Host, b.reads) + path + query, As: b.as(op, b.reads)}
	if p.In == "header" {
		r.Header = http.Header{p.Name: {b.bird.url("http")}}
	}
	if op.Public() {
		r.As = nil
	}
	a := b.env.Client.Do(ctx, r)
	told := a.Status < 500 || a.Status == http.StatusNotImplemented && op.Knows(a.Status)
	b.seen.Check(a.Err == nil && told, "%s with an address in %s: %s", op.Name(), p.Name, a)
}

// tokens are forged ones that say where their keys or their issuer are.
func (b *bait) tokens(ctx context.Context) {
	here := b.bird.url("http")
	for _, head := range []map[string]any{
		{"alg": "ES256", "kid": "x", "jku": here},
		{"alg": "ES256", "kid": here, "x5u": here},
		{"alg": "RS256", "kid": "x", "jku": here, "iss": here},
	} {
		claims := map[string]any{
			"iss": here, "sub": "did:x", "aud": "signalcast-dev", "jwks_uri": here,
			"exp": time.Now().Add(time.Hour).Unix(), "iat": time.Now().Unix(),
		}
		var parts []string
		for _, part := range []map[string]any{head, claims} {
			raw, err := json.Marshal(part)
			if err != nil {
				b.seen.Wrong("%v", err)
			}
			parts = append(parts, base64.RawURLEncoding.EncodeToString(raw))
		}
		token := client.Login(strings.Join(parts, ".") + "." + strings.Repeat("A", 86))
		for i, url := range []string{b.env.Hub(0) + "/api/auth/privy", b.env.Hub(1) + "/api/dev/keys", b.env.Stack.API + "/api/v1/agent/keys"} {
			a := b.env.Client.Do(ctx, client.Request{Method: http.MethodPost, URL: url, As: token, Body: map[string]any{"label": "x"}})
			b.seen.Check(a.Status == http.StatusUnauthorized, "a token of an issuer of its own, at door %d: %s", i, a)
			b.reads++
		}
	}
}

// redirects lets the venues and the identity provider of further processes send
// them to the canary, and counts how often they were told to go there.
func (b *bait) redirects(ctx context.Context) (int64, error) {
	if b.env.Size == frame.Small {
		return 0, nil
	}
	f, err := newFront(b.env.Stack.Venues, b.bird.url("http"))
	if err != nil {
		return 0, err
	}
	defer f.close()
	f.set(redirect)
	ledger, err := apartLedger(ctx, b.env, f.addr)
	if err != nil {
		return 0, err
	}
	defer ledger.Stop()
	hub, err := b.env.Stack.Side(ctx, "hub", map[string]string{
		"API_ADDR": ledger.GRPC, "IDP_PROVIDERS": fmt.Sprintf(
			`[{"name":"dev","issuer":%q,"audience":"signalcast-dev","jwksURL":"http://%s/jwks.json","algs":["ES256"]}]`, b.env.Stack.IDP, f.addr),
	})
	if err != nil {
		return 0, err
	}
	defer hub.Stop()
	for _, p := range providers {
		id, err := venueMarket(ctx, b.env, p, "Will "+p+" be read where it leads?")
		if err != nil {
			return 0, err
		}
		before := f.moved.Load()
		a := b.env.Client.Do(ctx, client.Request{URL: hub.URL + "/api/m/" + id})
		told := f.moved.Load() > before
		b.seen.Check(told && a.Status == http.StatusServiceUnavailable || !told && a.Status == http.StatusOK, "a market of %s that redirects: %s", p, a)
	}
	a := b.env.Client.Do(ctx, client.Request{URL: hub.URL + "/api/dev/whoami", As: b.login})
	b.seen.Check(a.Status == http.StatusServiceUnavailable && a.Code() == "identity_provider_unavailable", "keys that redirect: %s", a)
	b.seen.Check(f.moved.Load() > 1, "nobody was redirected")
	return f.moved.Load(), nil
}
