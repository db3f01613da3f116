package rows

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

// f5 runs the packages that live by goroutines under the race detector, each of
// which looks for left-over goroutines at its end. `make test` does the same for
// every package; these few keep the figure in the record of each run.
var f5 = frame.Row{
	ID: "F5", Title: "no data race, no leak in tests", Limit: 5 * time.Minute,
	Fault: frame.Fault{What: "a test with two goroutines that write one number"},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		packages := []string{
			"./pkg/kv", "./pkg/limit", "./pkg/link", "./pkg/page", "./pkg/run",
			"./services/api/internal/live", "./services/hub/internal/caller",
		}
		args := []string{"test", "-race", "-count=1", "-json"}
		if env.Stack.Teeth() != "" {
			packages, args = []string{"./pkg/teeth"}, append(args, "-tags=teeth")
		} else if err := leaksAreFound(ctx, env, seen, packages); err != nil {
			return nil, err
		}
		cmd := exec.CommandContext(ctx, "go", append(args, packages...)...)
		cmd.Dir, cmd.Env = env.Root, append(os.Environ(), "TEETH="+env.Stack.Teeth())
		out, failed := cmd.Output()
		t, err := tally(out)
		if err != nil || len(t.packages) < len(packages) {
			return nil, fmt.Errorf("%d of %d packages were tested: %w, %w", len(t.packages), len(packages), failed, err)
		}
		seen.Check(failed == nil, "go test: %v; failed: %s", failed, strings.Join(t.failed, ", "))
		seen.Volume("%d tests in %d packages", t.passed+len(t.failed), len(packages))
		seen.Promise("races 0, leaks 0", fmt.Sprintf("races %d, leaks %d", t.races, t.leaks))
		return seen, nil
	},
}

// leaksAreFound wants every package to look for left-over goroutines.
func leaksAreFound(ctx context.Context, env *frame.Env, seen *frame.Seen, packages []string) error {
	for _, p := range packages {
		cmd := exec.CommandContext(ctx, "go", "list", "-test", "-deps", p)
		cmd.Dir = env.Root
		out, err := cmd.Output()
		if err != nil {
			return fmt.Errorf("go list: %w", err)
		}
		seen.Check(bytes.Contains(out, []byte("\ngo.uber.org/goleak\n")), "the tests of %s look for no leaks", p)
	}
	return nil
}

// tested is what a run of tests has told.
type tested struct {
	packages             map[string]bool
	failed               []string
	passed, races, leaks int
}

func tally(out []byte) (tested, error) {
	t := tested{packages: map[string]bool{}}
	for line := range bytes.Lines(out) {
		var e struct{ Action, Package, Test, Output string }
		if err := json.Unmarshal(line, &e); err != nil {
			return t, err
		}
		switch {
		case e.Action == "output":
			t.races += strings.Count(e.Output, "WARNING: DATA RACE")
			t.leaks += strings.Count(e.Output, "goroutines are left over") + strings.Count(e.Output, "found unexpected goroutines")
		case e.Test == "" && (e.Action == "pass" || e.Action == "fail"):
			t.packages[e.Package] = true
		case e.Action == "pass":
			t.passed++
		case e.Action == "fail":
			t.failed = append(t.failed, e.Package+" "+e.Test)
		}
	}
	return t, nil
}
