package edge_test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/proto/openapi"
)

// operation is what the description says about one method of one path.
type operation struct {
	Open      bool                   `json:"x-signalcast-cors-open"`
	Security  []map[string][]string  `json:"security"`
	Servers   []struct{ URL string } `json:"servers"`
	Responses map[string]json.RawMessage
}

// described lists the hub's operations by "METHOD /path/:param".
func described(t *testing.T) map[string]operation {
	t.Helper()
	var doc struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal(openapi.JSON, &doc); err != nil {
		t.Fatal(err)
	}
	out := map[string]operation{}
	for path, methods := range doc.Paths {
		path = strings.ReplaceAll(path, "{rest}", "*")
		path = regexp.MustCompile(`\{(\w+)\}`).ReplaceAllString(path, ":$1")
		for method, raw := range methods {
			var op operation
			if json.Unmarshal(raw, &op) != nil || op.Responses == nil {
				continue // parameters and the like
			}
			if slices.ContainsFunc(op.Servers, func(s struct{ URL string }) bool { return strings.Contains(s.URL, "hub") }) {
				out[strings.ToUpper(method)+" "+path] = op
			}
		}
	}
	return out
}

// TestRoutesMatchDescription: the same routes, the same callers, the same
// openness to browsers. The pages have tests of their own.
func TestRoutesMatchDescription(t *testing.T) {
	t.Parallel()
	doc := described(t)
	seen := map[string]bool{}
	for _, route := range setup(t).server.Table() {
		name := route.Method + " " + route.Path
		seen[name] = true
		op, ok := doc[name]
		if !ok {
			t.Errorf("%s is not in the description", name)
			continue
		}
		if op.Open != (route.CORS != web.None) {
			t.Errorf("%s: open to browsers %v, described %v", name, route.CORS != web.None, op.Open)
		}
		if got, want := slices.Sorted(slices.Values(route.Who)), callers(op); name != "DELETE /api/auth/privy" && !slices.Equal(got, want) {
			t.Errorf("%s: taken from %v, described %v", name, got, want)
		}
	}
	for name := range doc {
		_, path, _ := strings.Cut(name, " ")
		page := path == "/" || strings.HasPrefix(path, "/dev") || strings.HasPrefix(path, "/m/") || path == "/markets" || path == "/feed" || path == "/board" || path == "/network" || path == "/pulse" || path == "/docs" || path == "/tv" || path == "/studio" || strings.HasPrefix(path, "/live/") || strings.HasPrefix(path, "/overlay/") ||
			path == "/protocol/authorize" || path == "/apps" || path == "/apps/revoke" ||
			strings.HasPrefix(path, "/sign-") || strings.HasPrefix(path, "/profile") || strings.HasPrefix(path, "/u/") ||
			strings.HasPrefix(path, "/receipts/") || strings.HasPrefix(path, "/operator/") || strings.HasPrefix(path, "/static/") || path == "/docs/" || strings.HasPrefix(path, "/docs/guide")
		health := path == "/healthz" || path == "/readyz" // mounted with the edge when it has a Health
		if !seen[name] && !page && !health {
			t.Errorf("%s is described and not served", name)
		}
	}
}

// callers reads the security of an operation in the words of routes.go.
func callers(op operation) []string {
	words := map[string]string{
		"operatorKey": "key", "sessionId": "session", "identityToken": "jwt", "adminSecret": "admin", "cronSecret": "cron",
		"appToken": "token", "appCredentials": "client",
	}
	var out []string
	if len(op.Security) == 0 {
		out = append(out, "public")
	}
	for _, s := range op.Security {
		if len(s) == 0 {
			out = append(out, "public")
		}
		for name := range s {
			if w := words[name]; w != "" {
				out = append(out, w)
			}
		}
	}
	slices.Sort(out)
	return out
}

// TestErrorCodesAreDescribed: every code that a fault variable of the hub
// names stands in errors.md.
func TestErrorCodesAreDescribed(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../../docs/protocol/errors.md")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, root := range []string{"..", "../../../../pkg/web", "../../../../pkg/idp", "../../../../pkg/link", "../../../../pkg/limit", "../../../../pkg/pg"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			for _, code := range faultCodes(t, path) {
				found++
				if strings.HasSuffix(path, "app/glue.go") || code == "deadline_too_short" {
					continue // between services: no caller sees these
				}
				if !strings.Contains(string(page), "| `"+code+"` |") {
					t.Errorf("%s: %s is not in errors.md", path, code)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if found < 20 {
		t.Errorf("only %d codes were found: the search is broken", found)
	}
}

// faultCodes finds the second argument of every fault.New in a file.
func faultCodes(t *testing.T, path string) (codes []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) != 3 {
			return true
		}
		if fun, ok := call.Fun.(*ast.SelectorExpr); !ok || fun.Sel.Name != "New" || fmt.Sprint(fun.X) != "fault" {
			return true
		}
		if lit, ok := call.Args[1].(*ast.BasicLit); ok {
			if code, err := strconv.Unquote(lit.Value); err == nil {
				codes = append(codes, code)
			}
		}
		return true
	})
	return codes
}

// handleParents are the prefixes under which a path segment is a handle.
var handleParents = []string{
	"/api/operator/", "/api/network/field-record/", "/api/network/identity/", "/api/network/payout/", "/api/live/",
	"/u/", "/live/", "/overlay/", "/operator/",
}

// TestReservedHandles: no operator can be called like a fixed segment that
// stands where a handle may stand. The ledger makes the handles, so its list
// is read from its source.
func TestReservedHandles(t *testing.T) {
	t.Parallel()
	reserved := reservedByLedger(t)
	needed := map[string]bool{"me": true, "hub": true, "admin": true, "system": true}
	for _, route := range setup(t).server.Table() {
		for _, parent := range handleParents {
			if rest, ok := strings.CutPrefix(route.Path, parent); ok {
				segment, _, _ := strings.Cut(rest, "/")
				if !strings.HasPrefix(segment, ":") && segment != "*" {
					needed[segment] = true
				}
			}
		}
	}
	if !needed["leaderboard"] {
		t.Error("the board's own segment was not derived")
	}
	for segment := range needed {
		if !reserved[segment] {
			t.Errorf("%q is not reserved", segment)
		}
	}
}

func reservedByLedger(t *testing.T) map[string]bool {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../../../api/internal/operator/handle.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || spec.Names[0].Name != "reserved" || len(spec.Values) != 1 {
			return true
		}
		for _, e := range spec.Values[0].(*ast.CompositeLit).Elts {
			word, err := strconv.Unquote(e.(*ast.KeyValueExpr).Key.(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			out[word] = true
		}
		return false
	})
	return out
}
