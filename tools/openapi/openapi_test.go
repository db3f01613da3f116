package main

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"
)

const head = `openapi: 3.1.0
info: { title: t, version: "1" }
paths:
  /healthz:
    get: { operationId: health, summary: s, description: d, tags: [a], servers: [{ url: "https://hub.example" }], security: [], responses: { "200": { description: d } } }
  /api/a:
    get:
      operationId: a
      summary: s
      description: d
      tags: [a]
      servers: [{ url: "https://hub.example" }]
      security: []
      responses:
        "200": { description: d, content: { application/json: { schema: { $ref: "#/components/schemas/A" } } } }
        "429": { description: d, content: { application/json: { schema: { type: object, properties: { error: { type: string, enum: [rate_limited] } } } } } }
        "500": { description: d, content: { application/json: { schema: { $ref: "#/components/schemas/B" } } } }
components:
  schemas:
    A: { type: object, required: [x], properties: { x: { type: [string, "null"] } } }
    B: { type: object, required: [error], properties: { error: { type: string, examples: [internal_error] } } }
`

const page = "| `rate_limited` | 429 |\n"

func TestCheckAcceptsAndRefuses(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct{ old, new, want string }{
		"sound":                   {},
		"no tag":                  {"      tags: [a]\n", "", "must have exactly one tag"},
		"no success":              {"        \"200\": { description: d, cont", "        \"404\": { description: d, cont", "documents no success"},
		"silent on openness":      {"properties: { error: { type: string, examples", "properties: { x: { type: object }, error: { type: string, examples", "neither properties nor additionalProperties"},
		"no host":                 {"      servers: [{ url: \"https://hub.example\" }]\n", "", "has no servers"},
		"no credentials said":     {"      security: []\n", "", "has no security"},
		"two operations alike":    {"operationId: a\n", "operationId: health\n", "same operation id"},
		"no status for a key":     {"security: []\n      responses", "security: [{ k: [] }]\n      responses", "documents no 401"},
		"a body and no 413":       {"      security: []\n      resp", "      security: []\n      requestBody: { content: { application/json: { schema: { type: object, additionalProperties: true } } } }\n      resp", "documents no 413"},
		"limit undocumented":      {"\"429\"", "\"428\"", "documents no 429"},
		"open where it must not":  {"operationId: a\n", "operationId: a\n      x-signalcast-cors-open: true\n", "x-signalcast-cors-open"},
		"closed where open":       {"/api/a:", "/api/network/a:", "x-signalcast-cors-open"},
		"closed on another host":  {"url: \"https://hub.example\" }]\n      sec", "url: \"https://api.example\" }]\n      sec", "x-signalcast-cors-open"},
		"null and optional":       {"required: [x], ", "", "A.x can be null and is not required"},
		"unknown code":            {"enum: [rate_limited]", "enum: [too_fast]", "error code too_fast"},
		"a code that never comes": {"enum: [rate_limited]", "maxLength: 9", "no operation answers it"},
		"dangling reference":      {"#/components/schemas/A", "#/components/schemas/Z", "load"},
		"not OpenAPI":             {"title: t", "titel: t", "validate"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			src := head
			if row.old != "" {
				if !strings.Contains(src, row.old) {
					t.Fatalf("the document has no %q to change", row.old)
				}
				src = strings.Replace(src, row.old, row.new, 1)
			}
			if name == "no status for a key" {
				src += "  securitySchemes: { k: { type: http, scheme: bearer } }\n"
			}
			doc, err := convert([]byte(src))
			if err != nil {
				t.Fatalf("convert: %v", err)
			}
			err = check(doc, codesOf([]byte(page)))
			if row.want == "" && err != nil || row.want != "" && (err == nil || !strings.Contains(err.Error(), row.want)) {
				t.Fatalf("check says %v, want %q", err, row.want)
			}
		})
	}
}

