package shipping

import (
	"archive/tar"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/signalcast/signalcast/test/system/container"
	"github.com/signalcast/signalcast/test/system/stack"
)

const (
	imageUser = 65532 // user id of the services in the images
	// trusted is the Debian file with the CA certificates that the images contain.
	trusted = "/etc/ssl/certs/ca-certificates.crt"
)

// TestServicesRunInContainers runs the images in containers that are configured like in compose.yaml. The images must be
// minimal. The containers must become healthy, respect their limits, have no privileges, and stop in time.
func TestServicesRunInContainers(t *testing.T) {
	if reason := container.Unavailable(); reason != "" {
		t.Skip("no container engine: " + reason)
	}
	t.Parallel()
	s, all := stack.Shared(t), readCompose(t)
	dir, err := os.MkdirTemp("/var/tmp", "signalcast-engine-") // the path from t.TempDir would be too long for Unix sockets
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	engine, err := container.Start(t.Context(), filepath.Join(dir, "engine"), container.Options{})
	if err != nil {
		t.Skipf("the container engine does not start on this machine: %v", err)
	}
	t.Cleanup(func() {
		if err := engine.Stop(); err != nil {
			t.Errorf("stop the engine: %v", err)
		}
	})
	programs := compileOnce(t).programs
	env := append(engine.Environ(), "PROGRAMS="+programs, "MINIMAL=1", "BASE=", "TAG=", "IMAGE_PREFIX=")
	run(t, root(t), env, sourcePath(t, imageScript), append([]string{"programs"}, services(t)...)...)
	for name, service := range all {
		t.Run(name, func(t *testing.T) {
			requireMinimalImage(t, engine, service.Image, filepath.Join(programs, name))
			settings := furtherSettings(t, s, name)
			config, host := service.container(t, settings)
			c, err := engine.Create(t.Context(), name, config, host)
			if err != nil {
				t.Fatal(err)
			}
			for _, warning := range c.Warnings {
				t.Errorf("the engine reports a warning: %s", warning)
			}
			if err := c.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			requireHealthy(t, c)
			requireHealth(t, "http://"+settings["HTTP_ADDR"])
			requireConfigured(t, c, config, host)
			requireLimits(t, c, service)
			requireConfinedContainer(t, c, service)
			if err := c.Stop(t.Context()); err != nil {
				t.Fatal(err)
			}
			if state := inspect(t, c).State; state.Status != "exited" || state.ExitCode != 0 || state.OOMKilled {
				log := c.Log(t.Context())
				t.Errorf("the container is %s with exit code %d; want exited with 0 within %s\n%s", state.Status, state.ExitCode, service.Grace, log)
			}
		})
	}
}

// furtherSettings returns the settings for an additional process of a service, with free ports and the video directory
// of the image.
func furtherSettings(t *testing.T, s *stack.Stack, name string) map[string]string {
	t.Helper()
	settings := s.Settings(t, name)
	for _, address := range []string{"HTTP_ADDR", "GRPC_ADDR", "ORIGIN_LISTEN"} {
		if settings[address] != "" {
			settings[address] = stack.FreeAddr(t)
		}
	}
	settings["METRICS_ADDR"] = ""
	if settings["ORIGIN_DIR"] != "" {
		settings["ORIGIN_DIR"] = "/video"
	}
	return settings
}

