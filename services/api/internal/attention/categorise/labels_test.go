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

// quotas say how many markets each sample takes from each source.
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

// samples are the files of labels, each with the seed of its draw.
var samples = []struct {
	file string
	seed int
}{{tuneFile, 1}, {holdFile, 2}}

// draw takes from each source the markets whose hash with the seed is smallest;
// a title that was taken before is passed over.
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

// TestLabelsAreThoseOfTheDraw: nobody picked the markets.
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
			t.Errorf("%s is not the draw of seed %d", s.file, s.seed)
		}
	}
}

func TestLabelsAreWhole(t *testing.T) {
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
				t.Errorf("%s has %d labels of %s, not %d", s.file, sources[q.source], q.source, q.take)
			}
		}
		if total != 200 || len(sources) != len(quotas) {
			t.Errorf("%s has labels of %d sources, %d are due", s.file, len(sources), total)
		}
	}
}

// categoriesOf are the categories that a label must name: none where the lane
// has only one.
func categoriesOf(lane protocol.Lane) []string {
	switch lane {
	case protocol.LaneEntertainment:
		return []string{TV, Film}
	case protocol.LaneCulture:
		return []string{Fashion, Culture}
	}
	return []string{""}
}
