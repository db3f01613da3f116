package main

import (
	"context"
	"flag"
	"fmt"
	"os"
)

func main() {
	name := flag.String("file", "compose.yaml", "the compose file")
	flag.Parse()
	text, err := os.ReadFile(*name)
	if err != nil {
		fmt.Fprintln(os.Stderr, "check:", err)
		os.Exit(2)
	}
	found := check(context.Background(), text)
	for _, f := range found {
		fmt.Printf("%s: %s\n", *name, f)
	}
	if len(found) > 0 {
		os.Exit(1)
	}
}
