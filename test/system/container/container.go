package container

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Config is what a container is made of, as the engine writes it.
type Config struct {
	Image       string
	User        string
	Cmd         []string
	Env         []string `json:",omitempty"`
	StopTimeout *int
	Healthcheck *Health
}

// Health is how an engine asks a container whether it is well.
type Health struct {
	Test                           []string
	Interval, Timeout, StartPeriod time.Duration
	Retries                        int
}

// Host is what a container gets of its host.
type Host struct {
	NetworkMode    string
	IpcMode        string `json:",omitempty"` // nothing said: the engine's own choice
	PidMode        string
	Privileged     bool
	ReadonlyRootfs bool
	Init           *bool
	CapAdd         []string
	CapDrop        []string
	SecurityOpt    []string
	Memory         int64
	PidsLimit      *int64
	Tmpfs          map[string]string
	Mounts         []Mount
	RestartPolicy  Restart
	LogConfig      Log
}

// Mount is a volume and where it is.
type Mount struct{ Type, Source, Target string }

// Restart is when a container that ended is started again.
type Restart struct{ Name string }

// Log is where a container's words go.
type Log struct {
	Type   string
	Config map[string]string
}

// Container is one that was made.
type Container struct {
	ID       string   `json:"Id"`
	Warnings []string // what the engine will not do
	engine   *Engine
}

// Look is what the engine says of a container.
type Look struct {
	Config     Config
	HostConfig Host
	State      struct {
		Status    string
		ExitCode  int
		OOMKilled bool
		Error     string
		Health    *struct {
			Status string
			Log    []struct{ Output string }
		}
	}
}

// Create makes a container, which does not run yet.
func (e *Engine) Create(ctx context.Context, name string, config Config, host Host) (*Container, error) {
	c := &Container{engine: e}
	body := struct {
		Config
		HostConfig Host
	}{config, host}
	return c, e.call(ctx, http.MethodPost, "/containers/create?name="+url.QueryEscape(name), body, c)
}

// Start runs it.
func (c *Container) Start(ctx context.Context) error {
	return c.engine.call(ctx, http.MethodPost, "/containers/"+c.ID+"/start", nil, nil)
}

// Stop asks it to end and waits; the engine ends it by force after the container's own time.
func (c *Container) Stop(ctx context.Context) error {
	return c.engine.call(ctx, http.MethodPost, "/containers/"+c.ID+"/stop", nil, nil)
}

// Inspect asks the engine about it.
func (c *Container) Inspect(ctx context.Context) (Look, error) {
	var look Look
	return look, c.engine.call(ctx, http.MethodGet, "/containers/"+c.ID+"/json", nil, &look)
}

// Limit reads a limit that the kernel keeps for the container: one of older kernels, or
// the one of the same meaning of newer ones.
func (c *Container) Limit(controller, older, newer string) (string, error) {
	dir := filepath.Join(groupsRoot, controller, c.engine.group, c.ID)
	name := older
	if _, err := os.Stat(dir); err != nil {
		dir, name = filepath.Join(groupsRoot, c.engine.group, c.ID), newer
	}
	raw, err := os.ReadFile(filepath.Join(dir, name))
	return strings.TrimSpace(string(raw)), err
}

// PIDs are its processes, as we see them, the oldest first unless numbers began anew.
func (c *Container) PIDs() (pids []int, err error) {
	text, err := c.Limit("pids", "cgroup.procs", "cgroup.procs")
	if err != nil {
		return nil, err
	}
	for word := range strings.FieldsSeq(text) {
		pid, err := strconv.Atoi(word)
		if err != nil {
			return nil, fmt.Errorf("cgroup.procs: %w", err)
		}
		pids = append(pids, pid)
	}
	if len(pids) == 0 {
		return nil, fmt.Errorf("container %s has no process", c.ID)
	}
	slices.Sort(pids)
	return pids, nil
}

// Said is what it wrote, as far as it can be had.
func (c *Container) Said(ctx context.Context) string {
	resp, err := c.engine.open(ctx, http.MethodGet, "/containers/"+c.ID+"/logs?stdout=1&stderr=1&tail=5", nil)
	if err != nil {
		return err.Error()
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return err.Error()
	}
	return strings.ToValidUTF8(string(raw), "")
}
