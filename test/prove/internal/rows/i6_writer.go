package rows

import (
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/system/openapi"
)

// bodyWriter writes to one operation, with keys, apps and places that are nobody else's: what
// limits and owners would say to it is not what is looked at.
type bodyWriter struct {
	person
	env    *frame.Env
	market string
	other  string // somebody else's handle
	apps   []app
	own    map[string]string // parameters of paths: what belongs to the writer
}

// notHere are operations whose good body needs what cannot be made here, with the code of
// what they say to a body that is good but for that.
var notHere = map[string]string{
	"POST hub" + protocolPath + "/oauth/token":     "invalid_grant",
	"POST hub" + protocolPath + "/signers":         "invalid_proof",
	"POST hub" + protocolPath + "/messages":        "invalid_request",
	"POST hub" + protocolPath + "/messages/verify": "invalid_request",
}

// bodyWriter makes one, with what the operation needs.
func (q *inquiry) bodyWriter(ctx context.Context, op *openapi.Operation, name string) (*bodyWriter, error) {
	keys := 1
	if op.Takes("operatorKey") {
		keys = 8
	}
	p, err := signUp(ctx, q.env, "i6-body-"+name, keys)
	if err != nil {
		return nil, err
	}
	ids, err := markets(ctx, q.env, "I6 "+name, 1)
	if err != nil {
		return nil, err
	}
	by := &bodyWriter{person: p, env: q.env, market: ids[0], other: q.Handle, own: map[string]string{"{marketId}": ids[0], "{handle}": p.Handle}}
	switch {
	case strings.HasPrefix(op.Path, hooksPath):
		var h hook
		h, err = register(ctx, q.env, p.keys[0].Key)
		by.own["{id}"] = h.id
	case strings.Contains(op.Path, "/signals/{id}"):
		a := q.env.Client.File(ctx, q.env.Hub(0), p.keys[0].Key, client.Call{Market: ids[0], Yes: true, Price: 5000})
		by.own["{id}"], err = a.Text("id"), a.Into(http.StatusOK, nil)
	case strings.HasPrefix(op.Path, stationsPath+"/"):
		by.own["{stationId}"] = "i6-" + name
		draft := map[string]any{"stationId": "i6-" + name, "name": "I6", "url": "https://i6-" + name + ".example"}
		err = q.env.Client.Do(ctx, client.Request{URL: q.env.Stack.API + stationsPath, As: p.keys[0].Key, Body: draft}).Into(http.StatusCreated, nil)
	case strings.Contains(op.Path, "/oauth/"), strings.Contains(op.Path, "/apps/{appId}"):
		for range 6 {
			var made app
			if made, err = newApp(ctx, q.env, p.login, "confidential", "profile:read"); err != nil {
				break
			}
			by.apps = append(by.apps, made)
		}
		if err == nil {
			err = by.ownApp(ctx)
		}
	}
	return by, err
}

// ownApp finds the id of the writer's app, which is not the one it calls itself by.
func (by *bodyWriter) ownApp(ctx context.Context) error {
	var list struct {
		Apps []struct{ AppID string }
	}
	err := by.env.Client.Do(ctx, client.Request{URL: by.env.Hub(0) + "/api/dev/apps", As: by.login}).Into(http.StatusOK, &list)
	if err == nil && len(list.Apps) > 0 {
		by.own["{appId}"] = list.Apps[0].AppID
	}
	return err
}

// send writes a body; keys and apps take turns, as each has a limit.
func (by *bodyWriter) send(ctx context.Context, op *openapi.Operation, body map[string]any, n int) client.Answer {
	r := client.Request{
		Method: op.Method, URL: hostOf(by.env, op.Host, n), Timeout: 30 * time.Second,
		Header: http.Header{"Accept": {"application/json"}, "Sec-Fetch-Site": {"same-origin"}},
	}
	for part := range strings.SplitSeq(op.Path[1:], "/") {
		if mine := by.own[part]; mine != "" {
			part = mine
		}
		r.URL += "/" + part
	}
	switch {
	case op.Takes("adminSecret"):
		r.As = by.env.Admin()
	case op.Takes("operatorKey"):
		r.As = by.keys[n%len(by.keys)].Key
	case op.Takes("identityToken"):
		r.As = by.login
	case op.Takes("sessionId"):
		r.As = by.session
	case op.Takes("appCredentials"):
		r.As = by.apps[n%len(by.apps)].basic()
	}
	r.Body = []byte(text(body))
	return patiently(ctx, by.env, r)
}

