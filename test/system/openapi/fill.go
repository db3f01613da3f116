package openapi

import (
	"regexp"
	"strings"
	"testing"
)

// Well-formed identifiers of objects that do not exist.
const (
	NoID     = "00000000-0000-7000-8000-000000000000"
	NoKey    = "0000000000000000000000000000000000000000000000000000000000000000"
	NoMarket = "native-ffffffffffffffffffffffffffffffff"
)

// ForTest returns the Document that the function Shared returns. It fails the test if the document cannot be read.
func ForTest(t testing.TB) *Document {
	t.Helper()
	d, err := Shared()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Streams reports whether the response of the operation is an endless stream.
func (o *Operation) Streams() bool { return o.Path == "/ws" || o.Path == "/api/v1/feed/stream" }

// Health reports whether the operation is a health check of its process.
func (o *Operation) Health() bool { return o.Path == "/healthz" || o.Path == "/readyz" }

var pathParameter = regexp.MustCompile(`\{(\w+)\}`)

// absent contains a well-formed value for each path parameter that is not a UUID. A path with these values usually names no
// object.
var absent = map[string]string{
	"marketId": NoMarket, "market": NoMarket, "handle": "absent_operator", "publicKey": NoKey, "type": "signal.create",
	"kind": "operator", "operation": "getSignal", "schema": "Signal",
	"file": "app.css", "code": "2222222", "eventKey": "x", "rest": "x", "stationId": "partner",
}

// Fill returns the path with the given values for its parameters. For a parameter without a value, it uses the value in absent,
// or NoID.
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

// Lookup returns the operation for a method and a path on a host, or nil if there is none. The path may contain a query, for
// example /api/signals/ID/events?limit=1.
func (d *Document) Lookup(host, method, path string) *Operation {
	path, _, _ = strings.Cut(path, "?")
	return d.at(host, path)[method]
}

// Find returns the operation for a method and a path on a host, like Lookup. It fails the test if there is none.
func (d *Document) Find(t testing.TB, host, method, path string) *Operation {
	t.Helper()
	o := d.Lookup(host, method, path)
	if o == nil {
		t.Fatalf("the OpenAPI document has no operation %s %s%s", method, host, path)
	}
	return o
}
