package openapi

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// BoundaryCase is a variant of a valid request body that tests one rule of its schema.
type BoundaryCase struct {
	What  string
	Field string // name of the member; empty if all members are missing
	Body  map[string]any
	Valid bool // whether the body is valid by the schema
}

// BoundaryCases returns variants of the valid body good, which the schema s describes. A variant lacks required members, has an
// unknown member, or has another value for one member.
func BoundaryCases(s *openapi3.Schema, good map[string]any) []BoundaryCase {
	var out []BoundaryCase
	add := func(field, what string, valid bool, change func(map[string]any)) {
		body := map[string]any{}
		maps.Copy(body, good)
		change(body)
		out = append(out, BoundaryCase{What: field + " " + what, Field: field, Body: body, Valid: valid})
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if slices.Contains(s.Required, name) {
			add(name, "is missing", false, func(b map[string]any) { delete(b, name) })
			add(name, "is null", nullable(s.Properties[name].Value), func(b map[string]any) { b[name] = nil })
		}
		for _, step := range steps(nonNull(s.Properties[name].Value), good[name]) {
			add(name, step.what, step.valid, func(b map[string]any) { b[name] = step.value })
		}
	}
	allowed := s.MaxProps == nil || uint64(len(good)) < *s.MaxProps
	add("unknown", "is present", allowed, func(b map[string]any) { b["unknown"] = 1 }) // the services ignore unknown members
	if s.MinProps > 0 {
		out = append(out, BoundaryCase{What: "all members are missing", Body: map[string]any{}})
	}
	return out
}

// step is a value that tests one rule of a schema. valid is true if the schema allows the value.
type step struct {
	what  string
	value any
	valid bool
}

func nullable(s *openapi3.Schema) bool {
	isNull := func(ref *openapi3.SchemaRef) bool { return ref.Value.Type.Includes("null") }
	return s.Type.Includes("null") || slices.ContainsFunc(slices.Concat(s.OneOf, s.AnyOf), isNull)
}

// nonNull returns the part of a nullable schema that describes the values other than null. If s is not a union with null, it
// returns s.
func nonNull(s *openapi3.Schema) *openapi3.Schema {
	for _, ref := range slices.Concat(s.OneOf, s.AnyOf) {
		if nullable(s) && !ref.Value.Type.Is("null") {
			return ref.Value
		}
	}
	return s
}

// steps returns values that test the rules of a schema: values of another type, at and beyond its bounds, and in a wrong format.
// good is a valid value, or nil if none is known.
func steps(s *openapi3.Schema, good any) []step {
	var out []step
	for what, v := range map[string]any{"integer": 7, "boolean": true, "array": []any{}, "object": map[string]any{}, "string": "7"} {
		if !s.Type.Includes(what) && (what != "integer" || !s.Type.Includes("number")) && len(s.OneOf)+len(s.AnyOf) == 0 {
			out = append(out, step{"is of type " + what, v, false})
		}
	}
	slices.SortFunc(out, func(a, b step) int { return strings.Compare(a.what, b.what) })
	switch {
	case len(s.Enum) > 0:
		for _, v := range s.Enum {
			if v != nil {
				out = append(out, step{fmt.Sprintf("is %v", v), v, true})
			}
		}
		if s.Type.Includes("string") {
			out = append(out, step{"is not an allowed value", fmt.Sprint(s.Enum[0]) + "x", false},
				step{"is empty", "", slices.Contains(s.Enum, any(""))})
		}
	case s.Type.Includes("string"):
		out = append(out, texts(s, good)...)
	case s.Type.Includes("integer"), s.Type.Includes("number"):
		out = append(out, numbers(s)...)
	case s.Type.Includes("array"):
		out = append(out, arrays(s, good)...)
	case s.Type.Includes("object"):
		inner, there := good.(map[string]any)
		for _, c := range BoundaryCases(s, inner) {
			if there || len(s.Required) == 0 {
				out = append(out, step{"has a value where " + c.What, c.Body, c.Valid})
			}
		}
	}
	return out
}

