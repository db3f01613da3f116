package venuetest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/signalcast/signalcast/services/api/internal/venue"
)

// Sample reads an answer of the adapter's testdata.
func Sample(t testing.TB, name string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "samples", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// Edit sets members of a JSON object, of the one in the member in when that is
// named; nil takes a member away.
func Edit(t *testing.T, object, in string, changes map[string]any) string {
	t.Helper()
	var all map[string]any
	if err := json.Unmarshal([]byte(object), &all); err != nil {
		t.Fatal(err)
	}
	record := all
	if in != "" {
		record = all[in].(map[string]any)
	}
	for key, value := range changes {
		if record[key] = value; value == nil {
			delete(record, key)
		}
	}
	raw, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// Root is a path below the folder that holds the repository's go.work.
func Root(t testing.TB, path ...string) string {
	t.Helper()
	dir, err := os.Getwd()
	for ; err == nil; dir = filepath.Dir(dir) {
		if _, gone := os.Stat(filepath.Join(dir, "go.work")); gone == nil {
			return filepath.Join(append([]string{dir}, path...)...)
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	t.Fatalf("no go.work above the test: %v", err)
	return ""
}

// Expected reads the records that are expected of the samples, by file. There must
// be so many, and beside them other samples of a market that give none.
func Expected(t *testing.T, records, others int) map[string]map[string]any {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	var table struct {
		ReferenceTime time.Time
		Records       map[string]map[string]any
	}
	if err := json.Unmarshal(raw, &table); err != nil {
		t.Fatal(err)
	}
	if !table.ReferenceTime.Equal(Noon) || len(table.Records) != records {
		t.Fatalf("table of %d records at %v", len(table.Records), table.ReferenceTime)
	}
	files, err := filepath.Glob(filepath.Join("testdata", "samples", "market_*.json"))
	if err != nil || len(files) != records+others {
		t.Fatalf("%d samples of a market, %v", len(files), err)
	}
	return table.Records
}

// Members spells a market as the table of expected records does.
func Members(t *testing.T, m *venue.Market, provider string) map[string]any {
	t.Helper()
	text := func(s string) any {
		if s == "" {
			return nil
		}
		return s
	}
	var end any
	if m.EndDate != nil {
		end = m.EndDate.Format(time.RFC3339)
	}
	raw, err := json.Marshal(map[string]any{
		"id": m.ID, "venue": provider, "clobTokenId": text(m.ClobTokenID), "status": m.Status, "settled": m.Settled,
		"provisional": m.Provisional, "disputed": m.Disputed, "outcome": text(m.Outcome), "yesBps": m.YesBps, "endDate": end,
		"volume": m.Volume, "liquidity": m.Liquidity, "lane": m.VenueLane,
	})
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}
