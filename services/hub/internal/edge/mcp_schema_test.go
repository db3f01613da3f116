package edge

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/signalcast/signalcast/pkg/web"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	"github.com/signalcast/signalcast/proto/openapi"
	operatorv1 "github.com/signalcast/signalcast/proto/operator/v1"
	programv1 "github.com/signalcast/signalcast/proto/program/v1"
	recordv1 "github.com/signalcast/signalcast/proto/record/v1"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
	"github.com/signalcast/signalcast/services/hub/internal/board"
	"github.com/signalcast/signalcast/services/hub/internal/onair"
	"github.com/signalcast/signalcast/services/hub/internal/signal"
)

func resolvedSchema(t *testing.T, raw []byte) *jsonschema.Resolved {
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

// TestSchemasAreClosed: each schema is an object with its members, takes no others, and
// says nothing that a client has to guess: no list of types, no "anything".
func TestSchemasAreClosed(t *testing.T) {
	t.Parallel()
	s := &server{}
	files := 0
	for _, tool := range s.agentTools() {
		for side, raw := range map[string]rawJSON{"in": tool.in, "out": tool.out} {
			files++
			resolvedSchema(t, raw)
			var root map[string]any
			if err := json.Unmarshal(raw, &root); err != nil || root["type"] != "object" {
				t.Fatalf("%s.%s: %v %v", tool.name, side, root["type"], err)
			}
			for _, wrong := range openParts(root, tool.name+"."+side) {
				t.Error(wrong)
			}
			if props, ok := root["properties"].(map[string]any); side == "in" {
				if !ok || root["additionalProperties"] != false {
					t.Errorf("%s takes anything", tool.name)
				}
				for name, p := range props {
					if text, _ := p.(map[string]any)["description"].(string); text == "" {
						t.Errorf("%s: %s is not explained", tool.name, name)
					}
				}
				if _, dry := props["dryRun"]; dry != tool.writes {
					t.Errorf("%s: dryRun %v, writes %v", tool.name, dry, tool.writes)
				}
			}
		}
	}
	if all, err := fs.Glob(toolSchemas, "mcp/*.json"); err != nil || len(all) != files || files != 20 {
		t.Errorf("%d files, %d schemas, %v", len(all), files, err)
	}
}

// TestArgumentsAreDescribed: the description has the arguments of each tool as the tool
// itself shows them.
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
	s := &server{}
	for _, tool := range s.agentTools() {
		var shown any
		if err := json.Unmarshal(tool.in, &shown); err != nil {
			t.Fatal(err)
		}
		found := false
		for name, schema := range doc.Components.Schemas {
			if strings.HasSuffix(name, "Call") && slices.Equal(schema.Properties.Name.Enum, []string{tool.name}) {
				found = true
				if diff := cmp.Diff(shown, schema.Properties.Arguments); diff != "" {
					t.Errorf("%s is described in another way:\n%s", tool.name, diff)
				}
			}
		}
		if !found {
			t.Errorf("%s is not described", tool.name)
		}
	}
}

// free are objects of which no schema here knows the members.
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

// TestEmptyResultsFit: what each tool answers where nothing is known but what always is.
// No list is null, and what may be missing may be null.
func TestEmptyResultsFit(t *testing.T) {
	t.Parallel()
	s := &server{Config: Config{HubURL: "https://hub.example"}}
	tools := s.agentTools()
	call := showSignal(&signalv1.Signal{
		Id: "0199f0a4-0000-7000-8000-000000000001", PublicId: "op_c8eb353a8e49313f", MarketId: "1", Direction: "YES",
		Status: "pending",
	})
	event := showEvent(&signalv1.Event{Type: string(signal.Note)})
	overlay := overlaySignalOf(onair.Overlay{MarketID: "1", Name: "x", Handle: "mara_k"})
	bare := &marketv1.Market{Id: "1", Provider: "polymarket", Status: "open", Lane: "OTHER"}
	someone := &recordv1.GetOperatorRecordResponse{Operator: &operatorv1.Operator{
		Handle: "mara_k", PublicId: "op_c8eb353a8e49313f", Tier: "independent", OperatorType: "human",
	}}
	for _, c := range []struct {
		tool  string
		value any
	}{
		{"get_market", openapi.NetworkMarketAnswer{Market: s.showNetworkMarket(bare, nil), Crowd: showNetworkCrowd(nil)}},
		{"get_operator", s.showAtom(someone, 0)},
		{"get_operator", s.showBoard(boardQuery{Query: board.ParseQuery("", "", "", "")}, nil, nil, nil)},
		{"get_program", showProgram(&programv1.Program{}, false)},
		{"get_program", openapi.ProgramOff{}},
		{"get_signal", toolSignalJSON{call, showEvents(nil)}},
		{"list_signals", s.showFeed(signal.FeedRecent, nil)},
		{"my_record", s.showFieldRecord(someone)},
		{"search_markets", openapi.MarketRows{Markets: []openapi.MarketRow{}}},
		{"search_markets", openapi.MarketRows{Markets: []openapi.MarketRow{showRow(bare)}, Count: 1}},
		{"set_live_signal", openapi.OverlaySet{Ok: true, Signal: overlay}},
		{"set_live_signal", openapi.OverlayCleared{Ok: true}},
		{"set_live_signal", dryOverlayJSON{overlay, true}},
		{"set_live_signal", dryClearedJSON{DryRun: true}},
		{"submit_signal", s.showFiled(call.ID, nil)},
		{"submit_signal", showDrySignal(&signalv1.RehearseFileResponse{
			Signal: &signalv1.Signal{PublicId: "op_c8eb353a8e49313f", Direction: "YES", Status: "pending"},
		})},
		{"submit_signal_event", appendedJSON{Event: event}},
		{"submit_signal_event", dryToolEventJSON{event, nil, true}},
	} {
		schema := resolvedSchema(t, tools.find(c.tool).out)
		if wrong := misfit(schema, c.value); wrong != nil {
			t.Errorf("%s: %T: %v", c.tool, c.value, wrong)
		}
		if misfit(schema, map[string]any{"more": 1}) == nil || misfit(schema, []any{}) == nil {
			t.Errorf("%s: anything fits", c.tool)
		}
	}
}

func misfit(schema *jsonschema.Resolved, v any) error {
	raw, err := web.Marshal(v)
	if err != nil {
		return err
	}
	var plain any
	if err := json.Unmarshal(raw, &plain); err != nil {
		return err
	}
	return schema.Validate(plain)
}
