package main

import (
	"encoding/json"
	"slices"
	"strings"
)

// modelsView returns the document from which the Go types of answers are generated: all schemas, and a schema
// `<OperationId>Answer` for each answer that the document describes in place. Fixed sets of values become plain strings,
// because tests compare every answer with the document. A value of several shapes is any.
func modelsView(client []byte) ([]byte, error) {
	var root map[string]any
	if err := json.Unmarshal(client, &root); err != nil {
		return nil, err
	}
	schemas := asMap(asMap(root["components"])["schemas"])
	for _, op := range operations(root) {
		id, _ := op.body["operationId"].(string)
		for status, answer := range asMap(op.body["responses"]) {
			schema := asMap(asMap(asMap(asMap(answer)["content"])["application/json"])["schema"])
			if strings.HasPrefix(status, "2") && schema["properties"] != nil {
				schemas[strings.ToUpper(id[:1])+id[1:]+"Answer"] = schema
			}
		}
	}
	simplify(schemas)
	root["paths"], root["components"] = map[string]any{}, map[string]any{"schemas": schemas}
	delete(root, "security")
	return json.MarshalIndent(root, "", "  ")
}

// simplify removes the fixed sets of values of schemas, and what says that a value has one of several shapes.
func simplify(v any) {
	switch v := v.(type) {
	case map[string]any:
		if _, isSchema := v["type"]; isSchema || v["const"] != nil {
			delete(v, "enum")
			delete(v, "const")
		}
		for _, word := range []string{"oneOf", "anyOf", "type"} {
			if len(shapes(v[word])) > 1 {
				delete(v, word)
			}
		}
		for _, child := range v {
			simplify(child)
		}
	case []any:
		for _, child := range v {
			simplify(child)
		}
	}
}

// shapes returns the alternatives besides null: schemas, or names of types.
func shapes(alternatives any) []any {
	return slices.DeleteFunc(slices.Clone(asList(alternatives)), func(a any) bool { return a == "null" || asMap(a)["type"] == "null" })
}
