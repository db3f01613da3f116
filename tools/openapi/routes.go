package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// again lists the writes that may be sent twice although they take no Idempotency-Key, with the effect of the second request.
// GET may always be sent twice.
var again = map[string]string{
	"signIn":                "another session of the same operator",
	"revokeKey":             "answers the same",
	"bindStream":            "replaces the value",
	"follow":                "changes nothing",
	"unfollow":              "changes nothing",
	"changeStreamerProfile": "sets what it sets",
	"registerStreamer":      "changes nothing",
	"setOverlaySignal":      "replaces the value",
	"clearOverlaySignal":    "changes nothing",
	"sendHeartbeat":         "keeps the session as one does",
	"viewStream":            "is the same viewer",
	"revokeToken":           "answers the same",
	"introspectToken":       "only reads",
	"revokeGrant":           "answers the same",
	"revokeUserGrant":       "answers the same",
	"challengeSigner":       "an unused challenge expires",
	"revokeSigner":          "answers the same",
	"revokeUserSigner":      "answers the same",
	"submitMessage":         "the same bytes answer the first result",
	"verifyMessage":         "only reads",
	"changeStation":         "sets what it sets",
	"beatStation":           "keeps the station as one does",
	"categorizeSignals":     "only reads",
}

// route is what a client library needs of an operation besides its schemas.
type route struct {
	Method, Path string
	Host         string // hub, api or clock: the first that serves it
	Bearer       bool   // requires a key or a token; a route that takes none refuses one
	Session      bool   // takes the cookies of a session
	Keyed        bool   // the same Idempotency-Key answers the first result
	Again        bool   // may be sent twice as it is
	Stream       bool   // answers something else than one JSON document
}

// hidden are the tags that the clients leave out, as tools/oapi-client.yaml does.
var hidden = []any{"retired", "pages"}

// routesOf returns the routes that the clients have, by path and method.
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
		return nil, fmt.Errorf("%s may be sent twice and is no operation", id)
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
				o.Bearer = !open // with a signature, a bearer could only be refused
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
