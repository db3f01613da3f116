package venue_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/signalcast/signalcast/services/api/internal/venue"
	"github.com/signalcast/signalcast/services/api/internal/venue/venuetest"
)

// shared is a path of the material that stands beside the repository; ok is false,
// with a line about it, where it is not at hand.
func shared(t *testing.T, path ...string) (file string, ok bool) {
	t.Helper()
	file = venuetest.Root(t, append([]string{"..", "shared", "venues"}, path...)...)
	if _, err := os.Stat(file); err != nil {
		t.Logf("not at hand, nothing to compare: %s", filepath.Join(path...))
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

// TestEveryExpectedRecord reads each sample beside the repository through its
// adapter and compares every member with the table beside it.
func TestEveryExpectedRecord(t *testing.T) {
	t.Parallel()
	file, ok := shared(t, "expected_normalised.json")
	if !ok {
		return
	}
	want := readTable(t, file)
	if want.ReferenceTime != "2026-10-10T12:00:00Z" || len(want.Records) < 67 {
		t.Fatalf("%d records at %s", len(want.Records), want.ReferenceTime)
	}
	compared, skipped := map[string]int{}, map[string]int{}
	for name, members := range want.Records {
		provider, _, _ := strings.Cut(name, "/")
		sample, ok := shared(t, name)
		if !ok {
			t.Errorf("the table has %s, which is not there", name)
			continue
		}
		c := collect(read(t, sample))
		if len(c.records) != 1 || c.records[0].provider != provider {
			t.Errorf("%s holds %d records", name, len(c.records))
			continue
		}
		r := c.records[0]
		v := venuetest.NewPlain(t, map[string]string{r.path(): r.single()})
		m, err := adapters(t, v.URL, tabled, v.Meter, venuetest.Now)[provider].Get(t.Context(), r.id())
		if members["skip"] != nil {
			if skipped[provider]++; !errors.Is(err, venue.ErrNotFound) || v.Counted("venue_dropped_records_total", provider) != 1 {
				t.Errorf("%s is to be left out, and counted: %v", name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		compared[provider]++
		if got := venuetest.Members(t, &m, provider); !reflect.DeepEqual(got, members) {
			t.Errorf("%s:\n got %v\nwant %v", name, got, members)
		}
	}
	t.Logf("compared in every member: %v; left out as expected: %v", compared, skipped)
	for _, provider := range names {
		if compared[provider] < 11 {
			t.Errorf("only %d records of %s", compared[provider], provider)
		}
	}
}

// TestOurCopiesAreTheOnesBeside: the samples and tables that the adapters' own
// tests use say what those beside the repository say.
func TestOurCopiesAreTheOnesBeside(t *testing.T) {
	t.Parallel()
	file, ok := shared(t, "expected_normalised.json")
	if !ok {
		return
	}
	want, copied := readTable(t, file), 0
	for _, provider := range names {
		ours, theirs := readTable(t, filepath.Join(provider, "testdata", "expected.json")), map[string]map[string]any{}
		for name, members := range want.Records {
			if rest, ok := strings.CutPrefix(name, provider+"/"); ok {
				theirs[rest] = members
			}
		}
		if ours.ReferenceTime != want.ReferenceTime || !reflect.DeepEqual(ours.Records, theirs) {
			t.Errorf("%s/testdata/expected.json is not the table beside the repository", provider)
		}
		files, err := filepath.Glob(filepath.Join(provider, "testdata", "samples", "*.json"))
		if err != nil || len(files) == 0 {
			t.Fatal(files, err)
		}
		for _, f := range files {
			beside, ok := shared(t, provider, filepath.Base(f))
			if !ok || !bytes.Equal(read(t, f), read(t, beside)) {
				t.Errorf("%s is not the sample beside the repository", f)
			}
			copied++
		}
	}
	t.Logf("%d samples are the same", copied)
}
