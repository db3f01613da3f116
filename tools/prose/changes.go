package main

import (
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// changedLines contains the numbers of the lines that a change adds, by path. A nil map contains no lines.
type changedLines map[string]map[int]bool

func (c changedLines) has(path string, line int) bool { return c[path][line] }

var hunk = regexp.MustCompile(`^@@ -\S+ \+(\d+)(?:,(\d+))? @@`)

// readChanges returns the lines that differ from the merge base with main, or from the parent of HEAD if HEAD is on main. If
// git fails, it writes a note to out and returns nil.
func readChanges(root string, out io.Writer) changedLines {
	base := "HEAD~1"
	head, _ := git(root, "rev-parse", "HEAD")
	for _, branch := range []string{"main", "origin/main"} {
		if common, err := git(root, "merge-base", branch, "HEAD"); err == nil && common != head {
			base = common
		}
	}
	raw, err := git(root, "diff", "--unified=0", "--no-color", strings.TrimSpace(base))
	if err != nil {
		fmt.Fprintln(out, "prose: no words to judge: this clone has no earlier commit")
		return nil
	}
	changed, path := changedLines{}, ""
	for line := range strings.Lines(raw) {
		if name, ok := strings.CutPrefix(line, "+++ b/"); ok {
			path = strings.TrimSpace(name)
			changed[path] = map[int]bool{}
		}
		if m := hunk.FindStringSubmatch(line); m != nil {
			first, _ := strconv.Atoi(m[1])
			n := 1
			if m[2] != "" {
				n, _ = strconv.Atoi(m[2])
			}
			for i := range n {
				changed[path][first+i] = true
			}
		}
	}
	return changed
}