func numbers(s *openapi3.Schema) (out []step) {
	if s.Min != nil {
		out = append(out, step{"is the minimum", *s.Min, true}, step{"is one below the minimum", *s.Min - 1, false})
	}
	if s.Max != nil {
		out = append(out, step{"is the maximum", *s.Max, true}, step{"is one above the maximum", *s.Max + 1, false})
	}
	if s.Type.Includes("integer") {
		low := 0.0
		if s.Min != nil {
			low = *s.Min
		}
		out = append(out, step{"is not an integer", low + 0.5, false})
	}
	return out
}

// texts returns strings with the minimum and the maximum length in characters, strings one character beyond these lengths, and
// strings that violate the pattern or the format. If the schema has no pattern and no format, and good has only the letters a
// to z, texts also returns strings of four-byte characters. good is a valid value or nil.
func texts(s *openapi3.Schema, good any) (out []step) {
	v, _ := good.(string)
	form := regexp.MustCompile(s.Pattern)
	free := s.Pattern == "" && s.Format == "" && strings.Trim(v, "abcdefghijklmnopqrstuvwxyz") == ""
	sized := func(what string, n int, valid bool) {
		if text := lengthen(v, n); form.MatchString(text) || !valid {
			out = append(out, step{what, text, valid})
		}
		if free && n > 0 {
			out = append(out, step{what + " in four-byte characters", strings.Repeat("\U0001F30A", n), valid})
		}
	}
	if s.MaxLength != nil {
		n := int(*s.MaxLength)
		sized("has the maximum length", n, true)
		sized("is one character too long", n+1, false)
	}
	if s.MinLength > 0 {
		sized("has the minimum length", int(s.MinLength), true)
		out = append(out, step{"is one character too short", strings.Repeat("a", int(s.MinLength)-1), false})
	}
	if s.Pattern != "" && !form.MatchString("\u00b7 \u00b7") {
		out = append(out, step{"does not match its pattern", "\u00b7 \u00b7", false})
	}
	if s.Format != "" {
		out = append(out, step{"is not of the format " + s.Format, "\u00b7 \u00b7", false})
	}
	return out
}

// lengthen returns a text of n characters. If v has at most n characters, the text is v with letters inserted after its last
// slash, or at its end. Otherwise, or if v is empty, it consists of letters only.
func lengthen(v string, n int) string {
	if len(v) == 0 || n < len(v) {
		return strings.Repeat("a", n)
	}
	at := strings.LastIndexByte(v, '/') + 1
	if at == 0 {
		at = len(v)
	}
	return v[:at] + strings.Repeat("a", n-len(v)) + v[at:]
}

func arrays(s *openapi3.Schema, good any) (out []step) {
	item := any("a")
	if list, ok := good.([]any); ok && len(list) > 0 {
		item = list[0]
	} else if s.Items != nil && len(s.Items.Value.Enum) > 0 {
		item = s.Items.Value.Enum[0]
	}
	right, _ := good.([]any)
	many := func(n int) []any { // different items if possible
		out := append([]any{}, right[:min(n, len(right))]...)
		for i := len(out); i < n; i++ {
			next := item
			if text, ok := item.(string); ok && s.Items != nil && len(s.Items.Value.Enum) == 0 {
				next = lengthen(text, len(text)+i+1)
			}
			out = append(out, next)
		}
		return out
	}
	if s.MinItems > 0 {
		out = append(out, step{"has one item too few", many(int(s.MinItems) - 1), false})
	}
	if s.MaxItems != nil && *s.MaxItems < math.MaxInt16 {
		out = append(out, step{"has one item too many", many(int(*s.MaxItems) + 1), false})
		if s.Items == nil || len(s.Items.Value.Enum) == 0 {
			out = append(out, step{"has the maximum number of items", many(int(*s.MaxItems)), true})
		}
	}
	if s.UniqueItems {
		out = append(out, step{"has a repeated item", []any{item, item}, false})
	}
	if s.Items == nil {
		return out
	}
	for _, in := range steps(nonNull(s.Items.Value), item) {
		out = append(out, step{"has an item that " + in.what, []any{in.value}, in.valid})
	}
	return out
}
