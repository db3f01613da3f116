package guide

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"maps"
	"path"
	"slices"
)

// assets are the templates, the style sheet, the script and the icon of the site.
//
//go:embed files/*
var assets embed.FS

// Options contains the targets of links that leave the site.
type Options struct {
	Reference  string // address of the API reference
	Repository string // address of the repository's files, with a slash at the end
	Home       string // home page of the service that serves the site; empty for none
}

// Project is the URL of the source files of this project.
const Project = "https://github.com/signalcast/signalcast/blob/main/"

const (
	indexFile  = "index.html"
	searchFile = "search.html"
)

// Site contains all files of the rendered site. It is immutable.
type Site struct {
	files map[string]File
	pages []*page
}

// Article is the content of a page without the frame of the site. Body starts with its heading.
type Article struct {
	Title, About string
	Body         template.HTML
}

// File is one file of the site with the values of its HTTP headers.
type File struct {
	Type   string // Content-Type
	Tag    string // strong ETag: a hash of Body
	Script bool   // the page loads a script of the site
	Body   []byte
}

// types are the media types of the files by extension.
var types = map[string]string{
	".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8",
	".svg": "image/svg+xml", ".png": "image/png", ".webp": "image/webp",
}

// New renders a folder of Markdown files and images. Its error lists every link whose file or heading does not exist.
func New(files fs.FS, o Options) (*Site, error) {
	order, err := orderPages(files)
	if err != nil {
		return nil, err
	}
	b := &build{options: o, site: &Site{files: map[string]File{}}}
	if err := b.renderPages(files, order); err != nil {
		return nil, err
	}
	for _, static := range []struct {
		from    fs.FS
		pattern string
	}{{files, "img/*"}, {assets, "files/*.*s*"}} { // the style sheet, the script and the icon, without the templates
		if err := b.copyFiles(static.from, static.pattern); err != nil {
			return nil, err
		}
	}
	if err := b.writePages(); err != nil {
		return nil, err
	}
	b.site.pages = b.pages
	return b.site, b.checkLinks()
}

// File returns the file with this name; the empty name means the index page. The result is false if there is no such file.
func (s *Site) File(name string) (File, bool) {
	if name == "" {
		name = indexFile
	}
	f, ok := s.files[name]
	return f, ok
}

// Article returns the document with this path in the folder. Its links to files of the site start with prefix. The result is false
// if there is no such document.
func (s *Site) Article(source, prefix string) (Article, bool) {
	for _, p := range s.pages {
		if p.Source == source {
			return Article{Title: p.Title, About: p.About, Body: p.linkedFrom(prefix)}, true
		}
	}
	return Article{}, false
}

// Names returns the names of all files, sorted.
func (s *Site) Names() []string { return slices.Sorted(maps.Keys(s.files)) }

// build contains the state of one call of New.
type build struct {
	options Options
	site    *Site
	parts   []part
	pages   []*page // in reading order
}

// part is a section of the index page with its rendered pages.
type part struct {
	Title, Anchor string
	Pages         []*page
}

// renderPages renders the documents in the lists of order, one list for each group. Its error lists the errors of all
// documents.
func (b *build) renderPages(files fs.FS, order [][]string) error {
	var errs []error
	for i, names := range order {
		p := part{Title: groups[i].title, Anchor: anchorOf(groups[i].title)}
		for _, name := range names {
			raw, err := fs.ReadFile(files, name)
			if err != nil {
				return err
			}
			rendered, err := renderPage(name, raw, b.options)
			if err != nil {
				errs = append(errs, err)
				continue
			}
			p.Pages = append(p.Pages, rendered)
		}
		if len(p.Pages) > 0 {
			b.parts, b.pages = append(b.parts, p), append(b.pages, p.Pages...)
		}
	}
	return errors.Join(errs...)
}

// copyFiles adds the files that match pattern to the site. It removes the folder from their names.
func (b *build) copyFiles(from fs.FS, pattern string) error {
	names, err := fs.Glob(from, pattern)
	if err != nil {
		return err
	}
	for _, name := range names {
		body, err := fs.ReadFile(from, name)
		if err == nil {
			err = b.add(path.Base(name), body, false)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// add adds a file to the site. It returns an error if the map types does not contain the extension, or if another file has
// this name, because the site has no folders.
func (b *build) add(name string, body []byte, script bool) error {
	if _, exists := b.site.files[name]; exists {
		return fmt.Errorf("%s: two files have this name; rename one", name)
	}
	mediaType := types[path.Ext(name)]
	if mediaType == "" {
		return fmt.Errorf("%s: the extension must be .html, .css, .js, .svg or .png", name)
	}
	sum := sha256.Sum256(body)
	b.site.files[name] = File{Type: mediaType, Tag: `"` + hex.EncodeToString(sum[:12]) + `"`, Script: script, Body: body}
	return nil
}

// templateData contains the values for one page template.
type templateData struct {
	Options
	Title, About, File   string
	Parts                []part
	Page, Previous, Next *page
	Script               bool
}

// writePages writes the index page, the search page and the pages of all documents from their templates.
func (b *build) writePages() error {
	t, err := template.ParseFS(assets, "files/*.html")
	if err != nil {
		return err
	}
	execute := func(template string, data templateData) error {
		data.Options, data.Parts = b.options, b.parts
		var out bytes.Buffer
		if err := t.ExecuteTemplate(&out, template, data); err != nil {
			return err
		}
		return b.add(data.File, out.Bytes(), data.Script)
	}
	index := templateData{
		Title: "Guides", File: indexFile,
		About: "All documentation of Signalcast: tutorial, how-to guides, reference and explanation.",
	}
	if err := execute("index", index); err != nil {
		return err
	}
	search := templateData{Title: "Search", About: "Every section of the guides.", File: searchFile, Script: true}
	if err := execute("search", search); err != nil {
		return err
	}
	for i, p := range b.pages {
		data := templateData{Title: p.Title, About: p.About, File: p.Name, Page: p}
		if i > 0 {
			data.Previous = b.pages[i-1]
		}
		if i+1 < len(b.pages) {
			data.Next = b.pages[i+1]
		}
		if err := execute("page", data); err != nil {
			return err
		}
	}
	return nil
}

// checkLinks returns an error that lists each link within the site whose file or heading does not exist.
func (b *build) checkLinks() error {
	anchors := map[string]map[string]bool{}
	for _, p := range b.pages {
		anchors[p.Name] = p.anchors
	}
	var errs []error
	for _, p := range b.pages {
		for _, l := range p.links {
			if _, exists := b.site.files[l.file]; !exists {
				errs = append(errs, fmt.Errorf("%s: the target of the link %s does not exist", p.Source, l.written))
			} else if headings := anchors[l.file]; headings != nil && l.anchor != "" && !headings[l.anchor] {
				errs = append(errs, fmt.Errorf("%s: no heading has the anchor of the link %s", p.Source, l.written))
			}
		}
	}
	return errors.Join(errs...)
}
