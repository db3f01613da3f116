package openapi

import (
	"regexp"
	"strings"
	"testing"
)

// Ids of objects that do not exist.
const (
	NoID     = "00000000-0000-7000-8000-000000000000"
	NoKey    = "0000000000000000000000000000000000000000000000000000000000000000"
	NoMarket = "native-ffffffffffffffffffffffffffffffff"
)

// ForTest returns Shared and fails the test if the document cannot be read.
func ForTest(t testing.TB) *Document {
	t.Helper()
	d, err := Shared()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Streams reports whether the answer of the operation is an endless stream.
func (o *Operation) Streams() bool { return o.Path == "/ws" || o.Path == "/api/v1/feed/stream" }

// Health reports whether the operation is a health check of its process.
func (o *Operation) Health() bool { return o.Path == "/healthz" || o.Path == "/readyz" }

var pathParameter = regexp.MustCompile(`\{(\w+)\}`)

// absent contains well-formed values of path parameters. No object with these values exists.
var absent = map[string]string{
	"marketId": NoMarket, "market": NoMarket, "handle": "absent_operator", "publicKey": NoKey, "type": "signal.create",
	"kind": "operator",
	"file": "app.css", "code": "2222222", "eventKey": "x", "rest": "x", "stationId": "partner",
}

// Fill returns the path with values for its parameters. A parameter without a value in values refers to an object that
// does not exist.
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

// Lookup returns the operation that serves a path, such as /api/signals/ID/events?limit=1. It returns nil if there is
// none.
func (d *Document) Lookup(host, method, path string) *Operation {
	path, _, _ = strings.Cut(path, "?")
	return d.at(host, path)[method]
}

// Find returns the operation that serves a path, as Lookup does. It fails the test if there is none.
func (d *Document) Find(t testing.TB, host, method, path string) *Operation {
	t.Helper()
	o := d.Lookup(host, method, path)
	if o == nil {
		t.Fatalf("the OpenAPI document has no operation %s %s%s", method, host, path)
	}
	return o
}
