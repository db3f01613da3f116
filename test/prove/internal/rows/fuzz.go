package rows

import (
	"context"
	"errors"
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

// fuzz executes every fuzz target of the repository so many times and counts the
// executions. The smallest size runs none.
func fuzz(ctx context.Context, env *frame.Env, seen *frame.Seen) (runs, targets int, err error) {
	times := env.Of(0, 10_000, 1_000_000)
	if times == 0 {
		return 0, 0, nil
	}
	type target struct{ dir, name string }
	var list []target
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
		for _, m := range fuzzTarget.FindAllSubmatch(source, -1) {
			list = append(list, target{filepath.Dir(path), string(m[1])})
		}
		return err
	})
	if err != nil {
		return 0, 0, err
	}
	seen.Check(len(list) > 0, "there are no fuzz targets")
	done, errs := make([]int, len(list)), make([]error, len(list))
	frame.Each(len(list), 2, func(i int) { done[i], errs[i] = fuzzOne(ctx, seen, list[i].dir, list[i].name, times) })
	for _, n := range done {
		runs += n
	}
	return runs, len(list), errors.Join(errs...)
}

// fuzzOne executes one fuzz target so many times and gives how many it were. A number of
// seconds in its place can turn a good target red: the end of the time races with the
// workers in Go 1.26 and before (go.dev/issue/75804).
func fuzzOne(ctx context.Context, seen *frame.Seen, dir, name string, times int) (runs int, err error) {
	cmd := exec.CommandContext(ctx, "go", "test", "-run=^$", "-fuzz=^"+name+"$", fmt.Sprintf("-fuzztime=%dx", times), "-parallel=1", ".")
	cmd.Dir = dir
	out, failed := cmd.CombinedOutput()
	seen.Check(failed == nil, "%s: %s", name, lastLines(string(out), 6))
	if all := fuzzRuns.FindAllSubmatch(out, -1); len(all) > 0 {
		runs, err = strconv.Atoi(string(all[len(all)-1][1]))
	}
	seen.Check(runs > 0, "%s made no executions", name)
	return runs, err
}

func lastLines(s string, n int) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], " / ")
}
