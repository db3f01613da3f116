package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	name := flag.String("file", "compose.yaml", "path of the compose file")
	show := flag.Bool("print", false, "print the file as Compose reads it, as JSON, instead of checking it")
	flag.Parse()
	text, err := os.ReadFile(*name)
	if err == nil && *show {
		err = printProject(os.Stdout, text)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "check:", err)
		os.Exit(2)
	}
	if *show {
		return
	}
	found := check(context.Background(), text)
	for _, f := range found {
		fmt.Printf("%s: %s\n", *name, f)
	}
	if len(found) > 0 {
		os.Exit(1)
	}
}

// printProject writes the loaded compose file as JSON. Every required variable has the value filler.
func printProject(w io.Writer, text []byte) error {
	project, err := load(context.Background(), text, "")
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
