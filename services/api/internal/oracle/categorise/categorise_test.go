package categorise

import (
	"slices"
	"testing"

	"github.com/signalcast/signalcast/pkg/syntax"
)

func TestClassify(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		title    string
		tags     []string
		lane     syntax.Lane
		category string
		method   Method
	}{
		{"anything", []string{"world", "politics"}, syntax.LaneWorld, News, Keyword},
		{"anything", []string{"Politics"}, syntax.LanePolitics, Politics, Keyword},
		{"anything", []string{"Pop Culture", "Music"}, syntax.LaneMusic, Music, Keyword},
		{"Will the bill pass the senate?", []string{"crypto"}, syntax.LaneCrypto, Crypto, Keyword},
		{"Will \"Marrow\" be number one?", []string{"Movies"}, syntax.LaneEntertainment, Film, Keyword},
		{"Will it return for another season?", []string{"entertainment"}, syntax.LaneEntertainment, TV, Keyword},
		{"Who hosts next?", []string{"TV"}, syntax.LaneEntertainment, TV, Keyword},
		{"Who opens the runway?", []string{"pop-culture"}, syntax.LaneCulture, Fashion, Keyword},
		{"Will they marry?", []string{"culture"}, syntax.LaneCulture, Culture, Keyword},
		{"Will Bitcoin reach $200k?", nil, syntax.LaneCrypto, Crypto, Keyword},
		{"Bitcoin Up or Down - October 10", []string{"recurring"}, syntax.LaneCrypto, Crypto, Keyword},
		{"Lakers vs. Celtics: O/U 220.5", nil, syntax.LaneSport, Sports, Keyword},
		{"Will the Fed cut interest rates in December?", nil, syntax.LaneEconomy, Economy, Keyword},
		{"Highest temperature in London on October 10?", nil, syntax.LaneScience, Science, Keyword},
		{"Will OpenAI release a new model?", nil, syntax.LaneTech, Tech, Keyword},
		{"Who wins the 2027 presidential election?", nil, syntax.LanePolitics, Politics, Keyword},
		{"Russia x Ukraine ceasefire by June?", nil, syntax.LaneWorld, News, Keyword},
		{"Best Picture at the Oscars?", nil, syntax.LaneEntertainment, Film, Keyword},
		{"Which album tops the Billboard chart?", nil, syntax.LaneMusic, Music, Keyword},
		{"Will the town clock of Dunvale be mended?", []string{"oddities"}, syntax.LaneOther, Other, Fallback},
		{"", nil, syntax.LaneOther, Other, Fallback},
	} {
		got := Classify(c.title, c.tags)
		if got.Lane != c.lane || got.Category != c.category || got.Method != c.method {
			t.Errorf("%q %v: %+v, want %s %s %s", c.title, c.tags, got, c.lane, c.category, c.method)
		}
		if got.Confidence < 0 || got.Confidence > 100 || (got.Confidence == 0) != (c.method == Fallback) {
			t.Errorf("%q: confidence %d", c.title, got.Confidence)
		}
	}
}

func TestTagsOutweighTheTitleWhateverTheirOrder(t *testing.T) {
	t.Parallel()
	for _, tags := range [][]string{{"politics", "world", "music"}, {"music", "world", "politics"}, {"World", "MUSIC", "x"}} {
		if got := ByTags(tags); got != syntax.LaneMusic {
			t.Errorf("%v: %s", tags, got)
		}
	}
}

func TestTableIsWhole(t *testing.T) {
	t.Parallel()
	for _, l := range syntax.Lanes {
		if l == syntax.LaneOther {
			continue
		}
		if !slices.ContainsFunc(lanes, func(e entry) bool { return e.lane == l }) {
			t.Errorf("lane %s has no words", l)
		}
		if c := Category(l, "", nil); c == Other || c == "" {
			t.Errorf("lane %s has category %q", l, c)
		}
	}
	for i, e := range lanes {
		for tag := range set(e.tags) {
			if tag != normal(tag) || tagLane[tag] != i {
				t.Errorf("tag %q of %s cannot be reached", tag, e.lane)
			}
		}
		seen := map[string]bool{}
		for _, column := range e.columns() {
			for w := range set(column.words) {
				if got, _ := byTitle(w); got == syntax.LaneOther {
					t.Errorf("word %q of %s is never found", w, e.lane)
				}
				if seen[w] {
					t.Errorf("word %q stands twice in %s", w, e.lane)
				}
				seen[w] = true
			}
		}
	}
	for _, words := range []map[string]bool{tvWords, fashionWords} {
		for w := range words {
			if !mentions(w, nil, words) {
				t.Errorf("word %q is never found", w)
			}
		}
	}
}

func TestMoreEvidenceMoreConfidence(t *testing.T) {
	t.Parallel()
	faint, strong := Classify("Will the final score be even?", nil), Classify("Will the NBA playoffs champion win the cup?", nil)
	if faint.Lane != syntax.LaneSport || strong.Lane != syntax.LaneSport || faint.Confidence >= strong.Confidence {
		t.Errorf("%+v %+v", faint, strong)
	}
}
