package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// notes contains the patterns that match comments, by file extension or file name. It does not list Go, Markdown and HTML
// files, because stageFile handles them separately.
var notes = map[string]*regexp.Regexp{
	".sql": regexp.MustCompile(`(?m)--.*$|(?s:/\*.*?\*/)`), ".lua": regexp.MustCompile(`(?m)--.*$`),
	".proto": slashes, ".js": slashes, ".mjs": slashes, ".ts": slashes, ".css": regexp.MustCompile(`(?s:/\*.*?\*/)`),
	".sh": hashes, "Makefile": hashes, "Dockerfile": hashes, ".ci/run": hashes, ".conf": hashes, ".env": hashes, ".yaml": hashes, ".yml": hashes,
}

var (
	slashes = regexp.MustCompile(`(?m)(?:^|[\s;{}])//.*$|(?s:/\*.*?\*/)`)
	hashes  = regexp.MustCompile(`(?m)(?:^|\s)#.*$`)
	// quoted are the strings of scripts, which reach a page or a terminal.
	quoted = regexp.MustCompile("\"[^\"\\n]*\"|'[^'\\n]*'|`[^`]*`")
)

// stageFile writes the prose of a file to a plain-text file in the stage directory. The prose stays on the same lines. It
// ignores generated files and files of other kinds.
func stageFile(root, stage, name string) error {
	kind := path.Ext(name)
	if notes[name] != nil {
		kind = name
	} else if notes[path.Base(name)] != nil {
		kind = path.Base(name)
	}
	whole := kind == ".html" || name == "docs/protocol/openapi.yaml"
	if !whole && kind != ".go" && kind != ".md" && notes[kind] == nil {
		return nil
	}
	raw, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		return err
	}
	text := string(raw)
	switch {
	case generated.MatchString(text[:min(len(text), 2000)]) || strings.Contains(name, ".min."):
		return nil
	case kind == ".go":
		return stageGo(stage, name, text)
	case kind == ".md":
		return writeFile(filepath.Join(stage, filepath.FromSlash(name)), text)
	case whole:
		return writeStaged(stage, name, text)
	}
	p := newPlain(text)
	for _, at := range notes[kind].FindAllStringIndex(text, -1) {
		p.put(strings.Count(text[:at[0]], "\n"), text[at[0]:at[1]])
	}
	if notes[kind] == slashes && kind != ".proto" && !strings.Contains(name, "test") {
		for _, at := range quoted.FindAllStringIndex(text, -1) {
			if literal := text[at[0]:at[1]]; isProse(literal) {
				p.put(strings.Count(text[:at[0]], "\n"), "\""+literal)
			}
		}
	}
	return writeStaged(stage, name, p.text())
}

var generated = regexp.MustCompile(`(?m)^(//|--) Code generated .* DO NOT EDIT|This file was auto-generated`)

// stageGo writes the comments and the string literals of a Go file to the stage directory. It also writes the words of the
// names that the file declares. Of the literals of a test, it writes only the messages.
func stageGo(stage, name, text string) error {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	line := func(at token.Pos) int { return set.Position(at).Line - 1 }
	prose, names := newPlain(text), newPlain(text)
	for _, group := range file.Comments {
		for _, c := range group.List {
			prose.put(line(c.Pos()), c.Text)
		}
	}
	test := strings.HasSuffix(name, "_test.go")
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if !test {
				break
			}
			// Of the literals of tests only the messages are prose; the others are data.
			if f, ok := n.Fun.(*ast.SelectorExpr); ok && reports[f.Sel.Name] {
				for _, arg := range n.Args {
					if l, ok := arg.(*ast.BasicLit); ok {
						putLiteral(prose, line(l.Pos()), l)
					}
				}
			}
		case *ast.BasicLit:
			if !test {
				putLiteral(prose, line(n.Pos()), n)
			}
		case *ast.FuncDecl:
			names.put(line(n.Name.Pos()), splitName(n.Name.Name))
		case *ast.TypeSpec:
			names.put(line(n.Name.Pos()), splitName(n.Name.Name))
		case *ast.ValueSpec:
			for _, id := range n.Names {
				names.put(line(id.Pos()), splitName(id.Name))
			}
		case *ast.Field:
			for _, id := range n.Names {
				names.put(line(id.Pos()), splitName(id.Name))
			}
		case *ast.AssignStmt:
			for _, left := range n.Lhs {
				if id, ok := left.(*ast.Ident); ok && n.Tok == token.DEFINE {
					names.put(line(id.Pos()), splitName(id.Name))
				}
			}
		}
		return true
	})
	if err := writeStaged(stage, name+".names", names.text()); err != nil {
		return err
	}
	return writeStaged(stage, name, prose.text())
}

// reports lists the methods of testing.T whose string arguments are messages for developers.
var reports = map[string]bool{
	"Error": true, "Errorf": true, "Fatal": true, "Fatalf": true, "Log": true, "Logf": true, "Skip": true, "Skipf": true, "Run": true,
}

func putLiteral(p *plain, line int, l *ast.BasicLit) {
	if l.Kind != token.STRING {
		return
	}
	text, err := strconv.Unquote(l.Value)
	if err != nil || !isProse(text) {
		return
	}
	if l.Value[0] != '`' {
		text = strings.ReplaceAll(text, "\n", " ")
	}
	p.put(line, "\""+text)
}

var twoWords = regexp.MustCompile(`[A-Za-z']+[,.:;]? [A-Za-z']+`)

// isProse reports whether a literal contains two words, so that it may be a text for people.
func isProse(text string) bool { return twoWords.MatchString(text) }

// splitName splits an identifier into words in lower case: "file call" for fileCall.
func splitName(name string) string {
	var b strings.Builder
	previous := rune(0)
	for _, r := range strings.ReplaceAll(name, "_", " ") {
		if unicode.IsUpper(r) && unicode.IsLower(previous) {
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToLower(r))
		previous = r
	}
	return b.String()
}

// plain contains the lines of a plain-text file that has as many lines as its source. Lines without prose are empty.
type plain struct{ lines []string }

func newPlain(source string) *plain { return &plain{make([]string, strings.Count(source, "\n")+1)} }

// marks contains the characters at the beginning and end of comments and literals, which are not prose.
const marks = "/*-#\"'` \t;{}"

func (p *plain) put(line int, text string) {
	literal := strings.HasPrefix(text, "\"")
	for l := range strings.Lines(text) {
		l = strings.Trim(strings.TrimSpace(l), marks)
		switch {
		case line >= len(p.lines) || l == "":
		case p.lines[line] == "":
			p.lines[line] = l
		default:
			p.lines[line] += " . " + l
		}
		if literal && line < len(p.lines) && l != "" {
			p.lines[line] += " ."
		}
		line++
	}
}

func (p *plain) text() string { return strings.Join(p.lines, "\n") + "\n" }

func writeStaged(stage, name, text string) error {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	return writeFile(filepath.Join(stage, filepath.FromSlash(name)+".txt"), text)
}

func writeFile(name, text string) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, []byte(text), 0o600)
}
