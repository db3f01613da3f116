package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/signalcast/signalcast/pkg/config"
	"github.com/signalcast/signalcast/pkg/dbtime"
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/telemetry"
	"github.com/signalcast/signalcast/pkg/version"
)

// ErrUsage is the error of a command with invalid arguments. Main prints the usage for it.
var ErrUsage = errors.New("invalid arguments")

// errUnknownCommand is the error of a command that the program does not have. Main prints the usage for it.
var errUnknownCommand = errors.New("unknown command")

// Command executes one command with the arguments after its name.
type Command func(ctx context.Context, args []string, stdout io.Writer) error

// NoArgs returns a command without arguments that calls the function do. If the command is called with arguments, it returns
// ErrUsage.
func NoArgs(do func(ctx context.Context, stdout io.Writer) error) Command {
	return func(ctx context.Context, args []string, stdout io.Writer) error {
		if len(args) > 0 {
			return ErrUsage
		}
		return do(ctx, stdout)
	}
}

// Program is the command line of a service. It has the commands that all services share (serve, migrate, health, --version and
// --help) and the commands in Commands.
type Program struct {
	Name  string // name of the program and of its schema in Postgres
	Usage string // usage lines of Commands; those of the common commands precede them

	Serve    func(ctx context.Context, stderr io.Writer) error // see the function Serve
	Schema   func(password string) pg.Schema
	HTTPAddr string // default of HTTP_ADDR
	Commands map[string]Command
}

// Exit executes the command line of the process (see Main) and ends the process with the exit code.
func (p Program) Exit() {
	// Log records of libraries also use the JSON format.
	slog.SetDefault(slog.New(slog.NewJSONHandler(os.Stderr, nil)))
	os.Exit(p.Main(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}

// Main executes one command (by default serve) and returns the exit code: 0 for success, 1 for a failure, 2 for an
// invalid command line or invalid settings.
func (p Program) Main(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	name := "serve"
	if len(args) > 0 {
		name, args = args[0], args[1:]
	}
	err := p.execute(ctx, name, args, stdout, stderr)
	var invalid config.InvalidSettings
	switch {
	case err == nil:
		return 0
	case errors.Is(err, ErrUsage), errors.Is(err, errUnknownCommand):
		_, _ = fmt.Fprintf(stderr, "%v\n%s", err, p.usage())
		return 2
	case errors.As(err, &invalid):
		_, _ = fmt.Fprintln(stderr, invalid)
		return 2
	}
	_, _ = fmt.Fprintln(stderr, err)
	return 1
}

func (p Program) execute(ctx context.Context, name string, args []string, stdout, stderr io.Writer) error {
	if command, ok := p.Commands[name]; ok {
		return command(ctx, args, stdout)
	}
	var command func() error
	switch name {
	case "serve":
		command = func() error { return p.Serve(ctx, stderr) }
	case "migrate":
		command = func() error { return p.migrate(ctx, stdout) }
	case "health":
		command = func() error { return p.health(ctx) }
	case "version", "--version":
		command = func() error {
			_, err := fmt.Fprintln(stdout, p.Name, version.Read())
			return err
		}
	case "help", "--help", "-h":
		command = func() error {
			_, err := io.WriteString(stdout, p.usage())
			return err
		}
	default:
		return fmt.Errorf("%w %q", errUnknownCommand, name)
	}
	if len(args) > 0 {
		return ErrUsage
	}
	return command()
}

func (p Program) usage() string {
	return fmt.Sprintf(`usage: %[1]s [serve]      run the service
       %[1]s migrate      bring schema %[1]s up to date
       %[1]s health       exit with 0 if the service at HTTP_ADDR is ready, otherwise with 1
       %[1]s --version    print the version, the commit and the Go version
       %[1]s --help       print this text
%[2]s`, p.Name, p.Usage)
}

// Process is a service that is configured and not running yet.
type Process interface {
	// Run serves until ctx ends, a signal arrives or a part fails.
	Run(ctx context.Context) error
}

// Serve returns a command that reads the settings C from the environment, builds a process with build, and runs it.
func Serve[C any, P Process](
	build func(ctx context.Context, settings C, log io.Writer, clock *dbtime.Clock) (P, error),
) func(ctx context.Context, stderr io.Writer) error {
	return func(ctx context.Context, stderr io.Writer) error {
		settings, err := config.Load[C]()
		if err != nil {
			return err
		}
		log := telemetry.NewBuffered(stderr)
		defer func() { _ = log.Close() }()
		process, err := build(ctx, settings, log, dbtime.System())
		if err != nil {
			return err
		}
		return process.Run(ctx)
	}
}

// Reads contains the setting that limits the time of reads from Postgres. The settings of each service include it.
type Reads struct {
	ReadTime time.Duration `env:"DB_READ_TIMEOUT" envDefault:"300ms"` // timeout of a read, including the wait for a connection
}

// Check implements config.Checker.
func (s *Reads) Check(r *config.Report) {
	if s.ReadTime <= 0 || s.ReadTime > 30*time.Second {
		r.Fail("DB_READ_TIMEOUT", "must be above 0s and at most 30s")
	}
}

// migrateSettings are the settings of the command migrate.
type migrateSettings struct {
	Env      config.Env    `env:"ENV"`
	Admin    config.Secret `env:"MIGRATE_DATABASE_URL"`
	Password config.Secret `env:"DB_RW_PASSWORD"`
}

// Check implements config.Checker.
func (s *migrateSettings) Check(r *config.Report) {
	r.DSN("MIGRATE_DATABASE_URL", s.Admin, "postgres", "postgresql")
	if !s.Password.IsSet() {
		r.Fail("DB_RW_PASSWORD", "is not set")
	}
}

func (p Program) migrate(ctx context.Context, stdout io.Writer) error {
	settings, err := config.Load[migrateSettings]()
	if err != nil {
		return err
	}
	done, err := pg.Migrate(ctx, settings.Admin.Reveal(), p.Schema(settings.Password.Reveal()))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "schema %s: version %d, was %d\n", p.Name, done.To, done.From)
	return err
}

// healthSettings are the settings of the command health.
type healthSettings struct {
	Env  config.Env `env:"ENV"`
	HTTP string     `env:"HTTP_ADDR"` // empty: the default of the program
}

// Check implements config.Checker.
func (s *healthSettings) Check(r *config.Report) {
	if s.HTTP != "" {
		r.Addr("HTTP_ADDR", s.HTTP)
	}
}

func (p Program) health(ctx context.Context) error {
	settings, err := config.Load[healthSettings]()
	if err != nil {
		return err
	}
	if settings.HTTP == "" {
		settings.HTTP = p.HTTPAddr
	}
	return httpx.Probe(ctx, settings.HTTP)
}
