// Command prose checks the prose of the repository with vale: comments, log messages, error texts, Markdown, templates, the OpenAPI
// document, names and commit subjects.
//
//	prose -vale PROGRAM             the repository of the working directory
//	prose -vale PROGRAM FILE...     these files only, without commits, exceptions and changes
//
// The rules are the styles of tools/vale. Errors fail. Suggestions ask a reader to judge a word; they are printed for changed lines only.
package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

func main() {
	vale := flag.String("vale", "", "the vale program")
	root := flag.String("root", ".", "the repository")
	flag.Parse()
	failed, err := check(*root, *vale, flag.Args(), os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "prose:", err)
		os.Exit(2)
	}
	if failed {
		os.Exit(1)
	}
}

// finding is one alert of vale or of a rule of this program.
type finding struct {
	Path                            string `json:"-"`
	Check, Match, Message, Severity string
	Line                            int
}

// check checks the files in only, or all files of the repository if only is empty. It writes the findings to out and reports
// whether one of them is an error.
func check(root, vale string, only []string, out io.Writer) (bool, error) {
	stage, err := os.MkdirTemp("", "prose")
	if err != nil {
		return false, err
	}
	defer func() { _ = os.RemoveAll(stage) }()
	files, err := only, error(nil)
	if len(files) == 0 {
		files, err = listFiles(root)
	}
	if err != nil {
		return false, err
	}
	for _, f := range files {
		if err := stageFile(root, stage, f); err != nil {
			return false, fmt.Errorf("%s: %w", f, err)
		}
	}
	var found []finding
	if len(only) == 0 {
		if found, err = stageCommits(root, stage, out); err != nil {
			return false, err
		}
	}
	if err := writeStaged(stage, ".files", strings.Join(files, "\n")); err != nil {
		return false, err
	}
	alerts, err := runVale(root, vale, stage)
	if err != nil {
		return false, err
	}
	found = append(found, alerts...)
	changed := changedLines{}
	if len(only) == 0 {
		if found, err = except(root, found); err != nil {
			return false, err
		}
		changed = readChanges(root, out)
	}
	return report(found, changed, out), nil
}

// report writes the errors, and then the suggestions for changed lines. It returns true if there is an error.
func report(found []finding, changed changedLines, out io.Writer) bool {
	slices.SortFunc(found, func(a, b finding) int {
		return cmp.Or(cmp.Compare(a.Severity, b.Severity), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line))
	})
	count := map[string]int{}
	for _, f := range found {
		if f.Severity != "error" && !changed.has(f.Path, f.Line) {
			continue
		}
		count[f.Severity]++
		fmt.Fprintf(out, "%s:%d: %s: %s\n", f.Path, f.Line, f.Severity, f.Message)
	}
	fmt.Fprintf(out, "prose: %d errors, %d words of changed lines to judge\n", count["error"], count["suggestion"])
	return count["error"] > 0
}

func runVale(root, vale, stage string) ([]finding, error) {
	config, err := filepath.Abs(filepath.Join(root, "tools/vale/.vale.ini"))
	if err != nil {
		return nil, err
	}
	if vale, err = filepath.Abs(vale); err != nil {
		return nil, err
	}
	cmd := exec.Command(vale, "--no-global", "--config="+config, "--output=JSON", "--no-exit", ".")
	cmd.Dir, cmd.Stderr = stage, os.Stderr
	raw, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("vale: %w: %s", err, raw)
	}
	var alerts map[string][]finding
	if err := json.Unmarshal(raw, &alerts); err != nil {
		return nil, fmt.Errorf("vale: %w", err)
	}
	var found []finding
	for path, list := range alerts {
		for _, f := range list {
			f.Path = strings.TrimSuffix(strings.TrimSuffix(path, ".txt"), ".names")
			found = append(found, f)
		}
	}
	return found, nil
}

func listFiles(root string) ([]string, error) {
	raw, err := git(root, "ls-files", "-co", "--exclude-standard")
	if err != nil {
		return nil, err
	}
	var files []string
	for _, f := range strings.Fields(raw) {
		if _, err := os.Stat(filepath.Join(root, f)); err == nil && !strings.Contains(f, "testdata/") && !isOldMigration(f) {
			files = append(files, f)
		}
	}
	return files, nil
}

// lastUnchecked contains the newest migration of each service that is older than the word lists. The database stores a checksum
// of each migration that has run, so comments of these migrations cannot be changed.
var lastUnchecked = map[string]string{"api": "0050", "hub": "0017", "clock": "0004"}

// isOldMigration reports whether name is a migration that is older than the word lists.
func isOldMigration(name string) bool {
	m := migration.FindStringSubmatch(name)
	return m != nil && m[2] <= lastUnchecked[m[1]]
}

var migration = regexp.MustCompile(`^services/(\w+)/internal/postgres/migrations/(\d{4})_`)

func git(root string, args ...string) (string, error) {
	raw, err := exec.Command("git", append([]string{"-C", root}, args...)...).Output()
	return string(raw), err
}

// maxSubject is the maximum length of a commit subject in characters.
const maxSubject = 72

// subject matches the form of a commit subject: an area, a colon, and a summary that begins with a lower-case letter.
var subject = regexp.MustCompile(`^[a-z0-9][a-zA-Z0-9_./-]*: [a-z]`)

// stageCommits writes the subjects of the commits since tools/vale/first-commit to the stage directory. It returns a finding
// for each subject that has the wrong form.
func stageCommits(root, stage string, out io.Writer) ([]finding, error) {
	base, err := os.ReadFile(filepath.Join(root, "tools/vale/first-commit"))
	if err != nil {
		return nil, err
	}
	raw, err := git(root, "log", "--format=%h %s", strings.TrimSpace(string(base))+"..HEAD")
	if err != nil {
		fmt.Fprintln(out, "prose: commit subjects not checked: this clone does not have the commit of tools/vale/first-commit")
		return nil, nil
	}
	var found []finding
	var lines []string
	for line := range strings.Lines(raw) {
		hash, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		lines = append(lines, text, "")
		if !subject.MatchString(text) || len([]rune(text)) > maxSubject {
			found = append(found, finding{
				Path: "commit " + hash, Line: 1, Severity: "error",
				Message: fmt.Sprintf("%q: the form is `area: imperative summary`, at most %d characters", text, maxSubject),
			})
		}
	}
	return found, writeStaged(stage, "commits", strings.Join(lines, "\n"))
}

// maxExceptions is the maximum number of exceptions in tools/vale/exceptions.txt.
const maxExceptions = 20

// except removes the findings that tools/vale/exceptions.txt allows. It returns an error if an exception has no reason or matches
// no finding, or if the file has more than maxExceptions exceptions.
func except(root string, found []finding) ([]finding, error) {
	raw, err := os.ReadFile(filepath.Join(root, "tools/vale/exceptions.txt"))
	if err != nil {
		return nil, err
	}
	number := 0
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		words := strings.SplitN(line, " | ", 3)
		if len(words) != 3 {
			return nil, fmt.Errorf("exceptions.txt: %q is not `path | match | reason`", line)
		}
		before := len(found)
		found = slices.DeleteFunc(found, func(f finding) bool {
			same, _ := filepath.Match(words[0], f.Path)
			return same && strings.EqualFold(f.Match, words[1])
		})
		if len(found) == before {
			return nil, fmt.Errorf("exceptions.txt: remove %q, which matches nothing", line)
		}
		number++
	}
	if number > maxExceptions {
		return nil, errors.New("exceptions.txt: more than 20 exceptions")
	}
	return found, nil
}
