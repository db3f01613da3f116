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

// cli declares the commands of the program, one field for each.
type cli struct {
	Up      upCmd      `cmd:"" help:"Start a stack and run it until Ctrl-C."`
	Stop    stopCmd    `cmd:"" help:"Stop a running stack from another terminal."`
	Migrate migrateCmd `cmd:"" help:"Run pending migrations of a running stack."`
	Env     envCmd     `cmd:"" help:"Print the addresses and secrets of a running stack as shell variables."`
	Demo    demoCmd    `cmd:"" help:"Start a stack with a history of 90 days and bots that file calls."`
}

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	var c cli
	k := kong.Parse(&c, kong.Name("local"), kong.Description("Runs Signalcast on one machine."),
		kong.UsageOnError(), kong.BindTo(ctx, (*context.Context)(nil)))
	if err := k.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "local:", err)
		os.Exit(1)
	}
}

// orphaned returns a context derived from ctx. If the parent process is `go run`, the context ends when that process ends.
// `go run` does not forward signals to the program, so without this the stack would continue to run.
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
