package faults

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Every fault has its header, and every patch applies to the current files.
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
			t.Errorf("%s: %v", f.Name, err)
		}
	}
}

// A patch that no longer applies is an error, and so is a header without the test.
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
		t.Errorf("the copy is %q (%v)", raw, err)
	}
	if got, want := good.Pattern(), "^TestX$/^of_two$"; got != want {
		t.Errorf("pattern %s, want %s", got, want)
	}
	stale, err := parse("stale", ".patch", header+strings.ReplaceAll(diff, "-const n = 1", "-const n = 3"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stale.Apply(root, t.TempDir()); err == nil {
		t.Error("a patch for another file was applied")
	}
	for name, text := range map[string]string{"no header": diff, "no file": header} {
		if _, err := parse(name, ".patch", text); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// Settings and SQL reach the harness by the environment, and only where a whole system runs.
func TestFaultsWithoutABuild(t *testing.T) {
	t.Parallel()
	const header = "Guarantee: P1\nTest: TestX\nFault: n is wrong\n"
	env, err := parse("env", ".env", header+"\nN=1\npostgres.fsync=off\n")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := env.Environ(), []string{"SYSTEM_SETTINGS=N=1\npostgres.fsync=off\n"}; !slices.Equal(got, want) {
		t.Errorf("environment %q, want %q", got, want)
	}
	if _, err := parse("unit", ".sql", header+"Package: ./pkg/pg\n\nSELECT 1\n"); err == nil {
		t.Error("SQL for the test of a package without a system: accepted")
	}
	if _, err := parse("empty", ".sql", header); err == nil {
		t.Error("an empty fault: accepted")
	}
}
