// Command signalcast files calls and reads the protocol: calls, markets, boards,
// receipts and records of operators. Reading needs no account.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/signalcast/signalcast/cmd/signalcast/internal/ask"
	"github.com/signalcast/signalcast/cmd/signalcast/internal/conform"
	"github.com/signalcast/signalcast/cmd/signalcast/internal/record"
	"github.com/signalcast/signalcast/cmd/signalcast/internal/settings"
	"github.com/signalcast/signalcast/cmd/signalcast/internal/show"
	"github.com/signalcast/signalcast/cmd/signalcast/internal/verbs"
)

type commands struct {
	Login   verbs.Login     `cmd:"" help:"Store a key, or mint one with an identity token; either comes on the standard input."`
	Call    verbs.Call      `cmd:"" help:"File a call. The first on a market is locked."`
	Events  verbs.Events    `cmd:"" help:"The history of a call."`
	Market  verbs.Market    `cmd:"" help:"Markets."`
	Board   verbs.Board     `cmd:"" help:"Operators in order."`
	Signal  verbs.Signal    `cmd:"" help:"Calls."`
	Receipt verbs.Receipt   `cmd:"" help:"A call with its history and the outcome of its market."`
	Record  record.Commands `cmd:"" help:"Records of operators."`
	Conform conform.Command `cmd:"" help:"Ask any server whether it speaks the protocol; exit code 1 if a check fails."`
}

// Exit codes.
const (
	done    = 0
	refused = 1 // a service said no; a record differs or is not whole
	usage   = 2 // the command line or a setting is wrong, or a file cannot be read or written
	away    = 3 // a service cannot be reached, or cannot answer now
)

// lanes are those that a list can be of; none is all.
const lanes = "POLITICS,CRYPTO,SPORT,CULTURE,MUSIC,TECH,ECONOMY,SCIENCE,WORLD,ENTERTAINMENT,"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stderr, &verbs.Streams{In: os.Stdin, InTerminal: terminal(os.Stdin), Out: os.Stdout, Terminal: terminal(os.Stdout)})
	stop()
	os.Exit(code)
}

// terminal reports whether a file is a device of characters, as terminals are.
func terminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// run does one command and gives the exit code.
func run(ctx context.Context, args []string, complaints io.Writer, streams *verbs.Streams) int {
	var cli commands
	ended := -1
	parser, err := kong.New(&cli, kong.Name("signalcast"), kong.Description("File calls, read the protocol, verify the records of operators."),
		kong.Writers(streams.Out, complaints), kong.Vars{"lanes": lanes}, kong.Bind(streams),
		kong.Exit(func(code int) { ended = code }), kong.BindTo(ctx, (*context.Context)(nil)))
	if err != nil {
		panic(err) // the commands are written wrong
	}
	to, err := parser.Parse(args)
	if ended >= 0 {
		return ended // help was shown
	}
	if err == nil {
		err = to.Run()
	} else {
		err = fmt.Errorf("%w. See signalcast --help", err)
	}
	if err != nil {
		_, _ = fmt.Fprintln(complaints, "signalcast:", settings.Hide(show.Clean(err.Error())))
	}
	return exitCode(err)
}

func exitCode(err error) int {
	switch {
	case err == nil:
		return done
	case errors.As(err, new(*ask.Refused)), errors.Is(err, record.ErrDiffers), errors.Is(err, conform.ErrNotConform):
		return refused
	case errors.As(err, new(*ask.Away)), errors.As(err, new(*url.Error)):
		return away
	}
	return usage
}
