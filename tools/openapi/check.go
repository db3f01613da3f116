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

// check refuses a document that a validator cannot load or that breaks a rule
// of the house. codes are the error codes of the reference page.
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
	found = append(found, checkReferences(root)...)
	found = append(found, checkNullable(root)...)
	found = append(found, checkCodes(root, codes)...)
	found = append(found, checkOpenness(root)...)
	found = append(found, checkExamples(loaded)...)
	return errors.Join(found...)
}

// corsOpen are the prefixes of the hub that a page of any origin may read.
var corsOpen = []string{
	"/api/polymarket/", "/api/broadcast/", "/api/oracle/featured", "/api/embed/", "/api/card/",
	"/.well-known/oauth-", "/api/c/", "/api/fashion/signals", "/api/network/", "/api/situations", "/api/channels", "/api/channel/",
	"/api/operator/{handle}/record", // a file for everybody: it says nothing that the receipts do not
}

// protocol is what apps of others call with tokens, from anywhere.
const protocol = "/api/protocol/v1"

// keyed are reads with a credential under a prefix that is open: no page of another
// origin has one to send. measured is open beside its prefix.
var keyed = []string{"/api/broadcast/preempt", "/api/network/field-record/me"}

const measured = "/api/operator/{handle}/skill"

// checkOperations wants of every operation what a reader must be able to rely
// on: a name, one tag, a host, its credentials and its failures.
func checkOperations(root map[string]any) []error {
	var found []error
	for _, op := range operations(root) {
		say := func(format string, args ...any) {
			found = append(found, fmt.Errorf("%s: %s", op, fmt.Sprintf(format, args...)))
		}
		if op.tag() == "" {
			say("wants exactly one tag")
		}
		for _, member := range []string{"operationId", "servers", "security", "responses", "summary", "description"} {
			if op.body[member] == nil {
				say("has no %s", member)
			}
		}
		open, _ := op.body["x-signalcast-cors-open"].(bool)
		if want := wantsCORS(op); open != want {
			say("x-signalcast-cors-open is %t, the rule says %t", open, want)
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

// answers tells whether a status that begins so is documented.
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

// wantsCORS is the rule of the protocol: what is delegated, the listed prefixes on the
// hub, and every public read of the other two hosts.
func wantsCORS(op operation) bool {
	if strings.HasPrefix(op.path, protocol) {
		return true
	}
	if op.method != "get" || op.path == "/ws" || op.path == "/healthz" || op.path == "/readyz" || slices.Contains(keyed, op.path) {
		return false
	}
	if op.path == measured {
		return true
	}
	servers := asList(op.body["servers"])
	if len(servers) == 1 && asMap(servers[0])["url"] != "https://hub.example" {
		return len(asList(op.body["security"])) == 0
	}
	return slices.ContainsFunc(corsOpen, func(p string) bool { return strings.HasPrefix(op.path, p) })
}

// checkReferences wants every component to be used; the loader already
// refused references that lead nowhere.
func checkReferences(root map[string]any) []error {
	used := map[string]bool{}
	walk(root, func(m map[string]any) {
		if ref, ok := m["$ref"].(string); ok {
			used[ref] = true
		}
	})
	var found []error
	for kind, group := range asMap(root["components"]) {
		if kind == "securitySchemes" {
			continue
		}
		for name := range asMap(group) {
			if ref := "#/components/" + kind + "/" + name; !used[ref] {
				found = append(found, fmt.Errorf("%s is not used", ref))
			}
		}
	}
	return found
}

// mayBeAbsent are the members that are null or absent: they exist in one view
// of a record only.
var mayBeAbsent = map[string]bool{"FeedSignal.liveYesBps": true, "FeedSignal.moveBps": true}

// checkNullable wants a member of an answer that can be null to be always
// there. What a caller sends may leave it out.
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

// elsewhere are the words of the error page that no operation answers with: what is said
// of every path, in the frames of the websocket, and in X-Degraded.
var elsewhere = map[string]bool{"method_not_allowed": true, "invalid_frame": true, "internal": true, "timeout": true}

// checkCodes wants every error code of the document on the reference page, and every
// code of the page in the document.
func checkCodes(root map[string]any, codes map[string]bool) []error {
	var found []error
	told := map[string]bool{}
	walk(root, func(m map[string]any) {
		for _, c := range asList(asMap(asMap(m["properties"])["error"])["enum"]) {
			code, _ := c.(string)
			told[code] = true
		}
	})
	for _, code := range slices.Sorted(maps.Keys(told)) {
		if !codes[code] {
			found = append(found, fmt.Errorf("error code %s is not in the list of errors", code))
		}
	}
	for _, code := range slices.Sorted(maps.Keys(codes)) {
		if !told[code] && !elsewhere[code] {
			found = append(found, fmt.Errorf("error code %s is in the list of errors, and no operation answers it", code))
		}
	}
	return found
}

// walk visits every object of the document.
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
