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

// decisionsOnTime is how many decisions must come out right, each while the clock of
// its machine is set in one way.
const decisionsOnTime = 40

// f6 runs the values of the services on a machine whose clock is set by hand while the
// time passes: an hour back and on, a leap second, the end of summer time.
var f6 = frame.Row{
	ID: "F6", Title: "time does not fool it", Limit: 5 * time.Minute,
	Fault: frame.Fault{What: "the services believe the clock of their machine"},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		packages := []string{
			"./services/hub/internal/caller", "./pkg/limit", "./pkg/chrono", "./pkg/idp", "./services/api/internal/market",
			"./services/hub/internal/app", "./services/hub/internal/grant", "./services/hub/internal/message",
			"./services/hub/internal/postgres", "./services/hub/internal/follow", "./services/hub/internal/digest",
			"./services/clock/internal/program",
		}
		args := []string{"test", "-count=1", "-json", "-run=^TestTimeDoesNotFool$"}
		if env.Stack.Teeth() != "" {
			args = append(args, "-tags=teeth")
		}
		if env.Size == frame.Small {
			packages = packages[:1]
		}
		cmd := exec.CommandContext(ctx, "go", append(args, packages...)...)
		cmd.Dir, cmd.Env = env.Root, append(os.Environ(), "TEETH="+env.Stack.Teeth())
		out, failed := cmd.Output()
		right, wrong, told, err := decided(out)
		if err != nil || told < len(packages) {
			return nil, fmt.Errorf("%d of %d packages were tested: %w, %w", told, len(packages), failed, err)
		}
		for _, name := range wrong {
			seen.Wrong("%s came out wrong", name)
		}
		seen.Check(failed == nil || len(wrong) > 0, "go test: %v", failed)
		all := right + len(wrong)
		seen.Check(env.Size == frame.Small || all >= decisionsOnTime, "%d decisions are too few", all)
		seen.Volume("%d decisions in %d packages", all, len(packages))
		seen.Promise("wrong 0", fmt.Sprintf("wrong %d of %d", len(wrong), all))
		return seen, nil
	},
}

// decided reads how the decisions came out, and how many packages told of any.
func decided(out []byte) (right int, wrong []string, packages int, err error) {
	told := map[string]bool{}
	for line := range bytes.Lines(out) {
		var e struct{ Action, Package, Test string }
		if err := json.Unmarshal(line, &e); err != nil {
			return 0, nil, 0, err
		}
		if _, decision, is := strings.Cut(e.Test, "/"); is && strings.Contains(decision, "/") {
			switch e.Action {
			case "pass":
				right++
			case "fail":
				wrong = append(wrong, decision)
			}
			told[e.Package] = true
		}
	}
	return right, wrong, len(told), nil
}
