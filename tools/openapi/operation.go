package main

import (
	"maps"
	"slices"
)

var methods = []string{"get", "put", "post", "delete", "options", "head", "patch", "trace"}

// operation is one method of one path of the document.
type operation struct {
	path, method string
	body         map[string]any
}

func (o operation) String() string { return o.method + " " + o.path }

func (o operation) tag() string {
	if tags := asList(o.body["tags"]); len(tags) == 1 {
		s, _ := tags[0].(string)
		return s
	}
	return ""
}

// operations returns every operation of a document, ordered by path and method.
func operations(root map[string]any) []operation {
	var all []operation
	paths := asMap(root["paths"])
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		item := asMap(paths[path])
		for _, m := range methods {
			if body, ok := item[m].(map[string]any); ok {
				all = append(all, operation{path: path, method: m, body: body})
			}
		}
	}
	return all
}

// asMap returns v if it is a JSON object, otherwise nil. With nil maps, a check can read an invalid document and report its
// errors.
func asMap(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

// asList returns v if it is a JSON array, otherwise nil.
func asList(v any) []any {
	l, _ := v.([]any)
	return l
}
