package testkit

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite golden files with what the tests see")

// Golden compares got with testdata/name; go test -update rewrites the file. JSON
// (a name ending in .json) is compared and stored indented, members in order.
func Golden(t testing.TB, name string, got []byte) {
	t.Helper()
	if strings.HasSuffix(name, ".json") {
		var out bytes.Buffer
		if err := json.Indent(&out, got, "", "  "); err != nil {
			t.Fatalf("%s: not JSON: %v\n%s", name, err, got)
		}
		got = append(bytes.TrimSpace(out.Bytes()), '\n')
	}
	path := filepath.Join("testdata", filepath.FromSlash(name))
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; go test -update writes it", err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", path, diff)
	}
}
