package categorise

import (
	"slices"
	"testing"

	"github.com/signalcast/signalcast/pkg/protocol"
)

func TestClassify(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		title    string
		tags     []string
		lane     protocol.Lane
		category string
		method   Method
	}{
		{"anything", []string{"world", "politics"}, protocol.LaneWorld, News, Keyword},
		{"anything", []string{"Politics"}, protocol.LanePolitics, Politics, Keyword},
		{"anything", []string{"Pop Culture", "Music"}, protocol.LaneMusic, Music, Keyword},
		{"Will the bill pass the senate?", []string{"crypto"}, protocol.LaneCrypto, Crypto, Keyword},
		{"Will \"Marrow\" be number one?", []string{"Movies"}, protocol.LaneEntertainment, Film, Keyword},
		{"Will it return for another season?", []string{"entertainment"}, protocol.LaneEntertainment, TV, Keyword},
		{"Who hosts next?", []string{"TV"}, protocol.LaneEntertainment, TV, Keyword},
		{"Who opens the runway?", []string{"pop-culture"}, protocol.LaneCulture, Fashion, Keyword},
		{"Will they marry?", []string{"culture"}, protocol.LaneCulture, Culture, Keyword},
		{"Will Bitcoin reach $200k?", nil, protocol.LaneCrypto, Crypto, Keyword},
		{"Bitcoin Up or Down - October 10", []string{"recurring"}, protocol.LaneCrypto, Crypto, Keyword},
		{"Lakers vs. Celtics: O/U 220.5", nil, protocol.LaneSport, Sports, Keyword},
		{"Will the Fed cut interest rates in December?", nil, protocol.LaneEconomy, Economy, Keyword},
		{"Highest temperature in London on October 10?", nil, protocol.LaneScience, Science, Keyword},
		{"Will OpenAI release a new model?", nil, protocol.LaneTech, Tech, Keyword},
		{"Who wins the 2027 presidential election?", nil, protocol.LanePolitics, Politics, Keyword},
		{"Russia x Ukraine ceasefire by June?", nil, protocol.LaneWorld, News, Keyword},
		{"Best Picture at the Oscars?", nil, protocol.LaneEntertainment, Film, Keyword},
		{"Which album tops the Billboard chart?", nil, protocol.LaneMusic, Music, Keyword},
		{"Will the town clock of Dunvale be mended?", []string{"oddities"}, protocol.LaneOther, Other, Fallback},
		{"", nil, protocol.LaneOther, Other, Fallback},
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

func TestTagOrderDoesNotMatter(t *testing.T) {
	t.Parallel()
	for _, tags := range [][]string{{"politics", "world", "music"}, {"music", "world", "politics"}, {"World", "MUSIC", "x"}} {
		if got := ByTags(tags); got != protocol.LaneMusic {
			t.Errorf("lane of tags %v: %s", tags, got)
		}
	}
}

func TestTableIsComplete(t *testing.T) {
	t.Parallel()
	for _, l := range protocol.Lanes {
		if l == protocol.LaneOther {
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
				t.Errorf("tag %q of %s is assigned to another lane", tag, e.lane)
			}
		}
		seen := map[string]bool{}
		for _, column := range e.columns() {
			for w := range set(column.words) {
				if got, _ := byTitle(w); got == protocol.LaneOther {
					t.Errorf("word %q of %s never matches", w, e.lane)
				}
				if seen[w] {
					t.Errorf("word %q is listed twice in %s", w, e.lane)
				}
				seen[w] = true
			}
		}
	}
	for _, words := range []map[string]bool{tvWords, fashionWords} {
		for w := range words {
			if !mentions(w, nil, words) {
				t.Errorf("word %q never matches", w)
			}
		}
	}
}

func TestConfidenceRisesWithEvidence(t *testing.T) {
	t.Parallel()
	faint, strong := Classify("Will the final score be even?", nil), Classify("Will the NBA playoffs champion win the cup?", nil)
	if faint.Lane != protocol.LaneSport || strong.Lane != protocol.LaneSport || faint.Confidence >= strong.Confidence {
		t.Errorf("results with little and much evidence: %+v %+v", faint, strong)
	}
}
