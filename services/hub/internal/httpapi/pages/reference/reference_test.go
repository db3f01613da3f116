package reference_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/reference"
)

const small = `{
	"info": {"description": "About **it**."}, "tags": [{"name": "calls", "description": "Calls."}],
	"paths": {"/calls/{id}": {
		"parameters": [{"$ref": "#/components/parameters/Id"}],
		"post": {
			"operationId": "change", "summary": "Change", "tags": ["calls"], "servers": [{"url": "https://a.example"}],
			"security": [{}, {"key": []}, {"first": [], "second": []}], "x-signalcast-permission": "signal",
			"requestBody": {"required": true, "content": {"application/json": {"schema": {"oneOf": [
				{"title": "Take", "type": "object", "required": ["type"], "properties": {
					"type": {"const": "take"}, "payload": {"type": "object", "properties": {"text": {"type": "string", "minLength": 1, "maxLength": 500}}}}},
				{"type": "object", "properties": {"type": {"enum": ["note", "share"]}}}
			]}}}},
			"responses": {
				"201": {"description": "Done.", "headers": {"Later": {"$ref": "#/components/headers/Later"}},
					"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Call"}}}},
				"404": {"$ref": "#/components/responses/Missing"}
			}
		}
	}},
	"components": {
		"parameters": {"Id": {"name": "id", "in": "path", "required": true, "schema": {"type": "string", "format": "uuid"}}},
		"headers": {"Later": {"description": "Seconds.", "schema": {"type": "integer", "minimum": 0}}},
		"responses": {"Missing": {"description": "There is none."}},
		"securitySchemes": {"key": {"description": "A key."}, "first": {"description": "One."}, "second": {"description": "Two."}},
		"schemas": {
			"Price": {"description": "In bps.", "type": ["integer", "null"], "minimum": 0, "maximum": 10000},
			"Call": {"allOf": [{"$ref": "#/components/schemas/Price"}, {"type": "object", "properties": {
				"sides": {"type": "array", "maxItems": 2, "items": {"type": "object", "properties": {"price": {"$ref": "#/components/schemas/Price"}}}},
				"more": {"type": "object", "additionalProperties": {"type": "number"}}, "any": {}}}]}
		}
	}
}`

func text(s string) []reference.Part { return []reference.Part{{Text: s}} }

// TestRead compares the operations and the schemas of a small document with the expected ones.
func TestRead(t *testing.T) {
	t.Parallel()
	d, err := reference.Read([]byte(small))
	if err != nil {
		t.Fatal(err)
	}
	price := []reference.Part{{Text: "Price", Schema: "Price"}}
	want := &reference.Operation{
		ID: "change", Method: "POST", Path: "/calls/{id}", Summary: "Change", URL: "https://a.example/calls/{id}", Group: "calls",
		Permission: "signal", Optional: true,
		Credentials: []reference.Credential{{"key", "A key."}, {"first and second", "One. Two."}},
		Parameters:  []reference.Field{{Name: "id", In: "path", Required: true, Type: text("string, uuid")}}, BodyRequired: true,
		Bodies: []reference.Content{{
			Name: "application/json", Type: []reference.Part{{Text: "object"}, {Text: " or "}, {Text: "object"}},
			Variants: []reference.Variant{
				{"Take", []reference.Field{
					{Name: "type", Required: true, Type: text(`"take"`)},
					{Name: "payload", Type: text("object")},
					{Name: "payload.text", Type: text("string, 1 to 500 characters")},
				}},
				{"Alternative 2", []reference.Field{{Name: "type", Type: text(`"note" | "share"`)}}},
			},
		}},
		Responses: []reference.Response{
			{"201", "Done.", []reference.Field{{Name: "Later", About: "Seconds.", Type: text("integer, at least 0")}}, []reference.Content{
				{Name: "application/json", Type: []reference.Part{{Text: "Call", Schema: "Call"}}},
			}},
			{Status: "404", About: "There is none."},
		},
	}
	call := &reference.Content{
		Name: "Call", Type: append(price, reference.Part{Text: " and "}, reference.Part{Text: "object"}),
		Variants: []reference.Variant{{Fields: []reference.Field{
			{Name: "sides", Type: []reference.Part{{Text: "array of "}, {Text: "object"}, {Text: ", at most 2 entries"}}},
			{Name: "sides[].price", About: "In bps.", Type: price},
			{Name: "more", Type: []reference.Part{{Text: "object with values: "}, {Text: "number"}}},
			{Name: "any", Type: text("any value")},
		}}},
	}
	want.Responses[0].Contents[0].Variants = call.Variants
	if diff := cmp.Diff(want, d.Operations["change"]); diff != "" || d.Groups[0].Operations[0] != d.Operations["change"] {
		t.Errorf("the operation differs (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(call, d.Schemas["Call"]); diff != "" {
		t.Errorf("the schema differs (-want +got):\n%s", diff)
	}
}

// TestReadRejects checks documents that are not an OpenAPI document.
func TestReadRejects(t *testing.T) {
	t.Parallel()
	for _, document := range []string{
		"", "[]", `{"paths": []}`, `{"paths": {"/a": 1}}`, `{"paths": {"/a": {"get": {"operationId": "a"}}}}`,
		`{"paths": {"/a": {"get": {"operationId": 1}}}}`, `{"paths": {"/a": {"parameters": 1}}}`,
	} {
		if _, err := reference.Read([]byte(document)); err == nil {
			t.Errorf("Read(%s) = no error; want one", document)
		}
	}
}

// TestReadDocument reads the OpenAPI document of this service. Every parameter and every member must have a type, every response a
// description, and every link to a schema must lead to a schema of the document.
func TestReadDocument(t *testing.T) {
	t.Parallel()
	d, err := reference.Read(openapi.JSON)
	if err != nil {
		t.Fatal(err)
	}
	check := func(where string, parts []reference.Part) {
		if len(parts) == 0 {
			t.Errorf("%s has no type", where)
		}
		for _, p := range parts {
			if p.Schema != "" && d.Schemas[p.Schema] == nil {
				t.Errorf("%s links to the schema %s, which does not exist", where, p.Schema)
			}
		}
	}
	content := func(where string, c reference.Content) {
		check(where+" "+c.Name, c.Type)
		for _, v := range c.Variants {
			for _, f := range v.Fields {
				check(where+" "+c.Name+" "+f.Name, f.Type)
			}
		}
	}
	for _, c := range d.Schemas {
		content("schema", *c)
	}
	listed := 0
	for _, g := range d.Groups {
		listed += len(g.Operations)
		for _, o := range g.Operations {
			if len(o.Responses) == 0 || !strings.HasPrefix(o.URL, "https://") || o.Summary == "" {
				t.Errorf("%s has no summary, no URL or no responses", o.ID)
			}
			for _, c := range o.Bodies {
				content(o.ID, c)
			}
			for _, r := range o.Responses {
				if r.About == "" {
					t.Errorf("%s: the response %s has no description", o.ID, r.Status)
				}
				for _, c := range r.Contents {
					content(o.ID, c)
				}
			}
			for _, p := range o.Parameters {
				check(o.ID, p.Type)
			}
		}
	}
	if listed < 250 || listed != len(d.Operations) {
		t.Errorf("the groups list %d operations; want %d", listed, len(d.Operations))
	}
}
