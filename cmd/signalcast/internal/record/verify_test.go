package record

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// sample returns the lines of a record that a service wrote. It contains 48 calls on both sides, at six prices, on native and
// venue markets. They are won, lost, void, late or pending. Some have a confidence, and some do not count.
func sample(t *testing.T) []string {
	t.Helper()
	raw, err := os.ReadFile("testdata/record.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	return strings.SplitAfter(strings.TrimSuffix(string(raw), "\n"), "\n")
}

// whole joins the lines of a record and sets the SHA-256 in the last line to that of the other lines.
func whole(lines []string) string {
	last := len(lines) - 1
	body := strings.Join(lines[:last], "")
	sum := sha256.Sum256([]byte(body))
	var e map[string]any
	d := json.NewDecoder(strings.NewReader(lines[last]))
	d.UseNumber()
	if d.Decode(&e) != nil {
		return body + lines[last]
	}
	e["sha256"] = hex.EncodeToString(sum[:])
	text, err := json.Marshal(e)
	if err != nil {
		panic(err) // e was decoded from JSON
	}
	return body + string(text) + "\n"
}

// reader contains the options of a verification ten minutes after the sample was written.
var reader = Options{Now: time.Date(2026, 11, 22, 9, 30, 0, 0, time.UTC)}

func TestVerifyCorrectRecord(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	got, err := Verify(strings.NewReader(strings.Join(sample(t), "")), &out, reader)
	if err != nil || got.Calls != 48 || got.Events != 54 || out.Len() != 0 {
		t.Errorf("Verify of the sample: %+v, error %v; want 48 calls, 54 events and no difference\n%s", got, err, out.String())
	}
}

// computed lists the members of a call that follow from other members.
var computed = []string{
	"n", "status", "score", "outcome", "closePrice", "clvBps", "resolvedAt", "moment", "scoringVersion", "direction", "filingBasisBps",
	"scoreBasisBps", "scoring", "counted", "quoteAt", "confirmedAt",
}

// TestEveryChangedMemberIsNamed changes each computed member of each line by a small amount. Verify must report a difference on
// the same line.
func TestEveryChangedMemberIsNamed(t *testing.T) {
	t.Parallel()
	lines := sample(t)
	changed, missed := 0, 0
	for i := 1; i < len(lines); i++ {
		var line map[string]any
		if err := json.Unmarshal([]byte(lines[i]), &line); err != nil {
			t.Fatal(err)
		}
		var paths [][]string
		if line["type"] == "end" {
			for _, part := range []string{"numbers", "edge"} {
				paths = append(paths, leaves([]string{part}, line[part])...)
			}
			paths = append(paths, []string{"calls"}, []string{"events"}, []string{"complete"})
		} else {
			for _, name := range computed {
				paths = append(paths, []string{name})
			}
		}
		for _, path := range paths {
			again := change(t, lines[i], path)
			if again == lines[i] {
				continue
			}
			if path[0] == "direction" && (line["status"] == "pending" || line["status"] == "void") {
				continue // the direction of a call without a result may have no effect on its numbers
			}
			changed++
			// Without the lines after the call the test is faster. They have no effect on the differences of the call.
			text := strings.Join(lines[:i], "") + again
			if line["type"] == "end" {
				text = whole(append(lines[:i:i], again))
			}
			var out bytes.Buffer
			_, err := Verify(strings.NewReader(text), &out, reader)
			if !errors.Is(err, ErrDiffers) || !strings.Contains(out.String(), fmt.Sprintf("line %d: ", i+1)) {
				missed++
				t.Errorf("line %d: no difference was reported after %v was changed: %v\n%s", i+1, path, err, out.String())
			}
		}
	}
	t.Logf("%d changes, %d missed", changed, missed)
	if changed < 400 {
		t.Errorf("%d changes were tried; want at least 400", changed)
	}
}

// leaves returns the paths of all values in v that are neither objects nor lists. path is the path of v. The path of a list
// element contains its index.
func leaves(path []string, v any) (out [][]string) {
	below := func(name string, of any) {
		out = append(out, leaves(append(append([]string{}, path...), name), of)...)
	}
	switch v := v.(type) {
	case map[string]any:
		for name, of := range v {
			below(name, of)
		}
	case []any:
		for i, of := range v {
			below(strconv.Itoa(i), of)
		}
	default:
		return [][]string{path}
	}
	return out
}

// change returns the line text with the member at path changed, or the unchanged line if the member cannot be changed.
func change(t *testing.T, text string, path []string) string {
	t.Helper()
	var line map[string]any
	if err := json.Unmarshal([]byte(text), &line); err != nil {
		t.Fatal(err)
	}
	at := line
	for i := 0; i < len(path)-1; i++ {
		switch in := at[path[i]].(type) {
		case map[string]any:
			at = in
		case []any:
			i++
			index, err := strconv.Atoi(path[i])
			if err != nil {
				t.Fatal(err)
			}
			at = in[index].(map[string]any)
		}
	}
	name := path[len(path)-1]
	switch v := at[name].(type) {
	case float64:
		at[name] = v * (1 + 1e-6)
		if v == float64(int64(v)) {
			at[name] = v + 1
		}
	case bool:
		at[name] = !v
	case nil:
		at[name] = map[string]any{
			"score": 5, "clvBps": 5, "closePrice": 5, "outcome": "YES", "moment": "RARE", "resolvedAt": "2026-11-22T05:16:50.302Z",
			"avgClvBps": 5, "counted": true, "quoteAt": "2026-11-22T05:16:50.302Z", "confirmedAt": "2026-11-22T05:16:50.302Z",
			"callsNeeded": 5, "callsNeededSure": 5, "calibration": map[string]any{"calls": 5},
		}[name]
	case string:
		other := map[string]string{"YES": "NO", "NO": "YES", "won": "lost", "lost": "won", "void": "won", "pending": "lost"}[v]
		if name == "resolvedAt" || name == "quoteAt" || name == "confirmedAt" {
			other = strings.Replace(v, "2026", "2027", 1)
		}
		if other == "" {
			other = v + "x"
		}
		at[name] = other
	}
	out, err := json.Marshal(line)
	if err != nil {
		t.Fatal(err)
	}
	if at[name] == nil {
		return text
	}
	return string(out) + "\n"
}

// TestIncompleteOrReorderedRecord checks that Verify reports missing, repeated, exchanged and changed lines, and that it does
// not accept other inputs as records.
func TestIncompleteOrReorderedRecord(t *testing.T) {
	t.Parallel()
	lines := sample(t)
	last := len(lines) - 1
	for name, text := range map[string]string{
		"without its end":     strings.Join(lines[:last], ""),
		"a missing call":      whole(append(append([]string{}, lines[:5]...), lines[6:]...)),
		"one call twice":      whole(append(append(append([]string{}, lines[:5]...), lines[4]), lines[5:]...)),
		"two calls exchanged": whole(append(append(append([]string{}, lines[:4]...), lines[5], lines[4]), lines[6:]...)),
		"a line after end":    strings.Join(lines, "") + "\n" + lines[3],
		"a broken line":       whole(append(append(append([]string{}, lines[:4]...), "{\n"), lines[4:]...)),
		"another byte":        strings.Replace(strings.Join(lines, ""), "=SUM", "=SUN", 1),
		"a pending loss": whole(replaced(lines, `"status":"lost","scoring":false,"score":-`,
			`"status":"pending","scoring":false,"score":-`)),
	} {
		var out bytes.Buffer
		if _, err := Verify(strings.NewReader(text), &out, reader); !errors.Is(err, ErrDiffers) ||
			!strings.Contains(out.String(), "line ") {
			t.Errorf("%s: error %v, want ErrDiffers and the line; output %s", name, err, out.String())
		}
	}
	for name, text := range map[string]string{
		"empty": "", "an HTML page": "<!doctype html>", "a call": lines[1], "another version": `{"type":"record","version":"1"}`,
	} {
		if _, err := Verify(strings.NewReader(text), &bytes.Buffer{}, reader); !errors.Is(err, ErrNoRecord) {
			t.Errorf("%s: error %v, want ErrNoRecord", name, err)
		}
	}
}

// TestTextsOfRefusedRecords checks the errors of records that lack lines and of unknown versions.
func TestTextsOfRefusedRecords(t *testing.T) {
	t.Parallel()
	lines := sample(t)
	all, last := strings.Join(lines, ""), len(lines)-1
	const missing = ": the record is incomplete; download it again"
	for name, c := range map[string]struct{ text, want string }{
		"without its end":   {strings.Join(lines[:last], ""), "1 difference" + missing},
		"cut in the end":    {all[:len(all)-20], "1 difference" + missing},
		"cut after a line":  {strings.Join(lines[:9], ""), "1 difference" + missing},
		"cut in a line":     {strings.Join(lines[:9], "") + lines[9][:100], "1 difference" + missing},
		"without a call":    {strings.Join(append(lines[:5:5], lines[6:]...), ""), " differences" + missing},
		"one number":        {edited(t, func(_, _, e object) { e["checkpoint"] = "x" }), "computed ones: 1 difference; "},
		"a number":          {strings.Replace(all, `"version":"2"`, `"version":2`, 1), `: version 2; this program reads version "2"`},
		"another version":   {strings.Replace(all, `"version":"2"`, `"version":"3"`, 1), `: version "3"; this program reads`},
		"without a version": {strings.Replace(all, `"version":"2",`, ``, 1), `: no version; this program reads`},
	} {
		if _, err := Verify(strings.NewReader(c.text), &bytes.Buffer{}, reader); !strings.Contains(fmt.Sprint(err), c.want) {
			t.Errorf("%s: error %v, want a text with %q", name, err, c.want)
		}
	}
}

func replaced(lines []string, old, by string) []string {
	out := append([]string{}, lines...)
	for i, line := range out {
		if strings.Contains(line, old) {
			out[i] = strings.Replace(line, old, by, 1)
			return out
		}
	}
	return out
}
