package outage

import (
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/signalcast/signalcast/test/system/openapi"
	"github.com/signalcast/signalcast/test/system/stack"
)

// read is a request to a documented GET route.
type read struct {
	op         *openapi.Operation
	path       string // path with its query
	client     *stack.Crowd
	credential stack.Set
}

func (r read) key() string { return r.op.Host + r.path }

// objects contains the objects that the tests read. The first object of each list is read before the outages, and each other
// object is read during one outage.
type objects struct {
	owner            *stack.Owner
	markets, signals []string // native markets, each with a call of the owner
	codes            []string // codes of short links to the calls
	venueMarkets     []string // markets of Polymarket; only the first is read before the outages
	readers          []*reader
	hookKeys         []string // keys of the owner; each has a separate rate limit
	asset            string   // name of a static file of the pages
	unsubscribe      string   // token of the owner
	hub              string
	crowd            *stack.Crowd // source addresses of the reads; each has a limit of 600 requests per minute
}

// reader contains the credentials for the reads during one outage. Each person, key and address has a separate rate
// limit.
type reader struct {
	*stack.Operator
	session stack.Set
}

var assetName = regexp.MustCompile(`/static/([A-Za-z0-9._-]+)`)

func newObjects(t *testing.T, s *stack.Stack, n int) *objects {
	t.Helper()
	o := &objects{owner: s.NewOwner(t), hub: s.Hub, crowd: stack.NewCrowd(200)}
	o.owner.UploadPicture(t, o.owner.Browser)
	o.owner.Send(t, "/api/streamer/profile", http.StatusOK, o.owner.Browser, stack.JSON{"payoutAddress": o.owner.Wallet})
	for i := range n {
		market := s.NewNativeMarket(t, 5000, nil)
		signal := o.owner.File(t, stack.Call(market, []string{"NO", "YES"}[i%2], 4000+10*i)).Require(http.StatusOK).Text("id")
		_, code, ok := strings.Cut(stack.Get(t, s.Hub+"/api/embed/signal/"+signal).Require(http.StatusOK).Text("shortUrl"), "/api/c/")
		if !ok {
			t.Fatalf("the embed of call %s has no short link", signal)
		}
		r := &reader{Operator: s.NewOperator(t)}
		r.session = r.Session(t)
		o.markets, o.signals, o.codes = append(o.markets, market), append(o.signals, signal), append(o.codes, code)
		o.readers = append(o.readers, r)
		o.venueMarkets = append(o.venueMarkets, s.NewVenueMarket(t, "polymarket", 0.41, nil).ID)
	}
	o.owner.AddEmail(t)
	o.unsubscribe = o.owner.UnsubscribeToken(t)
	for range 4 {
		key, _ := o.owner.Mint(t, stack.JSON{"label": "webhooks"})
		o.hookKeys = append(o.hookKeys, key)
	}
	stack.Query[int](t, s, `WITH attempt AS (INSERT INTO api.webhook_deliveries
			(webhook_id, delivery_id, first_seq, last_seq, events, attempt, status, error, took_ms, at)
			VALUES ($1, gen_random_uuid(), 1, 2, 2, 1, 503, 'status', 7, now()) RETURNING 1)
		SELECT count(*) FROM attempt`, o.owner.Webhook)
	found := assetName.FindSubmatch(stack.Get(t, s.Hub+"/m/"+o.markets[0]).Require(http.StatusOK).Body)
	if found == nil {
		t.Fatal("the page of a market names no file under /static/")
	}
	o.asset = string(found[1])
	feed := s.API + "/api/v1/feed?limit=200&handle=" + o.owner.Handle
	stack.Eventually(t, recoverWithin, "the last call to appear in the feed", func() bool { return stack.Get(t, feed).Contains(o.signals[n-1]) })
	return o
}

