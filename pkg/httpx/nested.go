package httpx

import (
	"strconv"
	"unicode/utf8"
)

// Object returns the member called name, which is required and must be an object. The returned object and o share the
// first recorded error.
func (o Object) Object(name string) Object {
	v := o.need(name)
	if v == nil {
		return Object{first: o.first, path: o.path + name + "."}
	}
	return o.child(name, name, v)
}

// OptObject returns the optional member called name, which must be an object. The second result is false if the member
// is absent.
func (o Object) OptObject(name string) (Object, bool) {
	v := o.raw(name)
	if v == nil {
		return Object{first: o.first, path: o.path + name + "."}, false
	}
	return o.child(name, name, v), true
}

func (o Object) child(name, place string, v []byte) Object {
	if v[0] != '{' {
		if place == name {
			o.Invalid(name, "must be an object")
		} else {
			o.Invalid(name, "must be a list of objects")
		}
		v = []byte("{}")
	}
	return Object{first: o.first, path: o.path + place + ".", src: v, spans: partsOf(v)}
}

// Strings returns the optional member called name, a list of strings. items is the maximum number of strings, and limit is the
// maximum number of characters in a string. Strings returns nil if the member is absent or an item is invalid.
func (o Object) Strings(name string, items, limit int) []string {
	v := o.raw(name)
	if v == nil {
		return nil
	}
	spans := o.list(name, "strings", v, items)
	out := make([]string, 0, len(spans))
	for _, sp := range spans {
		if v[sp.start] != '"' {
			o.Invalid(name, "must be a list of strings")
			return nil
		}
		s := decodeText(v[sp.start:sp.end])
		if utf8.RuneCountInString(s) > limit {
			o.Invalid(name, "must have items of at most "+strconv.Itoa(limit)+" characters")
			return nil
		}
		out = append(out, s)
	}
	return out
}

// Objects returns the required member called name, a list of objects. The list must have at least one object. items is the
// maximum number of objects. Objects returns nil if the member is absent or the list is empty.
func (o Object) Objects(name string, items int) []Object {
	v := o.need(name)
	if v == nil {
		return nil
	}
	spans := o.list(name, "objects", v, items)
	if len(spans) == 0 {
		o.Invalid(name, "must have at least one item")
		return nil
	}
	out := make([]Object, 0, len(spans))
	for i, sp := range spans {
		out = append(out, o.child(name, name+"["+strconv.Itoa(i)+"]", v[sp.start:sp.end:sp.end]))
	}
	return out
}

func (o Object) list(name, kind string, v []byte, items int) []span {
	if v[0] != '[' {
		o.Invalid(name, "must be a list of "+kind)
		return nil
	}
	spans := partsOf(v)
	if len(spans) > items {
		o.Invalid(name, "must have at most "+strconv.Itoa(items)+" items")
		return nil
	}
	return spans
}

// partsOf returns the spans of the members of an object or of the items of a list. The scanner must have accepted v
// before.
func partsOf(v []byte) []span {
	s := scanner{b: v}
	spans, _ := s.parts() // no error: the scanner has accepted the text
	return spans
}
