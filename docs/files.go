package docs

import "embed"

// OpenAPI is the OpenAPI document of the HTTP routes, protocol/openapi.yaml: YAML with comments. Callers must not change it.
//
//go:embed protocol/openapi.yaml
var OpenAPI []byte

// Files contains the Markdown pages and their images, by their paths in this folder. It omits the pictures of pages.md, img/page-*.
//
//go:embed *.md protocol/*.md decisions/*.md img/receipt.png img/services.svg
var Files embed.FS
