package openapi

import _ "embed"

// JSON is the whole OpenAPI 3.1 document, UTF-8. Callers must not change it.
//
//go:embed openapi.json
var JSON []byte

// YAML is the same document as it was written, with its comments. Callers must not
// change it.
//
//go:embed openapi.yaml
var YAML []byte
