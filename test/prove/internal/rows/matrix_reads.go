package rows

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/system/openapi"
)

// read is one request to a route of the description.
type read struct {
	op   *openapi.Operation
	path string // filled, with its query
	as   client.Credential
}

func (r read) key() string { return r.op.Host + r.path }

func (r read) query() string {
	if _, q, ok := strings.Cut(r.path, "?"); ok {
		return "?" + q
	}
	return ""
}

func (r read) request(hosts map[string]string) client.Request {
	return client.Request{Method: http.MethodGet, URL: hosts[r.op.Host] + r.path, As: r.as}
}

// seeds are objects to read: the first of each was read before, and each fault
// has further ones that nobody has asked for.
type seeds struct {
	person
	markets, signals []string // native, with a call on each
	venue            []string // of the primary venue; only the first was ever read
	logins           []client.Login
	keyOf            []client.Key // of each login: each has its own limit
	sessionOf        []client.Session
	delegated
	hookKeys []client.Key // of the owner of the webhook, one for each login
	asset    string       // a file of the pages
	codes    []string     // of short links to the signals
	hub      string       // the public address, which links begin with
	station  string
}

var assetName = regexp.MustCompile(`/static/([A-Za-z0-9._-]+)`)

// sow makes n of each, for one row or for the matrix.
func sow(ctx context.Context, env *frame.Env, row string, n int) (*seeds, error) {
	p, err := signUp(ctx, env, "matrix-reader", 1)
	if err != nil {
		return nil, err
	}
	s := &seeds{person: p, hub: env.Stack.Hub, codes: make([]string, n), signals: make([]string, n), venue: make([]string, n), logins: make([]client.Login, n), keyOf: make([]client.Key, n), sessionOf: make([]client.Session, n)}
	if s.markets, err = markets(ctx, env, "C1", n); err != nil {
		return nil, err
	}
	errs := make([]error, n)
	frame.Each(n, abreast, func(i int) {
		a := env.Client.File(ctx, env.Hub(i), p.keys[0].Key, client.Call{Market: s.markets[i], Yes: i%2 == 0, Price: 4000 + 10*i})
		if errs[i] = a.Into(http.StatusOK, nil); errs[i] != nil {
			return
		}
		s.signals[i] = a.Text("id")
		if s.codes[i], errs[i] = shortCode(ctx, env, s.signals[i]); errs[i] != nil {
			return
		}
		s.venue[i], errs[i] = env.Client.VenueMarket(ctx, env.Stack.Venues, fmt.Sprintf("Will ship %d of row C1 be in port?", i), .41)
		if errs[i] == nil {
			s.logins[i], errs[i] = env.Client.Login(ctx, env.Stack.IDP, fmt.Sprintf("matrix-reader-%d", i))
		}
		if errs[i] == nil {
			s.sessionOf[i], _, errs[i] = env.Client.SignIn(ctx, env.Hub(i), s.logins[i])
		}
		if errs[i] == nil {
			var k client.MintedKey
			k, errs[i] = env.Client.Mint(ctx, env.Hub(i), s.logins[i], "matrix")
			s.keyOf[i] = k.Key
		}
	})
	for _, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("sow: %w", err)
		}
	}
	page := env.Client.Do(ctx, client.Request{URL: env.Hub(0) + "/m/" + s.markets[0]})
	if found := assetName.FindSubmatch(page.Body); found != nil {
		s.asset = string(found[1])
	}
	if s.delegated, err = delegate(ctx, env, p); err != nil {
		return nil, err
	}
	owner, err := pool(ctx, env, row+"_hooks", 1, n)
	if err != nil {
		return nil, err
	}
	s.hookKeys = owner[0].Keys
	if s.hook, err = register(ctx, env, s.hookKeys[0]); err != nil {
		return nil, err
	}
	if err := s.hook.attempted(ctx, env); err != nil {
		return nil, err
	}
	s.station = "of-the-matrix"
	if err := enlist(ctx, env, p.keys[0].Key, s.station); err != nil {
		return nil, err
	}
	return s, s.settled(ctx, env)
}

// shortCode is that of the short link to a call, which its embed shows.
func shortCode(ctx context.Context, env *frame.Env, signal string) (string, error) {
	var shown struct {
		ShortURL string `json:"shortUrl"`
	}
	if err := env.Client.Do(ctx, client.Request{URL: env.Stack.Hub + "/api/embed/signal/" + signal}).Into(http.StatusOK, &shown); err != nil {
		return "", err
	}
	_, code, ok := strings.Cut(shown.ShortURL, "/api/c/")
	if !ok {
		return "", fmt.Errorf("the embed of %s shows the short link %q", signal, shown.ShortURL)
	}
	return code, nil
}

