package system

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/signalcast/signalcast/test/system/faults"
	"github.com/signalcast/signalcast/test/system/stack"
)

// guarantee is one row of docs/guarantees.md.
type guarantee struct{ id, test, fault string }

// docs/guarantees.md names every guarantee, and the tests and faults that exist.
func TestGuaranteesPageMatchesTheCode(t *testing.T) {
	t.Parallel()
	root, err := stack.Root()
	if err != nil {
		t.Fatal(err)
	}
	rows := readGuarantees(t, filepath.Join(root, "docs/guarantees.md"))
	tests := testsOf(t, ".", filepath.Join(root, "services/api/internal/app"))
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
			t.Errorf("%s: there is no test %s", g.id, g.test)
		}
		if g.fault == "" {
			continue
		}
		listed[g.fault] = true
		f, ok := byName[g.fault]
		name, _, _ := strings.Cut(f.Test, "/")
		if !ok || f.Guarantee != g.id || name != g.test {
			t.Errorf("%s: the page names %s for %s; the patch is of %q and %q", g.fault, g.test, g.id, f.Guarantee, f.Test)
		}
	}
	for name := range byName {
		if !listed[name] {
			t.Errorf("fault %s is not on the page", name)
		}
	}
	for n := 1; n <= 24; n++ {
		if !ids["P"+strconv.Itoa(n)] {
			t.Errorf("the page has no row of P%d", n)
		}
	}
}

var guaranteeRow = regexp.MustCompile(`(?m)^\| (P\d+) \| [^|]+ \| (Test\w+) \| (\w*) *\|`)

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
	if rows := strings.Count(string(raw), "\n| P"); rows != len(out) || rows == 0 {
		t.Fatalf("%d of %d rows have the form of the table", len(out), rows)
	}
	return out
}

// testsOf returns the names of the tests in folders.
func testsOf(t *testing.T, dirs ...string) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	for _, dir := range dirs {
		files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range files {
			f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range f.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && strings.HasPrefix(fn.Name.Name, "Test") {
					out[fn.Name.Name] = true
				}
			}
		}
	}
	return out
}
