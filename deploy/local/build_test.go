package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestCommitOf checks the commit of a git tree, of a worktree and of a directory without git.
func TestCommitOf(t *testing.T) {
	t.Parallel()
	tree, worktree := filepath.Join(t.TempDir(), "tree"), filepath.Join(t.TempDir(), "worktree")
	git := func(args ...string) string {
		t.Helper()
		set := []string{"-c", "user.name=test", "-c", "user.email=test@localhost", "-c", "commit.gpgsign=false"}
		out, err := exec.Command("git", append(set, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("git %s: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(tree, "file"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	git("init", "-q", tree)
	write("1")
	git("-C", tree, "add", ".")
	git("-C", tree, "commit", "-q", "-m", "first")
	git("-C", tree, "tag", "v0.1.0")
	git("-C", tree, "worktree", "add", "-q", "-b", "other", worktree)
	commit := git("-C", tree, "rev-parse", "HEAD")
	write("2")
	for dir, want := range map[string]string{tree: commit + "-dirty", worktree: commit, t.TempDir(): ""} {
		if got := commitOf(t.Context(), dir); got != want {
			t.Errorf("the commit of %s is %q, want %q", dir, got, want)
		}
	}
}
