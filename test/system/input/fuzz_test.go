package input

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/signalcast/signalcast/test/system/stack"
)

var (
	fuzzTarget     = regexp.MustCompile(`(?m)^func (Fuzz\w+)\(\w+ \*testing\.F\)`)
	fuzzExecutions = regexp.MustCompile(`execs: [1-9]`)
)

// Every fuzz target of the repository runs 10,000 times, with SYSTEM_SIZE=full a million times.
func TestFuzzTargets(t *testing.T) {
	executions := stack.Size(t, 0, 10_000, 1_000_000)
	if executions == 0 {
		t.Skip("short")
	}
	root, err := stack.Root()
	if err != nil {
		t.Fatal(err)
	}
	targets := 0
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules"):
			return filepath.SkipDir
		case !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		source, err := os.ReadFile(path)
		for _, m := range fuzzTarget.FindAllSubmatch(source, -1) {
			targets++
			t.Run(string(m[1]), func(t *testing.T) {
				t.Parallel()
				fuzz(t, filepath.Dir(path), string(m[1]), executions)
			})
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if targets == 0 {
		t.Error("the repository has no fuzz target")
	}
}

// fuzz runs one target. A time instead of a number of executions can fail a good target (go.dev/issue/75804).
func fuzz(t *testing.T, dir, name string, executions int) {
	args := []string{"test", "-run=^$", "-fuzz=^" + name + "$", fmt.Sprintf("-fuzztime=%dx", executions), "-parallel=1", "."}
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil || !fuzzExecutions.Match(out) {
		t.Errorf("%s: %v\n%s", cmd, err, out)
	}
}
