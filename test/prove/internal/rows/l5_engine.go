package rows

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/system/container"
)

// contained is a service that runs in a container.
type contained struct {
	part
	service, url string
	asked        container.Config
	host         container.Host
	it           *container.Container
}

// startEngine runs an engine of our own. Where none can be had it says why: it is not there,
// or this machine lets none run.
func startEngine(ctx context.Context, env *frame.Env) (e *container.Engine, missing string) {
	if missing = container.Missing(); missing != "" {
		return nil, missing
	}
	e, err := container.Start(ctx, filepath.Join(filepath.Dir(env.Stack.Dir()), "engine"), container.Options{})
	if err != nil {
		return nil, "it does not start here: " + strings.Join(strings.Fields(err.Error()), " ")
	}
	return e, ""
}

// contain builds the images and runs them in an engine, which is gone afterwards. It says what was done, and how many places could be written.
func contain(ctx context.Context, env *frame.Env, e *container.Engine, seen *frame.Seen, parts map[string]part, bin string) (how string, open int, err error) {
	defer func() {
		if left := e.Stop(); left != nil {
			seen.Wrong("the engine: %v", left)
		}
	}()
	services := slices.Sorted(maps.Keys(parts))
	if err := build(ctx, env, e, services, bin); err != nil {
		return "", 0, err
	}
	files, tried := 0, 0
	var all []*contained
	for _, service := range services {
		n, err := lookInto(ctx, e, seen, parts[service].Image, filepath.Join(bin, service))
		if err != nil {
			return "", 0, err
		}
		files += n
		c, err := start(ctx, env, e, seen, service, parts[service])
		if err != nil {
			return "", 0, fmt.Errorf("%s: %w", service, err)
		}
		all = append(all, c)
	}
	for _, c := range all {
		n, places, err := c.prove(ctx, env, seen)
		if err != nil {
			return "", 0, fmt.Errorf("%s: %w", c.service, err)
		}
		tried, open = tried+n, open+places
	}
	seen.Figure("engine", e.Version)
	return fmt.Sprintf("with an engine: %d images of %d files, %s paths tried", len(all), files, frame.Number(tried)), open, nil
}

// build makes the images out of programs that are there, by the script that makes them.
func build(ctx context.Context, env *frame.Env, e *container.Engine, services []string, bin string) error {
	cmd := exec.CommandContext(ctx, filepath.Join(env.Root, imageScript), append([]string{"services"}, services...)...)
	cmd.Env = append(e.Environ(), "PROGRAMS="+bin, "BASE=", "TAG=")
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%.2000s", imageScript, err, said)
	}
	return nil
}

// start runs an image as compose.yaml says.
func start(ctx context.Context, env *frame.Env, e *container.Engine, seen *frame.Seen, service string, p part) (*contained, error) {
	settings, err := besides(env, service)
	if err != nil {
		return nil, err
	}
	c := &contained{part: p, service: service, url: "http://" + settings["HTTP_ADDR"]}
	if c.asked, c.host, err = p.container(settings); err != nil {
		return nil, err
	}
	if c.it, err = e.Create(ctx, service, c.asked, c.host); err != nil {
		return nil, err
	}
	for _, warning := range c.it.Warnings {
		seen.Wrong("the container of %s: %s", service, warning)
	}
	return c, c.it.Start(ctx)
}

