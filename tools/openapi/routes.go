package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// again lists writes that a client may send twice although they accept no Idempotency-Key. The value is the effect of the
// second request. A GET request may always be sent twice.
var again = map[string]string{
	"signIn":                "another session of the same operator",
	"revokeKey":             "answers the same",
	"bindStream":            "replaces the value",
	"follow":                "changes nothing",
	"unfollow":              "changes nothing",
	"changeStreamerProfile": "sets the same values",
	"registerStreamer":      "changes nothing",
	"setOverlaySignal":      "replaces the value",
	"clearOverlaySignal":    "changes nothing",
	"sendHeartbeat":         "extends the session like one heartbeat",
	"viewStream":            "counts the same viewer once",
	"revokeToken":           "answers the same",
	"introspectToken":       "only reads",
	"revokeGrant":           "answers the same",
	"revokeUserGrant":       "answers the same",
	"challengeSigner":       "an unused challenge expires",
	"revokeSigner":          "answers the same",
	"revokeUserSigner":      "answers the same",
	"submitMessage":         "the same bytes answer the first result",
	"verifyMessage":         "only reads",
	"changeStation":         "sets the same values",
	"beatStation":           "extends the station like one heartbeat",
	"categorizeSignals":     "only reads",
}

// route contains the properties of an operation that a client library needs in addition to its schemas.
type route struct {
	Method, Path string
	Host         string // hub, api or clock: the first server of the operation
	Bearer       bool   // requires a key or a token; other routes refuse one
	Session      bool   // accepts the cookies of a session
	Keyed        bool   // a repeated Idempotency-Key returns the first result
	Again        bool   // may be sent twice without an Idempotency-Key
	Stream       bool   // the answer is not one JSON document
}

// hidden lists the tags of operations that the client libraries omit. tools/oapi-client.yaml excludes the same tags.
var hidden = []any{"retired", "pages"}

// routesOf returns the routes for the client libraries, ordered by path and method. It returns an error if there is no route,
// if an operation has no server, or if the variable again contains an unknown operation.
func routesOf(root map[string]any) ([]route, error) {
	var all []route
	unknown := maps.Clone(again)
	for _, op := range operations(root) {
		if slices.ContainsFunc(asList(op.body["tags"]), func(tag any) bool { return slices.Contains(hidden, tag) }) {
			continue
		}
		servers := asList(op.body["servers"])
		if len(servers) == 0 {
			return nil, fmt.Errorf("%s has no servers", op)
		}
		id, _ := op.body["operationId"].(string)
		delete(unknown, id)
		url, _ := asMap(servers[0])["url"].(string)
		all = append(all, routeOf(op, id, url))
	}
	if len(all) == 0 {
		return nil, errors.New("no operations")
	}
	for _, id := range slices.Sorted(maps.Keys(unknown)) {
		return nil, fmt.Errorf("%s in the list of repeatable writes is not an operation of the document", id)
	}
	return all, nil
}

func routeOf(op operation, id, url string) route {
	o := route{Method: strings.ToUpper(op.method), Path: op.path, Stream: true}
	o.Host, _, _ = strings.Cut(strings.TrimPrefix(url, "https://"), ".")
	security := asList(op.body["security"])
	open := slices.ContainsFunc(security, func(way any) bool { return len(asMap(way)) == 0 })
	for _, way := range security {
		for scheme := range asMap(way) {
			switch scheme {
			case "operatorKey", "identityToken", "appToken":
				o.Bearer = !open // a route with optional credentials takes a signature instead of a bearer token
			case "sessionId":
				o.Session = true
			}
		}
	}
	for _, p := range asList(op.body["parameters"]) {
		o.Keyed = o.Keyed || asMap(p)["name"] == "Idempotency-Key"
	}
	for status, r := range asMap(op.body["responses"]) {
		content := asMap(asMap(r)["content"])
		if status[0] == '2' && (content["application/json"] != nil || len(content) == 0) {
			o.Stream = false
		}
	}
	_, o.Again = again[id]
	o.Again = o.Again || op.method == "get"
	return o
}
