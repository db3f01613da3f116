package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// again lists the writes that may be sent twice although they take no key, with what the
// document says of a second time. GET may always.
var again = map[string]string{
	"signIn":                "another session of the same operator",
	"revokeKey":             "answers the same",
	"bindStream":            "takes the place of the one before",
	"follow":                "changes nothing",
	"unfollow":              "changes nothing",
	"changeStreamerProfile": "sets what it sets",
	"registerStreamer":      "changes nothing",
	"setOverlaySignal":      "takes the place of the one before",
	"clearOverlaySignal":    "changes nothing",
	"sendHeartbeat":         "keeps the session as one does",
	"viewStream":            "is the same viewer",
	"revokeToken":           "answers the same",
	"introspectToken":       "only reads",
	"revokeGrant":           "answers the same",
	"revokeUserGrant":       "answers the same",
	"challengeSigner":       "a challenge that nobody uses ends by itself",
	"revokeSigner":          "answers the same",
	"revokeUserSigner":      "answers the same",
	"submitMessage":         "the same bytes answer the first result",
	"verifyMessage":         "only reads",
	"changeStation":         "sets what it sets",
	"beatStation":           "keeps the station as one does",
	"categorizeSignals":     "only reads",
}

// operation is what a client must know of one beside its shapes.
type operation struct {
	Method, Path string
	Host         string // hub, api or clock: the first that serves it
	Bearer       bool // wants a key or a token; where none is taken, one is refused
	Session      bool // takes the cookies of a session
	Keyed        bool // the same Idempotency-Key answers the first result
	Again        bool // may be sent twice as it is
	Stream       bool // answers something else than one JSON document
}

type described struct {
	ID         string                `json:"operationId"`
	Tags       []string              `json:"tags"`
	Security   []map[string][]string `json:"security"`
	Servers    []struct {
		URL string `json:"url"`
	} `json:"servers"`
	Parameters []struct {
		Name string `json:"name"`
	} `json:"parameters"`
	Responses map[string]struct {
		Content map[string]json.RawMessage `json:"content"`
	} `json:"responses"`
}

var methods = []string{"get", "put", "post", "delete", "patch"}

// hidden are the tags that the clients leave out, as tools/oapi-client.yaml does.
var hidden = []string{"retired", "pages"}

// operations lists those that the clients have, by path and method.
func operations(doc []byte) ([]operation, error) {
	var root struct {
		Paths map[string]map[string]json.RawMessage `json:"paths"`
	}
	if err := json.Unmarshal(doc, &root); err != nil {
		return nil, err
	}
	var all []operation
	unknown := maps.Clone(again)
	for _, path := range slices.Sorted(maps.Keys(root.Paths)) {
		for _, method := range methods {
			raw, ok := root.Paths[path][method]
			if !ok {
				continue
			}
			var d described
			if err := json.Unmarshal(raw, &d); err != nil {
				return nil, fmt.Errorf("%s %s: %w", method, path, err)
			}
			if slices.ContainsFunc(d.Tags, func(tag string) bool { return slices.Contains(hidden, tag) }) {
				continue
			}
			if len(d.Servers) == 0 {
				return nil, fmt.Errorf("%s %s has no servers", method, path)
			}
			delete(unknown, d.ID)
			all = append(all, read(d, method, path))
		}
	}
	if len(all) == 0 {
		return nil, errors.New("no operations")
	}
	for _, id := range slices.Sorted(maps.Keys(unknown)) {
		return nil, fmt.Errorf("%s may be sent twice and is no operation", id)
	}
	return all, nil
}

func read(d described, method, path string) operation {
	o := operation{Method: strings.ToUpper(method), Path: path, Stream: true}
	host, _, _ := strings.Cut(strings.TrimPrefix(d.Servers[0].URL, "https://"), ".")
	o.Host = host
	open := slices.ContainsFunc(d.Security, func(way map[string][]string) bool { return len(way) == 0 })
	for _, way := range d.Security {
		for scheme := range way {
			switch scheme {
			case "operatorKey", "identityToken", "appToken":
				o.Bearer = !open // beside a signature, a bearer could only refuse
			case "sessionId":
				o.Session = true
			}
		}
	}
	for _, p := range d.Parameters {
		o.Keyed = o.Keyed || p.Name == "Idempotency-Key"
	}
	for status, r := range d.Responses {
		if _, ok := r.Content["application/json"]; ok && status[0] == '2' || status[0] == '2' && len(r.Content) == 0 {
			o.Stream = false
		}
	}
	_, o.Again = again[d.ID]
	o.Again = o.Again || method == "get"
	return o
}
