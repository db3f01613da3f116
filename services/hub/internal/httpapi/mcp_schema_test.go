package httpapi

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/mcp"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/mcp/mcptest"
)

// TestSchemasAreClosed checks that each schema is an object with a fixed set of described members, and that no member has several
// types or any type.
func TestSchemasAreClosed(t *testing.T) {
	t.Parallel()
	tools := mcp.New(&mcp.Server{Tools: (&Server{}).tools()}).Tools
	files := 0
	for _, tool := range tools {
		for side, raw := range map[string]json.RawMessage{"in": tool.In, "out": tool.Out} {
			files++
			mcptest.Resolve(t, raw)
			var root map[string]any
			if err := json.Unmarshal(raw, &root); err != nil || root["type"] != "object" {
				t.Fatalf("%s.%s: %v %v", tool.Name, side, root["type"], err)
			}
			for _, wrong := range openParts(root, tool.Name+"."+side) {
				t.Error(wrong)
			}
			if props, ok := root["properties"].(map[string]any); side == "in" {
				if !ok || root["additionalProperties"] != false {
					t.Errorf("%s accepts unknown arguments", tool.Name)
				}
				for name, p := range props {
					if text, _ := p.(map[string]any)["description"].(string); text == "" {
						t.Errorf("%s: argument %s has no description", tool.Name, name)
					}
				}
				if _, dry := props["dryRun"]; dry != tool.Writes {
					t.Errorf("%s: dryRun %v, writes %v", tool.Name, dry, tool.Writes)
				}
			}
		}
	}
	if all, err := filepath.Glob("mcp/tools/*.json"); err != nil || len(all) != files || files != 20 {
		t.Errorf("%d files, %d schemas, %v", len(all), files, err)
	}
}

// TestArgumentsAreDescribed checks that the OpenAPI document and the tools have equal argument schemas.
func TestArgumentsAreDescribed(t *testing.T) {
	t.Parallel()
	var doc struct {
		Components struct {
			Schemas map[string]struct {
				Properties struct {
					Name      struct{ Enum []string }
					Arguments any
				}
			}
		}
	}
	if err := json.Unmarshal(openapi.JSON, &doc); err != nil {
		t.Fatal(err)
	}
	tools := mcp.New(&mcp.Server{Tools: (&Server{}).tools()}).Tools
	for _, tool := range tools {
		var shown any
		if err := json.Unmarshal(tool.In, &shown); err != nil {
			t.Fatal(err)
		}
		found := false
		for name, schema := range doc.Components.Schemas {
			if strings.HasSuffix(name, "Call") && slices.Equal(schema.Properties.Name.Enum, []string{tool.Name}) {
				found = true
				if diff := cmp.Diff(shown, schema.Properties.Arguments); diff != "" {
					t.Errorf("%s: the OpenAPI document has another schema:\n%s", tool.Name, diff)
				}
			}
		}
		if !found {
			t.Errorf("%s: the OpenAPI document lacks the tool", tool.Name)
		}
	}
}

// free are the path suffixes of objects that may have any members.
var free = []string{".spec", ".payload"}

func openParts(schema map[string]any, at string) (wrong []string) {
	if _, list := schema["type"].([]any); list {
		wrong = append(wrong, at+": a list of types")
	}
	if schema["type"] == nil && schema["anyOf"] == nil && schema["enum"] == nil && schema["const"] == nil {
		wrong = append(wrong, at+": anything")
	}
	props, _ := schema["properties"].(map[string]any)
	open := schema["type"] == "object" && schema["additionalProperties"] != false && schema["anyOf"] == nil
	for _, name := range free {
		open = open && !strings.HasSuffix(at, name)
	}
	if open {
		wrong = append(wrong, at+": an open object")
	}
	for name, p := range props {
		wrong = append(wrong, openParts(p.(map[string]any), at+"."+name)...)
	}
	if items, ok := schema["items"].(map[string]any); ok {
		wrong = append(wrong, openParts(items, at+"[]")...)
	}
	for i, o := range asList(schema["anyOf"]) {
		wrong = append(wrong, openParts(o.(map[string]any), fmt.Sprintf("%s|%d", at, i))...)
	}
	return wrong
}

func asList(v any) []any { l, _ := v.([]any); return l }
