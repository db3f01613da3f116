package polymarket_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/signalcast/signalcast/services/api/internal/venue"
)

// TestRecordedMarketsSurvive runs over recorded answers when they are at hand.
func TestRecordedMarketsSurvive(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("VENUE_RECORDED")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "..", "..", "..", "shared", "venues", "recorded")
	}
	files, err := filepath.Glob(filepath.Join(dir, "polymarket", "gamma-markets-*.json"))
	if err != nil || len(files) == 0 {
		t.Logf("no recorded material at %s: nothing to check", dir)
		return
	}
	answers := map[string]string{}
	var ids []string
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var list []json.RawMessage
		if err := json.Unmarshal(raw, &list); err != nil {
			t.Fatal(err)
		}
		for _, r := range list {
			id := idOf(t, string(r))
			answers["/gamma/markets/"+id] = string(r)
			ids = append(ids, id)
		}
	}
	b := setup(t, answers)
	statuses, skipped, priced := map[string]int{}, 0, 0
	for _, id := range ids {
		m, err := b.adapter.Get(t.Context(), id)
		if errors.Is(err, venue.ErrNotFound) {
			skipped++
			continue
		}
		if err != nil {
			t.Errorf("market %s: %v", id, err)
			continue
		}
		statuses[m.Status]++
		if (m.Status == venue.Resolved) != (m.Outcome != "") || m.Settled != (m.Outcome != "") || m.Settled && (m.Provisional || m.Payout == nil) {
			t.Errorf("market %s: %s, outcome %q, settled %v, provisional %v", id, m.Status, m.Outcome, m.Settled, m.Provisional)
		}
		if m.YesBps != nil {
			priced++
			if *m.YesBps < 0 || *m.YesBps > 10_000 {
				t.Errorf("market %s: %d bps", id, *m.YesBps)
			}
		}
		if m.Question == "" || m.ID != id || m.Disputed && !m.Provisional {
			t.Errorf("market %s: %+v", id, m)
		}
	}
	t.Logf("%d records: %v, %d left out, %d priced", len(ids), statuses, skipped, priced)
	if len(ids) != 550 || skipped != 14 || statuses[venue.Resolved] < 250 || statuses[venue.Open] < 150 {
		t.Errorf("%d records, %d left out, %v", len(ids), skipped, statuses)
	}
}
