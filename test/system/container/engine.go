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

// programs lists the programs that the engine requires.
var programs = []string{"dockerd", "docker", "containerd", "runc"}

// Unavailable returns the reason why this machine cannot run an engine, or an empty string if it can.
func Unavailable() string {
	if runtime.GOOS != "linux" {
		return "the operating system is not Linux"
	}
	if os.Geteuid() != 0 {
		return "the test does not run as root"
	}
	for _, name := range programs {
		if _, err := exec.LookPath(name); err != nil {
			return name + " is not installed"
		}
	}
	return ""
}

// Engine is a running dockerd.
type Engine struct {
	Version string

	dir, group string
	namespace  string // PID namespace of its processes
	child      *localdb.Child
	client     *http.Client
}

// startScript is a shell script that starts dockerd with a private process list and private mounts. It hides two directories of
// the machine, because dockerd would leave files there.
const startScript = `mount --make-rprivate /
mount -t proc proc /proc
mount -t tmpfs run /run
[ ! -d /etc/docker ] || mount -t tmpfs settings /etc/docker
exec dockerd "$@"`

// Options contains the settings of an Engine.
type Options struct {
	Data     string // directory of images and volumes, which Stop does not remove; empty: a directory that Stop removes
	Networks bool   // the engine has networks, in a network namespace without any outside connection
}

// Gateway is the IP address at which containers reach programs in the network namespace of the engine.
const Gateway = "172.31.255.1"

const (
	startWithin = 60 * time.Second
	stopWithin  = 40 * time.Second // dockerd stops its containers first
)

// Start starts an engine and waits until it responds to requests. dir is the directory for its files, which must not exist.
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
	cmd := exec.Command("sh", append([]string{"-euc", startScript, "dockerd"}, e.arguments(opts)...)...)
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
		err = e.Command(ctx, "ip", "link", "set", "lo", "up").Run()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start dockerd: %w\n%s", err, e.tail()), e.Stop())
	}
	return e, nil
}

// arguments returns the command line arguments of dockerd.
func (e *Engine) arguments(opts Options) []string {
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

// Command returns a command that runs in the network namespace of the engine. Its environment makes Docker clients use this
// engine.
func (e *Engine) Command(ctx context.Context, program string, args ...string) *exec.Cmd {
	net := fmt.Sprintf("--net=/proc/%d/ns/net", e.child.PID())
	cmd := exec.CommandContext(ctx, "nsenter", append([]string{net, program}, args...)...)
	cmd.Env = e.Environ()
	return cmd
}

// wait waits until the engine responds, and stores its version in e.Version. It returns an error if the engine process ends or if
// startWithin passes.
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
			return fmt.Errorf("dockerd ended before it answered: %w", e.child.Err())
		case <-ctx.Done():
			return err
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (e *Engine) path(name string) string { return filepath.Join(e.dir, name) }

func (e *Engine) socket() string { return e.path("sock") }

// Environ returns the environment of this process, plus the variables that make Docker clients use this engine.
func (e *Engine) Environ() []string {
	return append(os.Environ(), "DOCKER_HOST=unix://"+e.socket(), "DOCKER_CONFIG="+e.path("client"), "DOCKER_CONTEXT=")
}

// tail returns the last 20 lines of the engine's log, or the text of the error if the log cannot be read.
func (e *Engine) tail() string {
	raw, err := os.ReadFile(e.path("log"))
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(raw)), "\n")
	return strings.Join(lines[max(0, len(lines)-20):], "\n")
}

// Stop stops the engine with its containers and removes its files. The error lists everything that could not be removed.
func (e *Engine) Stop() error {
	e.child.Stop(context.Background(), syscall.SIGTERM, stopWithin)
	err := errors.Join(e.removeGroups(), os.RemoveAll(e.dir))
	e.client.CloseIdleConnections()
	return err
}
