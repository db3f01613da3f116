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

// sample is a record as a service writes it: 48 calls on both sides at six prices on native
// and venue markets, won, lost, void, late and open, some with a confidence, some not counted.
func sample(t *testing.T) []string {
	t.Helper()
	raw, err := os.ReadFile("testdata/record.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	return strings.SplitAfter(strings.TrimSuffix(string(raw), "\n"), "\n")
}

// whole joins lines and gives the end the sum that they have now.
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
		panic(err) // it was JSON
	}
	return body + string(text) + "\n"
}

// reader reads the sample ten minutes after it was written.
var reader = How{Now: time.Date(2026, 11, 22, 9, 30, 0, 0, time.UTC)}

func TestRecordThatHolds(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	got, err := Verify(strings.NewReader(strings.Join(sample(t), "")), &out, reader)
	if err != nil || got.Calls != 48 || got.Events != 54 || out.Len() != 0 {
		t.Errorf("%+v %v\n%s", got, err, out.String())
	}
}

// worked are the members of a call that follow from others: each may be changed by the
// least bit and is found, on its own line.
var worked = []string{
	"n", "status", "score", "outcome", "closePrice", "clvBps", "resolvedAt", "moment", "scoringVersion", "direction", "filingBasisBps",
	"scoreBasisBps", "scoring", "counted", "quoteAt", "confirmedAt",
}

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
			for _, name := range worked {
				paths = append(paths, []string{name})
			}
		}
		for _, path := range paths {
			again := change(t, lines[i], path)
			if again == lines[i] {
				continue
			}
			if path[0] == "direction" && (line["status"] == "pending" || line["status"] == "void") {
				continue // nothing follows from it, where the price is high enough
			}
			changed++
			// The lines after a call are left out: they do not change what is found in it.
			text := strings.Join(lines[:i], "") + again
			if line["type"] == "end" {
				text = whole(append(lines[:i:i], again))
			}
			var out bytes.Buffer
			_, err := Verify(strings.NewReader(text), &out, reader)
			if !errors.Is(err, ErrDiffers) || !strings.Contains(out.String(), fmt.Sprintf("line %d: ", i+1)) {
				missed++
				t.Errorf("line %d, %v was changed and not found: %v\n%s", i+1, path, err, out.String())
			}
		}
	}
	t.Logf("%d changes, %d missed", changed, missed)
	if changed < 400 {
		t.Errorf("only %d changes were tried", changed)
	}
}

// leaves lists the paths to all numbers below. A place in a list is its index.
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

// change alters one member.
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
			place, err := strconv.Atoi(path[i])
			if err != nil {
				t.Fatal(err)
			}
			at = in[place].(map[string]any)
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
			"avgClvBps": 5, "counted": true, "quoteAt": "2026-11-22T05:16:50.302Z", "confirmedAt": "2026-11-22T05:16:50.302Z", "callsNeeded": 5, "callsNeededSure": 5, "calibration": map[string]any{"calls": 5},
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

func TestRecordThatWasCutOrMixed(t *testing.T) {
	t.Parallel()
	lines := sample(t)
	last := len(lines) - 1
	for name, text := range map[string]string{
		"without its end":     strings.Join(lines[:last], ""),
		"one call less":       whole(append(append([]string{}, lines[:5]...), lines[6:]...)),
		"one call twice":      whole(append(append(append([]string{}, lines[:5]...), lines[4]), lines[5:]...)),
		"two calls exchanged": whole(append(append(append([]string{}, lines[:4]...), lines[5], lines[4]), lines[6:]...)),
		"more behind the end": strings.Join(lines, "") + "\n" + lines[3],
		"a broken line":       whole(append(append(append([]string{}, lines[:4]...), "{\n"), lines[4:]...)),
		"another byte":        strings.Replace(strings.Join(lines, ""), "=SUM", "=SUN", 1),
		"a loss that waits":   whole(replaced(lines, `"status":"lost","scoring":false,"score":-`, `"status":"pending","scoring":false,"score":-`)),
	} {
		var out bytes.Buffer
		if _, err := Verify(strings.NewReader(text), &out, reader); !errors.Is(err, ErrDiffers) || !strings.Contains(out.String(), "line ") {
			t.Errorf("%s: %v %s", name, err, out.String())
		}
	}
	for name, text := range map[string]string{"nothing": "", "a page": "<!doctype html>", "a call": lines[1], "another form": `{"type":"record","version":"1"}`} {
		if _, err := Verify(strings.NewReader(text), &bytes.Buffer{}, reader); !errors.Is(err, ErrNoRecord) {
			t.Errorf("%s: %v", name, err)
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
