package main

import (
	"encoding/json"
	"fmt"
	"strings"
)

// errorSchema is the reference to a schema that fits every error response. clientView adds the schema to the document.
const errorSchema = "#/components/schemas/Error"

// clientView returns the document with one `default` error for each operation instead of its error statuses. The full document
// lists each status and code for readers. A generator would create a type for each status, but a caller needs only one error
// type.
func clientView(doc []byte) ([]byte, error) {
	var root map[string]any
	if err := json.Unmarshal(doc, &root); err != nil {
		return nil, err
	}
	components, _ := root["components"].(map[string]any)
	schemas, _ := components["schemas"].(map[string]any)
	if schemas == nil {
		return nil, fmt.Errorf("components.schemas is missing")
	}
	if schemas["Error"] != nil {
		return nil, fmt.Errorf("components.schemas.Error is reserved for the client view; rename the schema")
	}
	schemas["Error"] = map[string]any{
		"type": "object", "description": "The form of every error; each one may carry further members.", "required": []any{"error"},
		"properties": map[string]any{
			"error":   map[string]any{"type": "string", "pattern": "^[a-z0-9_]+$", "description": "Stable code."},
			"message": map[string]any{"type": "string", "description": "For people; may change."},
		},
		"additionalProperties": true,
	}
	// Readers of the document see the data of each event type. A client decodes the data by the type of the event: events.go.
	data := asMap(schemas["EventData"])
	list := data["anyOf"]
	delete(data, "anyOf")
	delete(schemas, "EventData")
	if item := asMap(asMap(schemas["FeedItem"])["properties"]); item != nil {
		item["data"] = data
	}
	shared, _ := components["responses"].(map[string]any)
	if shared == nil {
		shared = map[string]any{}
		components["responses"] = shared
	}
	shared["Failed"] = map[string]any{
		"description": "The request failed.",
		"content": map[string]any{"application/json": map[string]any{
			"schema": map[string]any{"$ref": errorSchema},
		}},
	}
	for _, op := range operations(root) {
		responses, _ := op.body["responses"].(map[string]any)
		if op.body["operationId"] == "streamFeed" { // the generator omits schemas that no operation uses
			asMap(asMap(responses["200"])["content"])["text/event-stream"] = map[string]any{"schema": map[string]any{"anyOf": list}}
		}
		for status, r := range responses {
			if strings.HasPrefix(status, "2") {
				delete(asMap(r), "headers")                            // callers read headers from http.Response
				delete(asMap(asMap(r)["content"]), "application/yaml") // the clients decode JSON only
				continue
			}
			delete(responses, status)
		}
		responses["default"] = map[string]any{"$ref": "#/components/responses/Failed"}
	}
	return json.MarshalIndent(root, "", "  ")
}