// body is a good one: each member that must be there, as the description would have it, and
// those that it cannot tell in full.
func (by *bodyWriter) body(op *openapi.Operation, s *openapi3.Schema) map[string]any {
	out := map[string]any{}
	r := by.env.Rand("I6 body " + op.Name() + s.Title)
	for _, name := range s.Required {
		out[name] = openapi.Generate(s.Properties[name].Value, r, openapi.Valid)
	}
	for name, v := range map[string]any{"marketId": by.market, "handle": by.Handle} {
		if slices.Contains(s.Required, name) {
			out[name] = v
		}
	}
	maps.Copy(out, by.special()[op.Method+" "+op.Path])
	return out
}

// special are members that are good for more than their schema says.
func (by *bodyWriter) special() map[string]map[string]any {
	key, _, _ := ed25519.GenerateKey(nil) // from the system's randomness, which does not fail
	publicKey := hex.EncodeToString(key)
	call := map[string]any{"marketId": by.market, "position": "YES", "priceBps": 5000}
	home := map[string]any{
		"homepage": "https://app.example/home", "logoUrl": "https://app.example/logo.png", "redirectUris": []any{appReturns}, "scopes": []any{"profile:read"},
	}
	me := map[string]any{"links": []any{"https://me.example/me"}, "lanes": []any{"science", "music", "film", "tv", "fashion"}}
	face := maps.Clone(me)
	face["avatarUrl"] = "https://me.example/face.png"
	at := "https://" + strings.ReplaceAll(by.Handle, "_", "-") + ".example/"
	station := map[string]any{
		"url": at + "home", "tapesUrl": at + "tapes", "operatorsUrl": at + "operators", "lanes": allOf(syntax.Lanes[:]), "providers": allOf(syntax.Providers[:]),
	}
	newStation := maps.Clone(station)
	newStation["stationId"] = strings.ReplaceAll(by.Handle, "_", "-")
	message := map[string]any{"nonce": strings.Repeat("n", 16), "appId": nil, "timestamp": 1, "signer": map[string]any{"kind": "ed25519", "publicKey": publicKey}, "signature": strings.Repeat("0a", 64)}
	return map[string]map[string]any{
		"POST /api/broadcast/preempt":                  {"marketId": "701122", "id": noID},
		"POST /api/admin/pins":                         {"marketId": "701122"},
		"POST /api/dev/apps":                           home,
		"PATCH /api/dev/apps/{appId}":                  home,
		"POST /api/user/follow":                        {"handle": by.other},
		"POST /api/identity/claim":                     {"address": "JEKNVnkbo3jma5nREBBJCDoXFVeKkD56V3xKrvRmWxFG"},
		"POST /api/m/{marketId}/streams":               {"url": "https://video.example/live/x.m3u8"},
		"POST /api/streamer/profile":                   face,
		"POST /api/streamer/register":                  me,
		"POST " + protocolPath + "/predictions":        call,
		"POST " + protocolPath + "/signals":            call,
		"POST " + protocolPath + "/messages":           message,
		"POST " + protocolPath + "/messages/verify":    message,
		"POST " + protocolPath + "/signers":            {"publicKey": publicKey, "scopes": []any{"signal:create"}, "expiresAt": time.Now().Add(time.Hour).UTC().Format(time.RFC3339)},
		"POST " + protocolPath + "/signers/challenge":  {"publicKey": publicKey},
		"POST " + protocolPath + "/oauth/token":        {"grant_type": "authorization_code", "code": "dac_x", "code_verifier": verifier, "redirect_uri": appReturns, "refresh_token": "drt_x"},
		"POST /api/v1/signals/categorize":              {"items": []any{map[string]any{"marketId": by.market}}},
		"POST " + stationsPath:                         newStation,
		"PUT " + stationsPath + "/{stationId}":         station,
		"POST " + stationsPath + "/{stationId}/status": {"status": "active"},
		"POST " + hooksPath:                            {"url": deafHost + "/told", "channels": []any{quietChannel}},
		"PATCH " + hooksPath + "/{id}":                 {"channels": []any{quietChannel}},
	}
}

// allOf is a list of words as a body has it.
func allOf[T ~string](words []T) (out []any) {
	for _, w := range words {
		out = append(out, string(w))
	}
	return out
}
