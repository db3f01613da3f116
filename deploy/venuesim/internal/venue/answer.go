package venue

import (
	"encoding/json"
	"maps"
	"net/http"
	"sync"

	fastjson "github.com/segmentio/encoding/json"
)

// Object is a JSON object.
type Object map[string]any

// Constants are the members of a venue's objects that the simulator does not vary, by the name of the object.
type Constants map[string]Object

// ParseConstants reads an embedded file of constants.
func ParseConstants(raw []byte) Constants {
	var objects map[string]map[string]json.RawMessage
	if err := json.Unmarshal(raw, &objects); err != nil {
		panic(err) // the file is part of the program
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

// With returns the object of a name with further members.
func (c Constants) With(name string, members Object) Object {
	out := maps.Clone(c[name])
	maps.Copy(out, members)
	return out
}

// buffers are reused by answers: a page of Polymarket has 400 KB.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// Answer writes a JSON body. Members are not sorted: encoding/json, which sorts them, takes twice the time for a walk along
// 50,000 markets of Polymarket.
func Answer(w http.ResponseWriter, status int, body any) {
	buffer := buffers.Get().(*[]byte)
	defer buffers.Put(buffer)
	raw, err := fastjson.Append((*buffer)[:0], body, fastjson.TrustRawMessage)
	*buffer = raw
	if err != nil {
		panic(err) // a body is made of values that JSON has
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(raw)
}
