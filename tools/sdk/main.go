package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	var f files
	flag.StringVar(&f.doc, "doc", "", "the JSON document")
	flag.StringVar(&f.errors, "errors", "", "the page that lists the error codes")
	flag.StringVar(&f.goDir, "go", "", "the folder of the Go package")
	flag.StringVar(&f.tsDir, "ts", "", "the folder of the TypeScript source")
	flag.Parse()
	if err := run(f); err != nil {
		fmt.Fprintln(os.Stderr, "sdk:", err)
		os.Exit(1)
	}
}

// files are what one run reads and the folders that it writes to.
type files struct{ doc, errors, goDir, tsDir string }

func run(f files) error {
	doc, err := os.ReadFile(f.doc)
	if err != nil {
		return fmt.Errorf("read the document: %w", err)
	}
	page, err := os.ReadFile(f.errors)
	if err != nil {
		return fmt.Errorf("read the error page: %w", err)
	}
	ops, err := operations(doc)
	if err != nil {
		return fmt.Errorf("%s: %w", f.doc, err)
	}
	codes, err := codesOf(page)
	if err != nil {
		return fmt.Errorf("%s: %w", f.errors, err)
	}
	return errors.Join(
		put(filepath.Join(f.goDir, "codes.gen.go"), goCodes(codes)),
		put(filepath.Join(f.goDir, "routes.gen.go"), goRoutes(ops)),
		put(filepath.Join(f.tsDir, "codes.gen.ts"), tsCodes(codes)),
		put(filepath.Join(f.tsDir, "routes.gen.ts"), tsRoutes(ops)),
	)
}

// put writes a file only when its content changes, so that nothing is rebuilt in vain.
func put(name string, content []byte) error {
	if old, err := os.ReadFile(name); err == nil && bytes.Equal(old, content) {
		return nil
	}
	if err := os.WriteFile(name, content, 0o644); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}