// requireHealth waits until /healthz of a service answers 200.
func requireHealth(t *testing.T, base string) {
	t.Helper()
	client := &http.Client{Timeout: 2 * time.Second}
	stack.Eventually(t, 30*time.Second, base+"/healthz to answer 200", func() bool {
		resp, err := client.Get(base + "/healthz")
		if err != nil {
			return false
		}
		_ = resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
}

// requireNoRights requires that a process has no privileges other than those of its user and groups.
func requireNoRights(t *testing.T, pid, uid, gid int, groups string) {
	t.Helper()
	raw := stack.ReadFile(t, fmt.Sprintf("/proc/%d/status", pid))
	const none = "0000000000000000"
	want := map[string]string{
		"CapEff": none, "CapPrm": none, "CapInh": none, "CapBnd": none, "CapAmb": none, "NoNewPrivs": "1", "Groups": groups,
		"Uid": fmt.Sprintf("%[1]d %[1]d %[1]d %[1]d", uid), "Gid": fmt.Sprintf("%[1]d %[1]d %[1]d %[1]d", gid),
	}
	got := map[string]string{}
	for line := range strings.Lines(raw) {
		name, value, _ := strings.Cut(line, ":")
		if _, ok := want[name]; ok {
			got[name] = strings.Join(strings.Fields(value), " ")
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("privileges of process %d (-want +got):\n%s", pid, diff)
	}
}

// tryToWrite tries to write to all paths below root, except the paths in except. It returns their number and the paths that can
// be written. It does not follow links, because it visits their targets as well. Devices do not count as writable, because they
// store nothing.
func tryToWrite(root string, except []string) (tried int, writable []string, err error) {
	err = filepath.WalkDir(root+"/", func(path string, d fs.DirEntry, err error) error {
		inside := "/" + strings.TrimPrefix(strings.TrimPrefix(path, root), "/")
		switch {
		case slices.Contains(except, inside) && d.IsDir():
			return filepath.SkipDir
		case slices.Contains(except, inside), os.IsPermission(err), os.IsNotExist(err):
			return nil
		case err != nil:
			return err
		case d.Type() == fs.ModeSymlink:
			return nil
		}
		tried++
		can, err := canWrite(path, d.IsDir())
		if can {
			writable = append(writable, inside)
		}
		return err
	})
	return tried, writable, err
}

// canWrite reports whether a file can be opened for writing, or whether a file can be created in a directory.
func canWrite(path string, isDir bool) (bool, error) {
	flags := os.O_WRONLY | syscall.O_NONBLOCK // opening a pipe without a reader would block otherwise
	if isDir {
		path, flags = filepath.Join(path, "written-by-a-test"), os.O_WRONLY|os.O_CREATE|os.O_EXCL
	}
	f, err := os.OpenFile(path, flags, 0o600)
	if err != nil {
		return false, nil // expected
	}
	info, err := f.Stat()
	if err := f.Close(); err != nil {
		return true, err
	}
	if isDir {
		return true, os.Remove(path)
	}
	return err != nil || info.Mode()&fs.ModeDevice == 0, err
}

func inspect(t *testing.T, c *container.Container) container.State {
	t.Helper()
	state, err := c.Inspect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return state
}

// requireHealthy waits until the health check of the engine reports the container as healthy.
func requireHealthy(t *testing.T, c *container.Container) {
	t.Helper()
	stack.Eventually(t, time.Minute, "the container to be healthy", func() bool {
		state := inspect(t, c).State
		if state.Status != "running" || state.Health == nil || state.Health.Status == "unhealthy" {
			t.Fatalf("the container is %+v; want running and healthy\n%s", state, c.Log(t.Context()))
		}
		return state.Health.Status == "healthy"
	})
}

// requireConfigured compares the configuration that the engine reports with the requested one.
func requireConfigured(t *testing.T, c *container.Container, config container.Config, host container.Host) {
	t.Helper()
	got := inspect(t, c)
	host.IpcMode = "private" // default of the engine
	if diff := cmp.Diff(host, got.HostConfig, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("host configuration of the container (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(config, got.Config, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(container.Config{}, "Env")); diff != "" {
		t.Errorf("configuration of the container (-want +got):\n%s", diff)
	}
}

// requireLimits requires that the kernel enforces the limits of memory and of processes.
func requireLimits(t *testing.T, c *container.Container, s service) {
	t.Helper()
	if s.PidsLimit == nil {
		t.Fatal("compose.yaml sets no limit of processes")
	}
	for _, l := range []struct {
		controller, v1, v2 string
		want               int64
	}{
		{"memory", "memory.limit_in_bytes", "memory.max", s.MemLimit},
		{"pids", "pids.max", "pids.max", *s.PidsLimit},
	} {
		if got, err := c.Limit(l.controller, l.v1, l.v2); err != nil || l.want <= 0 || got != fmt.Sprint(l.want) {
			t.Errorf("the limit of %s in the kernel is %s (error %v); want %d", l.controller, got, err, l.want)
		}
	}
}

// requireConfinedContainer requires that no process of the container has privileges, and that files are protected. The user of
// the service may write only in the volumes, and root must not be able to change the files of the image.
func requireConfinedContainer(t *testing.T, c *container.Container, s service) {
	t.Helper()
	uid, gid := s.ids(t)
	pids, err := c.PIDs()
	if err != nil {
		t.Fatal(err)
	}
	if len(pids) < 2 {
		t.Errorf("the container runs the processes %v; want the init process and the service only", pids)
	}
	for _, pid := range pids {
		if _, err := os.Stat(fmt.Sprintf("/proc/%d", pid)); errors.Is(err, fs.ErrNotExist) {
			continue // the process was a health check that has ended
		}
		requireNoRights(t, pid, uid, gid, fmt.Sprint(gid))
	}
	for _, try := range []struct {
		uid, gid int
		except   []string
	}{
		{uid, gid, append(s.volumes(), "/proc")},
		{0, 0, mountsOf(t, pids[0])},
	} {
		var tried int
		var writable []string
		err := inMountsOf(pids[0], try.uid, try.gid, func() (err error) {
			tried, writable, err = tryToWrite("", try.except)
			return err
		})
		if err != nil || len(writable) > 0 || tried < 5 {
			t.Errorf("user %d can write %d of %d paths (error %v); want none of at least 5: %v", try.uid, len(writable), tried, err, writable)
		}
	}
}

// mountsOf returns the mount points of a process other than its root directory.
func mountsOf(t *testing.T, pid int) (out []string) {
	t.Helper()
	for line := range strings.Lines(stack.ReadFile(t, fmt.Sprintf("/proc/%d/mountinfo", pid))) {
		if fields := strings.Fields(line); fields[4] != "/" {
			out = append(out, fields[4])
		}
	}
	return out
}

// inMountsOf calls do as a user in the mount namespace of a process, in a separate thread that ends afterwards.
func inMountsOf(pid, uid, gid int, do func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // never unlocked, so that the thread ends with the goroutine
		err := enter(pid, uid, gid)
		if err == nil {
			err = do()
		}
		done <- err
	}()
	return <-done
}

func enter(pid, uid, gid int) error {
	ns, err := os.Open(fmt.Sprintf("/proc/%d/ns/mnt", pid))
	if err != nil {
		return err
	}
	defer func() { _ = ns.Close() }()
	// A thread can change its mount namespace only if it does not share its root directory.
	if err := unix.Unshare(unix.CLONE_FS); err != nil {
		return fmt.Errorf("unshare: %w", err)
	}
	if err := unix.Setns(int(ns.Fd()), unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("setns: %w", err)
	}
	// The system calls are made directly, because the functions of package syscall would change the user of all
	// threads.
	for _, call := range [][4]uintptr{
		{unix.SYS_SETGROUPS},
		{unix.SYS_SETRESGID, uintptr(gid), uintptr(gid), uintptr(gid)},
		{unix.SYS_SETRESUID, uintptr(uid), uintptr(uid), uintptr(uid)},
	} {
		if _, _, errno := unix.RawSyscall(call[0], call[1], call[2], call[3]); errno != 0 {
			return fmt.Errorf("set user and group to %d:%d: %w", uid, gid, errno)
		}
	}
	return nil
}

// requireMinimalImage requires that the layers of the image contain only the program, the certificates and an empty
// directory.
func requireMinimalImage(t *testing.T, e *container.Engine, image, program string) {
	t.Helper()
	files, err := e.Files(t.Context(), image)
	if err != nil {
		t.Fatal(err)
	}
	type entry struct {
		Type     byte
		UID, GID int
		Sum      [sha256.Size]byte
	}
	empty := sha256.Sum256(nil)
	want := map[string]entry{
		"service":                        {tar.TypeReg, 0, 0, sha256.Sum256([]byte(stack.ReadFile(t, program)))},
		strings.TrimPrefix(trusted, "/"): {tar.TypeReg, 0, 0, sha256.Sum256([]byte(stack.ReadFile(t, trusted)))},
		"etc":                            {tar.TypeDir, 0, 0, empty},
		"etc/ssl":                        {tar.TypeDir, 0, 0, empty},
		"etc/ssl/certs":                  {tar.TypeDir, 0, 0, empty},
		"video":                          {tar.TypeDir, imageUser, imageUser, empty},
	}
	got := map[string]entry{}
	for _, f := range files {
		name := strings.TrimSuffix(f.Name, "/")
		got[name] = entry{f.Typeflag, f.Uid, f.Gid, f.Sum}
		// All users may read, only the owner may write, and no program may change its user.
		if f.Mode&0o444 != 0o444 || f.Mode&0o7022 != 0 {
			t.Errorf("%s contains %s with mode %o; want read permission for all, write permission for the owner only, no setuid", image, name, f.Mode&0o7777)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files of %s (-want +got):\n%s", image, diff)
	}
}
