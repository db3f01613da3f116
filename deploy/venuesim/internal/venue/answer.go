package venue

import (
	"encoding/json"
	"maps"
	"net/http"
)

// Object is a JSON object.
type Object map[string]any

// Constants are the members of a venue's objects that the simulator does not vary, by the name of the object.
type Constants map[string]Object

// ParseConstants reads an embedded file of constants.
func ParseConstants(raw []byte) Constants {
	var c Constants
	if err := json.Unmarshal(raw, &c); err != nil {
		panic(err) // the file is part of the program
	}
	return c
}

// With returns the object of a name with further members.
func (c Constants) With(name string, members Object) Object {
	out := maps.Clone(c[name])
	maps.Copy(out, members)
	return out
}

// Answer writes a JSON body. A value that cannot be written as JSON is answered with status 500.
func Answer(w http.ResponseWriter, status int, body any) {
	raw, err := json.Marshal(body)
	if err != nil {
		status, raw = http.StatusInternalServerError, []byte(`{"error":"internal_error"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(raw)
}
