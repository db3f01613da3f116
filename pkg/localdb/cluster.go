package localdb

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/signalcast/signalcast/pkg/dbtime"
)

const superuser = "postgres"

var (
	errPortTaken    = errors.New("another process uses the port")
	errStillRunning = errors.New("processes of the previous server are still running")
)

// cluster is a data directory with the binaries and the user that run its server.
type cluster struct {
	data string
	bin  binaries
	as   identity
}

// openCluster opens the cluster in dir. It creates the cluster if there is none.
func openCluster(ctx context.Context, dir string, cfg PostgresConfig) (cluster, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return cluster{}, err
	}
	if err := os.MkdirAll(dir, 0o711); err != nil {
		return cluster{}, err
	}
	c := cluster{data: filepath.Join(dir, "data")}
	if exists(filepath.Join(c.data, "PG_VERSION")) {
		return c.reopen(ctx, cfg.Log)
	}
	fail := &failure{what: "Postgres", hint: hintPostgres()}
	found, rejected := installed(ctx)
	for _, why := range rejected {
		fail.add("rejected", errors.New(why))
	}
	for _, b := range found {
		if ok := c.create(ctx, b, cfg, fail); ok {
			return c, nil
		}
	}
	if len(found) == 0 {
		fail.add("local binaries", errors.New("not found on PATH or in the usual directories"))
	}
	for _, source := range sources {
		b, err := source.download(ctx, cfg.Log)
		if err != nil {
			fail.add(source.name, err)
			continue
		}
		if ok := c.create(ctx, b, cfg, fail); ok {
			return c, nil
		}
	}
	return cluster{}, fail
}

// reopen returns c with the owner of the data and the binaries of the major version that wrote it. It waits until a previous
// server has ended (see waitForPredecessor). It fails if that version is neither installed nor downloadable.
func (c cluster) reopen(ctx context.Context, log Log) (cluster, error) {
	raw, err := os.ReadFile(filepath.Join(c.data, "PG_VERSION"))
	if err != nil {
		return c, err
	}
	want, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil {
		return c, fmt.Errorf("%s contains no Postgres cluster: %w", c.data, err)
	}
	c.as = ownerIdentity(c.data)
	found, _ := installed(ctx)
	for _, b := range found {
		if b.major == want {
			c.bin = b
			return c, c.waitForPredecessor(ctx)
		}
	}
	for _, source := range sources {
		if want != downloadedMajor {
			break
		}
		if b, err := source.download(ctx, log); err == nil && b.major == want {
			c.bin = b
			return c, c.waitForPredecessor(ctx)
		}
	}
	return c, fmt.Errorf("%s was written by PostgreSQL %d, which is not installed; install it, or delete the directory and its data",
		c.data, want)
}

// waitForPredecessor waits until the previous server of the data directory has shut down. That server may still run if the
// process that started it was killed. After 10 s waitForPredecessor returns an error, because the server is in use.
func (c cluster) waitForPredecessor(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for {
		raw, err := os.ReadFile(filepath.Join(c.data, "postmaster.pid"))
		if err != nil {
			return nil
		}
		line, _, _ := strings.Cut(string(raw), "\n")
		pid, err := strconv.Atoi(strings.TrimSpace(line))
		if err != nil || !runsIn(pid, c.data) {
			return nil
		}
		if err := dbtime.Sleep(ctx, 20*time.Millisecond); err != nil {
			return fmt.Errorf("another Postgres (process %d) uses %s", pid, c.data)
		}
	}
}

// runsIn reports whether pid is a server of this data directory. The id alone is not sufficient, because the system may
// have given it to another process. Without /proc, runsIn reports whether the process exists.
func runsIn(pid int, data string) bool {
	cwd, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid))
	if err != nil {
		return alive(pid)
	}
	return cwd == data
}

// killLeftovers kills the Postgres processes that still use the data directory after their server has ended. A process
// that waits for a lock of a killed process would wait forever.
func (c cluster) killLeftovers() {
	program, err := filepath.EvalSymlinks(c.bin.path("postgres"))
	if err != nil {
		return
	}
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		cwd, _ := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid))
		exe, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
		if cwd == c.data && exe == program { // not a shell in the same directory
			_ = syscall.Kill(pid, syscall.SIGKILL) // an error means that the process has ended meanwhile
		}
	}
}

// create runs initdb as each identity until one succeeds, and reports whether one did. It adds each error to fail.
// initdb writes to a temporary directory, which create renames, so that an interrupted run leaves no incomplete
// cluster.
func (c *cluster) create(ctx context.Context, b binaries, cfg PostgresConfig, fail *failure) bool {
	for _, as := range identities() {
		fresh := c.data + ".new"
		if err := initdb(ctx, b, as, fresh, cfg.Durable); err != nil {
			_ = os.RemoveAll(fresh)
			fail.add(fmt.Sprintf("initdb of %s as %s", b.dir, as.name), err)
			continue
		}
		if err := os.Rename(fresh, c.data); err != nil {
			fail.add("rename", err)
			return false
		}
		c.bin, c.as = b, as
		return true
	}
	return false
}

func initdb(ctx context.Context, b binaries, as identity, dir string, durable bool) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	if as.uid >= 0 {
		if err := os.Chown(dir, as.uid, as.gid); err != nil {
			return err
		}
	}
	args := []string{"-D", dir, "-U", superuser, "-A", "trust", "-E", "UTF8", "--locale=C"}
	if !durable {
		args = append(args, "-N")
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, b.path("initdb"), args...)
	cmd.Env, cmd.Dir = serverEnv(), "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	as.apply(cmd.SysProcAttr)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, lastLine(out))
	}
	return nil
}

// serverEnv returns the environment variables of the server. Variables of this process such as PGDATA and PGPORT are not
// among them.
func serverEnv() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TZ=UTC"}
}

// command returns the command that starts the server on a port.
func (c cluster) command(port int, cfg PostgresConfig) *exec.Cmd {
	args := []string{"-D", c.data}
	settings := serverSettings(port, cfg)
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		args = append(args, "-c", name+"="+settings[name])
	}
	cmd := exec.Command(c.bin.path("postgres"), args...)
	cmd.Env, cmd.Dir = serverEnv(), "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	c.as.apply(cmd.SysProcAttr)
	return cmd
}

func serverSettings(port int, cfg PostgresConfig) map[string]string {
	onOff := "off"
	if cfg.Durable {
		onOff = "on"
	}
	s := map[string]string{
		"listen_addresses":        "127.0.0.1",
		"unix_socket_directories": "",
		"port":                    strconv.Itoa(port),
		"fsync":                   onOff,
		"synchronous_commit":      onOff,
		"full_page_writes":        onOff,
		"max_connections":         "200",
		"shared_buffers":          "64MB",
		"timezone":                "UTC",
		// Parameters contain key hashes and session data and must not be logged.
		"log_parameter_max_length":          "0",
		"log_parameter_max_length_on_error": "0",
	}
	// With mmap the shared memory is a file in the data directory. A killed server leaves nothing in the shared
	// memory of the machine, and programs that clean shared memory do not affect a running server.
	s["dynamic_shared_memory_type"] = "mmap"
	if cfg.Durable {
		s["shared_buffers"] = "256MB"
		s["max_wal_size"] = "2GB"
	}
	if len(cfg.Preload) > 0 {
		s["shared_preload_libraries"] = strings.Join(cfg.Preload, ",")
	}
	maps.Copy(s, cfg.Settings)
	return s
}
