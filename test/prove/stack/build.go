package stack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

var programs = []string{
	"./services/api", "./services/hub", "./services/clock", "./deploy/venuesim", "./deploy/devidp", "./deploy/local",
}

// Root is the directory of go.work.
func Root(ctx context.Context) (string, error) {
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

// Build compiles everything that a system runs into dir. Flags go to the
// compiler, for example "-tags=teeth".
func Build(ctx context.Context, root, dir string, flags ...string) error {
	if err := os.MkdirAll(dir, 0o711); err != nil {
		return err
	}
	args := append([]string{"build", "-o", dir + string(filepath.Separator)}, flags...)
	cmd := exec.CommandContext(ctx, "go", append(args, programs...)...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, strings.TrimSpace(string(out)))
	}
	return nil
}
