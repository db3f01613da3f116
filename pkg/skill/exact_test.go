package skill

import (
	"errors"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"strings"
	"testing"
)

// TestEveryProductIsRounded reads the source code of the package. It rejects products of floating-point numbers outside
// of mul, which some platforms fuse with an addition and so round differently. It also rejects functions whose last bit
// depends on the platform.
func TestEveryProductIsRounded(t *testing.T) {
	t.Parallel()
	fset := token.NewFileSet()
	names, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	for _, n := range names {
		if !strings.HasSuffix(n.Name(), ".go") || strings.HasSuffix(n.Name(), "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, n.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	conf := types.Config{Importer: priceImporter{}, Error: func(error) {}} // most imported packages remain unknown
	_, _ = conf.Check("skill", fset, files, info)
	products := 0
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				return n.Name.Name != "mul"
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && x.Name == "math" && !exactlyRounded[n.Sel.Name] {
					t.Errorf("%s: math.%s", fset.Position(n.Pos()), n.Sel.Name)
				}
			case *ast.AssignStmt:
				if n.Tok == token.MUL_ASSIGN {
					t.Errorf("%s: use mul", fset.Position(n.Pos()))
				}
			case *ast.BinaryExpr:
				if n.Op != token.MUL || info.Types[n].Value != nil {
					break
				}
				products++
				if b, ok := info.TypeOf(n).(*types.Basic); !ok || b.Info()&types.IsInteger == 0 {
					t.Errorf("%s: use mul", fset.Position(n.Pos()))
				}
			}
			return true
		})
	}
	if len(files) < 8 || products == 0 {
		t.Errorf("the test checked only %d files and %d products", len(files), products)
	}
}

// exactlyRounded contains the functions whose results IEEE 754 defines to the last bit.
var exactlyRounded = map[string]bool{"Sqrt": true, "Floor": true, "Ceil": true}

// priceImporter is an importer that provides only pkg/protocol with the integer type Bps.
type priceImporter struct{}

func (priceImporter) Import(path string) (*types.Package, error) {
	if !strings.HasSuffix(path, "/pkg/protocol") {
		return nil, errors.New("not needed")
	}
	p := types.NewPackage(path, "protocol")
	name := types.NewTypeName(token.NoPos, p, "Bps", nil)
	bps := types.NewNamed(name, types.Typ[types.Int], nil)
	p.Scope().Insert(name)
	p.Scope().Insert(types.NewConst(token.NoPos, p, "MaxBps", bps, constant.MakeInt64(10000)))
	p.MarkComplete()
	return p, nil
}
