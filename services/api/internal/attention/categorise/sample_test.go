package categorise

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// recorded is the directory with recorded answers of venues and resolved questions. It is next to the root of the
// repository.
const recorded = "../../../../../../shared"

// label is the manual classification of one recorded market. Category is empty if the lane has only one category.
type label struct {
	source, key string
	lane        protocol.Lane
	category    string
}

// row contains the data of a recorded market that the classifier uses.
type row struct {
	key, title string
	tags       []string
}

// readers contains, for each source, a function that reads its markets. The tags of a market are those that the adapter of
// the venue returns.
var readers = map[string]func([]byte) ([]row, error){
	"venues/recorded/polymarket/gamma-markets-2020-2021.json": gammaRows,
	"venues/recorded/polymarket/gamma-markets-2026.json":      gammaRows,
	"venues/recorded/polymarket/gamma-markets-active.json":    gammaRows,
	"venues/recorded/polymarket/clob-markets-page.json":       clobRows,
	"venues/recorded/kalshi/website-events.json":              kalshiRows,
	"data/resolved-questions.csv":                             questionRows,
}

func gammaRows(raw []byte) (out []row, err error) {
	var list []struct {
		ID, Question, Category string
	}
	err = json.Unmarshal(raw, &list)
	for _, m := range list {
		out = append(out, row{m.ID, m.Question, some(m.Category)})
	}
	return out, err
}

func clobRows(raw []byte) (out []row, err error) {
	var page struct {
		Data []struct {
			ID       string `json:"condition_id"`
			Question string
			Tags     []string
		}
	}
	err = json.Unmarshal(raw, &page)
	for _, m := range page.Data {
		out = append(out, row{m.ID, m.Question, m.Tags})
	}
	return out, err
}

func kalshiRows(raw []byte) (out []row, err error) {
	var page struct {
		Events []struct {
			Ticker, Title, Category string
			Tags                    []string
		}
	}
	err = json.Unmarshal(raw, &page)
	for _, e := range page.Events {
		out = append(out, row{e.Ticker, e.Title, append(some(e.Category), e.Tags...)})
	}
	return out, err
}

func questionRows(raw []byte) (out []row, err error) {
	lines, err := csv.NewReader(strings.NewReader(string(raw))).ReadAll()
	for _, l := range lines[min(1, len(lines)):] {
		out = append(out, row{key: l[0] + ":" + l[1], title: l[2]})
	}
	return out, err
}

func some(word string) []string {
	if word == "" {
		return nil
	}
	return []string{word}
}

// readLabels reads a file of labels. Each line contains source, key, lane and category.
func readLabels(t *testing.T, file string) []label {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var out []label
	for _, l := range lines[1:] {
		lane, ok := protocol.ParseLane(l[2])
		if !ok || readers[l[0]] == nil || l[1] == "" {
			t.Fatalf("%s: %q is not a label", file, l)
		}
		out = append(out, label{l[0], l[1], lane, l[3]})
	}
	return out
}

// readRows reads the markets of every source. If the directory does not exist, it logs this and ok is false. If the
// directory lacks a source, the test fails. Records without key or title, and those with a key that is not unique, are
// omitted.
func readRows(t *testing.T) (rows map[string]map[string]row, ok bool) {
	t.Helper()
	if _, err := os.Stat(recorded); errors.Is(err, fs.ErrNotExist) {
		t.Logf("not measured: directory %s does not exist", recorded)
		return nil, false
	}
	rows = map[string]map[string]row{}
	for source, read := range readers {
		raw, err := os.ReadFile(filepath.Join(recorded, source))
		if err != nil {
			t.Fatal(err)
		}
		list, err := read(raw)
		if err != nil {
			t.Fatalf("%s: %v", source, err)
		}
		rows[source] = map[string]row{}
		uses := map[string]int{}
		for _, r := range list {
			uses[r.key]++
			rows[source][r.key] = r
		}
		maps.DeleteFunc(rows[source], func(key string, r row) bool { return key == "" || r.title == "" || uses[key] > 1 })
	}
	return rows, true
}
