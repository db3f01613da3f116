package input

import (
	"bytes"
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

const module = "github.com/signalcast/signalcast"

var (
	fuzzTarget     = regexp.MustCompile(`(?m)^func (Fuzz\w+)\(\w+ \*testing\.F\)`)
	fuzzExecutions = regexp.MustCompile(`execs: [1-9]`)
)

// TestFuzzTargets runs every fuzz target of the repository 10,000 times, and a million times with SYSTEM_SIZE=full.
func TestFuzzTargets(t *testing.T) {
	executions := stack.Size(t, 0, 10_000, 1_000_000)
	if executions == 0 {
		t.Skip("fuzz targets do not run with -short")
	}
	root, err := stack.Root()
	if err != nil {
		t.Fatal(err)
	}
	packages := map[string][]string{} // names of the fuzz targets by package directory
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
			packages[filepath.Dir(path)] = append(packages[filepath.Dir(path)], string(m[1]))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(packages) == 0 {
		t.Error("no fuzz target was found in the repository")
	}
	for dir, targets := range packages {
		name, err := filepath.Rel(root, dir)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) {
			f := buildFuzzer(t, dir, name) // builds run one at a time, before the parallel part, because a build uses all processors
			t.Parallel()
			for _, target := range targets {
				t.Run(target, func(t *testing.T) { f.run(t, target, executions) })
			}
		})
	}
}

// fuzzer is the test binary of a package, compiled for fuzzing.
type fuzzer struct {
	dir    string // directory of the package
	binary string // path of the test binary
	corpus string // directory of the inputs that earlier runs found; go test -fuzz uses the same directory
}

// buildFuzzer compiles the test binary of the package in dir. name is the path of the package in the module. The fuzzer selects
// inputs by the code that they reach, so the package and its subpackages are instrumented. With SYSTEM_SIZE=full, all packages
// of the repository are. It does not use go test -fuzz, which would also instrument all dependencies and the standard library
// and take minutes.
func buildFuzzer(t *testing.T, dir, name string) fuzzer {
	t.Helper()
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	f := fuzzer{
		dir: dir, binary: filepath.Join(t.TempDir(), "fuzz.test"),
		corpus: filepath.Join(strings.TrimSpace(string(cache)), "fuzz", module, name),
	}
	instrumented := []string{module + "/" + name, module + "/" + name, module}[stack.Size(t, 0, 1, 2)]
	cmd := exec.CommandContext(t.Context(), "go", "test", "-c", "-vet=off", "-o", f.binary, "-gcflags="+instrumented+"/...=-d=libfuzzer", ".")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("run %s: %v\n%s", cmd, err, out)
	}
	return f
}

// run runs one fuzz target for a number of executions. It sets no time limit, because a limit could make a correct target fail
// (go.dev/issue/75804).
func (f fuzzer) run(t *testing.T, target string, executions int) {
	cmd := exec.CommandContext(t.Context(), f.binary, "-test.run=^$", "-test.fuzz=^"+target+"$",
		fmt.Sprintf("-test.fuzztime=%dx", executions), "-test.parallel=1", "-test.fuzzcachedir="+f.corpus)
	cmd.Dir = f.dir
	out, err := cmd.CombinedOutput()
	if err != nil || !fuzzExecutions.Match(out) || bytes.Contains(out, []byte("without coverage")) {
		t.Errorf("run %s: %v\n%s", cmd, err, out)
	}
}
