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

//go:embed files/*
var ours embed.FS

// Options are where links lead that leave the site.
type Options struct {
	Reference  string // the description of the HTTP routes
	Repository string // where files of the project are shown, with a slash at the end
	Home       string // of the service that shows the site; empty: none
}

// Project is where the source of the project is shown.
const Project = "https://github.com/signalcast/signalcast/blob/main/"

const (
	indexFile  = "index.html"
	searchFile = "search.html"
)

// Site is every file of the site; it does not change.
type Site struct{ files map[string]File }

// File is one file with everything that a server has to say of it.
type File struct {
	Type   string
	Tag    string // changes with the bytes
	Script bool   // the page runs a script of the site
	Body   []byte
}

var types = map[string]string{
	".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8",
	".svg": "image/svg+xml", ".png": "image/png",
}

// New renders the folder. The error names every link that leads nowhere.
func New(files fs.FS, o Options) (*Site, error) {
	order, err := ordered(files)
	if err != nil {
		return nil, err
	}
	b := &build{options: o, site: &Site{files: map[string]File{}}}
	if err := b.read(files, order); err != nil {
		return nil, err
	}
	for _, kept := range []struct {
		from    fs.FS
		pattern string
	}{{files, "img/*"}, {ours, "files/*.*s*"}} {
		if err := b.copy(kept.from, kept.pattern); err != nil {
			return nil, err
		}
	}
	if err := b.render(); err != nil {
		return nil, err
	}
	return b.site, b.judge()
}

// File gives a file by its name; an empty name is the index.
func (s *Site) File(name string) (File, bool) {
	if name == "" {
		name = indexFile
	}
	f, ok := s.files[name]
	return f, ok
}

// Names lists the files.
func (s *Site) Names() []string { return slices.Sorted(maps.Keys(s.files)) }

// build is a site that is being made.
type build struct {
	options Options
	site    *Site
	parts   []part
	pages   []*page // in reading order
}

// part is a group with its pages.
type part struct {
	Title, Anchor string
	Pages         []*page
}

func (b *build) read(files fs.FS, order [][]string) error {
	var wrong []error
	for i, names := range order {
		p := part{Title: groups[i].title, Anchor: anchorOf(groups[i].title)}
		for _, name := range names {
			raw, err := fs.ReadFile(files, name)
			if err != nil {
				return err
			}
			one, err := read(name, raw, b.options)
			if err != nil {
				wrong = append(wrong, err)
				continue
			}
			p.Pages = append(p.Pages, one)
		}
		if len(p.Pages) > 0 {
			b.parts, b.pages = append(b.parts, p), append(b.pages, p.Pages...)
		}
	}
	return errors.Join(wrong...)
}

func (b *build) copy(from fs.FS, pattern string) error {
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

// add takes a file in. Folders are flattened, so two could have one name.
func (b *build) add(name string, body []byte, script bool) error {
	if _, twice := b.site.files[name]; twice {
		return fmt.Errorf("%s: two files have this name", name)
	}
	kind := types[path.Ext(name)]
	if kind == "" {
		return fmt.Errorf("%s: files of this kind are not shown", name)
	}
	sum := sha256.Sum256(body)
	b.site.files[name] = File{Type: kind, Tag: `"` + hex.EncodeToString(sum[:12]) + `"`, Script: script, Body: body}
	return nil
}

// sheet is what a template is given.
type sheet struct {
	Options
	Title, About, File string
	Parts              []part
	Page, Before, Next *page
	Script             bool
}

func (b *build) render() error {
	t, err := template.ParseFS(ours, "files/*.html")
	if err != nil {
		return err
	}
	one := func(template string, s sheet) error {
		s.Options, s.Parts = b.options, b.parts
		var out bytes.Buffer
		if err := t.ExecuteTemplate(&out, template, s); err != nil {
			return err
		}
		return b.add(s.File, out.Bytes(), s.Script)
	}
	if err := one("index", sheet{Title: "Guides", About: "Everything that is written about Signalcast, in the order to read it in.", File: indexFile}); err != nil {
		return err
	}
	if err := one("search", sheet{Title: "Search", About: "Every section of the guides.", File: searchFile, Script: true}); err != nil {
		return err
	}
	for i, p := range b.pages {
		s := sheet{Title: p.Title, About: p.About, File: p.Name, Page: p}
		if i > 0 {
			s.Before = b.pages[i-1]
		}
		if i+1 < len(b.pages) {
			s.Next = b.pages[i+1]
		}
		if err := one("page", s); err != nil {
			return err
		}
	}
	return nil
}

// judge names the links that lead nowhere.
func (b *build) judge() error {
	anchors := map[string]map[string]bool{}
	for _, p := range b.pages {
		anchors[p.Name] = p.anchors
	}
	var wrong []error
	for _, p := range b.pages {
		for _, l := range p.links {
			if _, there := b.site.files[l.file]; !there {
				wrong = append(wrong, fmt.Errorf("%s: %s leads nowhere", p.Source, l.written))
			} else if known := anchors[l.file]; known != nil && l.anchor != "" && !known[l.anchor] {
				wrong = append(wrong, fmt.Errorf("%s: %s names no heading", p.Source, l.written))
			}
		}
	}
	return errors.Join(wrong...)
}
