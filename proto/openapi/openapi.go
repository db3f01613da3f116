package openapi

import _ "embed"

// JSON is the OpenAPI 3.1 document in UTF-8. Callers must not change it.
//
//go:embed openapi.json
var JSON []byte

// Int converts a pointer to an integer to the type that the models use. It returns nil for nil.
func Int[T ~int | ~int32 | ~int64](n *T) *int64 {
	if n == nil {
		return nil
	}
	out := int64(*n)
	return &out
}

// Texts converts a list of string types to the type that the models use. It never returns nil.
func Texts[T ~string](list []T) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = string(s)
	}
	return out
}
