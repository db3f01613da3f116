package docs

import "embed"

// Files are the pages, in Markdown, and their pictures.
//
//go:embed *.md protocol/*.md decisions/*.md img/*
var Files embed.FS
