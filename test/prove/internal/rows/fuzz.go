package rows

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

var (
	fuzzTarget = regexp.MustCompile(`(?m)^func (Fuzz\w+)\(\w+ \*testing\.F\)`)
	fuzzRuns   = regexp.MustCompile(`execs: (\d+)`)
)

// fuzz runs every fuzz target of the repository for a few seconds and counts the
// executions. The smallest size runs none.
func fuzz(ctx context.Context, env *frame.Env, seen *frame.Seen) (runs, targets int, err error) {
	seconds := env.Of(0, 3, 30)
	if seconds == 0 {
		return 0, 0, nil
	}
	err = filepath.WalkDir(env.Root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != env.Root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules"):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range fuzzTarget.FindAllSubmatch(source, -1) {
			name := string(m[1])
			cmd := exec.CommandContext(ctx, "go", "test", "-run=^$", "-fuzz=^"+name+"$", fmt.Sprintf("-fuzztime=%ds", seconds), "-parallel=2", ".")
			cmd.Dir = filepath.Dir(path)
			out, err := cmd.CombinedOutput()
			targets++
			seen.Check(err == nil, "%s: %s", name, lastLines(string(out), 6))
			if all := fuzzRuns.FindAllSubmatch(out, -1); len(all) > 0 {
				n, _ := strconv.Atoi(string(all[len(all)-1][1])) // the pattern takes digits alone
				runs += n
			}
		}
		return nil
	})
	seen.Check(err != nil || targets > 0 && runs > 0, "%d fuzz targets made %d executions", targets, runs)
	return runs, targets, err
}

func lastLines(s string, n int) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], " / ")
}
