package clients

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// described describes one package in package.json or in package-lock.json.
type described struct {
	Version      string            `json:"version"`
	Resolved     string            `json:"resolved"`
	Integrity    string            `json:"integrity"`
	Dependencies map[string]string `json:"dependencies"`
	Optional     map[string]string `json:"optionalDependencies"`
}

var exact = regexp.MustCompile(`^\d+\.\d+\.\d+(-[0-9A-Za-z.]+)?$`)

func read(t *testing.T, path string, into any) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(raw, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestPins checks that every version of the clients and linters is exact and locked by a hash. The lock files must contain no
// registry address, and docs/conformance.md must list the versions.
func TestPins(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/conformance.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, version := range pinned(t, ".").Dependencies {
		if !strings.Contains(string(page), name+" "+version) {
			t.Errorf("docs/conformance.md does not list %s %s", name, version)
		}
	}
	if linters := pinned(t, "../../tools/lint").Dependencies; len(linters) == 0 {
		t.Error("tools/lint/package.json lists no linter")
	}
}

// pinned compares package.json in dir with its lock file, and returns the content of package.json.
func pinned(t *testing.T, dir string) (wanted described) {
	t.Helper()
	read(t, filepath.Join(dir, "package.json"), &wanted)
	var lock struct {
		Version  int                  `json:"lockfileVersion"`
		Packages map[string]described `json:"packages"`
	}
	read(t, filepath.Join(dir, "package-lock.json"), &lock)
	root := lock.Packages[""]
	if lock.Version != 3 || !maps.Equal(root.Dependencies, wanted.Dependencies) || !maps.Equal(root.Optional, wanted.Optional) {
		t.Errorf("%s: the lock file does not match package.json; run npm install --package-lock-only", dir)
	}
	for path, p := range lock.Packages {
		if p.Resolved != "" || path != "" && !strings.HasPrefix(p.Integrity, "sha512-") {
			t.Errorf("%s: package %s is resolved to %q with hash %q; want no address and a hash", dir, path, p.Resolved, p.Integrity)
		}
	}
	all := maps.Clone(wanted.Dependencies)
	maps.Copy(all, wanted.Optional)
	for name, version := range all {
		if !exact.MatchString(version) || lock.Packages["node_modules/"+name].Version != version {
			t.Errorf("%s: version %[3]s of %[2]s is not exact or differs from the lock file", dir, name, version)
		}
	}
	return wanted
}

// TestScripts checks that each script in scripts exists and contains the stated number of checks, and that scripts lists every
// script with checks.
func TestScripts(t *testing.T) {
	t.Parallel()
	for _, s := range scripts {
		raw, err := os.ReadFile(s.name + ".mjs")
		if err != nil {
			t.Error(err)
			continue
		}
		if n := strings.Count(string(raw), "await check("); s.least < n {
			t.Errorf("%s contains %d checks, but scripts states a minimum of %d; raise the minimum", s.name, n, s.least)
		}
	}
	files, err := filepath.Glob("*.mjs")
	if err != nil || len(files) < len(scripts) {
		t.Fatal(files, err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(file, ".mjs")
		runs := slices.ContainsFunc(scripts, func(s script) bool { return s.name == name })
		if checks := strings.Contains(string(raw), "\nawait check("); checks && !runs {
			t.Errorf("%s contains checks but is missing in scripts", file)
		}
	}
}
