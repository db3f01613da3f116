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
	rules = 70
)

var (
	folderLine = regexp.MustCompile("^\\| ([a-z0-9]+) \\| `([^`]+)` \\|$")
	ruleLine   = regexp.MustCompile(`^\| S(\d+) \| (.+?) \| (.+) \|$`)
	quoted     = regexp.MustCompile("`([^`]+)`")
	testName   = regexp.MustCompile(`^([a-z0-9]+)\.((?:Test|Fuzz)[A-Z]\w*)$`)
)

// mistakes reads the page and says what is wrong with it. exists tells whether a folder
// has a test function, or, without a name, whether a file is there.
func mistakes(text string, exists func(path, test string) error) (out []string) {
	wrong := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	folders, used, seen := map[string]string{}, map[string]bool{}, map[string]int{}
	for _, line := range strings.Split(text, "\n") {
		if m := folderLine.FindStringSubmatch(line); m != nil {
			folders[m[1]] = m[2]
			continue
		}
		m := ruleLine.FindStringSubmatch(line)
		if m == nil {
			if strings.HasPrefix(line, "| S") {
				wrong("cannot read %q", line)
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
			if name == nil || folders[name[1]] == "" {
				wrong("S%s: %s is no test of a folder above", m[1], q[1])
				continue
			}
			used[name[1]] = true
			if err := exists(folders[name[1]], name[2]); err != nil {
				wrong("S%s: %v", m[1], err)
				continue
			}
			tests++
		}
		if tests == 0 {
			wrong("S%s: no Go test proves it", m[1])
		}
	}
	for n := 1; n <= rules; n++ {
		if count := seen[fmt.Sprint(n)]; count != 1 {
			wrong("S%d stands there %d times", n, count)
		}
	}
	if len(seen) > rules {
		wrong("%d numbers", len(seen))
	}
	for name := range folders {
		if !used[name] {
			wrong("no rule uses %s", name)
		}
	}
	return out
}

// found looks into the tree.
func found(path, test string) error {
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
		return fmt.Errorf("%s has no %s", path, test)
	}
	if skips(f) {
		return fmt.Errorf("%s in %s skips", test, path)
	}
	return nil
}

var folders struct {
	sync.Mutex
	read map[string]map[string]*ast.FuncDecl
}

// functions are those of the test files of a folder, by name.
func functions(path string) (map[string]*ast.FuncDecl, error) {
	folders.Lock()
	defer folders.Unlock()
	if known := folders.read[path]; known != nil {
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
	if folders.read == nil {
		folders.read = map[string]map[string]*ast.FuncDecl{}
	}
	folders.read[path] = out
	return out, nil
}

// skips reports a test that leaves itself out.
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

// TestEveryRuleHasItsTest: the page names all rules, and tests that are there.
func TestEveryRuleHasItsTest(t *testing.T) {
	t.Parallel()
	for _, m := range mistakes(read(t), found) {
		t.Errorf("%s: %s", page, m)
	}
}

// TestMistakesAreFound: what this check is for, it sees.
func TestMistakesAreFound(t *testing.T) {
	t.Parallel()
	text := read(t)
	for name, c := range map[string]struct{ old, with, says string }{
		"a rule is gone":        {"| S7 |", "| T7 |", "S7 stands there 0 times"},
		"a rule stands twice":   {"| S8 |", "| S7 |", "S7 stands there 2 times"},
		"a number too many":     {"| S1 |", "| S56 |", "S1 stands there 0 times"},
		"a test was renamed":    {"grant.TestLoopbackPort", "grant.TestLoopbackPorts", "has no TestLoopbackPorts"},
		"a test moved":          {"grant.TestLoopbackPort", "httpapi.TestLoopbackPort", "has no TestLoopbackPort"},
		"a helper as a test":    {"grant.TestLoopbackPort", "grant.newRig", "is no test of a folder above"},
		"an unknown folder":     {"grant.TestLoopbackPort", "nowhere.TestLoopbackPort", "is no test of a folder above"},
		"a folder moved":        {"`services/hub/internal/grant`", "`services/hub/internal/granted`", "granted has no"},
		"a script is gone":      {"test/clients/vectors.mjs", "test/clients/vector.mjs", "vector.mjs"},
		"a script alone":        {"`grant.TestLoopbackPort`", "`test/clients/vectors.mjs`", "S2: no Go test proves it"},
		"a line without a wall": {"| S2 | On 127", "| S2 On 127", "cannot read"},
		"a folder for nothing":  {"| hub |", "| none | `test/vectors` |\n| hub |", "no rule uses none"},
	} {
		changed := strings.Replace(text, c.old, c.with, 1)
		if changed == text {
			t.Fatalf("%s: %q is not on the page", name, c.old)
		}
		if got := strings.Join(mistakes(changed, found), "\n"); !strings.Contains(got, c.says) {
			t.Errorf("%s: %q does not say %q", name, got, c.says)
		}
	}
}
