// Command signalcast is for people who read records: it fetches them and works their
// numbers out again. It needs no account.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/signalcast/signalcast/cmd/signalcast/internal/record"
)

type commands struct {
	Record record.Commands `cmd:"" help:"Records of operators."`
}

func main() { os.Exit(run()) }

// run gives the exit code: 0 done, 1 a record differs or is not whole, 2 the command
// line is wrong or something could not be read or written.
func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var cli commands
	parser, err := kong.New(&cli, kong.Name("signalcast"), kong.Description("Fetch and verify the records of operators."),
		kong.UsageOnError(), kong.BindTo(ctx, (*context.Context)(nil)))
	if err != nil {
		panic(err) // the commands are written wrong
	}
	to, err := parser.Parse(os.Args[1:])
	if err == nil {
		err = to.Run()
	}
	if err == nil {
		return 0
	}
	fmt.Fprintln(os.Stderr, "signalcast:", err)
	if errors.Is(err, record.ErrDiffers) {
		return 1
	}
	return 2
}
