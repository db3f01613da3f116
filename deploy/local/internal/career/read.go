package career

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	maxText = 2000
	maxRows = 100_000
)

// Remark is what a reader has to say about one line of a file.
type Remark struct {
	Line int
	Text string
}

func (r Remark) String() string { return fmt.Sprintf("line %d: %s", r.Line, r.Text) }

// File is what was read.
type File struct {
	Questions []Question
	Refused   []Remark // rows left out, and why
	Notes     []Remark // rows kept although something about them is odd
}

// columns of the file. Their order is free, case and spaces do not count, and
// others may stand beside them; only question, yes_bps and outcome_yes are needed.
var columns = []string{"source", "id", "question", "priced_at", "yes_bps", "outcome_yes", "resolved_on", "closes_at", "url"}

var needed = []string{"question", "yes_bps", "outcome_yes"}

// Read reads a career from comma-separated text. A row with an impossible value
// is left out and named; a file that is not of this form at all is an error.
func Read(in io.Reader) (File, error) {
	var f File
	buffered := bufio.NewReader(in)
	if mark, err := buffered.Peek(3); err == nil && string(mark) == "\ufeff" {
		_, _ = buffered.Discard(3)
	}
	r := csv.NewReader(buffered)
	r.FieldsPerRecord, r.TrimLeadingSpace = -1, true
	head, err := r.Read()
	if errors.Is(err, io.EOF) {
		return f, errors.New("the file is empty; its first line must name the columns: " + strings.Join(columns, ","))
	}
	if err != nil {
		return f, fmt.Errorf("line 1: %w", err)
	}
	at, err := layout(head)
	if err != nil {
		return f, err
	}
	seen := map[string]int{}
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			var bad *csv.ParseError
			if !errors.As(err, &bad) {
				return f, err
			}
			f.Refused = append(f.Refused, Remark{bad.StartLine, "the row cannot be read as comma-separated text: " + bad.Err.Error()})
			continue
		}
		if len(f.Questions) == maxRows {
			return f, fmt.Errorf("the file has more than %d rows", maxRows)
		}
		line, _ := r.FieldPos(0)
		f.take(row{at, record}, line, seen)
	}
	if len(f.Questions) == 0 {
		return f, errors.New("the file has no row that can be used")
	}
	return f, nil
}

// layout finds the columns by name.
func layout(head []string) (map[string]int, error) {
	at := map[string]int{}
	for i, name := range head {
		name = strings.ToLower(strings.TrimSpace(name))
		if !slices.Contains(columns, name) {
			continue
		}
		if _, twice := at[name]; twice {
			return nil, fmt.Errorf("line 1: the column %s is there twice", name)
		}
		at[name] = i
	}
	for _, name := range needed {
		if _, ok := at[name]; !ok {
			return nil, fmt.Errorf("line 1: the column %s is missing; the columns are %s", name, strings.Join(columns, ","))
		}
	}
	return at, nil
}

type row struct {
	at     map[string]int
	record []string
}

func (r row) get(name string) string {
	i, ok := r.at[name]
	if !ok || i >= len(r.record) {
		return ""
	}
	return strings.TrimSpace(r.record[i])
}

func (r row) blank() bool {
	return !slices.ContainsFunc(r.record, func(s string) bool { return strings.TrimSpace(s) != "" })
}

func (f *File) take(r row, line int, seen map[string]int) {
	if r.blank() {
		return
	}
	q, note, err := r.question()
	if err == nil && q.ID != "" {
		key := q.Source + "\x00" + q.ID
		if first, twice := seen[key]; twice {
			err = fmt.Errorf("%s %s is already in line %d", q.Source, q.ID, first)
		} else {
			seen[key] = line
		}
	}
	if err != nil {
		f.Refused = append(f.Refused, Remark{line, err.Error()})
		return
	}
	if note != "" {
		f.Notes = append(f.Notes, Remark{line, note})
	}
	f.Questions = append(f.Questions, q)
}

func (r row) question() (q Question, note string, err error) {
	q = Question{Source: r.get("source"), ID: r.get("id"), Text: r.get("question")}
	switch {
	case q.Text == "":
		return q, "", errors.New("there is no question")
	case !utf8.ValidString(q.Text):
		return q, "", errors.New("the question is not UTF-8 text")
	case utf8.RuneCountInString(q.Text) > maxText:
		return q, "", fmt.Errorf("the question is longer than %d characters", maxText)
	}
	if q.YesBps, err = readBps(r.get("yes_bps")); err != nil {
		return q, "", err
	}
	if q.Verdict, err = readVerdict(r.get("outcome_yes")); err != nil {
		return q, "", err
	}
	note, err = r.dates()
	return q, note, err
}

// readBps takes 3150 and 3150.0; a price of 0 to 1 or with a fraction of a basis
// point is a mistake that must not be guessed around.
func readBps(text string) (int, error) {
	v, err := strconv.ParseFloat(text, 64)
	switch {
	case text == "":
		return 0, errors.New("yes_bps is empty; it must be a whole number from 0 to 10000")
	case err != nil || math.IsNaN(v):
		return 0, fmt.Errorf("yes_bps is %q; it must be a whole number from 0 to 10000", text)
	case v < 0 || v > full:
		return 0, fmt.Errorf("yes_bps is %s, which no price can be; it must be from 0 to 10000", text)
	case v != math.Trunc(v):
		return 0, fmt.Errorf("yes_bps is %s; it must be a whole number, 10000 for certainty", text)
	}
	return int(v), nil
}

func readVerdict(text string) (Verdict, error) {
	switch strings.ToLower(text) {
	case "1", "1.0", "true", "yes":
		return Yes, nil
	case "0", "0.0", "false", "no":
		return No, nil
	case "invalid", "void":
		return Invalid, nil
	case "":
		return "", errors.New("outcome_yes is empty; only questions with an answer can be replayed")
	}
	return "", fmt.Errorf("outcome_yes is %q; it must be 1, 0 or invalid", text)
}

// dates reads what the row says of time. None of it enters the result, so an
// odd order is only worth a note; a date that is none is refused.
func (r row) dates() (note string, err error) {
	read := map[string]time.Time{}
	for _, name := range []string{"priced_at", "resolved_on", "closes_at"} {
		text := r.get(name)
		if text == "" {
			continue
		}
		t, ok := readTime(text)
		if !ok {
			return "", fmt.Errorf("%s is %q, which is not a date", name, text)
		}
		read[name] = t
	}
	priced, hasPrice := read["priced_at"]
	resolved, hasEnd := read["resolved_on"]
	if hasPrice && hasEnd && resolved.AddDate(0, 0, 1).Before(priced) {
		note = "its price was taken after its answer was known"
	}
	return note, nil
}

func readTime(text string) (time.Time, bool) {
	for _, form := range []string{time.RFC3339, time.DateTime, "2006-01-02T15:04:05", time.DateOnly} {
		if t, err := time.Parse(form, text); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}
