package openapi

import (
	"maps"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// Parameter is what a path or a query may say.
type Parameter struct {
	Name     string
	In       string // path, query, header
	Required bool
	Text     bool // any text, not only a number or a truth
	Schema   *openapi3.Schema
}

// Parameters lists those of an operation.
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

// Body is the schema of the request's body; nil: it has none.
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

// Form tells whether the body is that of a form of a page.
func (o *Operation) Form() bool { return strings.Contains(o.media(), "form") }

// media is the kind of the body, JSON before others.
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

// Place is one member of a body that takes any text: the names that lead to it.
type Place []string

// Texts lists every place of a body where text may stand, however deep. A list
// is entered once, by the name "0".
func Texts(s *openapi3.Schema) []Place {
	var out []Place
	walk(s, nil, 0, func(at Place) { out = append(out, slices.Clone(at)) })
	return out
}

// deepest bounds what refers to itself.
const deepest = 6

func walk(s *openapi3.Schema, at Place, depth int, found func(Place)) {
	if s == nil || depth > deepest {
		return
	}
	if s.Type.Includes("string") && len(at) > 0 {
		found(at)
	}
	for _, list := range []openapi3.SchemaRefs{s.OneOf, s.AnyOf, s.AllOf} {
		for _, ref := range list {
			walk(ref.Value, at, depth+1, found)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		walk(s.Properties[name].Value, append(at[:len(at):len(at)], name), depth+1, found)
	}
	if s.Items != nil {
		walk(s.Items.Value, append(at[:len(at):len(at)], "0"), depth+1, found)
	}
}