func TestConvertKeepsOrderAndTypes(t *testing.T) {
	t.Parallel()
	doc, err := convert([]byte("b: 1\na: [true, null, 2026-09-18, \"no\", 1.5, *x]\n"))
	if err == nil {
		t.Fatalf("an unknown alias gave %s", doc)
	}
	doc, err = convert([]byte("b: &x { yes: 1 }\na: [true, null, 2026-09-18, \"no\", 1.5, *x, <p>]\n"))
	if err != nil {
		t.Fatal(err)
	}
	flat := strings.NewReplacer("\n", "", " ", "").Replace(string(doc))
	if want := `{"b":{"yes":1},"a":[true,null,"2026-09-18","no",1.5,{"yes":1},"<p>"]}`; flat != want {
		t.Fatalf("have %s\nwant %s", flat, want)
	}
}

func TestConvertRefuses(t *testing.T) {
	t.Parallel()
	for name, src := range map[string]string{
		"a comma in plain text": "a: { d: one, two. }",
		"a member twice":        "a: 1\na: 2",
		"a merge":               "a: &a { x: 1 }\nb: { <<: *a }",
		"nothing":               "",
	} {
		if doc, err := convert([]byte(src)); err == nil {
			t.Errorf("%s gave %s", name, doc)
		}
	}
}

func TestClientViewHasOneError(t *testing.T) {
	t.Parallel()
	doc, err := convert([]byte(head))
	if err != nil {
		t.Fatal(err)
	}
	view, err := clientView(doc)
	if err != nil {
		t.Fatal(err)
	}
	if s := string(view); strings.Contains(s, `"429"`) || !strings.Contains(s, `"default"`) || !strings.Contains(s, `"200"`) {
		t.Fatalf("the view is %s", s)
	}
}

// TestModelsView checks that modelsView names the types of answers, turns enumerations into plain strings, and removes
// alternative shapes except null.
func TestModelsView(t *testing.T) {
	t.Parallel()
	doc := []byte(`{
		"paths": {"/a": {"get": {"operationId": "readA", "responses": {"200": {"content": {"application/json": {"schema":
			{"type": "object", "properties": {"x": {"$ref": "#/components/schemas/X"}, "a": {"type": "integer"}}}}}}}}}},
		"components": {"schemas": {
			"X": {"type": "string", "enum": ["p", "q"]},
			"Y": {"oneOf": [{"$ref": "#/components/schemas/X"}, {"type": "object"}]},
			"Z": {"anyOf": [{"$ref": "#/components/schemas/X"}, {"type": "null"}]}
		}}}`)
	view, err := modelsView(doc, doc)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Paths      map[string]any
		Components struct{ Schemas map[string]any }
	}
	if err := json.Unmarshal(view, &got); err != nil {
		t.Fatal(err)
	}
	x := map[string]any{"$ref": "#/components/schemas/X"}
	want := map[string]any{
		"ReadAAnswer": map[string]any{"type": "object", "properties": map[string]any{
			"x": map[string]any{"$ref": x["$ref"], "x-order": 1.0}, "a": map[string]any{"type": "integer", "x-order": 2.0},
		}},
		"X": map[string]any{"type": "string"},
		"Y": map[string]any{},
		"Z": map[string]any{"anyOf": []any{x, map[string]any{"type": "null"}}},
	}
	if !reflect.DeepEqual(got.Components.Schemas, want) || len(got.Paths) > 0 {
		t.Errorf("the view is %s, want the schemas %v", view, want)
	}
}

func TestRunWritesOnlyWhatChanged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir() + "/"
	f := files{in: dir + "in", errors: dir + "errors", out: dir + "out", client: dir + "client", models: dir + "models"}
	write := func(name, text string) {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(f.in, head)
	write(f.errors, page)
	if err := run(f); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(f.out)
	if err != nil {
		t.Fatal(err)
	}
	write(f.client, "stale")
	if err := run(f); err != nil {
		t.Fatal(err)
	}
	after, err := os.Stat(f.out)
	if err != nil {
		t.Fatal(err)
	}
	if !before.ModTime().Equal(after.ModTime()) {
		t.Error("an unchanged file was written again")
	}
	if text, err := os.ReadFile(f.client); err != nil || string(text) == "stale" {
		t.Errorf("a stale file stays: %v", err)
	}
}
