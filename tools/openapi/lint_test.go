package main

import (
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"strings"
	"testing"
)

// pinned is one entry of package.json and of the lock.
type pinned struct {
	Version, Resolved, Integrity string
	Dependencies                 map[string]string
}

// TestLintersArePinned: the versions of the two linters are exact and locked by their
// hashes, and the lock names no server.
func TestLintersArePinned(t *testing.T) {
	t.Parallel()
	var wanted pinned
	var lock struct{ Packages map[string]pinned }
	for name, into := range map[string]any{"package.json": &wanted, "package-lock.json": &lock} {
		raw, err := os.ReadFile("../lint/" + name)
		if err == nil {
			err = json.Unmarshal(raw, into)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(wanted.Dependencies) != 2 || !maps.Equal(lock.Packages[""].Dependencies, wanted.Dependencies) {
		t.Errorf("the lock has %v, package.json %v", lock.Packages[""].Dependencies, wanted.Dependencies)
	}
	exact := regexp.MustCompile(`^\d+\.\d+\.\d+$`)
	for name, version := range wanted.Dependencies {
		if !exact.MatchString(version) || lock.Packages["node_modules/"+name].Version != version {
			t.Errorf("%s %s is not exact, or not what is locked", name, version)
		}
	}
	for path, p := range lock.Packages {
		if p.Resolved != "" || path != "" && !strings.HasPrefix(p.Integrity, "sha512-") {
			t.Errorf("%s: from %q with hash %q", path, p.Resolved, p.Integrity)
		}
	}
}
