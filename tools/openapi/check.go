package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// check returns an error that lists each rule of this file that the document breaks, or the error of the validator. codes are
// the error codes of docs/protocol/errors.md. The linters of tools/lint.sh check names, summaries, examples and unused
// components.
func check(doc []byte, codes map[string]bool) error {
	var root map[string]any
	if err := json.Unmarshal(doc, &root); err != nil {
		return err
	}
	loaded, err := openapi3.NewLoader().LoadFromData(doc)
	if err != nil {
		return fmt.Errorf("load: %w", err)
	}
	if err := loaded.Validate(openapi3.NewLoader().Context); err != nil {
		return fmt.Errorf("validate: %w", err)
	}
	var found []error
	found = append(found, checkOperations(root)...)
	found = append(found, checkNullable(root)...)
	found = append(found, checkCodes(root, codes)...)
	found = append(found, checkOpenness(root)...)
	return errors.Join(found...)
}

// corsOpen lists path prefixes of the hub. Pages of any origin may read the routes with these prefixes, except the routes in
// keyed.
var corsOpen = []string{
	"/api/polymarket/", "/api/broadcast/", "/api/oracle/featured", "/api/embed/", "/api/card/",
	"/.well-known/oauth-", "/api/c/", "/api/fashion/signals", "/api/network/", "/api/situations", "/api/channels", "/api/channel/",
	"/api/operator/{handle}/record", // public: it contains nothing that the receipts do not
}

// protocol is the prefix of the routes for applications, which pages of any origin may call with a token.
const protocol = "/api/protocol/v1"

// keyed lists routes with a prefix of corsOpen that are not open to other origins, because they require a credential.
var keyed = []string{"/api/broadcast/preempt"}

// openPaths lists paths of routes that are open to other origins although they have no prefix of corsOpen.
var openPaths = []string{"/api/operator/{handle}/skill", "/api/markets"}

// checkOperations requires that each operation has one tag, a server and its credentials. It also requires that
// x-signalcast-cors-open of each operation equals the result of isOpen. Operations that are not retired must document a
// success status and the statuses of wantedStatuses.
func checkOperations(root map[string]any) []error {
	var found []error
	for _, op := range operations(root) {
		say := func(format string, args ...any) {
			found = append(found, fmt.Errorf("%s: %s", op, fmt.Sprintf(format, args...)))
		}
		if op.tag() == "" {
			say("must have exactly one tag")
		}
		for _, member := range []string{"servers", "security"} {
			if op.body[member] == nil {
				say("has no %s", member)
			}
		}
		open, _ := op.body["x-signalcast-cors-open"].(bool)
		if want := isOpen(op); open != want {
			say("x-signalcast-cors-open is %t; isOpen in check.go requires %t", open, want)
		}
		if op.tag() == "retired" {
			continue
		}
		if !answers(op, "1", "2", "3") { // 101: /ws
			say("documents no success")
		}
		for _, status := range wantedStatuses(op) {
			if asMap(op.body["responses"])[status] == nil {
				say("documents no %s", status)
			}
		}
	}
	return found
}

// answers reports whether the operation documents a status that begins with one of the digits in begins.
func answers(op operation, begins ...string) bool {
	for status := range asMap(op.body["responses"]) {
		if slices.Contains(begins, status[:1]) {
			return true
		}
	}
	return false
}

func wantedStatuses(op operation) []string {
	if op.path == "/healthz" || op.path == "/readyz" {
		return []string{"200"}
	}
	want := []string{"429", "500"}
	if takesJSON(op) {
		want = append(want, "400", "413", "415")
	}
	if security := asList(op.body["security"]); len(security) > 0 {
		mandatory := !slices.ContainsFunc(security, func(s any) bool { return len(asMap(s)) == 0 })
		if mandatory {
			want = append(want, "401")
		}
	}
	return want
}

func takesJSON(op operation) bool {
	content := asMap(asMap(op.body["requestBody"])["content"])
	return content["application/json"] != nil
}

// isOpen reports whether pages of any origin may call an operation. These are the routes for applications, reads of the hub
// with a prefix of corsOpen, the paths in openPaths, and reads of the api and the clock without a credential. The websocket, the
// health checks and the routes in keyed are not open.
func isOpen(op operation) bool {
	if strings.HasPrefix(op.path, protocol) {
		return true
	}
	if op.method != "get" || op.path == "/ws" || op.path == "/healthz" || op.path == "/readyz" || slices.Contains(keyed, op.path) {
		return false
	}
	if slices.Contains(openPaths, op.path) {
		return true
	}
	servers := asList(op.body["servers"])
	if len(servers) == 1 && asMap(servers[0])["url"] != "https://hub.example" {
		return len(asList(op.body["security"])) == 0
	}
	return slices.ContainsFunc(corsOpen, func(p string) bool { return strings.HasPrefix(op.path, p) })
}

