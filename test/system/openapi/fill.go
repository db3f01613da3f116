package openapi

import (
	"regexp"
	"strings"
	"testing"
)

// Ids of things that do not exist.
const (
	NoID     = "00000000-0000-7000-8000-000000000000"
	NoKey    = "0000000000000000000000000000000000000000000000000000000000000000"
	NoMarket = "native-ffffffffffffffffffffffffffffffff"
)

// ForTest is Shared for a test.
func ForTest(t testing.TB) *Document {
	t.Helper()
	d, err := Shared()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Streams reports whether an answer of the operation does not end.
func (o *Operation) Streams() bool { return o.Path == "/ws" || o.Path == "/api/v1/feed/stream" }

// Health reports whether the operation shows the state of its process.
func (o *Operation) Health() bool { return o.Path == "/healthz" || o.Path == "/readyz" }

var pathParameter = regexp.MustCompile(`\{(\w+)\}`)

// absent are well-formed values of path parameters that name nothing that exists.
var absent = map[string]string{
	"marketId": NoMarket, "market": NoMarket, "handle": "absent_operator", "publicKey": NoKey, "type": "signal.create",
	"kind": "operator",
	"file": "app.css", "code": "2222222", "eventKey": "x", "rest": "x", "stationId": "partner",
}

// Fill returns the path with values for its parameters. A parameter without a value gets one that names nothing.
func (o *Operation) Fill(values map[string]string) string {
	return pathParameter.ReplaceAllStringFunc(o.Path, func(parameter string) string {
		name := parameter[1 : len(parameter)-1]
		if v := values[name]; v != "" {
			return v
		}
		if v := absent[name]; v != "" {
			return v
		}
		return NoID
	})
}

// Lookup returns the operation that serves a path with values for its parameters, such as /api/signals/ID/events?limit=1; nil if
// there is none.
func (d *Document) Lookup(host, method, path string) *Operation {
	path, _, _ = strings.Cut(path, "?")
	return d.at(host, path)[method]
}

// Find is Lookup for a path that must have an operation.
func (d *Document) Find(t testing.TB, host, method, path string) *Operation {
	t.Helper()
	o := d.Lookup(host, method, path)
	if o == nil {
		t.Fatalf("the OpenAPI document has no %s %s%s", method, host, path)
	}
	return o
}
