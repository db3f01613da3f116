package stack

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// Programs are the packages of the programs that a system runs, as import paths relative to the repository root.
var Programs = []string{
	"./services/api", "./services/hub", "./services/clock", "./deploy/venuesim", "./deploy/devidp", "./deploy/local",
}

// binEnv is the environment variable with the directory of built programs. Fault tests set it to programs that contain a fault.
// If it is unset or empty, the programs are built from this source tree.
const binEnv = "SYSTEM_BIN"

// Root returns the root directory of the repository: the directory of go.work.
func Root() (string, error) {
	out, err := exec.Command("go", "env", "GOWORK").Output()
	if err != nil {
		return "", fmt.Errorf("go env: %w", err)
	}
	work := strings.TrimSpace(string(out))
	if work == "" || work == "off" {
		return "", errors.New("run this inside the repository: there is no go.work above the current directory")
	}
	return filepath.Dir(work), nil
}

// Build compiles Programs into the directory dir. flags are additional flags of go build.
func Build(dir string, flags ...string) error {
	root, err := Root()
	if err != nil {
		return err
	}
	args := append([]string{"build", "-o", dir + string(filepath.Separator)}, flags...)
	cmd := exec.Command("go", append(args, Programs...)...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, strings.TrimSpace(string(out)))
	}
	return nil
}

// built returns the directory of the built programs. All test binaries of the repository share one build directory, so that go
// build links only changed programs. Each test binary links the programs into a private directory, so that a later build does not
// replace them.
var built = sync.OnceValues(func() (string, error) {
	if dir := os.Getenv(binEnv); dir != "" {
		return dir, nil
	}
	root, err := Root()
	if err != nil {
		return "", err
	}
	shared := filepath.Join(root, ".tools", "system")
	if err := os.MkdirAll(shared, 0o755); err != nil {
		return "", err
	}
	unlock, err := lock(shared + ".lock")
	if err != nil {
		return "", err
	}
	defer unlock()
	if err := Build(shared); err != nil {
		return "", err
	}
	temp, err := tempRoot()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(temp, "bin")
	if err := os.Mkdir(dir, 0o711); err != nil {
		return "", err
	}
	for _, program := range Programs {
		name := filepath.Base(program)
		if err := linkOrCopy(filepath.Join(shared, name), filepath.Join(dir, name)); err != nil {
			return "", err
		}
	}
	return dir, nil
})

// lock takes an exclusive lock on the file with this name and creates the file if necessary. It waits while another process
// holds the lock. The function unlock releases the lock.
func lock(name string) (unlock func(), err error) {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return nil, err
	}
	file, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", name, err), file.Close())
	}
	return func() { _ = file.Close() }, nil // closing the file releases the lock
}

// linkOrCopy creates a hard link to a file, or a copy if a hard link is not possible.
func linkOrCopy(from, to string) error {
	if os.Link(from, to) == nil {
		return nil
	}
	program, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, program, 0o755)
}

// Bin returns the directory of the built programs. The first call builds them, unless the environment variable SYSTEM_BIN is set.
func Bin(t testing.TB) string {
	t.Helper()
	dir, err := built()
	if err != nil {
		t.Fatalf("build the programs: %v", err)
	}
	return dir
}

// tempRoot returns the temporary directory of this test binary. The function Main deletes it. Other users may enter the
// directory, because the database may run as another user.
var tempRoot = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "signalcast-system-")
	if err != nil {
		return "", err
	}
	return dir, os.Chmod(dir, 0o711)
})

// TempDir returns a new directory for files that several tests of the binary use. The function Main deletes it.
func TempDir(t testing.TB) string {
	t.Helper()
	root, err := tempRoot()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp(root, "shared-")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// ReadFile returns the content of a file and fails the test if the file cannot be read.
func ReadFile(t testing.TB, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
