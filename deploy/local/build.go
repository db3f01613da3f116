package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// packages are built in one go, so that they share the compiler's work.
var packages = []string{"./services/api", "./services/hub", "./services/clock", "./deploy/venuesim", "./deploy/devidp"}

// build compiles every program into dir.
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

// repository is the directory of go.work.
func repository(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOWORK").Output()
	if err != nil {
		return "", fmt.Errorf("go env: %w", err)
	}
	work := strings.TrimSpace(string(out))
	if work == "" || work == "off" {
		return "", errors.New("run this inside the repository: there is no go.work above the current directory")
	}
	return filepath.Dir(work), nil
}
