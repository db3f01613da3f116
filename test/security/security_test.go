package security_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

const (
	repo  = "../.."
	page  = "docs/security.md"
	rules = 75
)

var (
	directoryLine = regexp.MustCompile("^\\| ([a-z0-9]+) \\| `([^`]+)` \\|$")
	ruleLine      = regexp.MustCompile(`^\| S(\d+) \| (.+?) \| (.+) \|$`)
	quoted        = regexp.MustCompile("`([^`]+)`")
	testName      = regexp.MustCompile(`^([a-z0-9]+)\.((?:Test|Fuzz)[A-Z]\w*)$`)
)

// mistakes returns a text for each error in the text of docs/security.md. exists returns an error unless the test function test
// exists in the directory path. If test is empty, it returns an error unless the file path exists.
func mistakes(text string, exists func(path, test string) error) (out []string) {
	wrong := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	directories, used, seen := map[string]string{}, map[string]bool{}, map[string]int{}
	for _, line := range strings.Split(text, "\n") {
		if m := directoryLine.FindStringSubmatch(line); m != nil {
			directories[m[1]] = m[2]
			continue
		}
		m := ruleLine.FindStringSubmatch(line)
		if m == nil {
			if strings.HasPrefix(line, "| S") {
				wrong("cannot parse the row %q", line)
			}
			continue
		}
		seen[m[1]]++
		tests := 0
		for _, q := range quoted.FindAllStringSubmatch(m[3], -1) {
			if script := strings.HasSuffix(q[1], ".mjs"); script {
				if err := exists(q[1], ""); err != nil {
					wrong("S%s: %v", m[1], err)
				}
				continue
			}
			name := testName.FindStringSubmatch(q[1])
			if name == nil || directories[name[1]] == "" {
				wrong("S%s: %s is not a test of a listed directory", m[1], q[1])
				continue
			}
			used[name[1]] = true
			if err := exists(directories[name[1]], name[2]); err != nil {
				wrong("S%s: %v", m[1], err)
				continue
			}
			tests++
		}
		if tests == 0 {
			wrong("S%s: the rule names no Go test", m[1])
		}
	}
	for n := 1; n <= rules; n++ {
		if count := seen[fmt.Sprint(n)]; count != 1 {
			wrong("the rule S%d occurs %d times; want 1", n, count)
		}
	}
	if len(seen) > rules {
		wrong("the page contains %d rule numbers, more than expected", len(seen))
	}
	for name := range directories {
		if !used[name] {
			wrong("no rule uses the directory %s", name)
		}
	}
	return out
}

// checkExists returns an error unless the test function test exists in the directory path of the repository. If test is empty,
// it checks the file path instead.
func checkExists(path, test string) error {
	path = filepath.Join(repo, path)
	if test == "" {
		_, err := os.Stat(path)
		return err
	}
	declared, err := functions(path)
	if err != nil {
		return err
	}
	f := declared[test]
	if f == nil {
		return fmt.Errorf("%s contains no test %s", path, test)
	}
	if skips(f) {
		return fmt.Errorf("the test %s in %s can skip itself; a rule needs a test that always runs", test, path)
	}
	return nil
}

var directories struct {
	sync.Mutex
	read map[string]map[string]*ast.FuncDecl
}

// functions returns the functions in the test files of a directory, by name.
func functions(path string) (map[string]*ast.FuncDecl, error) {
	directories.Lock()
	defer directories.Unlock()
	if known := directories.read[path]; known != nil {
		return known, nil
	}
	files, err := filepath.Glob(filepath.Join(path, "*_test.go"))
	if err != nil {
		return nil, err
	}
	out := map[string]*ast.FuncDecl{}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, d := range parsed.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil {
				out[f.Name.Name] = f
			}
		}
	}
	if directories.read == nil {
		directories.read = map[string]map[string]*ast.FuncDecl{}
	}
	directories.read[path] = out
	return out, nil
}

// skips reports whether a test function can skip itself.
func skips(f *ast.FuncDecl) (yes bool) {
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok && strings.HasPrefix(s.Sel.Name, "Skip") {
			if on, ok := s.X.(*ast.Ident); ok && (on.Name == "t" || on.Name == "f") {
				yes = true
			}
		}
		return true
	})
	return yes
}

func read(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(repo, page))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// TestEveryRuleHasItsTest checks that docs/security.md contains all rules, and that each rule names existing tests.
func TestEveryRuleHasItsTest(t *testing.T) {
	t.Parallel()
	for _, m := range mistakes(read(t), checkExists) {
		t.Errorf("%s: %s", page, m)
	}
}

// TestMistakesAreFound checks that mistakes finds each kind of error in a changed page.
func TestMistakesAreFound(t *testing.T) {
	t.Parallel()
	text := read(t)
	for name, c := range map[string]struct{ old, with, want string }{
		"a rule is missing":         {"| S7 |", "| T7 |", "the rule S7 occurs 0 times"},
		"a rule occurs twice":       {"| S8 |", "| S7 |", "the rule S7 occurs 2 times"},
		"a number too many":         {"| S1 |", "| S56 |", "the rule S1 occurs 0 times"},
		"a test was renamed":        {"grant.TestLoopbackPort", "grant.TestLoopbackPorts", "contains no test TestLoopbackPorts"},
		"a test moved":              {"grant.TestLoopbackPort", "httpapi.TestLoopbackPort", "contains no test TestLoopbackPort"},
		"a helper as a test":        {"grant.TestLoopbackPort", "grant.newRig", "is not a test of a listed directory"},
		"an unknown directory":      {"grant.TestLoopbackPort", "nowhere.TestLoopbackPort", "is not a test of a listed directory"},
		"a directory moved":         {"`services/hub/internal/grant`", "`services/hub/internal/granted`", "granted contains no test"},
		"a script is missing":       {"test/clients/vectors.mjs", "test/clients/vector.mjs", "vector.mjs"},
		"only a script":             {"`grant.TestLoopbackPort`", "`test/clients/vectors.mjs`", "S2: the rule names no Go test"},
		"a row without a separator": {"| S2 | On 127", "| S2 On 127", "cannot parse the row"},
		"an unused directory":       {"| hub |", "| none | `test/vectors` |\n| hub |", "no rule uses the directory none"},
	} {
		changed := strings.Replace(text, c.old, c.with, 1)
		if changed == text {
			t.Fatalf("%s: the page does not contain %q", name, c.old)
		}
		if got := strings.Join(mistakes(changed, checkExists), "\n"); !strings.Contains(got, c.want) {
			t.Errorf("%s: the mistakes are %q; want one that contains %q", name, got, c.want)
		}
	}
}
