package main

import (
	"encoding/json"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// modelsView returns the document from which the Go types of responses are generated. It contains all schemas, and a schema
// `<OperationId>Answer` for each successful response that the document describes in place. Enumerations become plain strings.
// A value that can have several shapes becomes any. Members have the order of doc.
func modelsView(doc, client []byte) ([]byte, error) {
	var root map[string]any
	if err := json.Unmarshal(client, &root); err != nil {
		return nil, err
	}
	var source yaml.Node // JSON is YAML, and its nodes keep the order of members
	if err := yaml.Unmarshal(doc, &source); err != nil {
		return nil, err
	}
	setOrder(source.Content[0], root, 0)
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

// setOrder sets x-order of each property of the schema v. The value is start plus the position of the property, from 1, in the
// same schema of the source. For each further schema in a list, for example an allOf, start is 100 higher. The properties of
// the schemas therefore follow each other.
func setOrder(source *yaml.Node, v any, start int) {
	switch v := v.(type) {
	case map[string]any:
		for i := 0; i+1 < len(source.Content); i += 2 {
			name, child := source.Content[i].Value, source.Content[i+1]
			if name == "properties" && child.Kind == yaml.MappingNode {
				for j := 0; j < len(child.Content); j += 2 {
					if schema, ok := asMap(v[name])[child.Content[j].Value].(map[string]any); ok {
						schema["x-order"] = start + j/2 + 1
					}
				}
			}
			setOrder(child, v[name], 0)
		}
	case []any:
		for i := range v {
			if i < len(source.Content) {
				setOrder(source.Content[i], v[i], 100*i)
			}
		}
	}
}

// simplify removes enumerations and constants from schemas. It also removes oneOf, anyOf and type if they have several
// alternatives.
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

// shapes returns the alternatives of a schema except null. An alternative is a schema or the name of a type.
func shapes(alternatives any) []any {
	return slices.DeleteFunc(slices.Clone(asList(alternatives)), func(a any) bool { return a == "null" || asMap(a)["type"] == "null" })
}
