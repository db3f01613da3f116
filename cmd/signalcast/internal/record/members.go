package record

import (
	"encoding/json"
	"reflect"
)

// absent names a member of shape that an object does not have by its exact name: package
// json takes any spelling, and another reader does not. More members than these are no
// fault, as a form that was published is added to.
func absent(text []byte, shape reflect.Type) string {
	if string(text) == "null" {
		return ""
	}
	switch shape.Kind() {
	case reflect.Pointer:
		return absent(text, shape.Elem())
	case reflect.Slice:
		var list []json.RawMessage
		if shape.Elem().Kind() != reflect.Struct || json.Unmarshal(text, &list) != nil {
			return ""
		}
		for _, one := range list {
			if name := absent(one, shape.Elem()); name != "" {
				return name
			}
		}
	case reflect.Struct:
		var members map[string]json.RawMessage
		if json.Unmarshal(text, &members) != nil { // a time
			return ""
		}
		for i := range shape.NumField() {
			f := shape.Field(i)
			if f.Anonymous {
				if name := absent(text, f.Type); name != "" {
					return name
				}
				continue
			}
			member, there := members[f.Tag.Get("json")]
			if !there {
				return f.Tag.Get("json")
			}
			if name := absent(member, f.Type); name != "" {
				return name
			}
		}
	default:
	}
	return ""
}

// named adds a difference where a member of v is not there by its name.
func named(text []byte, v any, d *differences) {
	if name := absent(text, reflect.TypeOf(v)); name != "" {
		d.add("line", plain("no member of that name"), plain("one that is spelt "+name))
	}
}
