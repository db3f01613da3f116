package categorise

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// quotas contains the number of markets that each sample takes from each source of recorded markets.
var quotas = []struct {
	source string
	take   int
}{
	{"venues/recorded/polymarket/gamma-markets-2020-2021.json", 40},
	{"venues/recorded/polymarket/gamma-markets-2026.json", 40},
	{"venues/recorded/polymarket/gamma-markets-active.json", 16},
	{"venues/recorded/polymarket/clob-markets-page.json", 22},
	{"venues/recorded/kalshi/website-events.json", 22},
	{"data/resolved-questions.csv", 60},
}

// samples contains the files with labels, each with the seed by which its markets were selected.
var samples = []struct {
	file string
	seed int
}{{tuneFile, 1}, {holdFile, 2}}

// draw returns the ids of the markets of a sample: from each source, those with the smallest hash of seed, source and key.
// It skips markets whose title is in taken.
func draw(rows map[string]map[string]row, seed int, taken map[string]bool) (ids []string) {
	for _, q := range quotas {
		order := func(key string) string {
			return fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%d|%s|%s", seed, q.source, key)))
		}
		keys := slices.SortedFunc(maps.Keys(rows[q.source]), func(a, b string) int { return strings.Compare(order(a), order(b)) })
		left := q.take
		for _, key := range keys {
			title := rows[q.source][key].title
			if left == 0 {
				break
			}
			if !taken[title] {
				taken[title] = true
				ids = append(ids, q.source+" "+key)
				left--
			}
		}
	}
	return ids
}

// TestLabelsAreThoseOfTheDraw checks that the labelled markets are exactly the markets that draw selects. The markets were
// therefore not chosen by hand.
func TestLabelsAreThoseOfTheDraw(t *testing.T) {
	t.Parallel()
	rows, ok := readRows(t)
	if !ok {
		return
	}
	taken := map[string]bool{}
	for _, s := range samples {
		var have []string
		for _, l := range readLabels(t, s.file) {
			have = append(have, l.source+" "+l.key)
		}
		if want := draw(rows, s.seed, taken); !slices.Equal(have, want) {
			t.Errorf("%s does not contain the markets that draw selects with seed %d", s.file, s.seed)
		}
	}
}

func TestLabelsAreComplete(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, s := range samples {
		sources, total := map[string]int{}, 0
		for _, l := range readLabels(t, s.file) {
			id := l.source + " " + l.key
			if seen[id] {
				t.Errorf("%s: %s is labelled twice", s.file, id)
			}
			seen[id] = true
			sources[l.source]++
			if !slices.Contains(categoriesOf(l.lane), l.category) {
				t.Errorf("%s: %s %s has category %q", s.file, l.key, l.lane, l.category)
			}
		}
		for _, q := range quotas {
			total += q.take
			if sources[q.source] != q.take {
				t.Errorf("%s has %d labels of %s; want %d", s.file, sources[q.source], q.source, q.take)
			}
		}
		if total != 200 || len(sources) != len(quotas) {
			t.Errorf("%s has labels of %d sources; want %d", s.file, len(sources), total)
		}
	}
}

// categoriesOf returns the categories among which a label of the given lane must choose. It returns none for a lane with
// only one category.
func categoriesOf(lane protocol.Lane) []string {
	switch lane {
	case protocol.LaneEntertainment:
		return []string{TV, Film}
	case protocol.LaneCulture:
		return []string{Fashion, Culture}
	}
	return []string{""}
}
