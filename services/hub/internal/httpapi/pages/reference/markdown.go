package reference

import (
	"bytes"
	"html/template"

	"github.com/yuin/goldmark"
)

// HTML returns a Markdown text as HTML. HTML in the text is left out.
func HTML(text string) (template.HTML, error) {
	var b bytes.Buffer
	err := goldmark.Convert([]byte(text), &b)
	return template.HTML(b.String()), err //nolint:gosec // the Markdown library escapes the text
}
