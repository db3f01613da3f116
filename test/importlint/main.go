package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

func main() {
	root := flag.String("root", "", "the repository; without it the nearest folder above with a go.work")
	flag.Parse()
	clean, err := run(*root, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "importlint:", err)
		os.Exit(2)
	}
	if !clean {
		os.Exit(1)
	}
}

// run lints a tree and reports whether it is clean.
func run(root string, out io.Writer) (bool, error) {
	if root == "" {
		var err error
		if root, err = findRoot(); err != nil {
			return false, err
		}
	}
	files, err := readTree(root)
	if err != nil {
		return false, err
	}
	found := lint(files)
	for _, v := range found {
		if _, err := fmt.Fprintln(out, v); err != nil {
			return false, err
		}
	}
	return len(found) == 0, nil
}

func findRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.work")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", errors.New("no go.work in this folder or above it")
		}
		dir = up
	}
}
