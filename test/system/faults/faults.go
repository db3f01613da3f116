package faults

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// systemPackage is the default package of the test of a fault. The tests in this package and its subpackages run complete
// systems.
const systemPackage = "./test/system"

// Fault is one fault file of the directory.
type Fault struct {
	Name      string // name of the file without its extension
	Guarantee string
	Test      string // path of a test in the form of go test -run, for example TestX/kalshi
	Package   string
	What      string // description of what the fault breaks
	Race      bool   // the test must run with the race detector to detect the fault

	Files []string // patched files, relative to the root of the repository; empty unless the fault is a patch

	kind string // extension of the file: .patch, .env or .sql
	body string // content of the file after its header
}

// Load reads all fault files of a directory. It returns the faults sorted by file name.
func Load(dir string) ([]Fault, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var out []Fault
	for _, e := range entries {
		kind := filepath.Ext(e.Name())
		if kind != ".patch" && kind != ".env" && kind != ".sql" {
			continue
		}
		raw, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		f, err := parse(strings.TrimSuffix(e.Name(), kind), kind, string(raw))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.Name(), err)
		}
		out = append(out, f)
	}
	return out, nil
}

func parse(name, kind, text string) (Fault, error) {
	f := Fault{Name: name, Package: systemPackage, kind: kind}
	header, body, _ := strings.Cut(text, "\n\n")
	f.body = body
	race := "no"
	members := map[string]*string{"Guarantee": &f.Guarantee, "Test": &f.Test, "Package": &f.Package, "Fault": &f.What, "Race": &race}
	for line := range strings.Lines(header) {
		member, value, _ := strings.Cut(strings.TrimRight(line, "\n"), ": ")
		if members[member] == nil {
			return f, fmt.Errorf("header line %q is invalid: a known name, a colon and a value are expected", line)
		}
		*members[member] = strings.TrimSpace(value)
	}
	for member, value := range members {
		if *value == "" {
			return f, fmt.Errorf("the header has no line %s", member)
		}
	}
	f.Race = race == "yes"
	for line := range strings.Lines(body) {
		if path, ok := strings.CutPrefix(strings.TrimRight(line, "\n"), "+++ b/"); ok {
			f.Files = append(f.Files, path)
		}
	}
	switch {
	case strings.TrimSpace(body) == "":
		return f, errors.New("the file contains nothing after its header")
	case kind == ".patch" && len(f.Files) == 0:
		return f, errors.New("the patch changes no files")
	case kind != ".patch" && !f.System():
		return f, errors.New("settings and SQL require a test that runs a system; use a patch for this package")
	}
	return f, nil
}

// System reports whether the test of the fault runs a complete system. If so, the programs of the system are built with the
// fault; otherwise the test binary is built with the fault.
func (f Fault) System() bool {
	return f.Package == systemPackage || strings.HasPrefix(f.Package, systemPackage+"/")
}

// Environ returns the environment variables that make package stack apply the fault. It returns nil for a patch.
func (f Fault) Environ() []string {
	switch f.kind {
	case ".env":
		return []string{"SYSTEM_SETTINGS=" + f.body}
	case ".sql":
		return []string{"SYSTEM_SQL=" + f.body}
	}
	return nil
}

// Apply writes copies of f.Files into dir and applies the patch to them. root is the root of the repository. Apply returns the
// path of an overlay file for go build -overlay, or an error if the patch does not apply to the files.
func (f Fault) Apply(root, dir string) (overlay string, err error) {
	replace := map[string]string{}
	for _, path := range f.Files {
		raw, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			return "", err
		}
		copied := filepath.Join(dir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(copied), 0o755); err != nil {
			return "", err
		}
		if err := os.WriteFile(copied, raw, 0o644); err != nil {
			return "", err
		}
		replace[filepath.Join(root, path)] = copied
	}
	cmd := exec.Command("git", "apply", "-")
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(f.body)
	// Without these variables git would ignore the files if dir is inside a repository or a git hook runs this program.
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(pair string) bool { return strings.HasPrefix(pair, "GIT_") }),
		"GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("the patch does not apply to the current files: %w\n%s", err, bytes.TrimSpace(out))
	}
	raw, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	overlay = filepath.Join(dir, "overlay.json")
	return overlay, os.WriteFile(overlay, raw, 0o644)
}

// Pattern returns a value for the flag -run of go test. The value selects only the test of the fault.
func (f Fault) Pattern() string {
	parts := strings.Split(f.Test, "/")
	for i, p := range parts {
		parts[i] = "^" + strings.ReplaceAll(p, " ", "_") + "$"
	}
	return strings.Join(parts, "/")
}
