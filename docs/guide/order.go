package guide

import (
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
)

// group is one section of the index page.
type group struct {
	title  string
	folder string   // the other pages of this folder follow the listed ones; "-" for none
	pages  []string // paths without .md, in reading order
}

// groups lists the sections of the index page in reading order: the four kinds of documentation, the pages about
// the service, and the decisions.
var groups = []group{
	{"Tutorial", "-", []string{"quickstart", "quickstart-local"}},
	{"How-to guides", "-", []string{
		"cli", "feed", "signin", "agents", "overlay", "live", "video", "federation", "conformance", "operations", "performance",
	}},
	{"Reference", "protocol", []string{
		"glossary", "protocol/README", "protocol/errors", "protocol/events", "protocol/ws", "protocol/webhooks", "protocol/messages",
		"protocol/changelog", "sdk", "methods", "limits", "guarantees",
	}},
	{"Explanation", ".", []string{
		"concepts", "scores", "method", "programme", "categorisation", "architecture", "internals", "security",
	}},
	{"Service", "-", []string{"about", "privacy", "terms"}},
	{"Decisions", "decisions", nil},
}

// orderPages returns the paths of all Markdown files except pages.md in reading order, one list for each group.
func orderPages(files fs.FS) ([][]string, error) {
	remaining := map[string]bool{}
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(name, ".md") {
			remaining[strings.TrimSuffix(name, ".md")] = true
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	delete(remaining, "pages") // its pictures are not part of the site
	out := make([][]string, len(groups))
	for i, g := range groups {
		for _, name := range g.pages {
			if remaining[name] {
				out[i] = append(out[i], name+".md")
				delete(remaining, name)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(remaining)) {
		at := slices.IndexFunc(groups, func(g group) bool { return g.folder == path.Dir(name) })
		if at < 0 {
			at = slices.IndexFunc(groups, func(g group) bool { return g.folder == "." })
		}
		out[at] = append(out[at], name+".md")
	}
	return out, nil
}

// anchorOf returns the anchor of a group on the index page: its title in lower case with hyphens for spaces.
func anchorOf(title string) string {
	return strings.ReplaceAll(strings.ToLower(title), " ", "-")
}