// prove waits until the engine finds it well, looks at it, and has it ended.
func (c *contained) prove(ctx context.Context, env *frame.Env, seen *frame.Seen) (tried, open int, err error) {
	var look container.Look
	well, err := frame.Until(ctx, time.Minute, func() (bool, error) {
		var err error
		if look, err = c.it.Inspect(ctx); err != nil {
			return false, err
		}
		if look.State.Status != "running" || look.State.Health == nil {
			return false, fmt.Errorf("%w: %s %s: %.1000s", errEnded, look.State.Status, look.State.Error, c.it.Said(ctx))
		}
		return look.State.Health.Status != "starting", nil
	})
	if err != nil {
		return 0, 0, err
	}
	seen.Check(well && look.State.Health.Status == "healthy", "the container of %s is %q by its own check: %+v", c.service, look.State.Health.Status, look.State.Health.Log)
	answer := env.Client.Do(ctx, client.Request{URL: c.url + "/healthz"})
	seen.Check(answer.Status == http.StatusOK, "%s does not answer /healthz from its container: %d", c.service, answer.Status)
	c.asMeant(seen, look)
	if err := c.limited(seen); err != nil {
		return 0, 0, err
	}
	if tried, open, err = c.lookAround(seen); err != nil {
		return 0, 0, err
	}
	if err := c.it.Stop(ctx); err != nil {
		return 0, 0, err
	}
	if look, err = c.it.Inspect(ctx); err != nil {
		return 0, 0, err
	}
	state := look.State
	seen.Check(state.Status == "exited" && state.ExitCode == 0 && !state.OOMKilled, "the container of %s is %s with %d, not ended in its %s: %.600s",
		c.service, state.Status, state.ExitCode, c.Grace, c.it.Said(ctx))
	return tried, open, nil
}

// asMeant holds what the engine says of the container against what it was asked for.
func (c *contained) asMeant(seen *frame.Seen, look container.Look) {
	meant := c.host
	meant.IpcMode = "private" // nothing is asked for
	diff := cmp.Diff(meant, look.HostConfig, cmpopts.EquateEmpty())
	seen.Check(diff == "", "the container of %s is not as %s has it: %s", c.service, composeFile, diff)
	diff = cmp.Diff(c.asked, look.Config, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(container.Config{}, "Env"))
	seen.Check(diff == "", "the container of %s is not as %s has it: %s", c.service, composeFile, diff)
}

// limited wants the kernel to keep the limits.
func (c *contained) limited(seen *frame.Seen) error {
	if c.PidsLimit == nil {
		return errors.New("no limit of processes")
	}
	for _, l := range []struct {
		controller, older, newer string
		want                     int64
	}{
		{"memory", "memory.limit_in_bytes", "memory.max", c.MemLimit},
		{"pids", "pids.max", "pids.max", *c.PidsLimit},
	} {
		has, err := c.it.Limit(l.controller, l.older, l.newer)
		if err != nil {
			return err
		}
		seen.Check(l.want > 0 && has == fmt.Sprint(l.want), "the kernel holds %s to a limit of %s %s, not %d", c.service, l.controller, has, l.want)
	}
	return nil
}

// lookAround looks at every process in the container, and tries to write: as its user
// wherever it can come, and as the administrator to what came with the image.
func (c *contained) lookAround(seen *frame.Seen) (tried, open int, err error) {
	uid, gid, err := c.ids()
	if err != nil {
		return 0, 0, err
	}
	pids, err := c.it.PIDs()
	if err != nil {
		return 0, 0, err
	}
	looked := 0
	for _, pid := range pids {
		err := powerless(seen, fmt.Sprintf("process %d in the container of %s", pid, c.service), pid, uid, gid, fmt.Sprint(gid))
		if errors.Is(err, fs.ErrNotExist) {
			continue // the engine's question whether it is well, which ends
		}
		if err != nil {
			return 0, 0, err
		}
		looked++
	}
	seen.Check(looked >= 2, "in the container of %s are %v, and not what starts it and itself", c.service, pids)
	mounted, err := mounts(pids[0])
	if err != nil {
		return 0, 0, err
	}
	for _, try := range []struct {
		uid, gid int
		but      []string
	}{
		{uid, gid, append(c.targets(), "/proc")}, // which shows the kernel, and keeps nothing
		{0, 0, mounted},
	} {
		var n int
		var places []string
		err := within(pids[0], try.uid, try.gid, func() (err error) {
			n, places, err = writablePlaces("", try.but)
			return err
		})
		if err != nil {
			return 0, 0, err
		}
		seen.Check(len(places) == 0, "user %d can write in the container of %s: %s", try.uid, c.service, strings.Join(places, " "))
		seen.Check(n >= 5, "the container of %s has %d paths for user %d: they were not tried", c.service, n, try.uid)
		tried, open = tried+n, open+len(places)
	}
	return tried, open, nil
}
