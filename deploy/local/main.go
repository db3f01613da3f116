package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
)

// cli has one field for each command; each command lives in its own file.
type cli struct {
	Up      upCmd      `cmd:"" help:"Start everything and keep it running until Ctrl-C."`
	Stop    stopCmd    `cmd:"" help:"Stop a stack that runs elsewhere."`
	Migrate migrateCmd `cmd:"" help:"Bring the database of a running stack up to date."`
	Env     envCmd     `cmd:"" help:"Print where a running stack is, for a shell to take in."`
	Demo    demoCmd    `cmd:"" help:"Start everything with a history of 90 days, and bots that file calls."`
}

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	var c cli
	k := kong.Parse(&c, kong.Name("local"), kong.Description("Signalcast on one machine."),
		kong.UsageOnError(), kong.BindTo(ctx, (*context.Context)(nil)))
	if err := k.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "local:", err)
		os.Exit(1)
	}
}

// orphaned ends the returned context when the `go run` that started this process has ended: it passes on no signal, and
// the stack could not be stopped by hand.
func orphaned(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	parent := os.Getppid()
	name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", parent))
	if err != nil || string(name) != "go\n" {
		return ctx, cancel
	}
	go func() {
		tick := time.NewTicker(500 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				if os.Getppid() != parent {
					cancel()
					return
				}
			}
		}
	}()
	return ctx, cancel
}
