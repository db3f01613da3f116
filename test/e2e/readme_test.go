package e2e

import (
	"context"
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
)

// promised is what README.md says that its commands show.
var promised = map[string][]string{
	"README.md": {
		`(?m)^http://127\.0\.0\.1:\d+/receipts/[0-9a-f-]{36}$`, `"error":"already_predicted"`, `(?m)\b409$`,
		`"type":"note","payload":\{"text":"Rain has stopped\."\}`, `"scored":1,"won":1`, `"active":false`, `(?m)\b401$`, `"items":\[`, `"type":"signal\.resolved"`, `"segment":`,
		`every number holds \(calls: 1, events: \d+\)`,
	},
	"docs/agents.md": {`(?m)^"name":"submit_signal_event"$`, `"dryRun":true`, `"structuredContent":\{"ok":true,"id":"[0-9a-f-]{36}"`, `already_predicted`},
	"docs/cli.md": {
		`"permissions": \[`, `(?m)^Filed +NO on native-\S+ at 68\.5 cents$`, `already_predicted: .*/receipts/[0-9a-f-]{36}`, `(?m)owner +Rain has stopped\.$`,
		`(?m)^Calls +1$`, `(?m)^Call +NO at 68\.5 cents$`, `(?m)^RANK +HANDLE`, `"leaderboard": \[`, `every number holds \(calls: \d+, events: \d+\)`,
		`(?m)^Handle +tidewatch$`, `(?m) signal\.created `, `(?m)^Live +session `, `(?m)^May sign +signal:create$`, `(?m)^Valid +yes$`, `(?m)^exit code 1$`, `(?m)^Claimed +NO on native-`,
	},
	"docs/conformance.md": {`(?m)^3 passed, 0 failed, 0 skipped`, `"failed": 0`},
}

// TestReadme does what the pages say, from a copy of the tree: the quick start,
// then every block of commands, in order. It compiles everything once more, and so
// runs alone.
func TestReadme(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "signalcast")
	copyTree(t, dir)
	r := &launch{dir: filepath.Join(dir, ".local")}
	cmd := exec.Command("make", "up", "ARGS=--ports auto") // the usual ports may be somebody's
	cmd.Dir, cmd.Env = dir, plainEnv()
	cmd.Stdout, cmd.Stderr = &r.out, &r.out
	var err error
	if r.child, err = localdb.StartChild(cmd, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop := exec.Command("go", "run", "./deploy/local", "stop")
		stop.Dir = dir
		if out, err := stop.CombinedOutput(); err != nil {
			t.Errorf("stop: %v\n%s", err, out)
		}
		r.child.Stop(context.Background(), syscall.SIGTERM, stopWithin)
	})
	if err := r.waitReady(); err != nil {
		t.Fatal(err)
	}
	s, err := read(r.dir)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(r.out.String(), s.Hub) {
		t.Errorf("it does not print the hub's address: %s", r.out.String())
	}
	blocks := 0
	for _, page := range documents(t) {
		n, out := runBlocks(t, dir, page)
		blocks += n
		for _, want := range promised[page] {
			if !regexp.MustCompile(want).MatchString(out) {
				t.Errorf("%s: its commands do not show %s:\n%s", page, want, out)
			}
		}
	}
	if blocks < 10 {
		t.Errorf("%d blocks of commands were found", blocks)
	}
}

// documents lists the pages whose blocks are run or checked, README.md first.
func documents(t *testing.T) []string {
	t.Helper()
	pages := []string{"README.md"}
	for _, root := range []string{"docs", "services", "examples", "sdk"} {
		err := filepath.WalkDir(filepath.Join(repo, root), func(path string, d fs.DirEntry, err error) error {
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

// programs says how the blocks of a kind are run, where they are files.
var programs = map[string]struct{ ending, command string }{
	"go": {".go", "go run"},
	"js": {".mjs", "node --no-warnings --experimental-websocket"}, // Node 20 has its WebSocket behind a flag
}

// runBlocks runs the blocks of a page in one shell, in order, and gives what they print.
// What a block sets is there for all that follow.
func runBlocks(t *testing.T, dir, page string) (blocks int, out string) {
	t.Helper()
	var script strings.Builder
	script.WriteString("set -aeo pipefail\ntrap 'echo \"FAILED: $BASH_COMMAND\" >&2' ERR\n")
	all := blocksOf(t, page)
	for i, b := range all {
		if !slices.Contains(ran, b.kind) || b.part() {
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
	shell.Dir, shell.Env, shell.Stdin = dir, plainEnv(), strings.NewReader(script.String())
	var said, both lines // two writers at once
	shell.Stdout, shell.Stderr = io.MultiWriter(&said, &both), &both
	if err := shell.Run(); err != nil {
		t.Errorf("%s: %v\n%s", page, err, both.String())
		return blocks, both.String()
	}
	for i, b := range all {
		if b.kind != "text" || !slices.Equal(b.args, []string{"output"}) {
			continue
		}
		_, came, ok := strings.Cut(said.String(), fmt.Sprintf("\n# block %d\n", i-1))
		came, _, _ = strings.Cut(came, "\n# block ")
		if !ok || !likeOutput(b.text, came) {
			t.Errorf("%s: it shows\n%s\nand this came\n%s", b, b.text, came)
		}
	}
	return blocks, both.String()
}

// likeOutput tells whether output is what a page shows. Three dots stand for whatever
// comes within a line, and alone for any lines.
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

// copyTree copies what belongs to the project.
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
