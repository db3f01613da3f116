package openapi

import (
	"maps"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// Parameter describes a parameter in the path, the query or a header of a request.
type Parameter struct {
	Name     string
	In       string // path, query or header
	Required bool
	Text     bool // the value is any string, not a number or a boolean
	Schema   *openapi3.Schema
}

// Parameters returns the parameters of the operation and of its path.
func (o *Operation) Parameters() []Parameter {
	var out []Parameter
	for _, list := range []openapi3.Parameters{o.item.Parameters, o.op.Parameters} {
		for _, ref := range list {
			p := ref.Value
			text := p.Schema != nil && p.Schema.Value != nil && p.Schema.Value.Type.Includes("string")
			one := Parameter{Name: p.Name, In: p.In, Required: p.Required || p.In == "path", Text: text}
			if p.Schema != nil {
				one.Schema = p.Schema.Value
			}
			out = append(out, one)
		}
	}
	return out
}

// Body returns the schema of the request body, or nil if the operation has no body or no schema for it.
func (o *Operation) Body() *openapi3.Schema {
	media := o.media()
	if media == "" {
		return nil
	}
	if ref := o.op.RequestBody.Value.Content[media].Schema; ref != nil {
		return ref.Value
	}
	return nil
}

// Form reports whether the request body has a form media type.
func (o *Operation) Form() bool { return strings.Contains(o.media(), "form") }

// media returns the media type of the request body, or an empty string if the operation has no body. If there are several, it
// prefers JSON.
func (o *Operation) media() string {
	if o.op.RequestBody == nil || o.op.RequestBody.Value == nil {
		return ""
	}
	kinds := slices.Sorted(maps.Keys(o.op.RequestBody.Value.Content))
	if slices.Contains(kinds, "application/json") || len(kinds) == 0 {
		return "application/json"
	}
	return kinds[0]
}

// MemberPath contains the member names on the path from a body to one of its nested members.
type MemberPath []string

// TextPaths returns the paths of all string members of a body with the schema s. The name of an array element is "0".
func TextPaths(s *openapi3.Schema) []MemberPath {
	var out []MemberPath
	walk(s, nil, 0, func(at MemberPath) { out = append(out, slices.Clone(at)) })
	return out
}

// deepest is the depth at which TextPaths stops. It ends the recursion in schemas that refer to themselves.
const deepest = 6

func walk(s *openapi3.Schema, at MemberPath, depth int, add func(MemberPath)) {
	if s == nil || depth > deepest {
		return
	}
	if s.Type.Includes("string") && len(at) > 0 {
		add(at)
	}
	for _, list := range []openapi3.SchemaRefs{s.OneOf, s.AnyOf, s.AllOf} {
		for _, ref := range list {
			walk(ref.Value, at, depth+1, add)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		walk(s.Properties[name].Value, append(at[:len(at):len(at)], name), depth+1, add)
	}
	if s.Items != nil {
		walk(s.Items.Value, append(at[:len(at):len(at)], "0"), depth+1, add)
	}
}
