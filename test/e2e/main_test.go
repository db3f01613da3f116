package e2e

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// complaints shows the end of what the services warned of: a failed test rarely
// knows why.
func complaints(out io.Writer) {
	if shared.run == nil {
		return
	}
	for _, part := range []string{"hub", "api", "clock"} {
		raw, err := os.ReadFile(filepath.Join(shared.run.dir, "logs", part+".log"))
		if err != nil {
			continue // it never started
		}
		var bad []string
		for line := range strings.SplitSeq(string(raw), "\n") {
			if strings.Contains(line, `"level":"WARN"`) || strings.Contains(line, `"level":"ERROR"`) || strings.HasPrefix(line, "panic") {
				bad = append(bad, line)
			}
		}
		_, _ = fmt.Fprintf(out, "--- the last of %d warnings of %s:\n%s\n", len(bad), part, strings.Join(bad[max(0, len(bad)-40):], "\n"))
	}
}

func TestMain(m *testing.M) {
	code := m.Run()
	closeBrowser()
	if !coverage.report(os.Stdout, false) && code == 0 {
		code = 1
	}
	if n := asked.Load(); n > 0 {
		fmt.Printf("%d answers were asked for again, because the machine was busy\n", n)
	}
	if code != 0 {
		complaints(os.Stderr)
	}
	if err := stopShared(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}
