package rows

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/system/container"
)

const composeFile = "compose.yaml"

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

// part is how compose.yaml runs a service. What can be said there and is not named here is
// an error, lest it be left out unseen.
type part struct {
	Image       string     `json:"image"`
	User        string     `json:"user"`
	Command     []string   `json:"command"`
	ReadOnly    bool       `json:"read_only"`
	Init        *bool      `json:"init"`
	CapDrop     []string   `json:"cap_drop"`
	SecurityOpt []string   `json:"security_opt"`
	MemLimit    int64      `json:"mem_limit,string"`
	PidsLimit   *int64     `json:"pids_limit"`
	Restart     string     `json:"restart"`
	Grace       string     `json:"stop_grace_period"`
	Tmpfs       []string   `json:"tmpfs"`
	Volumes     []mounted  `json:"volumes"`
	Health      wellness   `json:"healthcheck"`
	Logging     engineLogs `json:"logging"`

	// Where a part stands among the others; here it stands in a running system.
	Environment json.RawMessage `json:"environment"`
	Networks    json.RawMessage `json:"networks"`
	Ports       json.RawMessage `json:"ports"`
	DependsOn   json.RawMessage `json:"depends_on"`

	Entrypoint []string `json:"entrypoint"` // the image's own; see read
}

type mounted struct {
	Type   string          `json:"type"`
	Source string          `json:"source"`
	Target string          `json:"target"`
	Volume json.RawMessage `json:"volume"`
}

type wellness struct {
	Test        []string `json:"test"`
	Interval    string   `json:"interval"`
	Timeout     string   `json:"timeout"`
	StartPeriod string   `json:"start_period"`
	Retries     int      `json:"retries"`
}

type engineLogs struct {
	Driver  string            `json:"driver"`
	Options map[string]string `json:"options"`
}

// readCompose has compose.yaml read by the library that Compose itself reads it with,
// and gives some of its parts.
func readCompose(ctx context.Context, env *frame.Env, services []string) (map[string]part, error) {
	text, err := composeText(env)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(filepath.Dir(env.Stack.Dir()), composeFile)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, "go", "-C", "deploy/check", "run", ".", "-file", file, "-print")
	var said bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stderr = env.Root, append(os.Environ(), "GOWORK=off"), &said
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%.1000s", composeFile, err, said.String())
	}
	var project struct {
		Services map[string]json.RawMessage `json:"services"`
	}
	if err := json.Unmarshal(out, &project); err != nil {
		return nil, err
	}
	parts := map[string]part{}
	for _, service := range services {
		var p part
		decoder := json.NewDecoder(bytes.NewReader(project.Services[service]))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&p); err != nil {
			return nil, fmt.Errorf("%s, %s: %w", composeFile, service, err)
		}
		if len(p.Entrypoint) > 0 {
			return nil, fmt.Errorf("%s, %s: it runs another program than that of its image", composeFile, service)
		}
		parts[service] = p
	}
	return parts, nil
}

// confinement is what can be done of it without an engine.
func (p part) confinement(service string) confinement {
	return confinement{
		service: service, readOnly: p.ReadOnly, dropAll: slices.Equal(p.CapDrop, []string{"ALL"}),
		noNew: slices.Contains(p.SecurityOpt, "no-new-privileges:true"), volumes: p.targets(),
	}
}

// targets are the folders of its volumes, where it may write.
func (p part) targets() (targets []string) {
	for _, v := range p.Volumes {
		targets = append(targets, v.Target)
	}
	return targets
}

// container is the same as an engine is asked for it, but for the networks: it stands on
// the network of this machine, where the database is.
func (p part) container(settings map[string]string) (container.Config, container.Host, error) {
	var wrong error
	lasting := func(text string) time.Duration {
		d, err := time.ParseDuration(text)
		if err != nil {
			wrong = err
		}
		return d
	}
	grace := int(lasting(p.Grace).Seconds())
	config := container.Config{
		Image: p.Image, User: p.User, Cmd: p.Command, StopTimeout: &grace,
		Healthcheck: &container.Health{
			Test: p.Health.Test, Retries: p.Health.Retries,
			Interval: lasting(p.Health.Interval), Timeout: lasting(p.Health.Timeout), StartPeriod: lasting(p.Health.StartPeriod),
		},
	}
	for name, value := range settings {
		config.Env = append(config.Env, name+"="+value)
	}
	host := container.Host{
		NetworkMode: "host", ReadonlyRootfs: p.ReadOnly, Init: p.Init, CapDrop: p.CapDrop, SecurityOpt: p.SecurityOpt,
		Memory: p.MemLimit, PidsLimit: p.PidsLimit, Tmpfs: map[string]string{},
		RestartPolicy: container.Restart{Name: p.Restart}, LogConfig: container.Log{Type: p.Logging.Driver, Config: p.Logging.Options},
	}
	for _, line := range p.Tmpfs {
		folder, options, _ := strings.Cut(line, ":")
		host.Tmpfs[folder] = options
	}
	for _, v := range p.Volumes {
		host.Mounts = append(host.Mounts, container.Mount{Type: v.Type, Source: v.Source, Target: v.Target})
	}
	return config, host, wrong
}

// ids are the user and the group, as numbers.
func (p part) ids() (uid, gid int, err error) {
	user, group, _ := strings.Cut(p.User, ":")
	if uid, err = strconv.Atoi(user); err == nil {
		gid, err = strconv.Atoi(group)
	}
	return uid, gid, err
}
