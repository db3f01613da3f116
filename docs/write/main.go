// Command write renders the pages of docs/ as a static site and writes its files to a folder:
//
//	go run ./docs/write DIR
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/signalcast/signalcast/docs"
	"github.com/signalcast/signalcast/docs/guide"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./docs/write DIR")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "write:", err)
		os.Exit(1)
	}
}

// write renders the site and writes its files to the folder dir. It creates dir if it does not exist.
func write(dir string) error {
	s, err := guide.New(docs.Files, guide.Options{
		Reference: guide.Project + "docs/protocol/openapi.yaml", Repository: guide.Project,
	})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, name := range s.Names() {
		f, _ := s.File(name)
		if err := os.WriteFile(filepath.Join(dir, name), f.Body, 0o644); err != nil {
			return err
		}
	}
	fmt.Printf("wrote %d files to %s\n", len(s.Names()), dir)
	return nil
}
