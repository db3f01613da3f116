package message

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/signalcast/signalcast/pkg/protocol"
)

//go:embed schemas/*.json
var schemas embed.FS

// Schema returns the JSON Schema (2020-12) of the payload of a message type. If attested is true, it is the schema for
// messages that the hub attests; otherwise it is the schema for client messages. The two schemas are equal unless the hub
// adds members. Schema returns false for an unknown type.
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

// payloadSchema validates payloads. Unlike a jsonschema.Schema, it reports which member is invalid.
type payloadSchema struct {
	members    []memberSchema // in the order of the schema file
	minMembers int
}

type memberSchema struct {
	names    []string // usual name, then aliases; a payload has at most one of them
	required bool
	value    *jsonschema.Resolved
}

type schemaKey struct {
	payload  Type
	attested bool
}

// payloadSchemas returns the parsed schemas of all payloads. It parses them once per process and panics if one is invalid.
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

// newPayloadSchema parses the JSON Schema of an object. Each entry of its allOf must have a oneOf that lists the aliases of one
// required member.
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
	aliases := make(map[string][]string) // all names of a member, by each of its names
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
			continue // alias of an earlier member
		}
		if m.value, err = s.Properties[name].Resolve(nil); err != nil {
			return out, err
		}
		out.members = append(out.members, m)
	}
	return out, nil
}

// propertyOrder returns the names of the properties of a schema, in the order of the schema file. The package jsonschema does not
// preserve this order.
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

// check returns the first error of a canonical payload, or nil if it is valid. It checks members in the order of the schema.
// It then reports unknown members in the order of their names. Error: invalid_request with reason payload, and with the field
// if one member is invalid.
func (s *payloadSchema) check(canonical []byte) error {
	given, err := object(canonical)
	if err != nil {
		return invalid(ReasonPayload, "payload must be an object")
	}
	unknown := maps.Clone(given)
	for _, m := range s.members {
		name := ""
		for _, one := range m.names {
			switch {
			case given[one] == nil:
			case name != "":
				return badPayload(one, "is an alias of "+name+"; send only one of them")
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
		return badPayload(slices.Sorted(maps.Keys(unknown))[0], "is not a member of this payload")
	}
	if len(given) < s.minMembers {
		return invalid(ReasonPayload, "payload must change at least one member")
	}
	return nil
}

// mistake returns a text that describes why the value of a member is invalid, or "" if it is valid. It checks the format of
// times itself, because the package jsonschema does not.
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
		return fmt.Sprintf("must be an integer from %.0f to %.0f", *schema.Minimum, *schema.Maximum)
	case schema.Type == "array" && isList && len(list) <= *schema.MaxItems:
		text := "must have entries that match the schema of the message type"
		if schema.UniqueItems {
			text += ", each at most once"
		}
		return text
	case schema.Type == "array":
		return fmt.Sprintf("must be a list of at most %d entries", *schema.MaxItems)
	}
	return mustMatch(schema)
}

// playlistStart is the start of the schema pattern for playlist URLs. These URLs must have a path. For other URLs, the path is
// optional.
const playlistStart = `^https://[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]{1,5})?/`

// patternTexts contains the error texts of patterns in the schemas, by the start of the pattern.
var patternTexts = [...]struct{ start, text string }{
	{"^([1-9][0-9]{0,19}|(kalshi|", protocol.MarketIDForm},
	{"^native-", "must be the id of a native market (prefix native-)"},
	{playlistStart, "must be the https URL of an .m3u8 playlist with at most 500 ASCII characters, without user name or fragment"},
	{"^https://", "must be an https URL of at most 500 ASCII characters, without a user name"},
	{"^[0-9a-f]{8}-", "must be a UUID in lower case"},
	{"^[a-z0-9-]{3,32}$", "must be 3 to 32 characters of a-z, 0-9 and -"},
	{"^0x[0-9A-Fa-f]{40}$", "must be 0x and 40 hex digits"},
}

// mustMatch describes the values that a schema of a string or of an enumeration permits.
func mustMatch(schema *jsonschema.Schema) string {
	switch {
	case len(schema.AnyOf) > 0: // a string or null
		return mustMatch(schema.AnyOf[0]) + ", or null"
	case len(schema.Enum) > 0:
		values := make([]string, len(schema.Enum))
		for i, v := range schema.Enum {
			values[i] = fmt.Sprint(v)
		}
		return "must be one of: " + strings.Join(values, ", ")
	case schema.Format == "date-time":
		return "must be an RFC 3339 time"
	}
	for _, p := range patternTexts {
		if strings.HasPrefix(schema.Pattern, p.start) {
			return p.text
		}
	}
	if schema.MaxLength != nil {
		least := 0
		if schema.MinLength != nil {
			least = *schema.MinLength
		}
		return fmt.Sprintf("must be %d to %d characters and match the schema of the message type", least, *schema.MaxLength)
	}
	return "must match the schema of the message type"
}

// badPayload returns the error of an invalid payload member: invalid_request with reason payload and the field.
func badPayload(name, text string) error {
	return invalid(ReasonPayload, "payload.%s %s", name, text).With(memberField, name)
}
