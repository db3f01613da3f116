package documents

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/localdb"
	"github.com/signalcast/signalcast/test/system/stack"
)

// expectedOutput contains, by page, patterns that the output of the commands must match.
var expectedOutput = map[string][]string{
	"README.md": {
		`(?m)^http://127\.0\.0\.1:\d+/receipts/[0-9a-f-]{36}$`, `"error":"already_predicted"`, `(?m)\b409$`,
		`"type":"note","payload":\{"text":"Rain has stopped\."\}`, `"scored":1,"won":1`, `"active":false`, `(?m)\b401$`,
		`"items":\[`, `"type":"signal\.resolved"`, `"segment":`,
		`all numbers are correct \(calls: 1, events: \d+\)`,
	},
	"docs/agents.md": {
		`(?m)^"name":"submit_signal_event"$`, `"dryRun":true`,
		`"structuredContent":\{"ok":true,"id":"[0-9a-f-]{36}"`, `already_predicted`,
	},
	"docs/cli.md": {
		`"permissions": \[`, `(?m)^Filed +NO on native-\S+ at 68\.5 cents$`, `already_predicted: .*/receipts/[0-9a-f-]{36}`,
		`(?m)owner +Rain has stopped\.$`,
		`(?m)^Calls +1$`, `(?m)^Call +NO at 68\.5 cents$`, `(?m)^RANK +HANDLE`, `"leaderboard": \[`,
		`all numbers are correct \(calls: \d+, events: \d+\)`,
		`(?m)^Handle +tidewatch$`, `(?m) signal\.created `, `(?m)^Live +session `, `(?m)^May sign +signal:create$`,
		`(?m)^Valid +yes$`, `(?m)^exit code 1$`, `(?m)^Claimed +NO on native-`,
	},
	"docs/conformance.md": {`(?m)^3 passed, 0 failed, 0 skipped`, `"failed": 0`},
}

// TestReadme runs the commands of the pages in order, beginning with the quick start, in a copy of the repository. In the copy,
// all programs must be compiled again.
func TestReadme(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "signalcast")
	copyTree(t, dir)
	out := &stack.Output{}
	cmd := exec.Command("make", "up", "ARGS=--ports auto") // the default ports may be in use
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, environment(), out, out
	child, err := localdb.StartChild(cmd, syscall.SIGTERM)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop := exec.Command("go", "run", "./deploy/local", "stop")
		stop.Dir = dir
		if text, err := stop.CombinedOutput(); err != nil {
			t.Errorf("stop make up: %v\n%s", err, text)
		}
		child.Stop(context.Background(), syscall.SIGTERM, 15*time.Second)
	})
	stack.Eventually(t, 9*time.Minute, "make up to be ready", func() bool { // compiles all programs
		select {
		case <-child.Done():
			t.Fatalf("make up ended before it was ready: %v\n%s", child.Err(), out)
		default:
		}
		return slices.Contains(strings.Split(out.String(), "\n"), "ready")
	})
	var info stack.Info
	if err := json.Unmarshal([]byte(stack.ReadFile(t, filepath.Join(dir, ".local", "stack.json"))), &info); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), info.Hub) {
		t.Errorf("make up does not print the address of the hub %s:\n%s", info.Hub, out)
	}
	blocks := 0
	for _, page := range documents(t) {
		n, out := runBlocks(t, dir, page)
		blocks += n
		for _, want := range expectedOutput[page] {
			if !regexp.MustCompile(want).MatchString(out) {
				t.Errorf("the output of the commands of %s does not match %s:\n%s", page, want, out)
			}
		}
	}
	if blocks < 10 {
		t.Errorf("only %d blocks with commands were found", blocks)
	}
}

// environment returns the environment for the commands of the pages. Its settings make every verified call count after the
// first quote.
func environment() []string {
	return append(os.Environ(), "QUOTE_CONFIRM_AFTER=off", "RATED_MIN_VOLUME_USD=0", "MANIFOLD_RATED_CREATORS=*")
}

