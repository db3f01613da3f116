package conform

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/signalcast/signalcast/cmd/signalcast/internal/settings"
	"github.com/signalcast/signalcast/cmd/signalcast/internal/verbs"
	"github.com/signalcast/signalcast/pkg/dbtime"
)

// Command is the command `signalcast conform`.
type Command struct {
	URL         string        `arg:"" name:"url" help:"Address of the hub."`
	API         string        `name:"api" help:"Address of the api service. Its checks are skipped without it." placeholder:"URL"`
	Clock       string        `help:"Address of the clock service. Its checks are skipped without it." placeholder:"URL"`
	Key         string        `help:"File with an operator key, mode 0600, or - for the standard input. The key files one call with events." placeholder:"FILE"`
	AdminSecret string        `help:"File with the admin secret, mode 0600. The run then creates and resolves markets." placeholder:"FILE"`
	Market      string        `help:"Market on which the key files its call. Default: a market that is created with the admin secret." placeholder:"ID"`
	Venue       string        `help:"Name of the primary venue in paths." default:"polymarket"`
	Only        []string      `help:"Run only this check; may be repeated. A check that depends on another one needs that as well." placeholder:"ID"`
	Each        time.Duration `help:"Timeout of one answer, 100ms to 1m." default:"10s"`
	Wait        time.Duration `help:"Total time that the run may wait for limits, 0s to 24h." default:"5m"`
	PlainHTTP   bool          `name:"plain-http" help:"Allow sending secrets without encryption to another machine."`
}

// ErrNotConform is the error of a run in which a check failed.
var ErrNotConform = errors.New("the server does not conform to the protocol")

// ErrNotTried is the error of a run in which no check failed, but limits prevented checks.
var ErrNotTried = errors.New("a request limit was reached")

// ErrUnavailable is the error of a run in which no check failed, but a service could not be reached.
var ErrUnavailable = errors.New("a service cannot be reached")

// Run runs the checks and writes the report. It writes each pause for a limit to the standard error. Its errors include
// ErrNotConform, ErrNotTried and ErrUnavailable.
func (c *Command) Run(ctx context.Context, s *verbs.Streams) error {
	if err := s.Only("conform writes lines of text or JSON", "json", "table"); err != nil {
		return err
	}
	if s.Timeout != 0 {
		return errors.New("conform does not accept --timeout; set the time limit of an answer with --each")
	}
	target, err := c.target(s)
	if err != nil {
		return err
	}
	doc, err := loadDocument()
	if err != nil {
		return err
	}
	wait := s.Wait
	if wait == nil {
		wait = dbtime.Sleep
	}
	progress := func(pause time.Duration, because string) {
		if s.Err != nil {
			_, _ = fmt.Fprintf(s.Err, "waiting %v: %s\n", pause.Round(time.Second), because)
		}
	}
	r := &run{client: newClient(target, c.Each, limiter{left: c.Wait, progress: progress}, wait), doc: doc}
	var failed error // first error of writing the output
	report := Report{Target: target.Hub, Checks: r.all(ctx, c.Only, func(done Result) {
		if !s.JSON && failed == nil {
			failed = line(s.Output(), &done)
		}
	})}
	report.total = c.total()
	if report.ended = ctx.Err() != nil && report.finished() < report.total; report.ended {
		report.Left = r.cleanUp(ctx)
	}
	report.Requests, report.Waited = r.sent, int(r.waited.Round(time.Second).Seconds())
	report.count()
	if s.JSON {
		failed = report.json(s.Out)
	} else if failed == nil {
		failed = report.end(s.Out)
	}
	if report.ended {
		return errors.Join(failed, fmt.Errorf("%w after %d of %d checks, of which %d failed%s",
			context.Cause(ctx), report.finished(), report.total, report.Failed, report.left()))
	}
	return errors.Join(failed, report.verdict(c.Only))
}

// total returns the number of checks of a complete run: all checks, or the distinct ids of Only.
func (c *Command) total() int {
	if len(c.Only) == 0 {
		return len(checks())
	}
	return len(slices.Compact(slices.Sorted(slices.Values(c.Only))))
}

// verdict returns the error of a run that was not interrupted. It returns nil unless a check failed, a limit or an
// unavailable service prevented a check, or the list only is not empty and no check passed.
func (p *Report) verdict(only []string) error {
	switch {
	case p.Failed > 0:
		return fmt.Errorf("%w: %d of %s failed", ErrNotConform, p.Failed, countText(len(p.Checks)))
	case p.unavailable:
		return fmt.Errorf("%w: %s; check the addresses, and that the services run", ErrUnavailable, p.notTried())
	case p.NotTried > 0:
		return fmt.Errorf("%w: %s; raise --wait, or run fewer checks with --only", ErrNotTried, p.notTried())
	case len(only) > 0 && p.Passed == 0:
		return fmt.Errorf("every check of --only was skipped: %s", p.Checks[0].Because)
	}
	return nil
}

// target validates the flags, reads the secrets from their files, and returns the server to check.
func (c *Command) target(s *verbs.Streams) (Target, error) {
	t := Target{Venue: c.Venue, Market: c.Market}
	if !marketForm.MatchString(c.Venue) || c.Market != "" && !marketForm.MatchString(c.Market) {
		return t, errors.New("--venue and --market must have 1 to 128 characters of letters, digits and : . _ - and begin with a letter or digit")
	}
	if c.Each < time.Second/10 || c.Each > time.Minute {
		return t, errors.New("--each must be 100ms to 1m")
	}
	if c.Wait < 0 || c.Wait > 24*time.Hour {
		return t, errors.New("--wait must be 0s to 24h")
	}
	for _, id := range c.Only {
		if !isCheck(id) {
			return t, fmt.Errorf("--only: unknown check %q; conform without --only prints the ids of all checks", id)
		}
	}
	var err error
	if t.Hub, err = settings.Service("the address", c.URL); err != nil {
		return t, err
	}
	if c.API != "" {
		if t.API, err = settings.Service("--api", c.API); err != nil {
			return t, err
		}
	}
	if c.Clock != "" {
		if t.Clock, err = settings.Service("--clock", c.Clock); err != nil {
			return t, err
		}
	}
	flags := settings.Flags{Key: c.Key, PlainHTTP: c.PlainHTTP}
	if c.Key != "" {
		if t.Key, err = flags.Secret(t.Hub, s.In); err != nil {
			return t, err
		}
	}
	if c.AdminSecret != "" {
		if t.Admin, err = settings.AdminFile(c.AdminSecret); err == nil {
			err = flags.MaySend(t.Hub)
		}
	}
	return t, err
}

func isCheck(id string) bool {
	return slices.ContainsFunc(checks(), func(c check) bool { return c.id == id })
}
