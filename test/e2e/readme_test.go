package e2e

import (
	"bytes"
	"context"
	"fmt"
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
	"docs/agents.md": {`(?m)^"name":"submit_signal_event"$`, `"id":null,"dryRun":true`, `"structuredContent":\{"ok":true,"id":"[0-9a-f-]{36}"\}`, `already_predicted`},
	"docs/cli.md": {
		`"permissions": \[`, `(?m)^Filed +NO on native-\S+ at 68\.5 cents$`, `already_predicted: .*/receipts/[0-9a-f-]{36}`, `(?m)owner +Rain has stopped\.$`,
		`(?m)^Calls +1$`, `(?m)^Call +NO at 68\.5 cents$`, `(?m)^RANK +HANDLE`, `"leaderboard": \[`, `every number holds \(calls: \d+, events: \d+\)`,
	},
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

// documents lists the pages, README.md first.
func documents(t *testing.T) []string {
	t.Helper()
	pages := []string{"README.md"}
	for _, root := range []string{"docs", "services"} {
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

var block = regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")

// runBlocks runs the commands of a page in one shell and gives what they print.
func runBlocks(t *testing.T, dir, page string) (blocks int, out string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, page))
	if err != nil {
		t.Fatal(err)
	}
	var script strings.Builder
	script.WriteString("set -eo pipefail\ntrap 'echo \"FAILED: $BASH_COMMAND\" >&2' ERR\n")
	for _, m := range block.FindAllStringSubmatch(string(text), -1) {
		blocks++
		fmt.Fprintf(&script, "echo; echo '# block %d'\n%s", blocks, m[1])
	}
	if blocks == 0 {
		return 0, ""
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	shell := exec.CommandContext(ctx, "bash")
	shell.Dir, shell.Env, shell.Stdin = dir, plainEnv(), strings.NewReader(script.String())
	var both bytes.Buffer
	shell.Stdout, shell.Stderr = &both, &both
	if err := shell.Run(); err != nil {
		t.Errorf("%s: %v\n%s", page, err, both.String())
	}
	return blocks, both.String()
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
