// Command signalcast files calls and reads the protocol: calls, markets, boards,
// receipts and records of operators. Reading needs no account.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"

	"github.com/alecthomas/kong"

	"github.com/signalcast/signalcast/cmd/signalcast/internal/ask"
	"github.com/signalcast/signalcast/cmd/signalcast/internal/conform"
	"github.com/signalcast/signalcast/cmd/signalcast/internal/record"
	"github.com/signalcast/signalcast/cmd/signalcast/internal/settings"
	"github.com/signalcast/signalcast/cmd/signalcast/internal/show"
	"github.com/signalcast/signalcast/cmd/signalcast/internal/verbs"
	"github.com/signalcast/signalcast/pkg/version"
)

// Exit codes; that of a command which was interrupted is made by interruption.
const (
	done    = 0
	refused = 1 // a service or the person asked said no; a record differs or is not whole
	usage   = 2 // the command line or a setting is wrong, or a file cannot be read or written
	away    = 3 // a service cannot be reached, or cannot answer now, as it is over a limit
)

func main() {
	ctx, stop := interruptible(context.Background())
	code := run(ctx, os.Args[1:], os.Stderr, &verbs.Streams{In: os.Stdin, InTerminal: terminal(os.Stdin), Out: os.Stdout, Err: os.Stderr, Terminal: terminal(os.Stdout)})
	stop()
	os.Exit(code)
}

// terminal reports whether a file is a device of characters, as terminals are, and not the
// null device.
func terminal(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}

// run does one command and gives the exit code.
func run(ctx context.Context, args []string, complaints io.Writer, streams *verbs.Streams) int {
	var cli commands
	ended := -1
	parser, err := kong.New(&cli, kong.Name("signalcast"), kong.Description("File calls, read the protocol, verify records and servers."),
		kong.Writers(streams.Out, complaints), kong.Vars{"lanes": lanes, "version": "signalcast " + version.Read().String()}, kong.Bind(streams),
		kong.Exit(func(code int) { ended = code }), kong.BindTo(ctx, (*context.Context)(nil)))
	if err != nil {
		panic(err) // the commands are written wrong
	}
	seen, err := look(parser.Model, args)
	if err == nil {
		var to *kong.Context
		to, err = parser.Parse(seen)
		if ended >= 0 {
			return ended // help was shown
		}
		if err == nil {
			err = to.Run(parser.Model)
		}
	}
	if err = advised(err, "See "+command(parser.Model, args)+" --help"); err != nil {
		_, _ = fmt.Fprintln(complaints, "signalcast:", settings.Hide(show.Clean(err.Error())))
	}
	if code, ok := interruption(ctx); ok && err != nil {
		return code
	}
	return exitCode(err)
}

// advised lets every error end with what to do: where no command has said it, that is to
// read what the command takes.
func advised(err error, do string) error {
	if r := (*ask.Refused)(nil); errors.As(err, &r) {
		r.Do = cmp.Or(r.Do, do)
		return err
	}
	if i := (*interrupted)(nil); exitCode(err) == usage && !errors.As(err, &i) {
		return fmt.Errorf("%w. %s", err, do)
	}
	return err
}

func exitCode(err error) int {
	switch {
	case err == nil:
		return done
	case errors.As(err, new(*ask.Refused)), errors.Is(err, verbs.ErrNotConfirmed), errors.Is(err, record.ErrDiffers), errors.Is(err, record.ErrOrigin), errors.Is(err, conform.ErrNotConform):
		return refused
	case errors.As(err, new(*ask.Away)), errors.As(err, new(*ask.Lost)), errors.As(err, new(*url.Error)), errors.Is(err, conform.ErrNotTried), errors.Is(err, conform.ErrAway):
		return away
	}
	return usage
}
