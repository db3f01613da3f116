package testkit

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
)

// PrepareStatements prepares every statement that sqlc generated in the directory dir. The test fails if a statement
// does not match the tables or the role of the pool lacks a privilege.
func PrepareStatements(t *testing.T, pool *pgxpool.Pool, dir string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.sql.go"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no generated statements in %s: %v", dir, err)
	}
	conn, err := pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	for _, path := range paths {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING || !strings.HasPrefix(lit.Value, "`-- name: ") {
				return true
			}
			text, err := strconv.Unquote(lit.Value)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := conn.Conn().Prepare(t.Context(), "", text); err != nil {
				name, _, _ := strings.Cut(strings.TrimPrefix(text, "-- name: "), " ")
				t.Errorf("%s: %v", name, err)
			}
			return true
		})
	}
}
