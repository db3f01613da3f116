package localdb

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"time"
)

const (
	minPostgres = 15
	minRedis    = 7
)

// binaries describes one installation of Postgres on this machine.
type binaries struct {
	dir   string // contains initdb and postgres
	major int
}

func (b binaries) path(tool string) string { return filepath.Join(b.dir, tool) }

// postgresDirs contains the directories in which package managers install Postgres. Most of them are not on PATH.
var postgresDirs = []string{
	"/usr/lib/postgresql/*/bin",
	"/usr/pgsql-*/bin",
	"/usr/libexec/postgresql*",
	"/usr/local/pgsql/bin",
	"/opt/homebrew/opt/postgresql@*/bin",
	"/usr/local/opt/postgresql@*/bin",
	"/home/linuxbrew/.linuxbrew/opt/postgresql@*/bin",
	"/Applications/Postgres.app/Contents/Versions/*/bin",
	"/opt/local/lib/postgresql*/bin",
}

// installed returns the usable Postgres installations of this machine. If PG_BIN is set, only that directory is used.
// Otherwise the installation on PATH comes first, then those in postgresDirs, newest major version first. The second
// result contains the reasons why other installations were rejected.
func installed(ctx context.Context) (found []binaries, rejected []string) {
	if dir := os.Getenv("PG_BIN"); dir != "" {
		b, err := inspect(ctx, dir)
		if err != nil {
			return nil, []string{err.Error()}
		}
		return []binaries{b}, nil
	}
	seen := map[string]bool{}
	consider := func(dir string) {
		path, err := filepath.EvalSymlinks(dir)
		if err != nil || seen[path] {
			return
		}
		seen[path] = true
		if b, err := inspect(ctx, path); err != nil {
			rejected = append(rejected, err.Error())
		} else {
			found = append(found, b)
		}
	}
	if tool, err := exec.LookPath("initdb"); err == nil {
		if path, err := filepath.EvalSymlinks(tool); err == nil {
			consider(filepath.Dir(path))
		}
	}
	onPath := len(found)
	for _, pattern := range postgresDirs {
		dirs, _ := filepath.Glob(pattern)
		for _, dir := range dirs {
			consider(dir)
		}
	}
	slices.SortStableFunc(found[onPath:], func(a, b binaries) int { return cmp.Compare(b.major, a.major) })
	return found, rejected
}

// inspect returns the installation in dir. It returns an error if a binary is missing or the installation is older than
// minPostgres.
func inspect(ctx context.Context, dir string) (binaries, error) {
	b := binaries{dir: dir}
	for _, tool := range []string{"initdb", "postgres"} {
		major, err := majorVersion(ctx, b.path(tool))
		if err != nil {
			return b, err
		}
		b.major = major
	}
	if b.major < minPostgres {
		return b, fmt.Errorf("%s contains PostgreSQL %d; at least %d is required", dir, b.major, minPostgres)
	}
	return b, nil
}

var versionPattern = regexp.MustCompile(`(?:PostgreSQL\) |v=|server v)(\d+)`)

// majorVersion returns the major version that a tool prints for --version. It supports Postgres, Redis and Valkey.
func majorVersion(ctx context.Context, tool string) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, tool, "--version").CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("run %s --version: %w", tool, err)
	}
	m := versionPattern.FindSubmatch(out)
	if m == nil {
		return 0, fmt.Errorf("%s printed no version: %.80q", tool, out)
	}
	return strconv.Atoi(string(m[1]))
}

// hintPostgres returns the command that installs Postgres on this system, or general advice on an unknown system.
func hintPostgres() string {
	return hint("brew install postgresql@18", "apk add postgresql17 postgresql17-contrib", "sudo apt-get install -y postgresql",
		"sudo dnf install -y postgresql-server postgresql-contrib", "install PostgreSQL 15 or newer, or set DATABASE_URL")
}

// hintRedis returns the command that installs Redis on this system, or general advice on an unknown system.
func hintRedis() string {
	return hint("brew install redis", "apk add redis", "sudo apt-get update && sudo apt-get install -y redis-server",
		"sudo dnf install -y redis", "install Redis 7 or Valkey")
}

func hint(macOS, alpine, debian, redHat, other string) string {
	switch {
	case runtime.GOOS == "darwin":
		return macOS
	case exists("/etc/alpine-release"):
		return alpine
	case exists("/etc/debian_version"):
		return debian
	case exists("/etc/redhat-release"):
		return redHat
	}
	return other
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