// documents returns the pages whose blocks are run or checked. README.md is the first.
func documents(t *testing.T) []string {
	t.Helper()
	pages := []string{"README.md"}
	for _, root := range []string{"docs", "services", "examples", "sdk"} {
		err := filepath.WalkDir(filepath.Join(repo, root), func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Name() == "node_modules" {
				return filepath.SkipDir
			}
			if err == nil && strings.HasSuffix(path, ".md") {
				rel, relErr := filepath.Rel(repo, path)
				pages, err = append(pages, rel), relErr
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return pages
}

// programs maps the kinds of code blocks that are run as files to their file name extension and command.
var programs = map[string]struct{ ending, command string }{
	"go": {".go", "go run"},
	"js": {".mjs", "node --no-warnings --experimental-websocket"}, // Node 20 requires the flag for its WebSocket
}

// runBlocks runs the code blocks of a page in one shell, in order. As in the shell of a reader, programs receive only exported
// variables. It returns the number of blocks and their output.
func runBlocks(t *testing.T, dir, page string) (blocks int, out string) {
	t.Helper()
	var script strings.Builder
	script.WriteString("set -eo pipefail\ntrap 'echo \"FAILED: $BASH_COMMAND\" >&2' ERR\n")
	all := blocksOf(t, page)
	for i, b := range all {
		if !slices.Contains(runKinds, b.kind) || b.part() {
			continue
		}
		blocks++
		fmt.Fprintf(&script, "echo; echo '# block %d'\n", i)
		if p, file := programs[b.kind]; file {
			name := fmt.Sprintf("block-%d%s", i, p.ending)
			if err := os.WriteFile(filepath.Join(dir, name), []byte(b.text), 0o644); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&script, "%s %s\n", p.command, name)
			continue
		}
		script.WriteString(b.text)
	}
	if blocks == 0 {
		return 0, ""
	}
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	shell := exec.CommandContext(ctx, "bash")
	shell.Dir, shell.Env, shell.Stdin = dir, environment(), strings.NewReader(script.String())
	var said, both stack.Output // written by two goroutines
	shell.Stdout, shell.Stderr = io.MultiWriter(&said, &both), &both
	if err := shell.Run(); err != nil {
		t.Errorf("run the commands of %s: %v\n%s", page, err, both.String())
		return blocks, both.String()
	}
	for i, b := range all {
		if b.kind != "text" || !slices.Equal(b.args, []string{"output"}) {
			continue
		}
		_, came, ok := strings.Cut(said.String(), fmt.Sprintf("\n# block %d\n", i-1))
		came, _, _ = strings.Cut(came, "\n# block ")
		if !ok || !likeOutput(b.text, came) {
			t.Errorf("%s shows the output\n%s\nbut the real output is\n%s", b, b.text, came)
		}
	}
	return blocks, both.String()
}

// likeOutput reports whether the output came matches the output shown on a page. On the page, an ellipsis matches any text
// within a line. A line that is only an ellipsis matches any number of lines.
func likeOutput(shown, came string) bool {
	var pattern strings.Builder
	for line := range strings.Lines(shown) {
		if strings.TrimSpace(line) == "…" {
			pattern.WriteString(`(?:.*\n)*`)
			continue
		}
		pattern.WriteString(strings.ReplaceAll(regexp.QuoteMeta(strings.TrimSpace(line)), "…", ".*") + `\s*\n`)
	}
	return regexp.MustCompile(`^\s*` + pattern.String() + `\s*$`).MatchString(came + "\n")
}

// copyTree copies the files of the repository without build output.
func copyTree(t *testing.T, to string) {
	t.Helper()
	left := []string{".git", ".local", ".tools", "bin", "node_modules"}
	err := filepath.WalkDir(repo, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(repo, path)
		if err != nil {
			return err
		}
		switch target := filepath.Join(to, rel); {
		case d.IsDir() && slices.Contains(left, d.Name()):
			return filepath.SkipDir
		case d.IsDir():
			return os.MkdirAll(target, 0o755)
		case !d.Type().IsRegular():
			return nil
		default:
			return copyFile(path, target)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

func copyFile(from, to string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	raw, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, raw, info.Mode().Perm())
}
