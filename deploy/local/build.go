package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// packages lists the programs of a stack. One go build compiles all programs, so that it compiles shared packages only once.
var packages = []string{"./services/api", "./services/hub", "./services/clock", "./deploy/venuesim", "./deploy/devidp"}

// build compiles all programs of a stack and writes them to dir.
func build(ctx context.Context, dir string) error {
	root, err := repository(ctx)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "go", append([]string{"build", "-o", dir + string(filepath.Separator)}, packages...)...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, strings.TrimSpace(string(out)))
	}
	return nil
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
