package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/prove/internal/rows"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	ok, err := command(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "prove:", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

// command reads the command line and runs what it says.
func command(ctx context.Context, args []string) (ok bool, err error) {
	teeth := len(args) > 0 && args[0] == "teeth"
	if teeth {
		args = args[1:]
	}
	var r run
	var only string
	flags := flag.NewFlagSet("prove", flag.ContinueOnError)
	flags.StringVar(&only, "only", "", "rows to run, by id, separated by commas")
	flags.Uint64Var(&r.seed, "seed", 1, "seed of everything that is chosen at random")
	flags.StringVar(&r.dir, "dir", "", "keep the state in this directory (a new one on disk by default, removed at the end)")
	flags.StringVar(&r.bin, "bin", "", "take the programs from this directory instead of building them")
	if err := flags.Parse(args); err != nil {
		return false, err
	}
	if full := os.Getenv("FULL"); full != "" && full != "0" {
		r.full = true
	}
	ids := append(strings.Split(only, ","), flags.Args()...)
	if r.rows, err = choose(rows.All(), ids); err != nil {
		return false, err
	}
	if teeth {
		return r.teeth(ctx)
	}
	return r.prove(ctx)
}

// choose keeps the rows that were named; none named is all of them.
func choose(all []frame.Row, ids []string) ([]frame.Row, error) {
	wanted := map[string]bool{}
	for _, text := range ids {
		for id := range strings.FieldsSeq(strings.ReplaceAll(text, ",", " ")) {
			wanted[strings.ToUpper(id)] = true
		}
	}
	if len(wanted) == 0 {
		return all, nil
	}
	var chosen []frame.Row
	for _, row := range all {
		if wanted[row.ID] {
			chosen = append(chosen, row)
			delete(wanted, row.ID)
		}
	}
	for id := range wanted {
		return nil, fmt.Errorf("there is no row %s", id)
	}
	return chosen, nil
}
