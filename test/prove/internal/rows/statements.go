package rows

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// statements are the texts that stand in the services' sources, without their
// values. Work in the background sends some of them for the first time whenever
// it likes.
type statements []string

var (
	sqlComment = regexp.MustCompile(`(?m)--.*$`)
	sqlValue   = regexp.MustCompile(`\$\d+|'(?:[^']|'')*'|\b\d+\b`)
	goText     = regexp.MustCompile("`[^`]*`" + `|"(?:[^"\\\n]|\\.)*"`)
)

// skeleton is a statement without values, comments and layout.
func skeleton(text string) string {
	text = sqlValue.ReplaceAllString(sqlComment.ReplaceAllString(text, ""), "?")
	return strings.Trim(strings.Join(strings.Fields(text), " "), "; ")
}

// written reads the sources of the services.
func written(root string) (all statements, err error) {
	err = filepath.WalkDir(filepath.Join(root, "services"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		ext := filepath.Ext(path)
		if ext != ".sql" && ext != ".go" || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if ext == ".sql" {
			all = append(all, skeleton(string(raw)))
			return nil
		}
		for _, text := range goText.FindAllString(string(raw), -1) {
			all = append(all, skeleton(text[1:len(text)-1]))
		}
		return nil
	})
	return all, err
}

// hold tells whether a statement is one of these as it is written, whole.
func (s statements) hold(text string) bool {
	text = skeleton(text)
	for _, one := range s {
		if one == text {
			return true
		}
	}
	return false
}
