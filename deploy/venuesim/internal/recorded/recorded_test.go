package recorded_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/deploy/venuesim/internal/recorded"
	"github.com/signalcast/signalcast/deploy/venuesim/internal/world"
)

const market = `{"id":"41","question":"Will the invented ferry sail?","conditionId":"0xab41","slug":"ferry-sails","outcomes":"[\"Yes\", \"No\"]",` +
	`"outcomePrices":"[\"0.25\", \"0.75\"]","clobTokenIds":"[\"411\", \"412\"]","closed":false,"startDate":"2026-01-01T00:00:00Z","odd":{"kept":[1,2]}}`

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestFilesAreRecognisedByTheirForm(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "a-list.json", "["+market+","+strings.NewReplacer(`"41"`, `"42"`, "0xab41", "0xab42", "ferry", "barge", "411", "421", "412", "422", "0.25", "0.31", "0.75", "0.69").Replace(market)+"]")
	write(t, dir, "b-envelope.json", `{"markets":[`+market+`],"next_cursor":"x"}`)
	write(t, dir, "c-book.json", `{"data":[{"condition_id":"","tokens":[]},{"condition_id":"0xab41","tokens":[],"mark":7}],"next_cursor":"LTE="}`)
	write(t, dir, "d-history.json", `{"history":[{"t":1767312000,"p":0.2},{"t":1767315600,"p":0.25}]}`)
	write(t, dir, "e-other.json", `[{"ticker_name":"NOT-OURS"}]`)
	write(t, dir, "notes.txt", "not read")
	var notes []string
	lib, err := recorded.Load([]string{dir}, func(s string) { notes = append(notes, s) })
	if err != nil {
		t.Fatal(err)
	}
	set := lib.Polymarket
	if len(notes) != 1 || !strings.Contains(notes[0], "e-other.json") {
		t.Errorf("notes: %v", notes)
	}
	m, ok := set.Get(41, time.Now())
	if !ok || string(m.Raw) != market || m.Price != 250_000 || m.State != world.Open {
		t.Errorf("%v %+v", ok, m)
	}
	if id, ok := set.Lookup("412"); !ok || id != 41 {
		t.Errorf("by token: %d %v", id, ok)
	}
	if raw, ok := set.Book("0xab41"); !ok || !strings.Contains(string(raw), `"mark":7`) {
		t.Errorf("book: %s %v", raw, ok)
	}
	if m.Path == nil || m.Path(1767313000) != 200_000 || m.Path(1767319200) != 250_000 {
		t.Error("the history does not belong to the market that trades at its last price")
	}
	if set.Len() != 2 {
		t.Errorf("%d markets", set.Len())
	}
}

func TestNothingRecordedIsAFault(t *testing.T) {
	t.Parallel()
	quiet := func(string) {}
	if _, err := recorded.Load([]string{t.TempDir()}, quiet); err == nil {
		t.Error("an empty folder was accepted")
	}
	if _, err := recorded.Load([]string{filepath.Join(t.TempDir(), "missing")}, quiet); err == nil {
		t.Error("a missing folder was accepted")
	}
}
