package main

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
)

// violation describes a rule that one line of a file breaks.
type violation struct {
	path string
	line int
	rule string
	text string
}

func (v violation) String() string {
	return fmt.Sprintf("%s:%d: %s: %s", v.path, v.line, v.rule, v.text)
}

// lint applies every rule to every file except generated ones. It returns the violations, sorted by path, line and text.
func lint(files []file) []violation {
	var found []violation
	for _, f := range files {
		if f.generated() {
			continue
		}
		found = append(found, lintText(f)...)
		if f.syntax != nil {
			found = append(found, lintImports(f)...)
			found = append(found, lintSource(f)...)
		}
	}
	found = append(found, lintFolders(files)...)
	slices.SortFunc(found, func(a, b violation) int {
		return cmp.Or(cmp.Compare(a.path, b.path), cmp.Compare(a.line, b.line), cmp.Compare(a.text, b.text))
	})
	return found
}

// lintFolders applies the rules for whole packages: a package name must not be vague, and some packages must have a doc.go.
func lintFolders(files []file) []violation {
	var found []violation
	docs, first := map[string]bool{}, map[string]string{}
	for _, f := range files {
		if f.syntax == nil || f.isTest() {
			continue
		}
		if f.name() == "doc.go" && f.syntax.Doc != nil {
			docs[f.dir()] = true
		}
		if first[f.dir()] == "" {
			first[f.dir()] = f.path
		}
	}
	for dir, name := range first {
		if vague[path.Base(dir)] {
			found = append(found, violation{name, 1, "name", "a package says what it is for; " + path.Base(dir) + " says nothing"})
		}
		if wantsDoc(dir) && !docs[dir] {
			found = append(found, violation{name, 1, "doc", "the package has no doc.go with a package comment"})
		}
	}
	return found
}

func wantsDoc(dir string) bool {
	return strings.HasPrefix(dir, "pkg/") || strings.HasPrefix(dir, "services/") && strings.Contains(dir, "/internal/")
}
