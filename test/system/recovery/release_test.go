package recovery

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/signalcast/signalcast/test/system/stack"
)

// release is the release before this tree, which deploy/release.txt names.
type release struct {
	commit string
	level  map[string]int // number of applied migrations of each schema
}

// schemas lists the schemas in the order of their migrations. The program of each service migrates its schema.
var schemas = []string{"api", "hub", "clock"}

func lastRelease(t *testing.T, root string) release {
	t.Helper()
	r := release{level: map[string]int{}}
	raw, err := os.ReadFile(filepath.Join(root, "deploy/release.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch name {
		case "", "#":
		case "commit":
			r.commit = value
		default:
			if r.level[name], err = strconv.Atoi(value); err != nil {
				t.Fatalf("deploy/release.txt: %v", err)
			}
		}
	}
	if r.commit == "" || len(r.level) != len(schemas) {
		t.Fatal("deploy/release.txt must contain a commit and the level of each schema")
	}
	return r
}

// programs builds the services of the release, once per clone. It returns their directory, which also contains the directory
// proto of the release. It skips the test if the commit is neither in this clone nor in its remote repository.
func (r release) programs(t *testing.T, root string) string {
	t.Helper()
	dir := filepath.Join(root, "bin", "release-"+r.commit[:12])
	if _, err := os.Stat(filepath.Join(dir, "proto")); err == nil {
		return dir
	}
	if git(root, "cat-file", "-e", r.commit+"^{tree}") != nil && git(root, "fetch", "--quiet", "--depth=1", "origin", r.commit) != nil {
		t.Skipf("commit %s of deploy/release.txt is not in this clone and cannot be fetched", r.commit)
	}
	src := filepath.Join(dir, "src")
	if err := os.MkdirAll(src, 0o755); err != nil {
		t.Fatal(err)
	}
	build := `set -o pipefail; git -C "$1" archive "$2" | tar x -C "$3" && cd "$3" && go build -o "$4/" ./services/api ./services/hub ./services/clock`
	cmd := exec.CommandContext(t.Context(), "bash", "-c", build, "bash", root, r.commit, src, dir)
	cmd.Env = append(os.Environ(), "GOWORK=", "GOFLAGS=-trimpath")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build the release: %v\n%s", err, out)
	}
	// The directory proto is moved last. Its existence shows that the build is complete.
	if err := os.Rename(filepath.Join(src, "proto"), filepath.Join(dir, "proto")); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(src); err != nil {
		t.Fatal(err)
	}
	return dir
}

func git(dir string, args ...string) error {
	cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_TERMINAL_PROMPT=0")
	return cmd.Run()
}

// withTools returns a directory with links to the services of the release and to the other programs of this tree.
func withTools(t *testing.T, services string) string {
	t.Helper()
	dir, now := t.TempDir(), stack.Bin(t)
	for name, from := range map[string]string{"api": services, "hub": services, "clock": services, "local": now, "venuesim": now, "devidp": now} {
		if err := os.Symlink(filepath.Join(from, name), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestReleaseFileNamesTheLastRelease compares deploy/release.txt with the newest tag before this commit and its migrations. A commit
// with a tag cannot contain its name, so the file follows in the next one.
func TestReleaseFileNamesTheLastRelease(t *testing.T) {
	t.Parallel()
	root, err := stack.Root()
	if err != nil {
		t.Fatal(err)
	}
	output := func(args ...string) string {
		out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", root}, args...)...).Output()
		if err != nil {
			t.Skipf("git %v: %v; the clone has no tags or no history", args, err)
		}
		return strings.TrimSpace(string(out))
	}
	tag := output("describe", "--tags", "--abbrev=0", "--match", "v[0-9]*", "HEAD~1")
	r := lastRelease(t, root)
	if commit := output("rev-parse", tag+"^{commit}"); r.commit != commit {
		t.Errorf("deploy/release.txt names commit %s; the last release is %s, commit %s", r.commit, tag, commit)
	}
	for _, schema := range schemas {
		files := output("ls-tree", "--name-only", r.commit, "services/"+schema+"/internal/postgres/migrations/")
		if n := strings.Count(files, ".sql"); n != r.level[schema] {
			t.Errorf("deploy/release.txt states level %d of schema %s; the release has %d migrations", r.level[schema], schema, n)
		}
	}
}
