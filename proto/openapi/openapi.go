package openapi

import _ "embed"

// JSON is the whole OpenAPI 3.1 document, UTF-8. Callers must not change it.
//
//go:embed openapi.json
var JSON []byte

// Int returns a pointer to the same number as the models have it; nil for nil.
func Int[T ~int | ~int32 | ~int64](n *T) *int64 {
	if n == nil {
		return nil
	}
	out := int64(*n)
	return &out
}

// Texts returns the same texts as the models have them; never nil.
func Texts[T ~string](list []T) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = string(s)
	}
	return out
}
