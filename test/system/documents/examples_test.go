package documents

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/signalcast/signalcast/test/system/stack"
)

// part reports whether a code block is an excerpt of an example program. Such blocks are not run, because the example programs
// are run as a whole.
func (b block) part() bool { return slices.Equal(b.args, []string{"part"}) }

// TestExamplesAreShown checks that every excerpt occurs in an example program, and that the pages show an excerpt of
// every example program.
func TestExamplesAreShown(t *testing.T) {
	t.Parallel()
	plain := func(code string) string {
		lines := strings.Split(code, "\n")
		for i := range lines {
			lines[i] = strings.TrimSpace(lines[i])
		}
		return strings.Join(lines, "\n")
	}
	for kind, files := range map[string]string{"go": "sdk/go/examples/*/main.go", "js": "sdk/ts/examples/*.mjs"} {
		paths, err := filepath.Glob(filepath.Join(repo, files))
		if err != nil || len(paths) != 5 {
			t.Fatal(paths, err)
		}
		shown := map[string]bool{}
		for _, page := range documents(t) {
			for _, b := range blocksOf(t, page) {
				if b.kind != kind || !b.part() {
					continue
				}
				at := slices.IndexFunc(paths, func(path string) bool { return strings.Contains(plain(stack.ReadFile(t, path)), plain(b.text)) })
				if at < 0 {
					t.Errorf("%s is not an excerpt of an example program:\n%s", b, b.text)
					continue
				}
				shown[paths[at]] = true
			}
		}
		for _, path := range paths {
			if !shown[path] {
				t.Errorf("no page shows an excerpt of %s", path)
			}
		}
	}
}
