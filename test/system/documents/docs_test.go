package documents

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/test/system/openapi"
)

// settings contains the default value of each setting, by the name of the setting and by service. The value is empty if the
// setting has no default.
type settings map[string]map[string]string

// settingsOf adds the settings of a service. It reads them from the struct tags of the Go files in a folder.
func (s settings) settingsOf(t *testing.T, service, folder string) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(repo, folder), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			field, ok := n.(*ast.Field)
			if !ok || field.Tag == nil {
				return true
			}
			raw, err := strconv.Unquote(field.Tag.Value)
			tag := reflect.StructTag(raw)
			if name := tag.Get("env"); err == nil && name != "" && name != "-" {
				if s[name] == nil {
					s[name] = map[string]string{}
				}
				s[name][service] = max(s[name][service], tag.Get("envDefault"))
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

var (
	settingRow  = regexp.MustCompile("(?m)^\\| ((?:`[A-Z][A-Z0-9_]*`(?:, )?)+) \\| ([^|]*) \\|")
	settingName = regexp.MustCompile("`([A-Z][A-Z0-9_]*)`")
)

// TestSettingsOfThePage checks that the tables of operations.md list exactly the settings of the code, with their
// defaults.
func TestSettingsOfThePage(t *testing.T) {
	t.Parallel()
	known := settings{}
	for _, service := range openapi.Hosts {
		known.settingsOf(t, service, "services/"+service+"/internal")
	}
	for _, shared := range []string{"pkg/httpx", "pkg/telemetry", "pkg/service"} {
		known.settingsOf(t, "every", shared)
	}
	raw, err := os.ReadFile(filepath.Join(repo, "docs/operations.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, page, _ := strings.Cut(string(raw), "\n## Settings\n")
	page, _, _ = strings.Cut(page, "\n## ")
	told := map[string]bool{}
	for _, row := range settingRow.FindAllStringSubmatch(page, -1) {
		for _, name := range settingName.FindAllStringSubmatch(row[1], -1) {
			name := name[1]
			told[name] = true
			if known[name] == nil {
				t.Errorf("operations.md lists %s, which no service reads", name)
			}
			for service, value := range known[name] {
				if !namesDefault(row[2], value) {
					t.Errorf("the default of %s is %q for %s; operations.md states %s; want the same", name, value, service, row[2])
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(known)) {
		if !told[name] {
			t.Errorf("operations.md does not list %s", name)
		}
	}
	if len(told) < 70 {
		t.Errorf("only %d settings were found: the search does not work", len(told))
	}
}

// namesDefault reports whether a table cell states the default value: literally, as an equal duration, or as 127.0.0.1 with a
// port of another table.
func namesDefault(cell, value string) bool {
	if value == "" {
		return true // the setting is required or has no default
	}
	for _, said := range regexp.MustCompile("[A-Za-z0-9.:/_-]+").FindAllString(cell, -1) {
		if said == value {
			return true
		}
		a, errA := time.ParseDuration(said)
		b, errB := time.ParseDuration(value)
		if errA == nil && errB == nil && a == b {
			return true
		}
	}
	return strings.HasPrefix(value, "127.0.0.1:") && strings.Contains(cell, "127.0.0.1") ||
		strings.Contains(value, "://") && strings.Contains(cell, "own")
}

// TestChangesOfTheContract checks that the newest entry of the API changelog has the version of the OpenAPI document,
// and that every route which the changelog names is documented.
func TestChangesOfTheContract(t *testing.T) {
	t.Parallel()
	doc := openapi.ForTest(t)
	raw, err := os.ReadFile(filepath.Join(repo, "docs/protocol/changelog.md"))
	if err != nil {
		t.Fatal(err)
	}
	entry := regexp.MustCompile(`(?m)^## (\d+\.\d+\.\d+)`).FindStringSubmatch(string(raw))
	if entry == nil || entry[1] != doc.Version() {
		t.Errorf("the newest entry of the changelog is %v; the version of the OpenAPI document is %s", entry, doc.Version())
	}
	named := regexp.MustCompile("`(GET|POST|PUT|PATCH|DELETE) (/[^`]*)`").FindAllStringSubmatch(string(raw), -1)
	if len(named) < 50 {
		t.Errorf("the changelog names %d routes; the search does not work", len(named))
	}
	for _, m := range named {
		there := slices.ContainsFunc(doc.Operations, func(o *openapi.Operation) bool { return o.Method == m[1] && o.Path == m[2] })
		if gone := m[2] == "/dev/session/end"; there == gone {
			t.Errorf("the OpenAPI document describes %s %s: %v; the changelog states the opposite", m[1], m[2], there)
		}
	}
}
