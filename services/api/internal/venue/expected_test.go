package venue_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/venue/venuetest"
)

// shared returns the path of a sample in the directory shared, which is next to the repository. If the directory does not
// exist, it logs this and ok is false.
func shared(t *testing.T, path ...string) (file string, ok bool) {
	t.Helper()
	file = filepath.Join(append([]string{"..", "..", "..", "..", "..", "shared", "venues"}, path...)...)
	if _, err := os.Stat(file); err != nil {
		t.Logf("not compared: %s does not exist on this machine", filepath.Join(path...))
		return "", false
	}
	return file, true
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

type table struct {
	ReferenceTime string                    `json:"referenceTime"`
	Records       map[string]map[string]any `json:"records"`
}

func readTable(t *testing.T, file string) (out table) {
	t.Helper()
	if err := json.Unmarshal(read(t, file), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestEveryExpectedRecord reads each sample answer through the adapter of its venue and compares every member of the market
// with a table of expected values. Samples that are not in the table have separate tests or give no market.
func TestEveryExpectedRecord(t *testing.T) {
	t.Parallel()
	for provider, want := range map[protocol.Provider]struct {
		records, samples int
		unit             string
	}{"polymarket": {21, 21, "usd"}, "kalshi": {17, 18, "contracts"}, "limitless": {13, 14, "usd"}, "manifold": {16, 19, "mana"}} {
		table := readTable(t, filepath.Join(string(provider), "testdata", "expected.json"))
		files, err := filepath.Glob(filepath.Join(string(provider), "testdata", "samples", "market_*.json"))
		if err != nil || len(files) != want.samples || len(table.Records) != want.records || table.ReferenceTime != "2026-10-10T12:00:00Z" {
			t.Fatalf("%s: %d samples of a market, %d records at %s, %v", provider, len(files), len(table.Records), table.ReferenceTime, err)
		}
		for name, members := range table.Records {
			t.Run(string(provider)+" "+name, func(t *testing.T) {
				t.Parallel()
				k := kitOf(provider)
				answer := k.sample(t, name)
				key := k.member([]byte(answer), k.key)
				b := k.setup(t, map[string]string{k.path + key: answer})
				m, err := b.Get(t.Context(), protocol.MarketID(k.prefix+key))
				if members["skip"] != nil {
					if !errors.Is(err, market.ErrNotFound) || b.Counted("venue_dropped_records_total", string(provider)) != 1 {
						t.Errorf("unusable market was not omitted and counted: %v", err)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(members, membersOf(t, &m)); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				if m.VolumeUnit != want.unit || !sameDollars(&m) || m.Title == "" || !m.FetchedAt.Equal(venuetest.Noon) ||
					provider == "manifold" && (m.Description == "" || m.URL == "") ||
					provider != "polymarket" && !slices.Equal(m.Outcomes, namesOfSides(t, answer)) {
					t.Errorf("market with missing members: %+v", m)
				}
			})
		}
	}
}

// namesOfSides returns the names of YES and NO in a sample that is not from Polymarket. Only Kalshi has other names than Yes and No.
func namesOfSides(t *testing.T, answer string) []string {
	t.Helper()
	var box struct {
		Market struct {
			Yes string `json:"yes_sub_title"`
			No  string `json:"no_sub_title"`
		}
	}
	if err := json.Unmarshal([]byte(answer), &box); err != nil {
		t.Fatal(err)
	}
	if yes, no := box.Market.Yes, box.Market.No; yes != "" && no != "" && yes != no {
		return []string{yes, no}
	}
	return []string{"Yes", "No"}
}

// membersOf returns the members of a market by their names in the table of expected values.
func membersOf(t *testing.T, m *market.Record) (out map[string]any) {
	t.Helper()
	text := func(s string) *string {
		if s == "" {
			return nil
		}
		return &s
	}
	var end *string
	if m.EndDate != nil {
		end = text(m.EndDate.Format(time.RFC3339))
	}
	raw, err := json.Marshal(map[string]any{
		"id": m.ID, "venue": m.ID.Provider(), "clobTokenId": text(m.ClobTokenID), "status": m.Status,
		"settled": m.Status == protocol.MarketResolved, "provisional": m.Provisional, "disputed": m.Disputed, "outcome": m.Verdict,
		"yesBps": m.Yes, "endDate": end, "volume": m.Volume, "liquidity": m.Liquidity, "lane": m.Lane,
	})
	if err := errors.Join(err, json.Unmarshal(raw, &out)); err != nil {
		t.Fatal(err)
	}
	return out
}

// sameDollars reports whether VolumeUSD of a market matches its Volume. 100 mana count as one dollar.
func sameDollars(m *market.Record) bool {
	switch {
	case m.Volume == nil || m.VolumeUSD == nil:
		return m.Volume == m.VolumeUSD
	case m.VolumeUnit == "mana":
		return *m.VolumeUSD == *m.Volume/100
	}
	return *m.VolumeUSD == *m.Volume
}

// TestSamplesMatchTheSharedOnes checks that the samples and tables in the repository equal those in the directory shared
// next to the repository.
func TestSamplesMatchTheSharedOnes(t *testing.T) {
	t.Parallel()
	file, ok := shared(t, "expected_normalised.json")
	if !ok {
		return
	}
	want, copied := readTable(t, file), 0
	for _, k := range kits {
		provider := string(k.provider)
		ours, theirs := readTable(t, filepath.Join(provider, "testdata", "expected.json")), map[string]map[string]any{}
		for name, members := range want.Records {
			if rest, ok := strings.CutPrefix(name, provider+"/"); ok {
				theirs[rest] = members
			}
		}
		if ours.ReferenceTime != want.ReferenceTime || !reflect.DeepEqual(ours.Records, theirs) {
			t.Errorf("%s/testdata/expected.json differs from the table outside the repository", provider)
		}
		files, err := filepath.Glob(filepath.Join(provider, "testdata", "samples", "*.json"))
		if err != nil || len(files) == 0 {
			t.Fatal(files, err)
		}
		for _, f := range files {
			beside, ok := shared(t, provider, filepath.Base(f))
			if !ok || !bytes.Equal(read(t, f), read(t, beside)) {
				t.Errorf("%s differs from the sample in the shared directory", f)
			}
			copied++
		}
	}
	t.Logf("%d samples are equal", copied)
}
