package main

import (
	"fmt"

	"github.com/getkin/kin-openapi/openapi3"
)

// checkOpenness wants every object to say what it may hold: its members, or that
// it is open.
func checkOpenness(root map[string]any) []error {
	var found []error
	visitSchemas(root, "#", func(at string, s map[string]any) {
		if s["type"] == "object" && s["properties"] == nil && s["additionalProperties"] == nil && s["maxProperties"] == nil {
			found = append(found, fmt.Errorf("%s: an object without members does not say that it is open", at))
		}
	})
	return found
}

// visitSchemas visits every object of the document that may be a schema, with where it
// stands. What stands in an example is data, and no schema.
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

// checkExamples holds the examples and defaults that stand in schemas against them.
// Those of bodies and parameters are a matter of the validator.
func checkExamples(doc *openapi3.T) []error {
	var found []error
	done := map[*openapi3.Schema]bool{}
	var walk func(at string, ref *openapi3.SchemaRef)
	walk = func(at string, ref *openapi3.SchemaRef) {
		if ref == nil || ref.Value == nil || done[ref.Value] {
			return
		}
		s := ref.Value
		done[s] = true
		given := s.Examples
		for _, one := range []any{s.Example, s.Default} {
			if one != nil {
				given = append(given[:len(given):len(given)], one)
			}
		}
		for _, v := range given {
			if err := s.VisitJSON(v); err != nil {
				found = append(found, fmt.Errorf("%s: the example %v does not fit: %w", at, v, err))
			}
		}
		for name, p := range s.Properties {
			walk(at+"."+name, p)
		}
		walk(at+"[]", s.Items)
		walk(at+".*", s.AdditionalProperties.Schema)
		for _, list := range []openapi3.SchemaRefs{s.OneOf, s.AnyOf, s.AllOf} {
			for _, p := range list {
				walk(at, p)
			}
		}
	}
	for name, ref := range doc.Components.Schemas {
		walk(name, ref)
	}
	for name, p := range doc.Components.Parameters {
		walk("parameter "+name, p.Value.Schema)
	}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			at := method + " " + path
			for _, p := range append(item.Parameters[:len(item.Parameters):len(item.Parameters)], op.Parameters...) {
				walk(at+" "+p.Value.Name, p.Value.Schema)
			}
			if op.RequestBody != nil {
				walkContent(at, op.RequestBody.Value.Content, walk)
			}
			for status, res := range op.Responses.Map() {
				walkContent(at+" "+status, res.Value.Content, walk)
				for name, h := range res.Value.Headers {
					walk(at+" "+status+" "+name, h.Value.Schema)
				}
			}
		}
	}
	return found
}

func walkContent(at string, content openapi3.Content, walk func(string, *openapi3.SchemaRef)) {
	for _, media := range content {
		walk(at, media.Schema)
	}
}
