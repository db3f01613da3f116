package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"strconv"
	"strings"
)

// lintStatements holds the packages of statements: each one that is asked for by name is
// in queries/, and each one there is asked for. Nothing else finds that before it runs.
func lintStatements(files []file) []violation {
	stored := map[string]map[string]bool{} // by package, then name
	for _, f := range files {
		if name, ok := statement(f); ok {
			pkg := path.Dir(f.dir())
			if stored[pkg] == nil {
				stored[pkg] = map[string]bool{}
			}
			stored[pkg][name] = true
		}
	}
	var found []violation
	texts := map[string][]string{} // what the code of a package says, by package
	for _, f := range files {
		if stored[f.dir()] == nil || f.syntax == nil || f.isTest() {
			continue
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if name, ok := asked(n); ok && !stored[f.dir()][name] {
					found = append(found, violation{f.path, f.line(n.Pos()), "statement", "there is no queries/" + name + ".sql"})
				}
			case *ast.BasicLit:
				if text, ok := textOf(n); ok {
					texts[f.dir()] = append(texts[f.dir()], text)
				}
			}
			return true
		})
	}
	for _, f := range files {
		if name, ok := statement(f); ok && !named(name, texts[path.Dir(f.dir())]) {
			found = append(found, violation{f.path, 1, "statement", fmt.Sprintf("nothing asks for %q", name)})
		}
	}
	return found
}

func statement(f file) (name string, ok bool) {
	name, ok = strings.CutSuffix(f.name(), ".sql")
	// Named statements are checked by the compiler: sqlc generates a method of each.
	return name, ok && path.Base(f.dir()) == "queries" && !strings.HasPrefix(f.text, "-- name: ")
}

// asked is the name in query("name").
func asked(call *ast.CallExpr) (string, bool) {
	fun, ok := call.Fun.(*ast.Ident)
	if !ok || fun.Name != "query" || len(call.Args) != 1 {
		return "", false
	}
	lit, ok := call.Args[0].(*ast.BasicLit)
	if !ok {
		return "", false
	}
	return textOf(lit)
}

func textOf(lit *ast.BasicLit) (string, bool) {
	if lit.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(lit.Value)
	return text, err == nil
}

// shortestStem is how long the beginning of a name must be that code completes.
const shortestStem = 8

// named reports whether code says a name, or the beginning of it.
func named(name string, texts []string) bool {
	for _, text := range texts {
		if text == name || len(text) >= shortestStem && strings.HasPrefix(name, text) {
			return true
		}
	}
	return false
}
