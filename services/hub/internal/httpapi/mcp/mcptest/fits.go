package mcptest

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/signalcast/signalcast/pkg/httpx"
)

// Fits fails the test unless the JSON form of value matches the result schema of the tool. It also fails if the schema accepts a
// list, or an object with unknown members.
func Fits(t testing.TB, tool string, value any) {
	t.Helper()
	raw, err := os.ReadFile("../mcp/tools/" + tool + ".out.json")
	if err != nil { // the test is in package httpapi, one folder higher
		raw, err = os.ReadFile("mcp/tools/" + tool + ".out.json")
	}
	if err != nil {
		t.Fatal(err)
	}
	resolved := Resolve(t, raw)
	if err := validate(resolved, value); err != nil {
		t.Errorf("%s: %T: %v\n%v", tool, value, err, value)
	}
	if validate(resolved, map[string]any{"more": 1}) == nil || validate(resolved, []any{}) == nil {
		t.Errorf("%s: the schema accepts any value", tool)
	}
}

// Resolve parses a JSON schema and resolves its references. It fails the test if the schema is invalid.
func Resolve(t testing.TB, raw []byte) *jsonschema.Resolved {
	t.Helper()
	var schema jsonschema.Schema
	if err := json.Unmarshal(raw, &schema); err != nil {
		t.Fatal(err)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return resolved
}

func validate(schema *jsonschema.Resolved, v any) error {
	raw, err := httpx.Marshal(v)
	if err != nil {
		return err
	}
	var plain any
	if err := json.Unmarshal(raw, &plain); err != nil {
		return err
	}
	return schema.Validate(plain)
}
