package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	var names []string
	flag.Func("file", "path of a compose file; a second one is the overlay for production", func(name string) error {
		names = append(names, name)
		return nil
	})
	show := flag.Bool("print", false, "print the files as Compose reads them, as JSON, instead of checking them")
	flag.Parse()
	files, err := readFiles(names)
	if err == nil && *show {
		err = printProject(os.Stdout, files...)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "check:", err)
		os.Exit(2)
	}
	if *show {
		return
	}
	check := checkLocal
	if len(files) > 1 {
		check = checkProduction
	}
	found := check(context.Background(), files...)
	for _, f := range found {
		fmt.Printf("%s: %s\n", names[len(names)-1], f)
	}
	if len(found) > 0 {
		os.Exit(1)
	}
}

func readFiles(names []string) (files []file, err error) {
	if len(names) == 0 || len(names) > 2 {
		return nil, errors.New("give -file once or twice")
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		files = append(files, file{name, text})
	}
	return files, nil
}

// printProject writes the loaded compose files as JSON. Every required variable has the value filler.
func printProject(w io.Writer, files ...file) error {
	project, err := load(context.Background(), files, "")
	if err != nil {
		return err
	}
	raw, err := project.MarshalJSON()
	if err != nil {
		return err
	}
	_, err = w.Write(raw)
	return err
}
