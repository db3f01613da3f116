package rows

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/signalcast/signalcast/pkg/pg"
)

// release is the one before this tree, as deploy/release.txt has it.
type release struct {
	commit string
	level  map[string]int // of each schema
}

// schemas are migrated in this order; each is the program of its service.
var schemas = []string{"api", "hub", "clock"}

func lastRelease(root string) (release, error) {
	const path = "deploy/release.txt"
	r := release{level: map[string]int{}}
	raw, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		return r, err
	}
	for line := range strings.Lines(string(raw)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch name {
		case "", "#":
		case "commit":
			r.commit = value
		default:
			if r.level[name], err = strconv.Atoi(value); err != nil {
				return r, fmt.Errorf("%s: %w", path, err)
			}
		}
	}
	if r.commit == "" || len(r.level) != len(schemas) {
		return r, fmt.Errorf("%s does not name a commit and the level of each schema", path)
	}
	return r, nil
}

// errNoHistory tells that neither this clone nor where it came from has the release.
var errNoHistory = errors.New("the release is not in this clone, and could not be fetched")

// programs builds what the release ran, once for each clone, and gives the directory
// that holds it, with the description of that time.
func (r release) programs(ctx context.Context, root string) (string, error) {
	dir := filepath.Join(root, "bin", "release-"+r.commit[:12])
	if _, err := os.Stat(filepath.Join(dir, "proto")); err == nil {
		return dir, nil
	}
	from, forget, err := r.source(ctx, root)
	if err != nil {
		return "", err
	}
	defer forget()
	src := filepath.Join(dir, "src")
	if err := os.MkdirAll(src, 0o755); err != nil {
		return "", err
	}
	build := "set -o pipefail; git -C '" + from + "' archive " + r.commit + " | tar x -C '" + src + "' && cd '" + src + "' && go build -o '" + dir + "/' ./services/api ./services/hub ./services/clock"
	cmd := exec.CommandContext(ctx, "bash", "-c", build)
	cmd.Env = append(os.Environ(), "GOWORK=")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the release: %w\n%s", err, out)
	}
	// Last: where it stands, all is there.
	if err := os.Rename(filepath.Join(src, "proto"), filepath.Join(dir, "proto")); err != nil {
		return "", err
	}
	return dir, os.RemoveAll(src)
}

// source is a repository that has the release: this one, or, for a clone without
// history, a new one that holds nothing else.
func (r release) source(ctx context.Context, root string) (dir string, forget func(), err error) {
	if exec.CommandContext(ctx, "git", "-C", root, "cat-file", "-e", r.commit+"^{tree}").Run() == nil {
		return root, func() {}, nil
	}
	origin, err := exec.CommandContext(ctx, "git", "-C", root, "config", "--get", "remote.origin.url").Output()
	if err != nil {
		return "", nil, errNoHistory
	}
	if dir, err = os.MkdirTemp("", "signalcast-release-"); err != nil {
		return "", nil, err
	}
	forget = func() { _ = os.RemoveAll(dir) }
	bounded, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for _, args := range [][]string{{"init", "--quiet", "--bare"}, {"fetch", "--quiet", "--depth=1", strings.TrimSpace(string(origin)), r.commit}} {
		cmd := exec.CommandContext(bounded, "git", append([]string{"-C", dir}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_TERMINAL_PROMPT=0")
		if err := cmd.Run(); err != nil {
			forget()
			return "", nil, errNoHistory
		}
	}
	return dir, forget, nil
}

// bin puts the programs of the release and the rest of today's into one directory.
func (r release) bin(old, now, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, from := range map[string]string{"api": old, "hub": old, "clock": old, "local": now, "venuesim": now, "devidp": now} {
		path := filepath.Join(dir, name)
		if err := os.RemoveAll(path); err != nil {
			return err
		}
		if err := os.Symlink(filepath.Join(from, name), path); err != nil {
			return err
		}
	}
	return nil
}

// filesUpTo is the first so many migrations of a schema.
type filesUpTo struct {
	fs.FS
	most int
}

// ReadDir implements fs.ReadDirFS.
func (u filesUpTo) ReadDir(name string) ([]fs.DirEntry, error) {
	list, err := fs.ReadDir(u.FS, name)
	return list[:min(len(list), u.most)], err
}

// raise brings a schema to the level of the release.
func (r release) raise(ctx context.Context, root, schema, admin, password string) error {
	files := os.DirFS(filepath.Join(root, "services", schema, "internal/postgres/migrations"))
	_, err := pg.Migrate(ctx, admin, pg.Schema{Name: schema, Files: filesUpTo{files, r.level[schema]}, Password: password})
	return err
}
