package reference

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// source has the members of an OpenAPI 3.1 document that the pages show.
type source struct {
	Info struct{ Description string }
	Tags []struct{ Name, Description string }

	Paths      ordered[json.RawMessage]
	Components struct {
		Schemas         ordered[schema]
		Parameters      map[string]parameter
		Responses       map[string]response
		Headers         map[string]parameter
		SecuritySchemes map[string]struct{ Description string }
	}
}

type operation struct {
	OperationID, Summary, Description string
	Tags                              []string
	Servers                           []struct{ URL string }
	Security                          []ordered[[]string]
	Parameters                        []parameter
	RequestBody                       struct {
		Required bool
		Content  ordered[mediaType]
	}
	Responses  ordered[response]
	Deprecated bool
	Permission string `json:"x-signalcast-permission"`
}

type parameter struct {
	Ref                   string `json:"$ref"`
	Name, In, Description string
	Required              bool
	Schema                schema
}

type response struct {
	Ref         string `json:"$ref"`
	Description string
	Headers     ordered[parameter]
	Content     ordered[mediaType]
}

type mediaType struct{ Schema schema }

type schema struct {
	Ref                                 string `json:"$ref"`
	Type                                words
	Title, Description, Format, Pattern string
	Enum                                []json.RawMessage
	Const, Default                      json.RawMessage
	Examples                            []json.RawMessage
	Properties                          ordered[schema]
	Required                            []string
	Items                               *schema
	AdditionalProperties                values
	OneOf, AnyOf, AllOf                 []schema
	Minimum, Maximum, ExclusiveMinimum  json.Number
	MinLength, MaxLength                json.Number
	MinItems, MaxItems                  json.Number
}

// words is a string or a list of strings in JSON.
type words []string

// UnmarshalJSON implements json.Unmarshaler.
func (w *words) UnmarshalJSON(raw []byte) error {
	if raw[0] == '[' {
		return json.Unmarshal(raw, (*[]string)(w))
	}
	*w = make(words, 1)
	return json.Unmarshal(raw, &(*w)[0])
}

// values is the member additionalProperties: a schema or a boolean, which is read as no schema.
type values struct{ Schema *schema }

// UnmarshalJSON implements json.Unmarshaler.
func (v *values) UnmarshalJSON(raw []byte) error {
	if raw[0] != '{' {
		return nil
	}
	return json.Unmarshal(raw, &v.Schema)
}

// ordered is a JSON object whose members keep their order.
type ordered[T any] []member[T]

type member[T any] struct {
	Name  string
	Value T
}

// UnmarshalJSON implements json.Unmarshaler.
func (o *ordered[T]) UnmarshalJSON(raw []byte) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return fmt.Errorf("%.20s is not an object: %w", raw, err)
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		m := member[T]{Name: fmt.Sprint(name)}
		if err := d.Decode(&m.Value); err != nil {
			return err
		}
		*o = append(*o, m)
	}
	return nil
}

// nameOf returns the last part of a reference: "Signal" of "#/components/schemas/Signal".
func nameOf(ref string) string { return ref[strings.LastIndexByte(ref, '/')+1:] }
