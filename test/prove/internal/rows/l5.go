package rows

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/described"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/prove/stack"
)

const composeFile = "compose.yaml"

// l5 has compose.yaml checked, and runs the programs of the images as it says: as its
// user, without what it drops, on a root of their own that holds what the images hold.
// That is done without a container engine, so limits of memory are not tried.
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
		text, err := composeText(env)
		if err != nil {
			return nil, err
		}
		if env.Size > frame.Small {
			if err := noDefaults(ctx, env, seen); err != nil {
				return nil, err
			}
		}
		services := described.Hosts[:env.Of(1, 3, 3)]
		made, err := images(ctx, env, services)
		if err != nil {
			return nil, err
		}
		writable, tried := 0, 0
		for _, service := range services {
			c := confinementOf(text, service)
			n, wrong, err := c.prove(ctx, env, seen, filepath.Join(made.bin, service))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", service, err)
			}
			tried, writable = tried+n, writable+wrong
		}
		seen.Promise("CapEff 0, NoNewPrivs 1, writable paths 0", fmt.Sprintf("as due %v, writable paths %d", seen.OK(), writable))
		seen.Volume("%d services confined without an engine, %d paths tried", len(services), tried)
		return seen, nil
	},
}

// composeText is compose.yaml, unless a fault has put another one in its place.
func composeText(env *frame.Env) (string, error) {
	text, err := env.Shared(composeFile, func() (any, error) {
		raw, err := os.ReadFile(filepath.Join(env.Root, composeFile))
		return string(raw), err
	})
	if err != nil {
		return "", err
	}
	return text.(string), nil
}

// confinement is how compose.yaml runs a service.
type confinement struct {
	service                  string
	readOnly, dropAll, noNew bool
	volumes                  []string // where it may write
}

var (
	aService = regexp.MustCompile(`(?m)^  [a-z-]+:$`)
	aVolume  = regexp.MustCompile(`(?m)^    (?:volumes|tmpfs): \["(?:[a-z]+:)?(/[a-z/]+)`)
)

// confinementOf reads what deploy/check holds to be there: the common part, and the
// folders of one service.
func confinementOf(text, service string) confinement {
	common, services, _ := strings.Cut(text, "\nservices:\n")
	c := confinement{
		service: service, readOnly: strings.Contains(common, "read_only: true"), dropAll: strings.Contains(common, "cap_drop: [ALL]"),
		noNew: strings.Contains(common, "no-new-privileges:true"),
	}
	_, own, _ := strings.Cut(services, "\n  "+service+":\n")
	if end := aService.FindStringIndex(own); end != nil {
		own = own[:end[0]]
	}
	for _, m := range aVolume.FindAllStringSubmatch(own, -1) {
		c.volumes = append(c.volumes, m[1])
	}
	return c
}

// prove runs the service, looks at it from outside, and ends it.
func (c confinement) prove(ctx context.Context, env *frame.Env, seen *frame.Seen, program string) (tried, writable int, err error) {
	settings, err := stack.Environment(env.Stack.PID(c.service))
	if err != nil {
		return 0, 0, err
	}
	for _, name := range []string{"HTTP_ADDR", "GRPC_ADDR", "ORIGIN_LISTEN"} {
		if settings[name] == "" {
			continue
		}
		if settings[name], err = stack.FreeAddr(); err != nil {
			return 0, 0, err
		}
	}
	settings["METRICS_ADDR"] = ""
	if settings["ORIGIN_DIR"] != "" {
		settings["ORIGIN_DIR"] = "/video" // as compose.yaml has it
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
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.pid))
	if err != nil {
		return 0, 0, err
	}
	status := map[string]string{}
	for line := range strings.Lines(string(raw)) {
		name, value, _ := strings.Cut(line, ":")
		status[name] = strings.Join(strings.Fields(value), " ")
	}
	for name, want := range map[string]string{
		"CapEff": zeros, "CapPrm": zeros, "CapInh": zeros, "CapBnd": zeros, "CapAmb": zeros, "NoNewPrivs": "1", "Groups": "",
		"Uid": "65532 65532 65532 65532", "Gid": "65532 65532 65532 65532",
	} {
		seen.Check(status[name] == want, "%s runs with %s %q, not %q", c.service, name, status[name], want)
	}
	tried, places, err := writablePlaces(fmt.Sprintf("/proc/%d/root", p.pid), c.volumes)
	for _, place := range places {
		seen.Wrong("%s can write %s", c.service, place)
	}
	seen.Check(tried >= 5, "%s has %d paths: they were not tried", c.service, tried)
	return tried, len(places), err
}

const zeros = "0000000000000000"

// writablePlaces tries to write everywhere below a root as the administrator, whom no
// mode of a file stops: what is refused is refused to everybody.
func writablePlaces(root string, volumes []string) (tried int, places []string, err error) {
	err = filepath.WalkDir(root+"/", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		inside := "/" + strings.TrimPrefix(strings.TrimPrefix(path, root), "/")
		for _, free := range append(volumes, "/proc") { // that of the kernel is mounted to be read alone
			if inside == free {
				return filepath.SkipDir
			}
		}
		tried++
		flags := os.O_WRONLY
		if d.IsDir() {
			path, flags = filepath.Join(path, "written-by-a-row"), os.O_WRONLY|os.O_CREATE|os.O_EXCL
		}
		f, err := os.OpenFile(path, flags, 0o600)
		if err != nil {
			return nil // as it should be
		}
		places = append(places, inside)
		if err := f.Close(); err != nil || !d.IsDir() {
			return err
		}
		return os.Remove(path)
	})
	return tried, places, err
}

var errEnded = errors.New("it ended by itself")
