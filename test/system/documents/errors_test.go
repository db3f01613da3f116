package documents

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/signalcast/signalcast/test/system/openapi"
)

// innerCodes lists error codes that only services send to each other, also those that pages show as a text at a field. They are not
// documented.
var innerCodes = map[string]bool{
	"clock_unavailable": true, "invalid_window": true, "handle_changed": true, "handle_chosen": true, "live": true,
}

// pageOfErrors returns the HTTP status of each error code in docs/protocol/errors.md. The status is 0 for codes of websocket
// messages.
func pageOfErrors(t *testing.T) map[string]int {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(repo, "docs/protocol/errors.md"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]int{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| (\\d+|frame) \\|").FindAllStringSubmatch(string(raw), -1) {
		if _, twice := out[m[1]]; twice {
			t.Errorf("docs/protocol/errors.md lists %s twice", m[1])
		}
		out[m[1]], _ = strconv.Atoi(m[2])
	}
	return out
}

// TestErrorCodes checks that docs/protocol/errors.md, the OpenAPI document and the code contain the same error codes
// with the same statuses.
func TestErrorCodes(t *testing.T) {
	t.Parallel()
	page := pageOfErrors(t)
	doc := openapi.ForTest(t)
	inDoc := map[string]map[string]bool{} // error code to statuses
	for _, o := range doc.Operations {
		for status, res := range o.Spec().Responses.Map() {
			media := res.Value.Content.Get("application/json")
			if media == nil || media.Schema == nil || media.Schema.Value.Properties["error"] == nil {
				continue
			}
			for _, code := range media.Schema.Value.Properties["error"].Value.Enum {
				if inDoc[code.(string)] == nil {
					inDoc[code.(string)] = map[string]bool{}
				}
				inDoc[code.(string)][status] = true
			}
		}
	}
	for code, statuses := range inDoc {
		// Pages that receive forms have a different form of errors.
		if want, known := page[code]; !known || !statuses[strconv.Itoa(want)] {
			t.Errorf("error code %s has the status %v in openapi.yaml and %d in errors.md", code, slices.Collect(maps.Keys(statuses)), want)
		}
	}
	inCode := codesOfSource(t)
	for code, status := range page {
		field := strings.HasPrefix(code, "missing_") || strings.HasPrefix(code, "invalid_")
		if inDoc[code] == nil && status != 0 && code != "method_not_allowed" {
			t.Errorf("errors.md lists %s, which no operation can return", code)
		}
		if inCode[code] == nil && !field && code != "upgrade_required" {
			t.Errorf("errors.md lists %s, which the code does not contain", code)
		}
	}
	for code, statuses := range inCode {
		if innerCodes[code] {
			continue
		}
		want, known := page[code]
		if !known || want != 0 && !statuses[want] {
			t.Errorf("error code %s has the status %v in the code and %d in errors.md", code, slices.Collect(maps.Keys(statuses)), want)
		}
	}
	if len(inCode) < 40 || len(page) < 60 {
		t.Errorf("%d error codes were found in the code and %d on the page: the search does not work", len(inCode), len(page))
	}
}

// statusOfKind is the HTTP status of each kind of error.
var statusOfKind = map[string]int{
	"Internal": 500, "Invalid": 400, "Unauthenticated": 401, "Forbidden": 403, "NotFound": 404, "NotAllowed": 405, "Conflict": 409,
	"Gone": 410, "TooLarge": 413, "Unsupported": 415, "Limited": 429, "NotImplemented": 501, "Unavailable": 503,
}

// codesOfSource returns the statuses of every error code that the services and pkg pass to apperr.New.
func codesOfSource(t *testing.T) map[string]map[int]bool {
	t.Helper()
	out := map[string]map[int]bool{}
	for _, root := range []string{"services", "pkg"} {
		err := filepath.WalkDir(filepath.Join(repo, root), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "/testkit/") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if code, kind, ok := newFault(n, file.Name.Name); ok {
					if out[code] == nil {
						out[code] = map[int]bool{}
					}
					out[code][statusOfKind[kind]] = true
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func newFault(n ast.Node, pkg string) (code, kind string, ok bool) {
	call, ok := n.(*ast.CallExpr)
	if !ok || len(call.Args) != 3 {
		return "", "", false
	}
	name := ""
	switch f := call.Fun.(type) {
	case *ast.SelectorExpr:
		name = fmt.Sprint(f.X) + "." + f.Sel.Name
	case *ast.Ident:
		name = pkg + "." + f.Name
	}
	lit, isText := call.Args[1].(*ast.BasicLit)
	if name != "apperr.New" || !isText {
		return "", "", false
	}
	switch k := call.Args[0].(type) {
	case *ast.SelectorExpr:
		kind = k.Sel.Name
	case *ast.Ident:
		kind = k.Name
	}
	code, err := strconv.Unquote(lit.Value)
	return code, kind, err == nil
}
