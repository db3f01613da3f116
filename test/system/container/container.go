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

// Config is the configuration of a container, with the member names of the Docker Engine API.
type Config struct {
	Image       string
	User        string
	Cmd         []string
	Env         []string `json:",omitempty"`
	StopTimeout *int
	Healthcheck *Health
}

// Health is the health check of a container.
type Health struct {
	Test                           []string
	Interval, Timeout, StartPeriod time.Duration
	Retries                        int
}

// Host contains the settings of a container that concern the machine: limits, mounts, network and permissions.
type Host struct {
	NetworkMode    string
	IpcMode        string `json:",omitempty"` // empty: the default of the engine
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

// Mount mounts the volume Source at the directory Target in the container.
type Mount struct{ Type, Source, Target string }

// Restart is the restart policy of a container. Name is the name of the policy in the Docker Engine API.
type Restart struct{ Name string }

// Log is the log driver of a container, with its options.
type Log struct {
	Type   string
	Config map[string]string
}

// Container is a container of an Engine.
type Container struct {
	ID       string   `json:"Id"`
	Warnings []string // warnings of the engine, for example about settings that it ignores
	engine   *Engine
}

// State is the response of the engine to a request for the state of a container.
type State struct {
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

// Create creates a container. It does not start the container.
func (e *Engine) Create(ctx context.Context, name string, config Config, host Host) (*Container, error) {
	c := &Container{engine: e}
	body := struct {
		Config
		HostConfig Host
	}{config, host}
	return c, e.call(ctx, http.MethodPost, "/containers/create?name="+url.QueryEscape(name), body, c)
}

// Start starts the container.
func (c *Container) Start(ctx context.Context) error {
	return c.engine.call(ctx, http.MethodPost, "/containers/"+c.ID+"/start", nil, nil)
}

// Stop stops the container with SIGTERM. If the container still runs after its StopTimeout, the engine sends SIGKILL.
func (c *Container) Stop(ctx context.Context) error {
	return c.engine.call(ctx, http.MethodPost, "/containers/"+c.ID+"/stop", nil, nil)
}

// Inspect reads the state of the container from the engine.
func (c *Container) Inspect(ctx context.Context) (State, error) {
	var s State
	err := c.engine.call(ctx, http.MethodGet, "/containers/"+c.ID+"/json", nil, &s)
	return s, err
}

// Limit returns the content of a cgroup file of the container, for example a resource limit. With cgroup v1, it reads the
// file named by the parameter v1 in the directory of the controller. With cgroup v2, it reads the file named by v2.
func (c *Container) Limit(controller, v1, v2 string) (string, error) {
	dir := filepath.Join(groupsRoot, controller, c.engine.group, c.ID)
	name := v1
	if _, err := os.Stat(dir); err != nil {
		dir, name = filepath.Join(groupsRoot, c.engine.group, c.ID), v2
	}
	raw, err := os.ReadFile(filepath.Join(dir, name))
	return strings.TrimSpace(string(raw)), err
}

// PIDs returns the IDs of the container's processes on this machine, in ascending order. It returns an error if there are none.
func (c *Container) PIDs() (pids []int, err error) {
	text, err := c.Limit("pids", "cgroup.procs", "cgroup.procs")
	if err != nil {
		return nil, err
	}
	for word := range strings.FieldsSeq(text) {
		pid, err := strconv.Atoi(word)
		if err != nil {
			return nil, fmt.Errorf("read cgroup.procs: %w", err)
		}
		pids = append(pids, pid)
	}
	if len(pids) == 0 {
		return nil, fmt.Errorf("container %s has no running process", c.ID)
	}
	slices.Sort(pids)
	return pids, nil
}

// Log returns the last five lines of the container's output. If they cannot be read, it returns the text of the error.
func (c *Container) Log(ctx context.Context) string {
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
