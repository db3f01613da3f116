package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// schemas lists the services in the order in which their migrations run. The schema and the binary of a service have the same
// name.
var schemas = []string{"api", "hub", "clock"}

// migrateCmd is the command migrate. It runs pending migrations of a running stack.
type migrateCmd struct {
	Dir string `default:".local" help:"State directory of the stack."`
}

// Run compiles the programs and runs the pending migrations. It does not restart the running programs.
func (c *migrateCmd) Run(ctx context.Context) error {
	running, err := readStack(c.Dir)
	if err != nil {
		return err
	}
	dir, err := filepath.Abs(c.Dir)
	if err != nil {
		return err
	}
	s := &state{dir: dir}
	keep, err := s.secrets()
	if err != nil {
		return err
	}
	if err := build(ctx, s.path("bin")); err != nil {
		return err
	}
	return migrateAll(ctx, s.path("bin"), running.DatabaseURL, keep.Database, func(line string) { fmt.Println(line) })
}

// migrateAll runs the migrate command of each service with the superuser URL admin. It sets the password of the database roles
// of the services to password.
func migrateAll(ctx context.Context, bin, admin, password string, say func(string)) error {
	for _, name := range schemas {
		cmd := exec.CommandContext(ctx, filepath.Join(bin, name), "migrate")
		cmd.Env = environment(map[string]string{
			"ENV": "development", "MIGRATE_DATABASE_URL": admin, "DB_RW_PASSWORD": password,
		})
		out, err := cmd.CombinedOutput()
		text := strings.TrimSpace(string(out))
		if err != nil {
			return fmt.Errorf("%s migrate: %w\n%s", name, err, text)
		}
		if text != "" {
			say(text)
		}
	}
	return nil
}
