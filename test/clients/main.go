package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/signalcast/signalcast/test/prove/stack"
)

// script runs one client: its name is that of the file, how much it has to check at least.
type script struct {
	name  string
	least int
}

// scripts in the order in which they run.
var scripts = []script{
	{"vectors", 2},
	{"oauth4webapi", 30},
	{"openid-client", 8},
	{"conformance", 4},
	{"privy", 11},
	{"messages", 27},
	{"attested", 5},
	{"feed", 3},
	{"mcp-conformance", 4},
	{"mcp-sdk", 20},
	{"mcp-oauth", 12},
	{"mcp-inspector", 6},
}

// patience is for one client.
const patience = time.Minute

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := command(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "clients:", err)
		os.Exit(1)
	}
}

func command(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("clients", flag.ContinueOnError)
	bin := flags.String("bin", "", "take the programs from this directory instead of building them")
	if err := flags.Parse(args); err != nil {
		return err
	}
	chosen, err := choose(flags.Args())
	if err != nil {
		return err
	}
	root, err := stack.Root(ctx)
	if err != nil {
		return err
	}
	n, err := install(ctx, filepath.Join(root, "test", "clients"))
	if err != nil {
		return err
	}
	began := time.Now()
	w, end, err := begin(ctx, root, *bin)
	if err != nil {
		return err
	}
	defer end()
	ready := time.Since(began)
	checks := 0
	for _, c := range chosen {
		n, err := run(ctx, n, w, c)
		if err != nil {
			return fmt.Errorf("%s: %w\n%s", c.name, err, w.complaints())
		}
		checks += n
	}
	fmt.Printf("%d clients, %d checks, %.1f s after %.1f s to build and start\n", len(chosen), checks, (time.Since(began) - ready).Seconds(), ready.Seconds())
	return nil
}

// choose keeps the clients that were named; none named is all of them.
func choose(names []string) ([]script, error) {
	if len(names) == 0 {
		return scripts, nil
	}
	var chosen []script
	for _, name := range names {
		i := slices.IndexFunc(scripts, func(c script) bool { return c.name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no client %s", name)
		}
		chosen = append(chosen, scripts[i])
	}
	return chosen, nil
}
