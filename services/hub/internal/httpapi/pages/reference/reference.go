package reference

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Document is the content of the API reference.
type Document struct {
	About      string // Markdown
	Groups     []*Group
	Operations map[string]*Operation // by operationId
	Schemas    map[string]*Content   // by name
}

// Group is a group of operations.
type Group struct {
	Name, About string // About is Markdown
	Operations  []*Operation
}

// Operation is an operation of the API. The fields About of this package are Markdown.
type Operation struct {
	ID, Method, Path, Summary, About string
	URL                              string // with the host that serves the operation
	Group                            string
	Deprecated                       bool
	Permission                       string       // permission that an app or a key needs; empty: none
	Credentials                      []Credential // any of them is enough; empty: the operation is public
	Optional                         bool         // whether a request without a credential is accepted
	Parameters                       []Field
	BodyRequired                     bool
	Bodies                           []Content
	Responses                        []Response
}

// Credential is a kind of credential, or several kinds that a request must have together.
type Credential struct{ Name, About string }

// Field is a parameter, a header or a member. The name of a nested member contains the names of its parents: "prices[].yes".
type Field struct {
	Name, In, About string
	Required        bool
	Type            []Part
}

// Part is a part of the description of a type. It links to a schema if Schema is not empty.
type Part struct{ Text, Schema string }

// Response is a response of an operation.
type Response struct {
	Status, About string
	Headers       []Field
	Contents      []Content
}

// Content is a schema, as the content of a body or with a name of its own.
type Content struct {
	Name     string // media type, or name of the schema
	About    string
	Type     []Part
	Variants []Variant // alternatives of an object; one if there are no alternatives
}

// Variant is one alternative of an object.
type Variant struct {
	Title  string // empty if the object has one variant
	Fields []Field
}

// Read returns the API reference of an OpenAPI 3.1 document in JSON.
func Read(document []byte) (*Document, error) {
	var s source
	if err := json.Unmarshal(document, &s); err != nil {
		return nil, fmt.Errorf("read the OpenAPI document: %w", err)
	}
	d := &Document{About: s.Info.Description, Operations: map[string]*Operation{}, Schemas: map[string]*Content{}}
	groups := map[string]*Group{}
	for _, t := range s.Tags {
		g := &Group{Name: t.Name, About: t.Description}
		groups[t.Name], d.Groups = g, append(d.Groups, g)
	}
	for _, m := range s.Components.Schemas {
		c := contentOf(m.Name, m.Value)
		c.About = m.Value.Description
		d.Schemas[m.Name] = &c
	}
	for _, c := range d.Schemas {
		for _, v := range c.Variants {
			for i, f := range v.Fields {
				if named := d.Schemas[f.Type[0].Schema]; named != nil && len(f.Type) == 1 {
					v.Fields[i].About = cmp.Or(f.About, named.About)
				}
			}
		}
	}
	for _, path := range s.Paths {
		var methods ordered[json.RawMessage]
		if err := json.Unmarshal(path.Value, &methods); err != nil {
			return nil, fmt.Errorf("read path %s: %w", path.Name, err)
		}
		var shared []parameter
		for _, m := range methods {
			if m.Name == "parameters" {
				if err := json.Unmarshal(m.Value, &shared); err != nil {
					return nil, fmt.Errorf("read parameters of %s: %w", path.Name, err)
				}
				continue
			}
			var o operation
			if err := json.Unmarshal(m.Value, &o); err != nil {
				return nil, fmt.Errorf("read %s %s: %w", m.Name, path.Name, err)
			}
			o.Parameters = append(slices.Clone(shared), o.Parameters...)
			out := d.operationOf(&s, o)
			out.Method, out.Path, out.URL = strings.ToUpper(m.Name), path.Name, out.URL+path.Name
			g := groups[out.Group]
			if g == nil {
				return nil, fmt.Errorf("%s %s has no group", m.Name, path.Name)
			}
			g.Operations = append(g.Operations, out)
			d.Operations[out.ID] = out
		}
	}
	return d, nil
}

func (d *Document) operationOf(s *source, o operation) *Operation {
	out := &Operation{
		ID: o.OperationID, Summary: o.Summary, About: o.Description, Deprecated: o.Deprecated, Permission: o.Permission,
		Parameters: s.fieldsOf(o.Parameters), BodyRequired: o.RequestBody.Required, Bodies: d.contentsOf(o.RequestBody.Content),
	}
	if len(o.Tags) > 0 {
		out.Group = o.Tags[0]
	}
	if len(o.Servers) > 0 {
		out.URL = o.Servers[0].URL
	}
	for _, kinds := range o.Security {
		if len(kinds) == 0 {
			out.Optional = true
			continue
		}
		var names, about []string
		for _, k := range kinds {
			names, about = append(names, k.Name), append(about, s.Components.SecuritySchemes[k.Name].Description)
		}
		out.Credentials = append(out.Credentials, Credential{strings.Join(names, " and "), strings.Join(about, " ")})
	}
	for _, m := range o.Responses {
		r := m.Value
		if r.Ref != "" {
			r = s.Components.Responses[nameOf(r.Ref)]
		}
		var headers []parameter
		for _, h := range r.Headers {
			p := h.Value
			if p.Ref != "" {
				p = s.Components.Headers[nameOf(p.Ref)]
			}
			p.Name = h.Name
			headers = append(headers, p)
		}
		out.Responses = append(out.Responses, Response{m.Name, r.Description, s.fieldsOf(headers), d.contentsOf(r.Content)})
	}
	return out
}

