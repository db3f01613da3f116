package venue

import (
	"encoding/json"
	"maps"
	"net/http"
	"sync"

	fastjson "github.com/segmentio/encoding/json"
)

// Object is a JSON object in a response of a venue.
type Object map[string]any

// Constants contains the members of a venue's JSON objects that never change, by the name of the object.
type Constants map[string]Object

// ParseConstants parses an embedded JSON file of constants. It panics if the file is invalid.
func ParseConstants(raw []byte) Constants {
	var objects map[string]map[string]json.RawMessage
	if err := json.Unmarshal(raw, &objects); err != nil {
		panic(err) // the file is embedded in the program
	}
	c := Constants{}
	for name, members := range objects {
		c[name] = Object{}
		for member, value := range members {
			c[name][member] = value
		}
	}
	return c
}

// With returns a new object with the given members and the constant members of the object called name. A given member takes
// precedence.
func (c Constants) With(name string, members Object) Object {
	out := maps.Clone(c[name])
	maps.Copy(out, members)
	return out
}

// buffers contains buffers that Answer reuses, because a page of Polymarket has 400 KB.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// Answer writes a response with the given status and body as JSON. It does not sort members: encoding/json, which sorts them,
// doubles the time for reading all pages of 50,000 markets of Polymarket.
func Answer(w http.ResponseWriter, status int, body any) {
	buffer := buffers.Get().(*[]byte)
	defer buffers.Put(buffer)
	raw, err := fastjson.Append((*buffer)[:0], body, fastjson.TrustRawMessage)
	*buffer = raw
	if err != nil {
		panic(err) // bodies contain only values that JSON supports
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(raw)
}
