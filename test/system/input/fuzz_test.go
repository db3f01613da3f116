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
	packages := map[string][]string{} // fuzz targets by directory
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
		t.Error("the repository has no fuzz target")
	}
	for dir, targets := range packages {
		name, err := filepath.Rel(root, dir)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) {
			f := buildFuzzer(t, dir, name) // before the others run: go build uses all processors
			t.Parallel()
			for _, target := range targets {
				t.Run(target, func(t *testing.T) { f.run(t, target, executions) })
			}
		})
	}
}

// fuzzer is the test binary of a package.
type fuzzer struct{ dir, binary, corpus string }

// buildFuzzer compiles the tests of a package. The coverage of the package guides the inputs; with SYSTEM_SIZE=full it is that of
// all code of the repository. go test -fuzz would compile all dependencies and the standard library for it, too.
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
	guides := []string{module + "/" + name, module + "/" + name, module + "/..."}[stack.Size(t, 0, 1, 2)]
	cmd := exec.CommandContext(t.Context(), "go", "test", "-c", "-vet=off", "-o", f.binary, "-gcflags="+guides+"=-d=libfuzzer", ".")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, out)
	}
	return f
}

// run runs one target. A time instead of a number of executions can fail a good target (go.dev/issue/75804).
func (f fuzzer) run(t *testing.T, target string, executions int) {
	cmd := exec.CommandContext(t.Context(), f.binary, "-test.run=^$", "-test.fuzz=^"+target+"$",
		fmt.Sprintf("-test.fuzztime=%dx", executions), "-test.parallel=1", "-test.fuzzcachedir="+f.corpus)
	cmd.Dir = f.dir
	out, err := cmd.CombinedOutput()
	if err != nil || !fuzzExecutions.Match(out) || bytes.Contains(out, []byte("without coverage")) {
		t.Errorf("%s: %v\n%s", cmd, err, out)
	}
}
