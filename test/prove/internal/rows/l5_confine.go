package rows

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"time"
)

// nobody is the user of the images.
const nobody = 65532

// confined is a service that runs confined.
type confined struct {
	pid  int
	done chan struct{}
	said bytes.Buffer // to be read when it is done
	err  error
}

// start runs a program on a root of its own. All of it happens in one thread, which has
// mounts and limits of its own, starts the program and is given up with it. It needs the
// rights of the administrator.
func (c confinement) start(root, program string, settings map[string]string) (*confined, error) {
	p := &confined{done: make(chan struct{})}
	begun := make(chan error, 1)
	go func() {
		defer close(p.done)
		runtime.LockOSThread() // and never unlocked: nobody else may have this thread
		cmd := exec.Command("/service", "serve")
		if err := c.prepare(root, program); err != nil {
			begun <- fmt.Errorf("confine: %w", err)
			return
		}
		cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.Env = "/", &p.said, &p.said, []string{}
		for name, value := range settings {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Chroot: root, Setpgid: true, Pdeathsig: syscall.SIGKILL, Credential: &syscall.Credential{Uid: nobody, Gid: nobody},
		}
		err := cmd.Start()
		if err == nil {
			p.pid = cmd.Process.Pid
		}
		begun <- err
		if err == nil {
			p.err = cmd.Wait()
		}
	}()
	return p, <-begun
}

// prepare gives the calling thread mounts of its own, makes the root out of what the
// image holds, and takes away what compose.yaml drops.
func (c confinement) prepare(root, program string) error {
	if err := os.MkdirAll(root, 0o755); err != nil {
		return err
	}
	if err := syscall.Unshare(syscall.CLONE_NEWNS | syscall.CLONE_FS); err != nil {
		return err
	}
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return err
	}
	if err := syscall.Mount("image", root, "tmpfs", 0, "mode=755,size=128m"); err != nil {
		return err
	}
	if err := copyFile(program, filepath.Join(root, "service"), 0o755); err != nil {
		return err
	}
	if err := copyFile("/etc/ssl/certs/ca-certificates.crt", filepath.Join(root, "etc/ssl/certs/ca-certificates.crt"), 0o644); err != nil {
		return err
	}
	for _, dir := range slices.Concat([]string{"/proc", "/video"}, c.volumes) {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			return err
		}
	}
	const plain = syscall.MS_NOSUID | syscall.MS_NODEV | syscall.MS_NOEXEC
	if err := syscall.Mount("proc", filepath.Join(root, "proc"), "proc", plain|syscall.MS_RDONLY, ""); err != nil {
		return err
	}
	for _, volume := range c.volumes {
		if err := syscall.Mount("volume", filepath.Join(root, volume), "tmpfs", plain, fmt.Sprintf("uid=%d,gid=%d,mode=700,size=64m", nobody, nobody)); err != nil {
			return err
		}
	}
	if c.readOnly {
		if err := syscall.Mount("", root, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
			return err
		}
	}
	return c.drop()
}

// drop limits what the thread can hand on. What it may do itself, which it needs to
// change its root and its user, ends with the user.
func (c confinement) drop() error {
	const (
		dropBounding, setNoNewPrivs = 24, 38 // of prctl
		mostCapabilities            = 63
	)
	for i := uintptr(0); c.dropAll && i <= mostCapabilities; i++ {
		_, _, e := syscall.RawSyscall(syscall.SYS_PRCTL, dropBounding, i, 0)
		if e == syscall.EINVAL {
			break // the kernel has no more
		}
		if e != 0 {
			return e
		}
	}
	if c.noNew {
		if _, _, e := syscall.RawSyscall6(syscall.SYS_PRCTL, setNoNewPrivs, 1, 0, 0, 0, 0); e != 0 {
			return e
		}
	}
	return nil
}

// ended tells of a service that runs no more, with what it said.
func (p *confined) ended() error {
	select {
	case <-p.done:
		return fmt.Errorf("%w: %w: %.600s", errEnded, p.err, p.said.String())
	default:
		return nil
	}
}

// stop ends the service; its mounts go with it.
func (p *confined) stop() {
	_ = syscall.Kill(p.pid, syscall.SIGTERM) // one that has ended has ended
	select {
	case <-p.done:
		return
	case <-time.After(5 * time.Second):
	}
	_ = syscall.Kill(p.pid, syscall.SIGKILL)
	<-p.done
}
