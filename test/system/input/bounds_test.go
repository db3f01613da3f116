package input

import (
	"crypto/ed25519"
	"encoding/hex"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/test/system/openapi"
	"github.com/signalcast/signalcast/test/system/stack"
)

// TestBodiesAtTheirBounds checks every member of every request body. A value at a bound of the OpenAPI document must be
// accepted, and a value just beyond it must be refused.
func TestBodiesAtTheirBounds(t *testing.T) {
	t.Parallel()
	s, doc := inputStack(t), openapi.ForTest(t)
	other := s.NewOperator(t)
	var operations []*openapi.Operation
	for _, o := range doc.Operations {
		if o.Body() != nil && !o.Form() && !unbounded[o.Path] {
			operations = append(operations, o)
		}
	}
	if testing.Short() {
		operations = operations[:3]
	}
	stack.Each(len(operations), 3, func(i int) {
		o := operations[i]
		for n, schema := range alternatives(o.Body()) {
			w := newBodyWriter(t, s, o, other.Handle, fmt.Sprintf("bounds-%d-%d", i, n))
			good := w.body(o, schema)
			if a := w.send(t, o, good, 0); a.Status == http.StatusBadRequest && a.Code() != incomplete[o.Name()] {
				t.Errorf("%s refused a valid body: %s\n%s", o.Name(), a.Body, encode(t, good))
				continue
			}
			for k, c := range openapi.BoundaryCases(schema, good) {
				delete(c.Body, exclusive[c.Field])
				if a := w.send(t, o, c.Body, k+1); !answeredAsDescribed(o, c, a) {
					t.Errorf("%s with %s (valid: %v) was answered %d %.300s", o.Name(), c.What, c.Valid, a.Status, a.Body)
				}
			}
		}
	})
}

// unbounded lists routes that this test skips: routes that accept any members, and routes for agents, which have separate
// tests.
var unbounded = map[string]bool{
	"/api/mcp": true, stack.ProtocolPath + "/mcp": true, "/api/auth/privy": true, "/api/admin/daily-digest": true,
}

// incomplete lists operations whose valid body needs data that this test cannot create. The values are the error codes with
// which the operations refuse the body.
var incomplete = map[string]string{
	"POST hub" + stack.ProtocolPath + "/oauth/token":     "invalid_grant",
	"POST hub" + stack.ProtocolPath + "/signers":         "invalid_proof",
	"POST hub" + stack.ProtocolPath + "/messages":        "invalid_request",
	"POST hub" + stack.ProtocolPath + "/messages/verify": "invalid_request",
}

// exclusive lists pairs of members of which a body may contain only one. A created profile has a fixed operator type.
var exclusive = map[string]string{"signal": "position", "eventId": "marketId", "operatorType": "create"}

// badRequestCodes are the codes of 400 answers that do not begin with invalid_ or missing_.
var badRequestCodes = map[string]bool{"unsupported_grant_type": true, "weak_key": true, "unknown_channel": true}

// alternatives returns the object schemas of a body. A valid body matches one of them.
func alternatives(s *openapi3.Schema) []*openapi3.Schema {
	if len(s.OneOf) == 0 {
		return []*openapi3.Schema{s}
	}
	var out []*openapi3.Schema
	for _, ref := range s.OneOf {
		out = append(out, ref.Value)
	}
	return out
}

// answeredAsDescribed reports whether the answer to a boundary case is as the document requires: the member must not be a
// reason to refuse a valid body, and an invalid body must be refused.
func answeredAsDescribed(o *openapi.Operation, c openapi.BoundaryCase, a stack.Answer) bool {
	field, code := a.Member("field"), a.Code()
	about := field == c.Field || strings.HasPrefix(field, c.Field+".") || strings.HasPrefix(field, c.Field+"[")
	switch {
	case a.Status == http.StatusTooManyRequests, a.Status == http.StatusInternalServerError, !o.Knows(a.Status):
		return false
	case c.Valid:
		return a.Status != http.StatusBadRequest || code == incomplete[o.Name()] || field != "" && !about
	}
	known := strings.HasPrefix(code, "invalid_") || strings.HasPrefix(code, "missing_") || badRequestCodes[code]
	return a.Status == http.StatusBadRequest && (about || field == "") && known
}

// bodyWriter sends bodies to one operation. No other writer uses its keys, applications and objects, so rate limits and
// conflicts do not affect the answers.
type bodyWriter struct {
	*stack.Operator
	s       *stack.Stack
	session stack.Set
	keys    []string
	apps    []*stack.App
	market  string
	other   string // handle of another person
	values  map[string]string
}

func newBodyWriter(t *testing.T, s *stack.Stack, o *openapi.Operation, other, name string) *bodyWriter {
	w := &bodyWriter{Operator: s.NewOperator(t), s: s, market: s.NewNativeMarket(t, 5000, nil), other: other}
	w.session, w.keys = w.Session(t), []string{w.Key}
	if o.Takes("operatorKey") {
		for i := range 7 {
			key, _ := w.Mint(t, stack.JSON{"label": fmt.Sprintf("key %d", i)})
			w.keys = append(w.keys, key)
		}
	}
	w.values = map[string]string{"marketId": w.market, "handle": w.Handle}
	switch {
	case strings.HasPrefix(o.Path, "/api/v1/webhooks"):
		w.values["id"], _ = w.NewWebhook(t, "https://hooks.example/quiet")
	case strings.Contains(o.Path, "/signals/{id}"):
		w.values["id"] = w.File(t, stack.Call(w.market, "YES", 5000)).Require(http.StatusOK).Text("id")
	case strings.HasPrefix(o.Path, "/api/v1/stations/"):
		w.values["stationId"] = name
		w.NewStation(t, name)
	case strings.Contains(o.Path, "/oauth/"), strings.Contains(o.Path, "/apps/{appId}"):
		for range 6 {
			w.apps = append(w.apps, w.NewApp(t, "confidential", "profile:read"))
		}
		list := w.Do(t, http.MethodGet, s.Hub+"/api/dev/apps", stack.Bearer(w.Login)).Require(http.StatusOK)
		w.values["appId"] = list.Text("apps.0.appId")
	}
	return w
}