func (s *source) fieldsOf(list []parameter) (out []Field) {
	for _, p := range list {
		if p.Ref != "" {
			p = s.Components.Parameters[nameOf(p.Ref)]
		}
		out = append(out, Field{p.Name, p.In, cmp.Or(p.Description, p.Schema.Description), p.Required, p.Schema.typeOf()})
	}
	return out
}

// contentsOf returns the contents of a body. A body whose schema has a name has the members of that schema.
func (d *Document) contentsOf(list ordered[mediaType]) (out []Content) {
	for _, m := range list {
		c := contentOf(m.Name, m.Value.Schema)
		if named := d.Schemas[nameOf(m.Value.Schema.Ref)]; named != nil {
			c.Variants = named.Variants
		}
		out = append(out, c)
	}
	return out
}

func contentOf(name string, s schema) Content {
	c := Content{Name: name, Type: s.typeOf()}
	for i, alternative := range s.alternatives() {
		if fields := alternative.members(""); len(fields) > 0 {
			c.Variants = append(c.Variants, Variant{cmp.Or(alternative.Title, fmt.Sprintf("Alternative %d", i+1)), fields})
		}
	}
	if len(c.Variants) == 1 {
		c.Variants[0].Title = ""
	}
	return c
}

// alternatives returns the schemas of which a value matches one.
func (s schema) alternatives() []schema {
	if all := append(slices.Clone(s.OneOf), s.AnyOf...); len(all) > 0 && len(s.Properties) == 0 {
		return all
	}
	return []schema{s}
}

// members returns the members of an object, and of the objects in it that have no name. prefix is put before each name.
func (s schema) members(prefix string) (out []Field) {
	if s.Items != nil {
		return s.Items.members(prefix + "[]")
	}
	if prefix != "" && prefix[len(prefix)-1] != '.' {
		prefix += "."
	}
	for _, m := range s.Properties {
		required := slices.Contains(s.Required, m.Name)
		out = append(out, Field{Name: prefix + m.Name, About: m.Value.Description, Required: required, Type: m.Value.typeOf()})
		out = append(out, m.Value.members(prefix+m.Name)...)
	}
	for _, list := range [][]schema{s.AllOf, s.OneOf, s.AnyOf} {
		for _, part := range list {
			out = append(out, part.members(prefix)...)
		}
	}
	if v := s.AdditionalProperties.Schema; v != nil {
		out = append(out, v.members(prefix+"*")...)
	}
	return out
}

// typeOf returns the description of a type: "string, at most 500 characters" or "array of Signal".
func (s schema) typeOf() []Part {
	switch {
	case s.Ref != "":
		return []Part{{Schema: nameOf(s.Ref), Text: nameOf(s.Ref)}}
	case len(s.Const) > 0:
		return []Part{{Text: string(s.Const)}}
	case len(s.Enum) > 0:
		var out []string
		for _, v := range s.Enum {
			out = append(out, string(v))
		}
		return []Part{{Text: strings.Join(out, " | ")}}
	case len(s.OneOf)+len(s.AnyOf) > 0 && len(s.Properties) == 0:
		return joined(s.alternatives(), " or ")
	case len(s.AllOf) > 0:
		return joined(s.AllOf, " and ")
	case s.Items != nil:
		return append(append([]Part{{Text: "array of "}}, s.Items.typeOf()...), Part{Text: s.limits()})
	case s.AdditionalProperties.Schema != nil:
		return append([]Part{{Text: "object with values: "}}, s.AdditionalProperties.Schema.typeOf()...)
	}
	return []Part{{Text: cmp.Or(strings.Join(s.Type, " or "), "any value") + s.limits()}}
}

// limits returns the limits of a value, each after a comma.
func (s schema) limits() string {
	var b strings.Builder
	add := func(low, high json.Number, unit string) {
		switch {
		case low != "" && high != "":
			fmt.Fprintf(&b, ", %s to %s%s", low, high, unit)
		case high != "":
			fmt.Fprintf(&b, ", at most %s%s", high, unit)
		case low != "":
			fmt.Fprintf(&b, ", at least %s%s", low, unit)
		}
	}
	add(s.Minimum, s.Maximum, "")
	add(s.MinLength, s.MaxLength, " characters")
	add(s.MinItems, s.MaxItems, " entries")
	for _, word := range []struct{ before, text string }{
		{"more than ", string(s.ExclusiveMinimum)}, {"", s.Format}, {"pattern ", s.Pattern}, {"default ", string(s.Default)},
	} {
		if word.text != "" {
			b.WriteString(", " + word.before + word.text)
		}
	}
	if len(s.Examples) > 0 {
		b.WriteString(", for example " + string(s.Examples[0]))
	}
	return b.String()
}

func joined(list []schema, word string) (out []Part) {
	for i, s := range list {
		if i > 0 {
			out = append(out, Part{Text: word})
		}
		out = append(out, s.typeOf()...)
	}
	return out
}
