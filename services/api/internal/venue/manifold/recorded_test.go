package manifold_test

import (
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/api/internal/venue"
)

// TestRealQuestionsSurvive runs over the resolved questions of this venue when
// they are at hand: ids, texts, prices and outcomes are real, the form around
// them is that of the samples.
func TestRealQuestionsSurvive(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("VENUE_RECORDED")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "..", "..", "..", "shared", "venues", "recorded")
	}
	f, err := os.Open(filepath.Join(dir, "..", "..", "data", "resolved-questions.csv"))
	if err != nil {
		t.Logf("no resolved questions near %s: nothing to check", dir)
		return
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil || len(rows) == 0 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	column := map[string]int{}
	for i, name := range rows[0] {
		column[name] = i
	}
	answers, wanted := map[string]string{}, map[string][]string{}
	for _, row := range rows[1:] {
		if row[column["source"]] != "manifold" {
			continue
		}
		id, word := row[column["id"]], map[string]string{"1": "YES", "0": "NO"}[row[column["outcome_yes"]]]
		on, err := time.Parse(time.DateOnly, row[column["resolved_on"]])
		bps, err2 := strconv.Atoi(row[column["yes_bps"]])
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		raw, err := json.Marshal(map[string]any{
			"id": id, "question": row[column["question"]], "url": row[column["url"]], "outcomeType": "BINARY", "mechanism": "cpmm-1", "isResolved": true,
			"resolution": word, "resolutionTime": on.UnixMilli(), "probability": float64(bps) / 10_000, "textDescription": "", "token": "MANA",
		})
		if err != nil {
			t.Fatal(err)
		}
		answers["/market/"+id], wanted[id] = string(raw), []string{word, row[column["question"]], row[column["url"]]}
	}
	b := setup(t, answers)
	for id, want := range wanted {
		m, err := b.adapter.Get(t.Context(), "manifold-"+id)
		if err != nil || m.ID != "manifold-"+id || syntax.MarketID(m.ID).NativeKey() != id || m.Status != venue.Resolved || m.Outcome != want[0] ||
			m.Question != want[1] || m.ProofURL != want[2] || *m.YesBps != map[string]int{"YES": 10_000, "NO": 0}[want[0]] {
			t.Errorf("%s: %+v %v", id, m, err)
		}
	}
	t.Logf("%d questions", len(wanted))
	if len(wanted) < 100 {
		t.Errorf("%d questions", len(wanted))
	}
}
