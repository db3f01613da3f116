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

// Command is `signalcast conform`.
type Command struct {
	URL         string        `arg:"" name:"url" help:"Address of the hub."`
	API         string        `name:"api" help:"Address of the api service; without it its checks are skipped." placeholder:"URL"`
	Clock       string        `help:"Address of the clock service; without it its checks are skipped." placeholder:"URL"`
	Key         string        `help:"File with an operator key, mode 0600, or - for the standard input. With it one call and its history are written." placeholder:"FILE"`
	AdminSecret string        `help:"File with the admin secret, mode 0600. With it markets are made and resolved." placeholder:"FILE"`
	Market      string        `help:"Where the key files its call; without it on a market that is made with the admin secret." placeholder:"ID"`
	Venue       string        `help:"Name of the primary venue in paths." default:"polymarket"`
	Only        []string      `help:"Only these checks, by id. Those that build on others need those as well." placeholder:"ID"`
	Each        time.Duration `help:"How long one answer may take." default:"10s"`
	Wait        time.Duration `help:"How long the whole run may wait for limits, as the server says and those of the key." default:"5m"`
	PlainHTTP   bool          `name:"plain-http" help:"Send secrets without encryption to a machine that is not this one."`
	JSON        bool          `name:"json" help:"Answer as one JSON object."`
}

// ErrNotConform says that a check failed.
var ErrNotConform = errors.New("the server does not conform")

// ErrNotTried says that no check failed and that some were not tried because of limits.
var ErrNotTried = errors.New("a limit was reached")

// ErrAway says that no check failed and that some were not tried because a service cannot be reached.
var ErrAway = errors.New("a service cannot be reached")

// Run asks.
func (c *Command) Run(ctx context.Context, s *verbs.Streams) error {
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
	tell := func(pause time.Duration, because string) {
		if s.Err != nil {
			_, _ = fmt.Fprintf(s.Err, "waiting %v: %s\n", pause.Round(time.Second), because)
		}
	}
	r := &run{client: newClient(target, c.Each, patience{left: c.Wait, tell: tell}, wait), doc: doc}
	var failed error // of the output
	report := Report{Target: target.Hub, Checks: r.all(ctx, c.Only, func(done Result) {
		if !c.JSON && failed == nil {
			failed = line(s.Out, &done)
		}
	})}
	report.due = c.due()
	if report.ended = ctx.Err() != nil && report.finished() < report.due; report.ended {
		report.Left = r.clear(ctx)
	}
	report.Requests, report.Waited = r.sent, int(r.waited.Round(time.Second).Seconds())
	report.count()
	if c.JSON {
		failed = report.json(s.Out)
	} else if failed == nil {
		failed = report.end(s.Out)
	}
	if report.ended {
		return errors.Join(failed, fmt.Errorf("%w after %d of %d checks, of which %d failed%s", context.Cause(ctx), report.finished(), report.due, report.Failed, report.left()))
	}
	return errors.Join(failed, report.verdict(c.Only))
}

// due is how many checks a complete run has.
func (c *Command) due() int {
	if len(c.Only) == 0 {
		return len(checks())
	}
	return len(slices.Compact(slices.Sorted(slices.Values(c.Only))))
}

// verdict returns the error of a complete run; nil: every check that was tried passed.
func (p *Report) verdict(only []string) error {
	switch {
	case p.Failed > 0:
		return fmt.Errorf("%w: %d of %d checks failed", ErrNotConform, p.Failed, len(p.Checks))
	case p.away:
		return fmt.Errorf("%w: %d of %d checks were not tried. Look whether the addresses are right and the services up", ErrAway, p.NotTried, len(p.Checks))
	case p.NotTried > 0:
		return fmt.Errorf("%w: %d of %d checks were not tried; a longer --wait may help", ErrNotTried, p.NotTried, len(p.Checks))
	case len(only) > 0 && p.Passed == 0:
		return fmt.Errorf("nothing was tried of what --only names: %s", p.Checks[0].Because)
	}
	return nil
}

func (c *Command) target(s *verbs.Streams) (Target, error) {
	t := Target{Venue: c.Venue, Market: c.Market}
	if !marketForm.MatchString(c.Venue) || c.Market != "" && !marketForm.MatchString(c.Market) {
		return t, errors.New("--venue or --market is no such name")
	}
	if c.Each < time.Second/10 || c.Each > time.Minute {
		return t, errors.New("--each is 100ms to 1m")
	}
	if c.Wait < 0 || c.Wait > 24*time.Hour {
		return t, errors.New("--wait is 0s to 24h")
	}
	for _, id := range c.Only {
		if !known(id) {
			return t, fmt.Errorf("--only: there is no check %q; docs/conformance.md lists them", id)
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

func known(id string) bool {
	return slices.ContainsFunc(checks(), func(c check) bool { return c.id == id })
}
