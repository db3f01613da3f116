package docs

import "embed"

// OpenAPI is the contract as it is written, YAML with its comments. Callers must not
// change it.
//
//go:embed protocol/openapi.yaml
var OpenAPI []byte

// Files are the pages, in Markdown, and their pictures.
//
//go:embed *.md protocol/*.md decisions/*.md img/*
var Files embed.FS
