package faults

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestEveryPatchApplies checks that every fault file has a valid header and that every patch applies to the current
// files.
func TestEveryPatchApplies(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "env", "GOWORK").Output()
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Dir(strings.TrimSpace(string(out)))
	all, err := Load(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		if len(f.Files) == 0 {
			continue
		}
		if _, err := f.Apply(root, t.TempDir()); err != nil {
			t.Errorf("apply fault %s: %v", f.Name, err)
		}
	}
}

// TestBrokenPatchesAreRefused checks that a patch for other file content and a file with an incomplete header are
// refused.
func TestBrokenPatchesAreRefused(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "a.go"), []byte("package a\n\nconst n = 1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	const header = "Guarantee: P1\nTest: TestX/of two\nFault: n is wrong\n\n"
	const diff = "--- a/a.go\n+++ b/a.go\n@@ -1,3 +1,3 @@\n package a\n \n-const n = 1\n+const n = 2\n"
	good, err := parse("good", ".patch", header+diff)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if _, err := good.Apply(root, dir); err != nil {
		t.Fatal(err)
	}
	if raw, err := os.ReadFile(filepath.Join(dir, "a.go")); err != nil || !strings.Contains(string(raw), "n = 2") {
		t.Errorf("the patched copy is %q (error %v)", raw, err)
	}
	if got, want := good.Pattern(), "^TestX$/^of_two$"; got != want {
		t.Errorf("pattern is %s; want %s", got, want)
	}
	stale, err := parse("stale", ".patch", header+strings.ReplaceAll(diff, "-const n = 1", "-const n = 3"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stale.Apply(root, t.TempDir()); err == nil {
		t.Error("a patch for other file content was applied; want an error")
	}
	for name, text := range map[string]string{"no header": diff, "no file": header} {
		if _, err := parse(name, ".patch", text); err == nil {
			t.Errorf("%s: the fault was accepted; want an error", name)
		}
	}
}

// TestFaultsWithoutABuild checks that settings and SQL are passed to package stack in environment variables, and are
// accepted only for tests that run a system.
func TestFaultsWithoutABuild(t *testing.T) {
	t.Parallel()
	const header = "Guarantee: P1\nTest: TestX\nFault: n is wrong\n"
	env, err := parse("env", ".env", header+"\nN=1\npostgres.fsync=off\n")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := env.Environ(), []string{"SYSTEM_SETTINGS=N=1\npostgres.fsync=off\n"}; !slices.Equal(got, want) {
		t.Errorf("environment is %q; want %q", got, want)
	}
	if _, err := parse("unit", ".sql", header+"Package: ./pkg/pg\n\nSELECT 1\n"); err == nil {
		t.Error("SQL was accepted for a test that runs no system; want an error")
	}
	if _, err := parse("empty", ".sql", header); err == nil {
		t.Error("a fault without content was accepted; want an error")
	}
}
