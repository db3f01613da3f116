package shipping

import (
	"bytes"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/google/go-cmp/cmp"

	"github.com/signalcast/signalcast/test/system/stack"
)

const (
	imageUser = 65532 // of the images
	// trusted is where Debian has the certificates that the images trust.
	trusted = "/etc/ssl/certs/ca-certificates.crt"
)

func requireRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("it needs root, to change the mounts and the user of a process")
	}
}

// The services run as compose.yaml says, without a container engine: as its user, without the capabilities that it drops, on a
// root with the files of the images. They have no rights and can write nothing.
func TestServicesRunConfined(t *testing.T) {
	requireRoot(t)
	t.Parallel()
	s := stack.Shared(t)
	for name, service := range readCompose(t) {
		t.Run(name, func(t *testing.T) {
			settings := furtherSettings(t, s, name)
			p := startConfined(t, service, filepath.Join(compileOnce(t).programs, name), settings)
			requireHealth(t, "http://"+settings["HTTP_ADDR"], p.ended)
			requireNoRights(t, p.pid, imageUser, imageUser, "")
			// Root tries to write: what is refused to root is refused to everyone. /proc is mounted read-only.
			requireNothingWritable(t, fmt.Sprintf("/proc/%d/root", p.pid), append(service.volumes(), "/proc"))
		})
	}
}

// furtherSettings returns the settings of a further process of a service, with the video directory of the image.
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

// requireHealth waits until a service answers; ended returns an error after its end.
func requireHealth(t *testing.T, base string, ended func() error) {
	t.Helper()
	client := &http.Client{Timeout: 2 * time.Second}
	stack.Eventually(t, 30*time.Second, base+"/healthz answers", func() bool {
		if err := ended(); err != nil {
			t.Fatal(err)
		}
		resp, err := client.Get(base + "/healthz")
		if err != nil {
			return false
		}
		_ = resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
}

// requireNoRights requires that a process has the rights of its user only.
func requireNoRights(t *testing.T, pid, uid, gid int, groups string) {
	t.Helper()
	raw := read(t, fmt.Sprintf("/proc/%d/status", pid))
	const none = "0000000000000000"
	want := map[string]string{
		"CapEff": none, "CapPrm": none, "CapInh": none, "CapBnd": none, "CapAmb": none, "NoNewPrivs": "1", "Groups": groups,
		"Uid": fmt.Sprintf("%[1]d %[1]d %[1]d %[1]d", uid), "Gid": fmt.Sprintf("%[1]d %[1]d %[1]d %[1]d", gid),
	}
	got := map[string]string{}
	for line := range strings.Lines(string(raw)) {
		name, value, _ := strings.Cut(line, ":")
		if _, ok := want[name]; ok {
			got[name] = strings.Join(strings.Fields(value), " ")
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rights of process %d (-want +got):\n%s", pid, diff)
	}
}

// confined is a process of a service on a root that contains what its image contains.
type confined struct {
	pid    int
	done   chan struct{}
	output bytes.Buffer // complete when done is closed
	err    error
}

// startConfined starts a program until the test ends. One thread makes the mounts and limits, starts the program and is given up.
func startConfined(t *testing.T, s service, program string, settings map[string]string) *confined {
	t.Helper()
	p, root, started := &confined{done: make(chan struct{})}, t.TempDir(), make(chan error, 1)
	go func() {
		defer close(p.done)
		runtime.LockOSThread() // never unlocked: the thread ends with its mounts and limits
		if err := confine(s, root, program); err != nil {
			started <- fmt.Errorf("confine: %w", err)
			return
		}
		cmd := exec.Command("/service", "serve")
		cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.Env = "/", &p.output, &p.output, []string{}
		for name, value := range settings {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Chroot: root, Setpgid: true, Pdeathsig: syscall.SIGKILL, Credential: &syscall.Credential{Uid: imageUser, Gid: imageUser},
		}
		err := cmd.Start()
		if err == nil {
			p.pid = cmd.Process.Pid
		}
		started <- err
		if err == nil {
			p.err = cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.stop)
	return p
}

// confine gives the calling thread new mounts with the root of the image, and drops what compose.yaml drops.
func confine(s service, root, program string) error {
	if err := syscall.Unshare(syscall.CLONE_NEWNS | syscall.CLONE_FS); err != nil {
		return err
	}
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return err
	}
	if err := syscall.Mount("image", root, "tmpfs", 0, "mode=755,size=128m"); err != nil {
		return err
	}
	for name, from := range map[string]string{"service": program, strings.TrimPrefix(trusted, "/"): trusted} {
		raw, err := os.ReadFile(from)
		if err != nil {
			return err
		}
		to := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(to, raw, 0o755); err != nil {
			return err
		}
	}
	for _, dir := range slices.Concat([]string{"/proc", "/video"}, s.volumes()) {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			return err
		}
	}
	const plain = syscall.MS_NOSUID | syscall.MS_NODEV | syscall.MS_NOEXEC
	if err := syscall.Mount("proc", filepath.Join(root, "proc"), "proc", plain|syscall.MS_RDONLY, ""); err != nil {
		return err
	}
	owner := fmt.Sprintf("uid=%d,gid=%d,mode=700,size=64m", imageUser, imageUser)
	for _, volume := range s.volumes() {
		if err := syscall.Mount("volume", filepath.Join(root, volume), "tmpfs", plain, owner); err != nil {
			return err
		}
	}
	if s.ReadOnly {
		if err := syscall.Mount("", root, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
			return err
		}
	}
	return drop(s)
}

// drop limits what the thread can hand on to the program. What it may do itself ends with its user.
func drop(s service) error {
	const maxCapability = 63
	for i := uintptr(0); s.dropsAll() && i <= maxCapability; i++ {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, i, 0, 0, 0); err == unix.EINVAL {
			break // the kernel has no further capability
		} else if err != nil {
			return err
		}
	}
	if s.noNewPrivileges() {
		return unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	}
	return nil
}

// ended returns an error with the output of a process that has ended.
func (p *confined) ended() error {
	select {
	case <-p.done:
		return fmt.Errorf("the service has ended: %w\n%.600s", p.err, p.output.String())
	default:
		return nil
	}
}

func (p *confined) stop() {
	_ = syscall.Kill(p.pid, syscall.SIGTERM) // it may have ended
	select {
	case <-p.done:
		return
	case <-time.After(5 * time.Second):
	}
	_ = syscall.Kill(p.pid, syscall.SIGKILL)
	<-p.done
}

// requireNothingWritable tries to write everywhere below a root except below some directories.
func requireNothingWritable(t *testing.T, root string, except []string) {
	t.Helper()
	tried, writable, err := tryToWrite(root, except)
	if err != nil {
		t.Fatal(err)
	}
	if len(writable) > 0 || tried < 5 {
		t.Errorf("%d of %d paths below %s can be written, want none of at least 5: %v", len(writable), tried, root, writable)
	}
}

// tryToWrite returns the number of paths below a root and those that can be written. It does not follow links: their targets are
// tried themselves. Devices store nothing and may be open to everyone.
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

func canWrite(path string, isDir bool) (bool, error) {
	flags := os.O_WRONLY | syscall.O_NONBLOCK // opening a pipe without a reader would block
	if isDir {
		path, flags = filepath.Join(path, "written-by-a-test"), os.O_WRONLY|os.O_CREATE|os.O_EXCL
	}
	f, err := os.OpenFile(path, flags, 0o600)
	if err != nil {
		return false, nil // as it must be
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
