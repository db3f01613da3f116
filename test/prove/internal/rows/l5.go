package rows

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/prove/stack"
	"github.com/signalcast/signalcast/test/system/openapi"
)

// l5 has compose.yaml checked, and runs the services as it says, twice: their images in
// containers, where a container engine can be had, and their programs without one, as
// its user, without what it drops, on a root of their own that holds what the images hold.
// Without an engine limits of memory are not tried, nor the images looked into.
var l5 = frame.Row{
	ID: "L5", Title: "containers are minimal", Limit: 5 * time.Minute,
	Fault: frame.Fault{What: "compose.yaml lets the services write and gain privileges", Plant: func(_ context.Context, env *frame.Env) error {
		text, err := composeText(env)
		if err != nil {
			return err
		}
		weak := strings.NewReplacer("read_only: true", "read_only: false", "no-new-privileges:true", "no-new-privileges:false", "cap_drop: [ALL]", "cap_drop: [NET_RAW]")
		env.Replace(composeFile, weak.Replace(text))
		return nil
	}},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		if env.Size > frame.Small {
			if err := noDefaults(ctx, env, seen); err != nil {
				return nil, err
			}
		}
		services := openapi.Hosts[:env.Of(1, 3, 3)]
		parts, err := readCompose(ctx, env, services)
		if err != nil {
			return nil, err
		}
		made, err := images(ctx, env, services)
		if err != nil {
			return nil, err
		}
		how, writable := "", 0
		if e, missing := startEngine(ctx, env); missing != "" {
			how = "without an engine: " + missing
		} else if how, writable, err = contain(ctx, env, e, seen, parts, made.bin); err != nil {
			return seen, err
		}
		tried := 0
		for _, service := range services {
			n, wrong, err := parts[service].confinement(service).prove(ctx, env, seen, filepath.Join(made.bin, service))
			if err != nil {
				return seen, fmt.Errorf("%s: %w", service, err)
			}
			tried, writable = tried+n, writable+wrong
		}
		seen.Promise("CapEff 0, NoNewPrivs 1, writable paths 0", fmt.Sprintf("as due %v, writable paths %d", seen.OK(), writable))
		seen.Volume("%d services confined, %d paths tried; %s", len(services), tried, how)
		return seen, nil
	},
}

// confinement is how a service is run without an engine.
type confinement struct {
	service                  string
	readOnly, dropAll, noNew bool
	volumes                  []string // where it may write
}

// besides are the settings of one more process of a running service, at addresses of its
// own, with the folder of the image for video.
func besides(env *frame.Env, service string) (settings map[string]string, err error) {
	if settings, err = stack.Environment(env.Stack.PID(service)); err != nil {
		return nil, err
	}
	for _, name := range []string{"HTTP_ADDR", "GRPC_ADDR", "ORIGIN_LISTEN"} {
		if settings[name] == "" {
			continue
		}
		if settings[name], err = stack.FreeAddr(); err != nil {
			return nil, err
		}
	}
	settings["METRICS_ADDR"] = ""
	if settings["ORIGIN_DIR"] != "" {
		settings["ORIGIN_DIR"] = "/video" // as compose.yaml has it
	}
	return settings, nil
}

// prove runs the service, looks at it from outside, and ends it.
func (c confinement) prove(ctx context.Context, env *frame.Env, seen *frame.Seen, program string) (tried, writable int, err error) {
	settings, err := besides(env, c.service)
	if err != nil {
		return 0, 0, err
	}
	root := filepath.Join(filepath.Dir(env.Stack.Dir()), "root-of-"+c.service)
	p, err := c.start(root, program, settings)
	if err != nil {
		return 0, 0, err
	}
	defer p.stop()
	well, err := frame.Until(ctx, 30*time.Second, func() (bool, error) {
		return env.Client.Do(ctx, client.Request{URL: "http://" + settings["HTTP_ADDR"] + "/healthz"}).Status == http.StatusOK, p.ended()
	})
	if err != nil {
		return 0, 0, err
	}
	seen.Check(well, "%s does not answer /healthz when it is confined", c.service)
	if err := powerless(seen, c.service, p.pid, nobody, nobody, ""); err != nil {
		return 0, 0, err
	}
	// The administrator tries, whom no mode of a file stops: what is refused is refused to
	// everybody. /proc is mounted to be read alone.
	tried, places, err := writablePlaces(fmt.Sprintf("/proc/%d/root", p.pid), append(c.volumes, "/proc"))
	seen.Check(len(places) == 0, "%s can write %s", c.service, strings.Join(places, " "))
	seen.Check(tried >= 5, "%s has %d paths: they were not tried", c.service, tried)
	return tried, len(places), err
}

const zeros = "0000000000000000"

// powerless wants a process to have no rights but those of its user.
func powerless(seen *frame.Seen, who string, pid, uid, gid int, groups string) error {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return err
	}
	status := map[string]string{}
	for line := range strings.Lines(string(raw)) {
		name, value, _ := strings.Cut(line, ":")
		status[name] = strings.Join(strings.Fields(value), " ")
	}
	for name, want := range map[string]string{
		"CapEff": zeros, "CapPrm": zeros, "CapInh": zeros, "CapBnd": zeros, "CapAmb": zeros, "NoNewPrivs": "1", "Groups": groups,
		"Uid": fmt.Sprintf("%[1]d %[1]d %[1]d %[1]d", uid), "Gid": fmt.Sprintf("%[1]d %[1]d %[1]d %[1]d", gid),
	} {
		seen.Check(status[name] == want, "%s runs with %s %q, not %q", who, name, status[name], want)
	}
	return nil
}

var errEnded = errors.New("it ended by itself")
