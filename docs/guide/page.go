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

// page is one document of the folder.
type page struct {
	Source string // its path in the folder
	Name   string // of its file in the site
	Title  string
	About  string // its first paragraph, as plain text
	Body   template.HTML

	Sections []section
	links    []link
	anchors  map[string]bool
}

// section is the text under one heading.
type section struct {
	Anchor, Title string
	Level         int
	Words         string // what it can be found by
}

// link is where a page leads to inside of the site.
type link struct{ written, file, anchor string }

// markdown reads tables besides CommonMark. It leaves HTML out, and a cell is aligned by
// an attribute: a style would need a policy that lets pages bring their own.
func markdown() goldmark.Markdown {
	return goldmark.New(
		goldmark.WithExtensions(extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute))),
		goldmark.WithParserOptions(parser.WithAutoHeadingID()),
	)
}

// nameOf is the file of a document: the folders are part of its name.
func nameOf(source string) string {
	return strings.ReplaceAll(strings.TrimSuffix(source, ".md"), "/", "-") + ".html"
}

// read makes a page of a document. Its links are judged when all pages are there.
func read(source string, raw []byte, o Options) (*page, error) {
	p := &page{Source: source, Name: nameOf(source), anchors: map[string]bool{}}
	md := markdown()
	doc := md.Parser().Parse(text.NewReader(raw))
	var wrong error
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			p.open(n, raw)
		case *ast.Link:
			n.Destination, wrong = p.lead(string(n.Destination), o, wrong)
		case *ast.Image:
			n.Destination, wrong = p.lead(string(n.Destination), o, wrong)
		case *ast.Paragraph:
			if p.About == "" && n.Parent() == doc {
				p.About = strings.Join(strings.Fields(plain(n, raw)), " ")
			}
		}
		p.note(n, raw)
		return ast.WalkContinue, nil
	})
	if wrong != nil {
		return nil, wrong
	}
	if p.Title == "" {
		return nil, fmt.Errorf("%s: no heading", source)
	}
	for i := range p.Sections {
		p.Sections[i].Words = distinct(p.Sections[i].Title + " " + p.Sections[i].Words)
	}
	var b bytes.Buffer
	if err := md.Renderer().Render(&b, raw, doc); err != nil {
		return nil, fmt.Errorf("%s: %w", source, err)
	}
	p.Body = template.HTML(b.String()) // made by the renderer, which takes no HTML
	return p, nil
}

// open begins a section; the first one names the page.
func (p *page) open(h *ast.Heading, raw []byte) {
	title := plain(h, raw)
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

// note keeps the words of a node for the search.
func (p *page) note(n ast.Node, raw []byte) {
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

// lead turns what a document links to into what its page links to.
func (p *page) lead(to string, o Options, before error) ([]byte, error) {
	target, anchor, _ := strings.Cut(to, "#")
	switch {
	case strings.Contains(target, "://"):
		return []byte(to), before
	case strings.HasPrefix(target, "/"):
		return []byte(to), fmt.Errorf("%s: %s is an address of one host", p.Source, to)
	case target == "":
		p.links = append(p.links, link{to, p.Name, anchor})
		return []byte(to), before
	}
	at := path.Join(path.Dir(p.Source), target)
	switch {
	case at == "protocol/openapi.yaml":
		return []byte(o.Reference), before
	case strings.HasPrefix(at, "../"):
		return []byte(o.Repository + path.Join("docs", at)), before
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
	return []byte(file), before
}

// plain is the text of a node without its marks.
func plain(n ast.Node, raw []byte) string {
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

// distinct lists the words of a text once each, in small letters.
func distinct(s string) string {
	words := strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_'
	})
	slices.Sort(words)
	words = slices.DeleteFunc(slices.Compact(words), func(w string) bool { return len(w) < 3 || len(w) > 30 })
	return strings.Join(words, " ")
}
