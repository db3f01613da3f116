package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// inside is the word with which this program starts itself on the network of the engine.
const inside = "inside"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := command(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "compose:", err)
		os.Exit(1)
	}
}

func command(ctx context.Context) error {
	if len(os.Args) == 4 && os.Args[1] == inside {
		return use(ctx, os.Args[2], os.Args[3])
	}
	keep := flag.String("keep", "", "keep the images in this folder (they are made again each time by default)")
	flag.Parse()
	return run(ctx, *keep)
}
