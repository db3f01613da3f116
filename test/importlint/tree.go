package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// file is one source file of the repository. fset and syntax are nil unless it is a Go file.
type file struct {
	path   string // from the root, with slashes
	text   string
	fset   *token.FileSet
	syntax *ast.File
}

func (f file) dir() string     { return path.Dir(f.path) }
func (f file) name() string    { return path.Base(f.path) }
func (f file) isTest() bool    { return strings.HasSuffix(f.path, "_test.go") }
func (f file) generated() bool { return f.syntax != nil && ast.IsGenerated(f.syntax) }

func (f file) line(at token.Pos) int { return f.fset.Position(at).Line }

// skipped lists the names of folders that importlint does not read.
var skipped = map[string]bool{".git": true, ".local": true, "node_modules": true, "testdata": true, "vendor": true}

// sources lists the extensions of the files that importlint reads.
var sources = map[string]bool{".go": true, ".sql": true, ".proto": true, ".sh": true, ".lua": true}

func readTree(root string) ([]file, error) {
	var files []file
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && skipped[d.Name()] {
			return fs.SkipDir
		}
		if d.IsDir() || !sources[filepath.Ext(name)] {
			return nil
		}
		f, err := readFile(root, name)
		if err != nil {
			return err
		}
		files = append(files, f)
		return nil
	})
	return files, err
}

func readFile(root, name string) (file, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return file{}, err
	}
	rel, err := filepath.Rel(root, name)
	if err != nil {
		return file{}, err
	}
	f := file{path: filepath.ToSlash(rel), text: string(text)}
	if filepath.Ext(name) != ".go" {
		return f, nil
	}
	f.fset = token.NewFileSet()
	f.syntax, err = parser.ParseFile(f.fset, f.path, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return file{}, fmt.Errorf("parse: %w", err)
	}
	return f, nil
}
