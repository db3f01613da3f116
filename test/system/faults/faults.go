package faults

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// defaultPackage is the package of the test when the header names none.
const defaultPackage = "./test/system"

// Fault is one patch.
type Fault struct {
	Name      string // of the file, without .patch
	Guarantee string
	Test      string // path of a test as go test -run takes it, for example TestX/kalshi
	Package   string
	What      string // what the patch breaks

	Files []string // patched files, from the root of the repository
	patch []byte
}

// Load reads all faults of a folder, by name.
func Load(dir string) ([]Fault, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.patch"))
	if err != nil {
		return nil, err
	}
	slices.Sort(paths)
	out := make([]Fault, 0, len(paths))
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		f, err := parse(strings.TrimSuffix(filepath.Base(path), ".patch"), raw)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		out = append(out, f)
	}
	return out, nil
}

func parse(name string, raw []byte) (Fault, error) {
	f := Fault{Name: name, Package: defaultPackage, patch: raw}
	members := map[string]*string{"Guarantee": &f.Guarantee, "Test": &f.Test, "Package": &f.Package, "Fault": &f.What}
	header := true
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimRight(line, "\n")
		if path, ok := strings.CutPrefix(line, "+++ b/"); ok {
			f.Files = append(f.Files, path)
		}
		if header = header && !strings.HasPrefix(line, "--- "); !header {
			continue
		}
		if member, value, ok := strings.Cut(line, ": "); ok && members[member] != nil {
			*members[member] = strings.TrimSpace(value)
		}
	}
	for member, value := range members {
		if *value == "" {
			return f, fmt.Errorf("the header has no %s", member)
		}
	}
	if len(f.Files) == 0 {
		return f, fmt.Errorf("the patch changes no file")
	}
	return f, nil
}

// Apply writes patched copies of the files into dir and returns the path of an overlay for go build. It fails if the patch
// no longer applies.
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
	cmd.Dir, cmd.Stdin = dir, bytes.NewReader(f.patch)
	// A repository above dir, or one that a hook names, would make git ignore the files.
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(pair string) bool { return strings.HasPrefix(pair, "GIT_") }),
		"GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("the patch no longer applies: %w\n%s", err, bytes.TrimSpace(out))
	}
	raw, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	overlay = filepath.Join(dir, "overlay.json")
	return overlay, os.WriteFile(overlay, raw, 0o644)
}

// Pattern returns the -run pattern that selects exactly the test.
func (f Fault) Pattern() string {
	parts := strings.Split(f.Test, "/")
	for i, p := range parts {
		parts[i] = "^" + strings.ReplaceAll(p, " ", "_") + "$"
	}
	return strings.Join(parts, "/")
}
