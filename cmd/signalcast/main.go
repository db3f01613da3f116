// Command signalcast files calls, follows the feed, signs messages, verifies records and checks servers from a terminal or a
// script. docs/cli.md describes its commands. Reading requires no account.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"reflect"
	"slices"
	"time"

	"github.com/alecthomas/kong"

	"github.com/signalcast/signalcast/cmd/signalcast/internal/ask"
	"github.com/signalcast/signalcast/cmd/signalcast/internal/conform"
	"github.com/signalcast/signalcast/cmd/signalcast/internal/record"
	"github.com/signalcast/signalcast/cmd/signalcast/internal/settings"
	"github.com/signalcast/signalcast/cmd/signalcast/internal/show"
	"github.com/signalcast/signalcast/cmd/signalcast/internal/verbs"
	"github.com/signalcast/signalcast/pkg/version"
)

// Exit codes of the program. The function interruption returns the exit code of an interrupted command.
const (
	done        = 0
	refused     = 1 // a service refused the request, the person did not confirm it, a record differs, or a server does not conform
	usage       = 2 // the command line or a setting is invalid, or a file cannot be read or written
	unavailable = 3 // a service is unavailable, the result of a write is unknown, or limits prevented checks
)

func main() {
	ctx, stop := interruptible(context.Background())
	code := run(ctx, os.Args[1:], os.Stderr, standardStreams())
	stop()
	os.Exit(code)
}

// run runs the command in args and returns the exit code. It writes the error of the command to errOut, with advice and without
// secrets.
func run(ctx context.Context, args []string, errOut io.Writer, streams *verbs.Streams) int {
	var cli commands
	exited := -1 // exit code of --help
	parser, err := kong.New(&cli, kong.Name("signalcast"),
		kong.Description("File calls, read the protocol, verify records and servers."),
		kong.Writers(streams.Out, errOut), kong.Vars{"lanes": lanes, "version": "signalcast " + version.Read().String()}, kong.Bind(streams),
		kong.KindMapper(reflect.Int, kong.MapperFunc(decodeInt)),
		kong.TypeMapper(reflect.TypeFor[time.Time](), kong.MapperFunc(decodeTime)),
		kong.TypeMapper(reflect.TypeFor[*time.Time](), kong.MapperFunc(decodeTime)),
		kong.TypeMapper(reflect.TypeFor[time.Duration](), kong.MapperFunc(decodeDuration)),
		kong.Exit(func(code int) { exited = code }), kong.BindTo(ctx, (*context.Context)(nil)))
	if err != nil {
		panic(err) // the declaration of the commands is invalid
	}
	switch {
	case len(args) == 0:
		args = []string{"--help"}
	case args[0] == "help":
		args = append(slices.Clone(args[1:]), "--help")
	}
	checked, err := checkArguments(parser.Model, args)
	if err == nil {
		var to *kong.Context
		to, err = parser.Parse(checked)
		if exited >= 0 {
			return exited
		}
		if err == nil {
			streams.Format, streams.Timeout = cli.Format, cli.Timeout
			err = cli.check()
		}
		if err == nil {
			err = to.Run(parser.Model)
		}
	}
	if err = withAdvice(err, "See "+command(parser.Model, args)+" --help"); err != nil {
		_, _ = fmt.Fprintln(errOut, "signalcast:", settings.Hide(show.Clean(err.Error())))
	}
	if code, ok := interruption(ctx); ok && err != nil {
		return code
	}
	return exitCode(err)
}

// withAdvice adds the text in do as advice to a refusal with neither advice nor a message of the service. It also adds the text
// to an error with the exit code usage, unless a process signal ended the command. It does not change other errors.
func withAdvice(err error, do string) error {
	if r := (*ask.Refused)(nil); errors.As(err, &r) {
		if r.Message == "" {
			r.Do = cmp.Or(r.Do, do)
		}
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
	case errors.As(err, new(*ask.Refused)), errors.Is(err, verbs.ErrNotConfirmed), errors.Is(err, verbs.ErrNotDelivered),
		errors.Is(err, record.ErrDiffers), errors.Is(err, record.ErrOrigin), errors.Is(err, conform.ErrNotConform):
		return refused
	case errors.As(err, new(*ask.Unavailable)), errors.As(err, new(*ask.UnknownResult)), errors.As(err, new(*url.Error)),
		errors.Is(err, conform.ErrNotTried), errors.Is(err, conform.ErrUnavailable):
		return unavailable
	}
	return usage
}
