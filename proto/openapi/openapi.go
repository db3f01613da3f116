package openapi

import _ "embed"

// JSON is the whole OpenAPI 3.1 document, UTF-8. Callers must not change it.
//
//go:embed openapi.json
var JSON []byte
