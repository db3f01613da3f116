package system

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/signalcast/signalcast/test/system/faults"
	"github.com/signalcast/signalcast/test/system/stack"
)

// guarantee is one table row of docs/guarantees.md: its id, its test and its fault.
type guarantee struct{ id, test, fault string }

// TestGuaranteesPageMatchesTheCode checks that docs/guarantees.md lists all faults and all guarantees from P1 to P24, and that
// the listed tests and faults exist.
func TestGuaranteesPageMatchesTheCode(t *testing.T) {
	t.Parallel()
	root, err := stack.Root()
	if err != nil {
		t.Fatal(err)
	}
	rows := readGuarantees(t, filepath.Join(root, "docs/guarantees.md"))
	tests := testsBelow(t, root)
	all, err := faults.Load("faults")
	if err != nil {
		t.Fatal(err)
	}
	byName, listed, ids := map[string]faults.Fault{}, map[string]bool{}, map[string]bool{}
	for _, f := range all {
		byName[f.Name] = f
	}
	for _, g := range rows {
		ids[g.id] = true
		if !tests[g.test] {
			t.Errorf("guarantee %s: the page names the test %s, which does not exist", g.id, g.test)
		}
		if g.fault == "" {
			continue
		}
		listed[g.fault] = true
		f, ok := byName[g.fault]
		name, _, _ := strings.Cut(f.Test, "/")
		if !ok || f.Guarantee != g.id || name != g.test {
			t.Errorf("fault %s: the page names test %s and guarantee %s; the header of the fault names guarantee %q and test %q", g.fault, g.test, g.id, f.Guarantee, f.Test)
		}
	}
	for name := range byName {
		if !listed[name] {
			t.Errorf("fault %s is not listed in docs/guarantees.md", name)
		}
	}
	for n := 1; n <= 24; n++ {
		if !ids["P"+strconv.Itoa(n)] {
			t.Errorf("docs/guarantees.md has no row for guarantee P%d", n)
		}
	}
}

var guaranteeRow = regexp.MustCompile(`(?m)^\| ([A-Z]\d+) \| [^|]+ \| (Test\w+) \| (\w*) *\|`)

func readGuarantees(t *testing.T, path string) []guarantee {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out []guarantee
	for _, m := range guaranteeRow.FindAllStringSubmatch(string(raw), -1) {
		out = append(out, guarantee{m[1], m[2], m[3]})
	}
	if lines := len(regexp.MustCompile(`(?m)^\| [A-Z]\d`).FindAll(raw, -1)); lines != len(out) || lines == 0 {
		t.Fatalf("%d of %d table rows could be parsed; want all", len(out), lines)
	}
	return out
}

// testsBelow returns the names of all test functions below a directory.
func testsBelow(t *testing.T, root string) map[string]bool {
	t.Helper()
	out, declaration := map[string]bool{}, regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && strings.HasPrefix(d.Name(), ".") && path != root {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		raw, err := os.ReadFile(path)
		for _, m := range declaration.FindAllSubmatch(raw, -1) {
			out[string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
