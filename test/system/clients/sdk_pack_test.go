package clients

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/signalcast/signalcast/test/system/stack"
)

func put(t testing.TB, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// typescript is the version of the TypeScript compiler. It must equal the version in tools/gen.sh.
const typescript = "typescript@5.9.3"

// TestNPMPackage checks the npm package. It must contain only the documented files, install offline into an empty directory,
// compile in strict mode with both module resolutions, and run.
func TestNPMPackage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	source, err := filepath.Abs(filepath.Join(repo, "sdk/ts"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(stack.ReadFile(t, filepath.Join(repo, "tools/gen.sh")),
		"\ntypescript="+strings.TrimPrefix(typescript, "typescript@")+"\n") {
		t.Error("tools/gen.sh does not contain typescript's version; change both together")
	}
	var packed []struct {
		Filename string
		Files    []struct{ Path string }
	}
	said := run(t, source, nil, "npm", "pack", "--json", "--loglevel=error", "--pack-destination", dir)
	if err := json.Unmarshal([]byte(said[strings.Index(said, "["):]), &packed); err != nil {
		t.Fatal(err, said)
	}
	var names []string
	for _, f := range packed[0].Files {
		names = append(names, f.Path)
		if !strings.HasPrefix(f.Path, "dist/") && f.Path != "package.json" && f.Path != "README.md" {
			t.Errorf("the package contains %s, which is not documented", f.Path)
		}
	}
	for _, name := range []string{"dist/index.js", "dist/index.d.ts", "dist/feed.js", "dist/feed.d.ts", "dist/openapi.gen.d.ts"} {
		if !slices.Contains(names, name) {
			t.Errorf("the package lacks the documented file %s", name)
		}
	}
	put(t, filepath.Join(dir, "package.json"), `{ "name": "user", "private": true, "type": "module" }`)
	run(t, dir, nil, "npm", "install", "--offline", "--no-audit", "--no-fund", "--loglevel=error", "./"+packed[0].Filename)
	installed, err := os.ReadDir(filepath.Join(dir, "node_modules"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range installed {
		if e.Name() != "signalcast" && !strings.HasPrefix(e.Name(), ".") {
			t.Errorf("the package installs %s as well; want no dependencies", e.Name())
		}
	}
	put(t, filepath.Join(dir, "user.ts"), stack.ReadFile(t, filepath.Join(source, "test/user.ts")))
	for _, how := range []string{
		`"module": "ES2022", "moduleResolution": "bundler"`,
		`"module": "NodeNext", "moduleResolution": "NodeNext"`,
	} {
		put(t, filepath.Join(dir, "tsconfig.json"), `{ "compilerOptions": { `+how+`, "target": "ES2022", "lib": ["ES2022", "DOM"], "types": [],
			"strict": true, "exactOptionalPropertyTypes": true, "noUncheckedIndexedAccess": true, "skipLibCheck": false }, "files": ["user.ts"] }`)
		run(t, dir, nil, "npx", "--yes", "-p", typescript, "tsc", "-p", ".")
	}
	if out := run(t, dir, nil, "node", "user.js"); out != "UnansweredError function\n" {
		t.Errorf("the program printed %q; want UnansweredError function", out)
	}
}

// TestGoLibraryBuildsAlone checks that a program can be built with the Go library alone, without the rest of the repository.
func TestGoLibraryBuildsAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "got"), os.DirFS(filepath.Join(repo, "sdk/go"))); err != nil {
		t.Fatal(err)
	}
	const module = "github.com/signalcast/signalcast/sdk/go"
	user := filepath.Join(dir, "user")
	put(t, filepath.Join(user, "go.mod"),
		"module user.example/x\n\ngo 1.26.0\n\nrequire "+module+" v0.0.0\n\nreplace "+module+" => ../got\n")
	put(t, filepath.Join(user, "main.go"), stack.ReadFile(t, filepath.Join(repo, "sdk/go/examples/file/main.go")))
	put(t, filepath.Join(user, "live", "main.go"), stack.ReadFile(t, filepath.Join(repo, "sdk/go/examples/watch/main.go")))
	env := []string{"GOWORK=off", "GOFLAGS=-mod=mod -trimpath"}
	run(t, user, env, "go", "build", "-o", "x", ".")
	run(t, user, env, "go", "vet", "./...")
	for line := range strings.Lines(run(t, user, env, "go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", "./...")) {
		if name := strings.TrimSpace(line); strings.Contains(name, "signalcast") && name != module {
			t.Errorf("the library requires the module %s; want none", name)
		}
	}
}
