package main

import (
	"fmt"
	"go/ast"
	"regexp"
	"strconv"
	"strings"
)

// Patterns of to-do notes in comments. promise matches every note, and ticket matches only the allowed form, which has an issue
// number.
var (
	promise = regexp.MustCompile(`\b(TODO|FIXME|XXX)\b(\(#\d+\))?`)
	ticket  = regexp.MustCompile(`^TODO\(#\d+\)$`)
)

// lintText applies the rules that need no syntax tree: the maximum number of lines, and the form of to-do notes.
func lintText(f file) []violation {
	var found []violation
	lines := strings.Split(strings.TrimSuffix(f.text, "\n"), "\n")
	if len(lines) > maxLines {
		found = append(found, violation{f.path, maxLines + 1, "size", fmt.Sprintf("%d lines, the limit is %d", len(lines), maxLines)})
	}
	if f.name() == "main.go" && placeOf(f.dir()).layer == root && len(lines) > maxMainLines {
		found = append(found, violation{f.path, maxMainLines + 1, "size", fmt.Sprintf("main.go has %d lines, the limit is %d", len(lines), maxMainLines)})
	}
	for i, l := range remarks(f, lines) {
		for _, m := range promise.FindAllString(l, -1) {
			if !ticket.MatchString(m) {
				found = append(found, violation{f.path, i + 1, "todo", m + " without a number: write TODO(#n) or do it"})
			}
		}
	}
	return found
}

// remarks returns the lines of a file that can contain a to-do note, by line index from 0: the comments of a Go file, and all
// lines of other files.
func remarks(f file, lines []string) map[int]string {
	at := map[int]string{}
	if f.syntax == nil {
		for i, l := range lines {
			at[i] = l
		}
		return at
	}
	for _, group := range f.syntax.Comments {
		for _, c := range group.List {
			for i, l := range strings.Split(c.Text, "\n") {
				at[f.line(c.Pos())-1+i] += l
			}
		}
	}
	return at
}

// lintSource applies the rules about JSON tags and the time of day to a Go file. It ignores tests and packages that only tests
// import.
func lintSource(f file) []violation {
	if f.isTest() {
		return nil
	}
	at := placeOf(f.dir())
	if at.layer == support {
		return nil
	}
	tags := at.layer != outside && !seesJSON[at.name]
	now := !mayReadTime(at) && f.syntax.Name.Name != "main" // a program is the caller
	if !tags && !now {
		return nil
	}
	var found []violation
	clock := importName(f, "time")
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			if tags && n.Tag != nil && strings.Contains(n.Tag.Value, `json:"`) {
				found = append(found, violation{f.path, f.line(n.Pos()), "json", "only HTTP types carry JSON tags"})
			}
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); now && ok && x.Name == clock && readsTime[n.Sel.Name] {
				found = append(found, violation{f.path, f.line(n.Pos()), "time", "time." + n.Sel.Name + " reads the time of day; take a Now func from the caller"})
			}
		}
		return true
	})
	return found
}

// readsTime lists the functions of package time that read the wall clock.
var readsTime = map[string]bool{"Now": true, "Since": true, "Until": true}

func mayReadTime(at place) bool {
	switch {
	case at.layer == root, at.layer == app:
		return true
	case at.module == "pkg":
		return seesTime[at.name]
	}
	return at.layer == outside && at.module != "proto" && at.module != "sdk"
}

// importName returns the name by which a file refers to an imported package, or "" if the file does not import it. Without an
// alias, the name is importPath, which must therefore have one element.
func importName(f file, importPath string) string {
	for _, s := range f.syntax.Imports {
		if p, err := strconv.Unquote(s.Path.Value); err != nil || p != importPath {
			continue
		}
		if s.Name != nil {
			return s.Name.Name
		}
		return importPath
	}
	return ""
}
