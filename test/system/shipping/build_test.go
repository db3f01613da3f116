package shipping

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/signalcast/signalcast/test/system/stack"
)

const (
	imageScript = "deploy/images/build.sh"
	composeFile = "compose.yaml"
	// noStamp keeps the commit out of the programs, because the copies of the tree have no git history.
	noStamp = "-buildvcs=false"
	// faultyFiles names the environment variable for a directory with files of the repository that a fault has changed.
	faultyFiles = "SYSTEM_FILES"
)

func root(t *testing.T) string {
	t.Helper()
	dir, err := stack.Root()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// sourcePath returns the path of a file of the repository. If a fault has changed the file, it returns the path of the changed
// copy.
func sourcePath(t *testing.T, name string) string {
	t.Helper()
	faulty := filepath.Join(os.Getenv(faultyFiles), name)
	if _, err := os.Stat(faulty); err == nil && os.Getenv(faultyFiles) != "" {
		return faulty
	}
	return filepath.Join(root(t), name)
}

// run runs a command in a directory with additional environment variables and returns its standard output.
func run(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	var stderr strings.Builder
	cmd.Dir, cmd.Env, cmd.Stderr = dir, append(os.Environ(), env...), &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s in %s: %v\n%.2000s%.2000s", cmd, dir, err, out, stderr.String())
	}
	return string(out)
}

// copyTree copies the files under version control and new files to another directory. The copy contains the changes of a fault,
// and no git history.
func copyTree(t *testing.T, to string) {
	t.Helper()
	dir := root(t)
	names := run(t, dir, nil, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	for name := range strings.SplitSeq(strings.TrimSuffix(names, "\x00"), "\x00") {
		info, err := os.Lstat(filepath.Join(dir, name))
		if os.IsNotExist(err) {
			continue // the file is deleted, and the deletion is not committed
		}
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Type() != 0 {
			t.Fatalf("%s is not a regular file", name)
		}
		copyFile(t, sourcePath(t, name), filepath.Join(to, name), info.Mode())
	}
}

func copyFile(t *testing.T, from, to string, mode fs.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, []byte(stack.ReadFile(t, from)), mode.Perm()); err != nil {
		t.Fatal(err)
	}
}

// compileImages compiles the programs of the images from the directory tree into out. It uses the command in the script that
// builds the images.
func compileImages(t *testing.T, tree, out, flags string) {
	t.Helper()
	command := ""
	for line := range strings.Lines(stack.ReadFile(t, sourcePath(t, imageScript))) {
		if line = strings.TrimSpace(line); strings.Contains(line, "go build ") && !strings.HasPrefix(line, "#") {
			command = line
		}
	}
	if command == "" {
		t.Fatalf("%s contains no go build command", imageScript)
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		t.Fatal(err)
	}
	env := []string{"out=" + out, "dir=services", "arch=" + runtime.GOARCH, "GOFLAGS=" + flags, "GOWORK=" + filepath.Join(tree, "go.work")}
	run(t, tree, env, "sh", "-euc", "for s in "+strings.Join(services(t), " ")+"; do\n"+command+"\ndone")
}

// images contains the programs of the images and the tree from which they were compiled.
type images struct{ tree, programs string }

var compiled struct {
	once sync.Once
	images
}

// compileOnce compiles the programs of the images once for all tests.
func compileOnce(t *testing.T) images {
	t.Helper()
	compiled.once.Do(func() {
		dir := stack.TempDir(t)
		compiled.images = images{filepath.Join(dir, "tree"), filepath.Join(dir, "programs")}
		copyTree(t, compiled.tree)
		compileImages(t, compiled.tree, compiled.programs, noStamp)
	})
	if compiled.programs == "" {
		t.Fatal("the programs of the images could not be compiled; see the first failure")
	}
	return compiled.images
}
