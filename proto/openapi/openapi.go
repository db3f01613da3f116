package openapi

import _ "embed"

// JSON is the OpenAPI 3.1 document in UTF-8. Callers must not change it.
//
//go:embed openapi.json
var JSON []byte

// Int returns a pointer to the value of *n as an int64, as the generated models require. It returns nil if n is nil.
func Int[T ~int | ~int32 | ~int64](n *T) *int64 {
	if n == nil {
		return nil
	}
	out := int64(*n)
	return &out
}

// Texts converts a list of a string type to []string, the type in the generated models. It never returns nil.
func Texts[T ~string](list []T) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = string(s)
	}
	return out
}
