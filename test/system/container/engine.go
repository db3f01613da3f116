package container

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/signalcast/signalcast/pkg/localdb"
)

// programs are those of Debian's docker.io that we start or have started.
var programs = []string{"dockerd", "docker", "containerd", "runc"}

// Missing says why no engine can be had on this machine; empty: one can.
func Missing() string {
	if runtime.GOOS != "linux" {
		return "this is not Linux"
	}
	if os.Geteuid() != 0 {
		return "not root"
	}
	for _, name := range programs {
		if _, err := exec.LookPath(name); err != nil {
			return name + " is not installed"
		}
	}
	return ""
}

// Engine is one that runs.
type Engine struct {
	Version string

	dir, group string
	namespace  string // of its processes
	child      *localdb.Child
	client     *http.Client
}

// begin gives the engine what it would else share with the machine: the list of processes,
// mounts, and the two folders in which it and what it starts leave files.
const begin = `mount --make-rprivate /
mount -t proc proc /proc
mount -t tmpfs run /run
[ ! -d /etc/docker ] || mount -t tmpfs settings /etc/docker
exec dockerd "$@"`

// Options say what an engine has beside its folder.
type Options struct {
	Data     string // where images and volumes are kept, which stays; empty: in the folder, which goes
	Networks bool   // it makes networks, in a network namespace of its own, which reaches nothing else
}

// Gateway is where containers of an engine with networks find what else listens there.
const Gateway = "172.31.255.1"

const (
	startWithin = 60 * time.Second
	endWithin   = 40 * time.Second // containers are asked first
)

// Start runs an engine that keeps its files in dir, which must not be there yet.
func Start(ctx context.Context, dir string, opts Options) (*Engine, error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	e := &Engine{dir: dir, group: fmt.Sprintf("signalcast-engine-%d", os.Getpid())}
	e.client = &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", e.socket())
		},
	}}
	if err := os.WriteFile(e.path("settings.json"), []byte("{}"), 0o600); err != nil {
		return nil, err
	}
	log, err := os.Create(e.path("log"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	cmd := exec.Command("sh", append([]string{"-euc", begin, "dockerd"}, e.settings(opts)...)...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS}
	if opts.Networks {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWNET
	}
	if e.child, err = localdb.StartChild(cmd, syscall.SIGKILL); err != nil {
		return nil, err
	}
	err = e.wait(ctx)
	if err == nil && opts.Networks {
		err = e.Beside(ctx, "ip", "link", "set", "lo", "up").Run()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("dockerd: %w\n%s", err, e.tail()), e.Stop())
	}
	return e, nil
}

// settings are the arguments of dockerd.
func (e *Engine) settings(opts Options) []string {
	if opts.Data == "" {
		opts.Data = e.path("data")
	}
	args := []string{
		"--config-file", e.path("settings.json"), "--data-root", opts.Data, "--exec-root", e.path("exec"),
		"--pidfile", e.path("pid"), "--host", "unix://" + e.socket(), "--group", "root",
		"--cgroup-parent", "/" + e.group, "--exec-opt", "native.cgroupdriver=cgroupfs", "--ip6tables=false",
	}
	if opts.Networks {
		return append(args, "--bip="+Gateway+"/24")
	}
	return append(args, "--bridge=none", "--iptables=false", "--ip-forward=false", "--ip-masq=false")
}

// Beside makes a command that runs on the network of the engine.
func (e *Engine) Beside(ctx context.Context, program string, args ...string) *exec.Cmd {
	net := fmt.Sprintf("--net=/proc/%d/ns/net", e.child.PID())
	cmd := exec.CommandContext(ctx, "nsenter", append([]string{net, program}, args...)...)
	cmd.Env = e.Environ()
	return cmd
}

// wait is done when the engine answers.
func (e *Engine) wait(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	var err error
	if e.namespace, err = os.Readlink(fmt.Sprintf("/proc/%d/ns/pid", e.child.PID())); err != nil {
		return err
	}
	for {
		var version struct{ Version string }
		err := e.call(ctx, http.MethodGet, "/version", nil, &version)
		if err == nil {
			e.Version = version.Version
			return nil
		}
		select {
		case <-e.child.Done():
			return fmt.Errorf("it ended: %w", e.child.Err())
		case <-ctx.Done():
			return err
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (e *Engine) path(name string) string { return filepath.Join(e.dir, name) }

func (e *Engine) socket() string { return e.path("sock") }

// Environ is ours, for programs that shall speak to this engine and know of no other.
func (e *Engine) Environ() []string {
	return append(os.Environ(), "DOCKER_HOST=unix://"+e.socket(), "DOCKER_CONFIG="+e.path("client"), "DOCKER_CONTEXT=")
}

// tail is the end of what the engine wrote.
func (e *Engine) tail() string {
	raw, err := os.ReadFile(e.path("log"))
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(raw)), "\n")
	return strings.Join(lines[max(0, len(lines)-20):], "\n")
}

// Stop ends the engine with all of its containers, removes what it kept, and tells of
// what is left all the same.
func (e *Engine) Stop() error {
	e.child.Stop(context.Background(), syscall.SIGTERM, endWithin)
	err := errors.Join(e.leave(), os.RemoveAll(e.dir))
	e.client.CloseIdleConnections()
	return err
}
