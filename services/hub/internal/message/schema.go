package message

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/signalcast/signalcast/pkg/protocol"
)

//go:embed schemas/*.json
var schemas embed.FS

// Schema returns the JSON Schema (2020-12) of the payload of a type: as clients sign it or, if attested, as the hub signs it.
// Both are the same unless the hub adds members. It returns false for an unknown type.
func Schema(t Type, attested bool) ([]byte, bool) {
	if _, known := ParseType(string(t)); !known {
		return nil, false
	}
	name := "schemas/" + string(t)
	if attested {
		if b, err := schemas.ReadFile(name + ".attested.json"); err == nil {
			return b, true
		}
	}
	b, err := schemas.ReadFile(name + ".json")
	return b, err == nil
}

// payloadSchema checks payloads. A jsonschema.Schema alone does not report which member is wrong.
type payloadSchema struct {
	members    []memberSchema // in the order of the file
	minMembers int
}

type memberSchema struct {
	names    []string // the usual name and other names; a payload has at most one of them
	required bool
	value    *jsonschema.Resolved
}

type schemaKey struct {
	payload  Type
	attested bool
}

// payloadSchemas returns the schemas of all payloads. It reads them once in a process.
var payloadSchemas = sync.OnceValue(func() map[schemaKey]payloadSchema {
	all := make(map[schemaKey]payloadSchema)
	for _, t := range Types {
		for _, attested := range []bool{false, true} {
			raw, _ := Schema(t, attested)
			s, err := newPayloadSchema(raw)
			if err != nil {
				panic(fmt.Errorf("read schema of %s: %w", t, err)) // the files are part of the program
			}
			all[schemaKey{t, attested}] = s
		}
	}
	return all
})

// newPayloadSchema reads a JSON Schema of an object. Each entry of its allOf has a oneOf whose entries require one name each:
// they are the names of one required member.
func newPayloadSchema(raw []byte) (out payloadSchema, err error) {
	var s jsonschema.Schema
	if err := json.Unmarshal(raw, &s); err != nil {
		return out, err
	}
	order, err := propertyOrder(raw)
	if err != nil {
		return out, err
	}
	if s.MinProperties != nil {
		out.minMembers = *s.MinProperties
	}
	aliases := make(map[string][]string) // all names of a member, by each of them
	for _, either := range s.AllOf {
		var names []string
		for _, one := range either.OneOf {
			names = append(names, one.Required...)
		}
		for _, name := range names {
			aliases[name] = names
		}
	}
	for _, name := range order {
		m := memberSchema{names: []string{name}, required: slices.Contains(s.Required, name)}
		if names := aliases[name]; names != nil {
			m = memberSchema{names: names, required: true}
		}
		if m.names[0] != name {
			continue // it is another name of a member before it
		}
		if m.value, err = s.Properties[name].Resolve(nil); err != nil {
			return out, err
		}
		out.members = append(out.members, m)
	}
	return out, nil
}

// propertyOrder returns the names of the properties of a schema in the order of the file, which jsonschema does not keep.
func propertyOrder(raw []byte) (names []string, err error) {
	var s struct{ Properties json.RawMessage }
	if err := json.Unmarshal(raw, &s); err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(s.Properties))
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	for d.More() {
		name, err := d.Token()
		if err == nil {
			err = d.Decode(new(json.RawMessage))
		}
		if err != nil {
			return nil, err
		}
		names = append(names, name.(string))
	}
	return names, nil
}

// check returns the first mistake of a canonical payload, in the order of the schema and then unknown members by name. Fault:
// invalid_request with reason payload, and with the field if one member is wrong.
func (s *payloadSchema) check(canonical []byte) error {
	given, err := object(canonical)
	if err != nil {
		return invalid(ReasonPayload, "payload is an object")
	}
	unknown := maps.Clone(given)
	for _, m := range s.members {
		name := ""
		for _, one := range m.names {
			switch {
			case given[one] == nil:
			case name != "":
				return badPayload(one, "is another name of "+name+": give one of them")
			default:
				name = one
			}
		}
		if name == "" && m.required {
			return badPayload(m.names[0], "is missing")
		}
		if name == "" {
			continue
		}
		if text := m.mistake(given[name]); text != "" {
			return badPayload(name, text)
		}
		delete(unknown, name)
	}
	if len(unknown) > 0 {
		return badPayload(slices.Sorted(maps.Keys(unknown))[0], "no such member")
	}
	if len(given) < s.minMembers {
		return invalid(ReasonPayload, "payload has at least %d members", s.minMembers)
	}
	return nil
}

// mistake returns the form that a value should have, or "" for a valid value. jsonschema does not check the format of a time.
func (m *memberSchema) mistake(canonical []byte) string {
	schema := m.value.Schema()
	var v any
	if err := json.Unmarshal(canonical, &v); err == nil && m.value.Validate(v) == nil {
		text, isText := v.(string)
		if _, ok := protocol.ParseStamp(text); ok || !isText || schema.Format != "date-time" {
			return ""
		}
	}
	switch list, isList := v.([]any); {
	case schema.Type == "integer":
		return fmt.Sprintf("is a whole number from %.0f to %.0f", *schema.Minimum, *schema.Maximum)
	case schema.Type == "array" && isList && len(list) <= *schema.MaxItems:
		return "has an entry of another form"
	case schema.Type == "array":
		return fmt.Sprintf("is a list of at most %d", *schema.MaxItems)
	}
	return "has another form"
}

// badPayload returns the error of the member with a name.
func badPayload(name, text string) error {
	return invalid(ReasonPayload, "payload.%s: %s", name, text).With(memberField, name)
}
