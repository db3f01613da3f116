package rows

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

// ownTests runs tests of the repository for what no door lets in, with the fault of
// the system planted in them too.
func ownTests(ctx context.Context, env *frame.Env, seen *frame.Seen, pkg, run string) (tested, error) {
	args := []string{"test", "-count=1", "-json", "-run=" + run}
	if env.Stack.Teeth() != "" {
		args = append(args, "-tags=teeth")
	}
	cmd := exec.CommandContext(ctx, "go", append(args, pkg)...)
	cmd.Dir, cmd.Env = env.Root, append(os.Environ(), "TEETH="+env.Stack.Teeth())
	out, failed := cmd.Output()
	t, err := tally(out)
	if err != nil || len(t.packages) != 1 || t.passed+len(t.failed) == 0 {
		return t, fmt.Errorf("%d tests of %s ran: %w, %w", t.passed+len(t.failed), pkg, failed, err)
	}
	seen.Check(failed == nil, "%s: %d tests failed: %s", pkg, len(t.failed), strings.Join(t.failed[:min(3, len(t.failed))], ", "))
	return t, nil
}