// settled waits until the boards and the feed have taken the calls in, so that
// what is read does not move any more.
func (s *seeds) settled(ctx context.Context, env *frame.Env) error {
	last := s.signals[len(s.signals)-1]
	ok, err := frame.Until(ctx, recoverWithin, func() (bool, error) {
		a := env.Client.Do(ctx, client.Request{URL: env.Stack.API + "/api/v1/feed?limit=200&handle=" + s.Handle})
		return strings.Contains(string(a.Body), last), nil
	})
	if err == nil && !ok {
		err = fmt.Errorf("call %s does not come into the feed", last)
	}
	return err
}

// reads lists one request to every GET route that may be asked by anybody or by
// a person, with the i-th objects and as the person of a login.
func (s *seeds) reads(doc *openapi.Document, i, login int) (out []read) {
	for _, op := range doc.Operations {
		if op.Method != http.MethodGet || op.Takes("adminSecret") || op.Takes("cronSecret") || op.Path == "/api/v1/feed/stream" { // which does not end
			continue
		}
		r := read{op: op, path: op.Path, as: s.credential(op, login)}
		query := url.Values{}
		for _, p := range op.Parameters() {
			value, known := s.fill(op, p, i)
			switch {
			case p.In == "path":
				r.path = strings.Replace(r.path, "{"+p.Name+"}", url.PathEscape(value), 1)
			case p.In == "query" && known:
				query.Set(p.Name, value)
			}
		}
		r.path = strings.Replace(r.path, "{rest}", "old", 1) // of retired routes
		if len(query) > 0 {
			r.path += "?" + query.Encode()
		}
		out = append(out, r)
	}
	return out
}

// credential is as whom a route is read: as nobody where that is enough.
func (s *seeds) credential(op *openapi.Operation, login int) client.Credential {
	switch {
	case op.Public():
		return nil
	case op.Takes("identityToken"):
		return s.logins[login] // each has its own limit
	case underHooks(op.Path):
		return s.hookKeys[login]
	case op.Takes("operatorKey"):
		return s.keyOf[login]
	}
	return s.sessionOf[login]
}

// fill gives the value of a parameter. A new parameter of a path needs a line
// here: until then its route has no healthy answer, and the row says so.
func (s *seeds) fill(op *openapi.Operation, p openapi.Parameter, i int) (value string, known bool) {
	if op.Path == "/protocol/authorize" {
		return s.asking(p.Name)
	}
	venue := strings.HasPrefix(op.Path, "/api/polymarket/")
	switch {
	case p.Name == "id" && venue, p.Name == "market_id", p.Name == "marketId" && venue:
		return s.venue[i], true
	case p.Name == "marketId", p.Name == "market":
		return s.markets[i], true
	case p.Name == "page" && p.In == "path":
		return "quickstart.html", true
	case p.Name == "kind" && p.In == "path":
		return "signal", true
	case p.Name == "code" && p.In == "path":
		return s.codes[i], true
	case p.Name == "url":
		return s.hub + "/receipts/" + s.signals[i], true
	case p.Name == "id" && strings.HasSuffix(op.Path, "/messages/{id}"):
		return s.message, true
	case p.Name == "id" && strings.HasSuffix(op.Path, "/passports/{id}"):
		return s.Handle, true
	case p.Name == "id" && underHooks(op.Path):
		return s.hook.id, true
	case p.Name == "id":
		return s.signals[i], true
	case p.Name == "publicKey" && p.In == "path":
		return s.signer, true
	case p.Name == "handle" && (op.Path == "/api/user/follow" || strings.HasPrefix(op.Path, "/api/streamer/")):
		return s.Handle, true
	case p.Name == "appId" && p.In == "path":
		return s.app, true
	case p.Name == "denpaId":
		return s.ID, true
	case p.Name == "type" && p.In == "path":
		return "signal.create", true
	case p.Name == "handle" && p.In == "path":
		return s.Handle, true
	case p.Name == "stationId" && p.In == "path":
		return s.station, true
	case p.Name == "file":
		return s.asset, true
	case p.Name == "of" && i > 0: // of the page of the feed
		return []string{"signals", "resolutions", "wire"}[i%3], true
	case p.Name == "limit" && i > 0:
		return strconv.Itoa(i + 4), true // another page than the one that is kept
	case p.Name == "state":
		return "none", true
	case p.In == "path":
		return "unknown", true
	}
	return "", false
}
