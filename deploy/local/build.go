package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// packages lists the programs of a stack. A single `go build` compiles all programs, so that it compiles shared packages only
// once.
var packages = []string{"./services/api", "./services/hub", "./services/clock", "./deploy/venuesim", "./deploy/devidp"}

// build compiles all programs of a stack and writes them to dir.
func build(ctx context.Context, dir string) error {
	root, err := repository(ctx)
	if err != nil {
		return err
	}
	// The Go toolchain records no commit in a git worktree, so the linker sets it.
	stamp := "-ldflags=-X github.com/signalcast/signalcast/pkg/version.commit=" + commitOf(ctx, root)
	cmd := exec.CommandContext(ctx, "go", append([]string{"build", stamp, "-o", dir + string(filepath.Separator)}, packages...)...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, strings.TrimSpace(string(out)))
	}
	return nil
}

// commitOf returns the git commit of the source tree at root, with the suffix -dirty if tracked files have changes. It
// returns "" if root is not the root of a git tree, or if git fails.
func commitOf(ctx context.Context, root string) string {
	if !fileExists(filepath.Join(root, ".git")) {
		return ""
	}
	cmd := exec.CommandContext(ctx, "git", "describe", "--always", "--abbrev=40", "--exclude=*", "--dirty")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// repository returns the root of the repository: the directory of go.work. It fails outside the repository.
func repository(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOWORK").Output()
	if err != nil {
		return "", fmt.Errorf("go env: %w", err)
	}
	work := strings.TrimSpace(string(out))
	if work == "" || work == "off" {
		return "", errors.New("run this command inside the repository: no go.work in the current directory or above it")
	}
	return filepath.Dir(work), nil
}
