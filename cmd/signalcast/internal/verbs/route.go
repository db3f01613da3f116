package verbs

import (
	"encoding/json"
	"strings"

	"github.com/signalcast/signalcast/proto/openapi"
)

// route contains the service and the credentials of an operation of the OpenAPI document.
type route struct {
	service    string // "hub", "api" or "clock"; empty if the document does not have the route
	key, admin bool   // the operation accepts an operator key, or the admin secret, and requires a credential
}

// findRoute returns the route of the OpenAPI document for a method and a path. A path without parameters takes precedence.
func findRoute(method, path string) (out route) {
	var doc struct {
		Paths map[string]map[string]json.RawMessage `json:"paths"`
	}
	if json.Unmarshal(openapi.JSON, &doc) != nil {
		return route{}
	}
	fewest, segments := -1, strings.Split(path, "/")
	for template, methods := range doc.Paths {
		raw, ok := methods[strings.ToLower(method)]
		if n := strings.Count(template, "{"); ok && openapi.MatchPath(strings.Split(template, "/"), segments) && (fewest < 0 || n < fewest) {
			out, fewest = readRoute(raw), n
		}
	}
	return out
}

// readRoute returns the route of an operation in JSON.
func readRoute(raw json.RawMessage) (out route) {
	var op struct {
		Servers  []struct{ URL string }
		Security []map[string][]string
	}
	if json.Unmarshal(raw, &op) != nil {
		return route{}
	}
	out.service = "hub"
	if len(op.Servers) > 0 {
		host := strings.TrimPrefix(op.Servers[0].URL, "https://")
		out.service, _, _ = strings.Cut(host, ".")
	}
	for _, schemes := range op.Security {
		if len(schemes) == 0 {
			return route{service: out.service} // a credential is optional
		}
		_, key := schemes["operatorKey"]
		_, admin := schemes["adminSecret"]
		out.key, out.admin = out.key || key, out.admin || admin
	}
	return out
}
