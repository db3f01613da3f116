package shipping

import (
	"bytes"
	"debug/buildinfo"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/signalcast/signalcast/test/system/stack"
)

// TestBuildsAreReproducible checks that the same source produces the same programs in any directory, without a trace of the
// build machine. With SYSTEM_SIZE=full, every package is compiled twice. Otherwise the second build uses packages from the
// build cache.
func TestBuildsAreReproducible(t *testing.T) {
	first := compileOnce(t)
	dir := t.TempDir()
	second := images{filepath.Join(dir, "a-directory-with-a-longer-name"), filepath.Join(dir, "programs")}
	copyTree(t, second.tree)
	flags := []string{"", noStamp, noStamp + " -a"}[stack.Size(t, 1, 1, 2)]
	compileImages(t, second.tree, second.programs, flags)
	traces := append(strings.Fields(run(t, dir, nil, "go", "env", "GOMODCACHE", "GOCACHE")), first.tree, second.tree, root(t))
	for _, service := range services(t) {
		a := requireNoTrace(t, filepath.Join(first.programs, service), traces)
		b := requireNoTrace(t, filepath.Join(second.programs, service), traces)
		if !bytes.Equal(a, b) {
			t.Errorf("%s: two builds of the same source differ", service)
		}
	}
}

// requireNoTrace requires that a program contains none of the directories, no commit and no cgo code. It returns the program.
func requireNoTrace(t *testing.T, path string, directories []string) []byte {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range directories {
		if bytes.Contains(raw, []byte(dir)) {
			t.Errorf("%s contains the path of the build directory %s", path, dir)
		}
	}
	info, err := buildinfo.Read(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
		if strings.HasPrefix(s.Key, "vcs") {
			t.Errorf("%s contains the build setting %s; want none", path, s.Key)
		}
	}
	if settings["-trimpath"] != "true" || settings["CGO_ENABLED"] != "0" {
		t.Errorf("%s: -trimpath is %q, CGO_ENABLED %q; want true and 0", path, settings["-trimpath"], settings["CGO_ENABLED"])
	}
	return raw
}
