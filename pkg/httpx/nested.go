package httpx

import "strconv"

// Object reads a required object. It shares the memory of the first mistake.
func (o Object) Object(name string) Object {
	v := o.need(name)
	if v == nil {
		return Object{first: o.first, path: o.path + name + "."}
	}
	return o.child(name, name, v)
}

// OptObject reads an optional object; false when absent.
func (o Object) OptObject(name string) (Object, bool) {
	v := o.raw(name)
	if v == nil {
		return Object{first: o.first, path: o.path + name + "."}, false
	}
	return o.child(name, name, v), true
}

func (o Object) child(name, place string, v []byte) Object {
	if v[0] != '{' {
		o.Invalid(name, "must be an object")
		v = []byte("{}")
	}
	return Object{first: o.first, path: o.path + place + ".", src: v, spans: partsOf(v)}
}

// Strings reads an optional list of at most items texts of at most limit
// characters each; nil when absent.
func (o Object) Strings(name string, items, limit int) []string {
	v := o.raw(name)
	if v == nil {
		return nil
	}
	spans := o.list(name, v, items)
	out := make([]string, 0, len(spans))
	for _, sp := range spans {
		s := o.str(name, v[sp.start:sp.end], limit)
		if s == nil {
			return nil
		}
		out = append(out, *s)
	}
	return out
}

// Objects reads a required list of one to items objects.
func (o Object) Objects(name string, items int) []Object {
	v := o.need(name)
	if v == nil {
		return nil
	}
	spans := o.list(name, v, items)
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

func (o Object) list(name string, v []byte, items int) []span {
	if v[0] != '[' {
		o.Invalid(name, "must be a list")
		return nil
	}
	spans := partsOf(v)
	if len(spans) > items {
		o.Invalid(name, "must have at most "+strconv.Itoa(items)+" items")
		return nil
	}
	return spans
}

// partsOf returns the members of an object, or the items of a list, that the scanner has accepted before.
func partsOf(v []byte) []span {
	s := scanner{b: v}
	spans, _ := s.parts() // no error: the text was accepted
	return spans
}
