package guide

import (
	"bytes"
	"fmt"
	"html/template"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// page is a rendered Markdown document.
type page struct {
	Source string // path of the document in the folder
	Name   string // name of the file in the site
	Title  string // text of the first heading
	About  string // first paragraph as plain text
	Body   template.HTML

	Sections []section
	links    []link          // links within the site, checked when all pages are rendered
	anchors  map[string]bool // anchors of the headings
}

// section is a heading with the text up to the next heading.
type section struct {
	Anchor, Title string
	Level         int
	Words         string // words of the section for the search, each once
}

// link is a link of a page to a file of the site.
type link struct {
	written string // target in the Markdown
	file    string
	anchor  string
}

// newMarkdown returns a renderer of CommonMark with tables. It omits HTML. It aligns table cells with an attribute, because the
// Content-Security-Policy of the site forbids inline styles.
func newMarkdown() goldmark.Markdown {
	return goldmark.New(
		goldmark.WithExtensions(extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute))),
		goldmark.WithParserOptions(parser.WithAutoHeadingID()),
	)
}

// nameOf returns the file name of a rendered document: its path with hyphens for slashes and the extension .html.
func nameOf(source string) string {
	return strings.ReplaceAll(strings.TrimSuffix(source, ".md"), "/", "-") + ".html"
}

// scrollable makes the elements focusable that are wider than a small screen, so that a keyboard can scroll them.
var scrollable = strings.NewReplacer("<pre>", `<pre tabindex="0">`, "<table>", `<table tabindex="0">`)

// renderPage renders a document. It records links within the site without checking them, because their pages may not be
// rendered yet.
func renderPage(source string, raw []byte, o Options) (*page, error) {
	p := &page{Source: source, Name: nameOf(source), anchors: map[string]bool{}}
	md := newMarkdown()
	doc := md.Parser().Parse(text.NewReader(raw))
	var linkErr error
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			p.addSection(n, raw)
		case *ast.Link:
			n.Destination, linkErr = p.resolveLink(string(n.Destination), o, linkErr)
		case *ast.Image:
			n.Destination, linkErr = p.resolveLink(string(n.Destination), o, linkErr)
		case *ast.Paragraph:
			if p.About == "" && n.Parent() == doc {
				p.About = strings.Join(strings.Fields(plainText(n, raw)), " ")
			}
		}
		p.addWords(n, raw)
		return ast.WalkContinue, nil
	})
	if linkErr != nil {
		return nil, linkErr
	}
	if p.Title == "" {
		return nil, fmt.Errorf("%s: no heading; the first heading is the title of the page", source)
	}
	for i := range p.Sections {
		p.Sections[i].Words = uniqueWords(p.Sections[i].Title + " " + p.Sections[i].Words)
	}
	var b bytes.Buffer
	if err := md.Renderer().Render(&b, raw, doc); err != nil {
		return nil, fmt.Errorf("%s: %w", source, err)
	}
	p.Body = template.HTML(scrollable.Replace(b.String())) // safe: the renderer leaves out HTML of the document
	return p, nil
}

// addSection starts a section at a heading. The first heading is also the title of the page.
func (p *page) addSection(h *ast.Heading, raw []byte) {
	title := plainText(h, raw)
	if p.Title == "" {
		p.Title = title
	}
	anchor := ""
	if id, ok := h.AttributeString("id"); ok {
		anchor = string(id.([]byte))
	}
	p.anchors[anchor] = true
	p.Sections = append(p.Sections, section{Anchor: anchor, Title: title, Level: h.Level})
}

// addWords adds the text of a node to the search words of the current section.
func (p *page) addWords(n ast.Node, raw []byte) {
	if len(p.Sections) == 0 {
		return
	}
	words := ""
	switch n := n.(type) {
	case *ast.Text:
		words = string(n.Segment.Value(raw))
	case *ast.FencedCodeBlock, *ast.CodeBlock:
		words = string(n.Lines().Value(raw))
	default:
		return
	}
	p.Sections[len(p.Sections)-1].Words += " " + words
}

// resolveLink converts a link target of the Markdown document (to) to a link target on the site. It records links within the
// site. err is the error of an earlier link; resolveLink returns it unless this link has an error.
func (p *page) resolveLink(to string, o Options, err error) ([]byte, error) {
	target, anchor, _ := strings.Cut(to, "#")
	switch {
	case strings.Contains(target, "://"):
		return []byte(to), err
	case strings.HasPrefix(target, "/"):
		return []byte(to), fmt.Errorf("%s: %s is an absolute path; link a file of the repository or a full URL", p.Source, to)
	case target == "":
		p.links = append(p.links, link{to, p.Name, anchor})
		return []byte(to), err
	}
	at := path.Join(path.Dir(p.Source), target)
	switch {
	case at == "protocol/openapi.yaml":
		return []byte(o.Reference), err
	case strings.HasPrefix(at, "../"):
		return []byte(o.Repository + path.Join("docs", at)), err
	}
	file := path.Base(at)
	switch {
	case slices.Contains([]string{".", "decisions", "protocol"}, at):
		file = indexFile
	case path.Ext(at) == ".md":
		file = nameOf(at)
	}
	p.links = append(p.links, link{to, file, anchor})
	if anchor != "" {
		file += "#" + anchor
	}
	return []byte(file), err
}

// linkedFrom returns the body for a page outside the site: links to other files of the site start with prefix.
func (p *page) linkedFrom(prefix string) template.HTML {
	var pairs []string
	for _, l := range p.links {
		if l.file != p.Name {
			pairs = append(pairs, ` href="`+l.file, ` href="`+prefix+l.file, ` src="`+l.file, ` src="`+prefix+l.file)
		}
	}
	return template.HTML(strings.NewReplacer(pairs...).Replace(string(p.Body))) // safe: only the targets of links change
}

// plainText returns the text of a node without markup.
func plainText(n ast.Node, raw []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, ok := n.(*ast.Text); ok && entering {
			b.Write(t.Segment.Value(raw))
			if t.SoftLineBreak() {
				b.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// uniqueWords returns the words of a text in lower case, sorted and without duplicates. It omits words of fewer than 3 or more
// than 30 bytes.
func uniqueWords(s string) string {
	words := strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_'
	})
	slices.Sort(words)
	words = slices.DeleteFunc(slices.Compact(words), func(w string) bool { return len(w) < 3 || len(w) > 30 })
	return strings.Join(words, " ")
}
