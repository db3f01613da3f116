package rows

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"

	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

// timed is the line in which a test tells Welch's t of one comparison; the last of
// several tries counts.
var timed = regexp.MustCompile(`timing (\w+) t=(-?[0-9.]+) samples=(\d+)`)

// compared are the comparisons of secrets that are timed.
var compared = []string{"admin", "cron", "session", "client", "link"}

// g2 times the comparisons themselves, in the packages that own them. The tests beside
// them also time a comparison that is known to leak, so that a blind measure shows.
var g2 = frame.Row{
	ID: "G2", Title: "comparisons of secrets take constant time",
	Fault: frame.Fault{What: "the comparisons stop at the first difference"},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		samples := env.Of(10_000, 200_000, 1_000_000)
		names, packages := compared, []string{"./pkg/testkit", "./pkg/link", "./services/hub/internal/caller", "./services/hub/internal/grant"}
		if env.Size == frame.Small { // one package is enough to turn red
			names, packages = compared[:3], packages[2:3]
		}
		args := []string{"test", "-count=1", "-json", "-p=1", "-run=^TestConstantTime$"}
		if env.Stack.Teeth() != "" {
			args = append(args, "-tags=teeth")
		}
		var out []byte
		var failed error
		for range processes {
			cmd := exec.CommandContext(ctx, "go", append(args, packages...)...)
			cmd.Dir = env.Root
			cmd.Env = append(os.Environ(), "TEETH="+env.Stack.Teeth(), "TIMING_SAMPLES="+strconv.Itoa(samples))
			if out, failed = cmd.Output(); failed == nil {
				break
			}
		}
		found, err := timings(out)
		if err != nil {
			return nil, fmt.Errorf("the comparisons were not timed: %w, %w", failed, err)
		}
		worst := 0.0
		for _, name := range names {
			tries := found[name]
			if len(tries) == 0 {
				return nil, fmt.Errorf("the comparison of %s was not timed: %w", name, failed)
			}
			last := tries[len(tries)-1]
			worst = max(worst, last)
			seen.Figure("t_"+name, last)
			seen.Check(last < leak, "%s: |t| is %.1f", name, last)
		}
		plain := 0.0
		if tries := found["plain"]; env.Size > frame.Small {
			seen.Check(len(tries) > 0 && tries[0] > 10, "the measure is blind: |t| of a plain comparison is %v", tries)
			plain = append(tries, 0)[0]
			seen.Figure("t_plain", plain)
		}
		seen.Check(failed == nil || !seen.OK(), "go test: %v", failed)
		seen.Volume("%d comparisons, %s samples each", len(names), frame.Number(samples))
		seen.Promise(fmt.Sprintf("|t| < %.1f", leak), fmt.Sprintf("%.2f (plain %.0f)", worst, plain))
		return seen, nil
	},
}

const (
	// leak is the |t| from which times differ.
	leak = 4.5
	// processes is how many processes must measure a difference: where one process has its data in memory can add a small
	// one to all of its tries. A comparison that leaks shows |t| above 100 in each.
	processes = 3
)

// timings reads the tries of every comparison from the record of the tests.
func timings(out []byte) (map[string][]float64, error) {
	found := map[string][]float64{}
	for line := range bytes.Lines(out) {
		var e struct{ Output string }
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, err
		}
		if m := timed.FindStringSubmatch(strings.TrimSpace(e.Output)); m != nil {
			t, err := strconv.ParseFloat(m[2], 64)
			if err != nil {
				return nil, err
			}
			found[m[1]] = append(found[m[1]], math.Abs(t))
		}
	}
	return found, nil
}