func (w *bodyWriter) send(t *testing.T, o *openapi.Operation, body map[string]any, n int) stack.Answer {
	credential := stack.Set(func(*http.Request) {})
	switch {
	case o.Takes("adminSecret"):
		credential = w.s.Admin()
	case o.Takes("operatorKey"):
		credential = stack.Bearer(w.keys[n%len(w.keys)])
	case o.Takes("identityToken"):
		credential = stack.Bearer(w.Login)
	case o.Takes("sessionId"):
		credential = w.session
	case o.Takes("appCredentials"):
		app := w.apps[n%len(w.apps)]
		credential = func(r *http.Request) { r.SetBasicAuth(app.ID, app.Secret) }
	}
	crowd := stack.NewCrowd(1)
	return crowd.Retry(t, o.Method, w.s.Base(o.Host, n)+o.Fill(w.values), credential, stack.Body(body),
		stack.Header("Accept", "application/json"), stack.Header("Sec-Fetch-Site", "same-origin"))
}

// body returns a valid body for an operation. It contains the required members, as the schema describes them, and the members
// of special.
func (w *bodyWriter) body(o *openapi.Operation, s *openapi3.Schema) map[string]any {
	out, random := map[string]any{}, rand.New(rand.NewPCG(6, uint64(len(o.Name()+s.Title))))
	for _, name := range s.Required {
		out[name] = openapi.Generate(s.Properties[name].Value, random, openapi.Valid)
	}
	for name, value := range map[string]any{"marketId": w.market, "handle": w.Handle} {
		if slices.Contains(s.Required, name) {
			out[name] = value
		}
	}
	maps.Copy(out, w.special()[o.Method+" "+strings.TrimPrefix(o.Path, stack.ProtocolPath)])
	return out
}

// special returns, by method and path, valid values for members that the schema does not describe completely.
func (w *bodyWriter) special() map[string]map[string]any {
	key, _, _ := ed25519.GenerateKey(nil) // reads random bytes of the system and does not fail
	publicKey := hex.EncodeToString(key)
	call := map[string]any{"marketId": w.market, "position": "YES", "priceBps": 5000}
	app := map[string]any{
		"homepage": "https://app.example/home", "logoUrl": "https://app.example/logo.png", "redirectUris": []any{stack.AppRedirect},
		"scopes": []any{"profile:read"},
	}
	profile := map[string]any{"links": []any{"https://me.example/me"}, "lanes": []any{"science", "music", "film", "tv", "fashion"}}
	withFace := maps.Clone(profile)
	withFace["avatarUrl"] = "https://me.example/face.png"
	id := strings.ReplaceAll(w.Handle, "_", "-")
	site := "https://" + id + ".example/"
	station := map[string]any{
		"url": site + "home", "tapesUrl": site + "tapes", "operatorsUrl": site + "operators",
		"lanes": texts(protocol.Lanes[:]), "providers": texts(protocol.Providers[:]),
	}
	newStation := maps.Clone(station)
	newStation["stationId"] = id
	message := map[string]any{
		"nonce": strings.Repeat("n", 16), "appId": nil, "timestamp": 1,
		"signer":    map[string]any{"kind": "ed25519", "publicKey": publicKey},
		"signature": strings.Repeat("0a", 64),
	}
	tokens := map[string]any{
		"grant_type": "authorization_code", "code": "dac_x", "code_verifier": stack.CodeVerifier, "redirect_uri": stack.AppRedirect,
		"refresh_token": "drt_x",
	}
	expires := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	return map[string]map[string]any{
		"POST /api/broadcast/preempt":              {"marketId": "701122", "id": openapi.NoID},
		"POST /api/admin/pins":                     {"marketId": "701122"},
		"POST /api/admin/operators":                {"create": true},
		"POST /api/dev/apps":                       app,
		"PATCH /api/dev/apps/{appId}":              app,
		"POST /api/user/follow":                    {"handle": w.other},
		"POST /api/identity/claim":                 {"address": "JEKNVnkbo3jma5nREBBJCDoXFVeKkD56V3xKrvRmWxFG"},
		"POST /api/m/{marketId}/streams":           {"url": "https://video.example/live/x.m3u8"},
		"POST /api/streamer/profile":               withFace,
		"POST /api/streamer/register":              profile,
		"POST /predictions":                        call,
		"POST /signals":                            call,
		"POST /messages":                           message,
		"POST /messages/verify":                    message,
		"POST /signers":                            {"publicKey": publicKey, "scopes": []any{"signal:create"}, "expiresAt": expires},
		"POST /signers/challenge":                  {"publicKey": publicKey},
		"POST /oauth/token":                        tokens,
		"POST /api/v1/signals/categorize":          {"items": []any{map[string]any{"marketId": w.market}}},
		"POST /api/v1/stations":                    newStation,
		"PUT /api/v1/stations/{stationId}":         station,
		"POST /api/v1/stations/{stationId}/status": {"status": "active"},
		"POST /api/v1/webhooks":                    {"url": "https://hooks.example/quiet", "channels": []any{stack.QuietChannel}},
		"PATCH /api/v1/webhooks/{id}":              {"channels": []any{stack.QuietChannel}},
	}
}

func texts[T ~string](words []T) (out []any) {
	for _, word := range words {
		out = append(out, string(word))
	}
	return out
}
