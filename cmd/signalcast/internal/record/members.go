package record

import (
	"encoding/json"
	"reflect"
)

// missingMember returns the name of a JSON member of the Go type shape that text lacks, or "" if it lacks none. The case of
// names must match: encoding/json ignores the case, but other readers do not. Additional members are allowed, because the
// format can be extended.
func missingMember(text []byte, shape reflect.Type) string {
	if string(text) == "null" {
		return ""
	}
	switch shape.Kind() {
	case reflect.Pointer:
		return missingMember(text, shape.Elem())
	case reflect.Slice:
		var list []json.RawMessage
		if shape.Elem().Kind() != reflect.Struct || json.Unmarshal(text, &list) != nil {
			return ""
		}
		for _, one := range list {
			if name := missingMember(one, shape.Elem()); name != "" {
				return name
			}
		}
	case reflect.Struct:
		var members map[string]json.RawMessage
		if json.Unmarshal(text, &members) != nil { // a time.Time is a JSON string
			return ""
		}
		for i := range shape.NumField() {
			f := shape.Field(i)
			if f.Anonymous {
				if name := missingMember(text, f.Type); name != "" {
					return name
				}
				continue
			}
			member, there := members[f.Tag.Get("json")]
			if !there {
				return f.Tag.Get("json")
			}
			if name := missingMember(member, f.Type); name != "" {
				return name
			}
		}
	default:
	}
	return ""
}

// checkMembers reports a difference if the JSON object text lacks a member of the type of v.
func checkMembers(text []byte, v any, d *differences) {
	if name := missingMember(text, reflect.TypeOf(v)); name != "" {
		d.add("line", plain("a member is missing"), plain("a member with the name "+name))
	}
}