// reads returns one request to every GET route that does not require an administrator. It uses the objects with index i, and
// the credentials of the reader with the given index.
func (o *objects) reads(doc *openapi.Document, i, reader int) (out []read) {
	for _, op := range doc.Operations {
		// The route of the event stream is excluded, because its answer does not end.
		if op.Method != http.MethodGet || op.Takes("adminSecret") || op.Takes("cronSecret") || op.Path == "/api/v1/feed/stream" {
			continue
		}
		r := read{op: op, path: op.Path, client: o.crowd, credential: o.credential(op, reader)}
		query := url.Values{}
		for _, p := range op.Parameters() {
			value, known := o.value(op, p, i)
			switch {
			case p.In == "path":
				r.path = strings.Replace(r.path, "{"+p.Name+"}", url.PathEscape(value), 1)
			case p.In == "query" && known:
				query.Set(p.Name, value)
			}
		}
		r.path = strings.Replace(r.path, "{rest}", "old", 1) // a parameter of retired routes
		if len(query) > 0 {
			r.path += "?" + query.Encode()
		}
		out = append(out, r)
	}
	return out
}

// credential returns a credential that the route requires.
func (o *objects) credential(op *openapi.Operation, reader int) stack.Set {
	r := o.readers[reader]
	switch {
	case op.Public():
		return func(*http.Request) {}
	case op.Takes("identityToken"):
		return stack.Bearer(r.Login)
	case strings.HasPrefix(op.Path, "/api/v1/webhooks"):
		return stack.Bearer(o.hookKeys[reader%len(o.hookKeys)])
	case op.Takes("operatorKey"):
		return stack.Bearer(r.Key)
	}
	return r.session
}

// value returns the value of a parameter for the objects with index i. known is false if it has no value for the parameter.
// Each new path parameter needs a case here: without it, the healthy system cannot answer the route and the test fails.
func (o *objects) value(op *openapi.Operation, p openapi.Parameter, i int) (value string, known bool) {
	if op.Path == "/protocol/authorize" {
		value := o.owner.App.AuthorizeRequest("profile:read").Get(p.Name)
		return value, value != ""
	}
	inPath, venue := p.In == "path", strings.HasPrefix(op.Path, "/api/polymarket/")
	switch p.Name {
	case "t":
		if op.Path == "/unsubscribe" {
			return o.unsubscribe, true
		}
		return o.owner.EmailToken(), true
	case "subject":
		return "market:" + o.markets[i], true
	case "marketId", "market", "market_id":
		if venue {
			return o.venueMarkets[i], true
		}
		return o.markets[i], true
	case "id":
		switch {
		case venue:
			return o.venueMarkets[i], true
		case strings.HasPrefix(op.Path, "/clips/"):
			return o.owner.Clip, true
		case strings.HasSuffix(op.Path, "/messages/{id}"):
			return o.owner.Message, true
		case strings.HasSuffix(op.Path, "/passports/{id}"):
			return o.owner.Handle, true
		case strings.HasPrefix(op.Path, "/api/v1/webhooks/"):
			return o.owner.Webhook, true
		}
		return o.signals[i], true
	case "handle":
		return o.owner.Handle, inPath || op.Path == "/api/user/follow" || strings.HasPrefix(op.Path, "/api/streamer/")
	case "url":
		return o.hub + "/receipts/" + o.signals[i], true
	case "denpaId":
		return o.owner.ID, true
	case "file":
		return o.asset, true
	case "state":
		return "none", true
	case "of": // selects a list of the feed page
		return []string{"signals", "resolutions", "wire"}[i%3], i > 0
	case "limit": // requests another page than the cached one
		return strconv.Itoa(i + 4), i > 0
	}
	value = map[string]string{
		"page": "quickstart.html", "kind": "signal", "code": o.codes[i], "publicKey": o.owner.Signer.PublicKey, "appId": o.owner.App.ID,
		"type": "signal.create", "stationId": o.owner.Station, "operation": "getSignal", "schema": "Signal",
	}[p.Name]
	if value == "" {
		value = "unknown" // an object that does not exist
	}
	return value, inPath
}
