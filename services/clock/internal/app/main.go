package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/signalcast/signalcast/pkg/chrono"
	"github.com/signalcast/signalcast/pkg/conf"
	"github.com/signalcast/signalcast/pkg/obs"
	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/services/clock/internal/postgres"
)

const usage = `usage: clock [serve]      run the service
       clock migrate      bring schema clock up to date
       clock health       tell by the exit code whether the one on HTTP_ADDR is ready
       clock timeline --at TIME --minutes N [--preset NAME] [--spec JSON] [--station ID] [--lane LANE]
                          print what a channel airs
`

// errUsage is a command line that cannot be read.
var errUsage = errors.New("unknown command")

// Main runs one command and gives the exit code: 0 done, 1 failed, 2 the
// command line or the environment is wrong.
func Main(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	command := "serve"
	if len(args) > 0 {
		command, args = args[0], args[1:]
	}
	var err error
	switch {
	case command == "serve" && len(args) == 0:
		err = serve(ctx, stderr)
	case command == "migrate" && len(args) == 0:
		err = migrate(ctx, stdout)
	case command == "health" && len(args) == 0:
		err = health(ctx)
	case command == "timeline":
		err = timeline(ctx, args, stdout)
	default:
		err = errUsage
	}
	var mistakes conf.Mistakes
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errUsage):
		_, _ = fmt.Fprintf(stderr, "%v\n%s", err, usage)
		return 2
	case errors.As(err, &mistakes):
		_, _ = fmt.Fprintln(stderr, mistakes)
		return 2
	}
	_, _ = fmt.Fprintln(stderr, err)
	return 1
}

func serve(ctx context.Context, stderr io.Writer) error {
	cfg, err := conf.Load[Config]()
	if err != nil {
		return err
	}
	log := obs.NewBuffered(stderr)
	defer func() { _ = log.Close() }()
	clock := chrono.System()
	a, err := New(ctx, cfg, log, clock.Now)
	if err != nil {
		return err
	}
	a.time = clock
	return a.Run(ctx)
}

func migrate(ctx context.Context, stdout io.Writer) error {
	cfg, err := conf.Load[migrateConfig]()
	if err != nil {
		return err
	}
	done, err := pg.Migrate(ctx, cfg.Admin.Reveal(), postgres.Schema(cfg.Password.Reveal()))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "schema %s: version %d, was %d\n", postgres.SchemaName, done.To, done.From)
	return err
}

// healthConfig is what the command `health` needs.
type healthConfig struct {
	Env  conf.Env `env:"ENV"`
	HTTP string   `env:"HTTP_ADDR" envDefault:"127.0.0.1:8082"`
}

// Check implements conf.Checker.
func (c *healthConfig) Check(r *conf.Report) { r.Addr("HTTP_ADDR", c.HTTP) }

func health(ctx context.Context) error {
	cfg, err := conf.Load[healthConfig]()
	if err != nil {
		return err
	}
	return web.Probe(ctx, cfg.HTTP)
}

// version of the build, as the toolchain knows it.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}
