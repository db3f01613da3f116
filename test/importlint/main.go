package main

import (
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	root := flag.String("root", ".", "the repository")
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

// run checks the files below the directory root and prints the violations to out. It reports whether there are none.
func run(root string, out io.Writer) (bool, error) {
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
