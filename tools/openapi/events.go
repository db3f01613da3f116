package main

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// event is an event type and the name of the schema of its data.
type event struct{ name, schema string }

// eventsOf returns the event types of the schema EventData, in its order. Each schema of its list has the types in the member
// x-signalcast-events.
func eventsOf(root map[string]any) ([]event, error) {
	var all []event
	seen := map[string]bool{}
	schemas := asMap(asMap(root["components"])["schemas"])
	for _, s := range asList(asMap(schemas["EventData"])["anyOf"]) {
		ref, _ := asMap(s)["$ref"].(string)
		for _, v := range asList(asMap(s)["x-signalcast-events"]) {
			name, _ := v.(string)
			schema := strings.TrimPrefix(ref, "#/components/schemas/")
			if name == "" || seen[name] || schemas[schema] == nil {
				return nil, fmt.Errorf("EventData: the event type %q is repeated or has no schema", name)
			}
			seen[name] = true
			all = append(all, event{name, schema})
		}
	}
	if len(all) == 0 {
		return nil, errors.New("EventData: no event types")
	}
	return all, nil
}

func goEvents(events []event) []byte {
	var b bytes.Buffer
	b.WriteString(strings.Replace(goHead, "package signalcast", "package feed", 1) +
		"import \"github.com/signalcast/signalcast/sdk/go/client\"\n\n// Event types of docs/protocol/events.md.\nconst (\n")
	for _, e := range events {
		fmt.Fprintf(&b, "\t// %[1]s has data of the type client.%[2]s.\n\t%[1]s = %[3]q\n", e.goName(), e.schema, e.name)
	}
	b.WriteString(")\n\n// newData returns a pointer to the type of the data of an event type, or nil for an unknown type.\n" +
		"func newData(kind string) any {\n\tswitch kind {\n")
	for i, e := range events {
		if i+1 < len(events) && events[i+1].schema == e.schema {
			continue // the last type of a schema writes the case of all of them
		}
		names := e.goName()
		for j := i - 1; j >= 0 && events[j].schema == e.schema; j-- {
			names = events[j].goName() + ", " + names
		}
		fmt.Fprintf(&b, "\tcase %s:\n\t\treturn new(client.%s)\n", names, e.schema)
	}
	b.WriteString("\t}\n\treturn nil\n}\n")
	return b.Bytes()
}

// goName returns the name of the constant of an event type, for example SignalCreated for signal.created.
func (e event) goName() string {
	name := ""
	for part := range strings.FieldsFuncSeq(e.name, func(r rune) bool { return r == '.' || r == '_' }) {
		name += strings.ToUpper(part[:1]) + part[1:]
	}
	return name
}

func tsEvents(events []event) []byte {
	var b bytes.Buffer
	b.WriteString(tsHead + "import type { components } from './openapi.gen.js';\n\ntype Schemas = components['schemas'];\n\n" +
		"/** Data of each event type of docs/protocol/events.md. */\nexport interface EventData {\n")
	for _, e := range events {
		fmt.Fprintf(&b, "  '%s': Schemas['%s'];\n", e.name, e.schema)
	}
	b.WriteString("}\n")
	return b.Bytes()
}