// mayBeAbsent lists members that can be null and that a response may omit, because only one of the lists with this schema has
// them.
var mayBeAbsent = map[string]bool{"FeedSignal.liveYesBps": true, "FeedSignal.moveBps": true}

// checkNullable requires that responses always contain the members that can be null, except the members in mayBeAbsent.
// Requests may omit such members.
func checkNullable(root map[string]any) []error {
	var found []error
	sent := sentSchemas(root)
	schemas := asMap(asMap(root["components"])["schemas"])
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		schema := asMap(schemas[name])
		if sent[name] {
			continue
		}
		required := asList(schema["required"])
		for member, s := range asMap(schema["properties"]) {
			if nullable(asMap(s)) && !slices.Contains(required, any(member)) && !mayBeAbsent[name+"."+member] {
				found = append(found, fmt.Errorf("%s.%s can be null and is not required", name, member))
			}
		}
	}
	return found
}

func nullable(schema map[string]any) bool {
	if slices.Contains(asList(schema["type"]), any("null")) {
		return true
	}
	return slices.ContainsFunc(asList(schema["oneOf"]), func(s any) bool { return asMap(s)["type"] == "null" })
}

func sentSchemas(root map[string]any) map[string]bool {
	sent := map[string]bool{}
	for _, op := range operations(root) {
		walk(asMap(op.body["requestBody"]), func(m map[string]any) {
			ref, _ := m["$ref"].(string)
			sent[strings.TrimPrefix(ref, "#/components/schemas/")] = true
		})
	}
	return sent
}

// elsewhere lists error codes that no operation documents: codes of all paths, codes of websocket frames, and codes of the
// header X-Degraded.
var elsewhere = map[string]bool{"method_not_allowed": true, "invalid_frame": true, "internal": true, "timeout": true}

// checkCodes requires that the document and the page of error codes contain the same codes. The document may lack the codes
// in elsewhere.
func checkCodes(root map[string]any, codes map[string]bool) []error {
	var found []error
	documented := map[string]bool{}
	walk(root, func(m map[string]any) {
		for _, c := range asList(asMap(asMap(m["properties"])["error"])["enum"]) {
			code, _ := c.(string)
			documented[code] = true
		}
	})
	for _, code := range slices.Sorted(maps.Keys(documented)) {
		if !codes[code] {
			found = append(found, fmt.Errorf("error code %s is missing in docs/protocol/errors.md", code))
		}
	}
	for _, code := range slices.Sorted(maps.Keys(codes)) {
		if !documented[code] && !elsewhere[code] {
			found = append(found, fmt.Errorf("error code %s is in docs/protocol/errors.md, and no operation answers it", code))
		}
	}
	return found
}

// walk calls the function visit for each JSON object in v, at any depth.
func walk(v any, visit func(map[string]any)) {
	switch v := v.(type) {
	case map[string]any:
		visit(v)
		for _, child := range v {
			walk(child, visit)
		}
	case []any:
		for _, child := range v {
			walk(child, visit)
		}
	}
}

// checkOpenness requires that each schema of an object lists its members or states additionalProperties or maxProperties.
func checkOpenness(root map[string]any) []error {
	var found []error
	visitSchemas(root, "#", func(at string, s map[string]any) {
		if s["type"] == "object" && s["properties"] == nil && s["additionalProperties"] == nil && s["maxProperties"] == nil {
			found = append(found, fmt.Errorf("%s: an object schema has neither properties nor additionalProperties", at))
		}
	})
	return found
}

// visitSchemas calls the function visit for each JSON object in v that may be a schema, with its JSON pointer and its value.
// It skips examples, defaults and constants, which are data.
func visitSchemas(v any, at string, visit func(string, map[string]any)) {
	switch v := v.(type) {
	case map[string]any:
		visit(at, v)
		for name, child := range v {
			if name != "example" && name != "examples" && name != "default" && name != "const" && name != "enum" {
				visitSchemas(child, at+"/"+name, visit)
			}
		}
	case []any:
		for i, child := range v {
			visitSchemas(child, fmt.Sprintf("%s/%d", at, i), visit)
		}
	}
}
