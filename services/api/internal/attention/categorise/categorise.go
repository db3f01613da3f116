package categorise

import (
	"strings"
	"unicode"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// Categories of the programme. Other is the category of markets that no programme lane shows.
const (
	Sports   = "sports"
	Music    = "music"
	Film     = "film"
	TV       = "tv"
	Fashion  = "fashion"
	Culture  = "culture"
	Crypto   = "crypto"
	Politics = "politics"
	News     = "news"
	Science  = "science"
	Tech     = "tech"
	Economy  = "economy"
	Other    = "other"
)

// Method is the source of a classification.
type Method string

// Methods of a result. Only callers set Override.
const (
	Keyword  Method = "keyword"
	Override Method = "override"
	Fallback Method = "fallback"
)

// Result is the classification of a market. Confidence is 0 to 100. A fallback has confidence 0.
type Result struct {
	Lane       protocol.Lane
	Category   string
	Confidence int
	Method     Method
}

// Confidence values. Tags come from the venue and get a fixed value. A title gets a greater value when its best lane
// leads the next one by more points.
const (
	tagConfidence  = 95
	wordConfidence = 40
	perPoint       = 10
	mostFromWords  = 90
)

const (
	// longest is the number of words in the longest keyword.
	longest = 4
	// shortest is the length from which the last letter s of a word may be a plural ending.
	shortest = 4
)

// Classify returns the classification by the tags, or by the title if no tag is known. Without a match the lane is
// OTHER.
func Classify(title string, tags []string) Result {
	r := Result{Lane: ByTags(tags), Confidence: tagConfidence, Method: Keyword}
	if r.Lane == protocol.LaneOther {
		var lead int
		r.Lane, lead = byTitle(title)
		r.Confidence = min(wordConfidence+perPoint*lead, mostFromWords)
	}
	if r.Lane == protocol.LaneOther {
		r.Confidence, r.Method = 0, Fallback
	}
	r.Category = Category(r.Lane, title, tags)
	return r
}

// ByTags returns the lane of the venue's tags. A narrow lane has precedence over a broad one in any order of the tags.
func ByTags(tags []string) protocol.Lane {
	best := len(lanes)
	for _, t := range tags {
		if i, ok := tagLane[normal(t)]; ok {
			best = min(best, i)
		}
	}
	if best == len(lanes) {
		return protocol.LaneOther
	}
	return lanes[best].lane
}

// Category returns the programme category of a lane. ENTERTAINMENT is tv if title or tags contain a word of television,
// else film. CULTURE is fashion if they contain a word of fashion, else culture.
func Category(lane protocol.Lane, title string, tags []string) string {
	switch lane {
	case protocol.LaneEntertainment:
		if mentions(title, tags, tvWords) {
			return TV
		}
		return Film
	case protocol.LaneCulture:
		if mentions(title, tags, fashionWords) {
			return Fashion
		}
		return Culture
	}
	if c, ok := categories[lane]; ok {
		return c
	}
	return Other
}

// byTitle returns the lane with the greatest sum of keyword weights. Equal sums select the lane that is first in the
// table. lead is the distance to the next sum.
func byTitle(title string) (lane protocol.Lane, lead int) {
	points := make([]int, len(lanes))
	eachPhrase(title, func(phrase string) {
		for _, hit := range wordLanes[phrase] {
			points[hit.lane] += hit.weight
		}
	})
	best, second := -1, 0
	for i, p := range points {
		switch {
		case best < 0 && p > 0, best >= 0 && p > points[best]:
			if best >= 0 {
				second = points[best]
			}
			best = i
		case p > second:
			second = p
		}
	}
	if best < 0 {
		return protocol.LaneOther, 0
	}
	return lanes[best].lane, points[best] - second
}

func mentions(title string, tags []string, words map[string]bool) (found bool) {
	for _, t := range tags {
		found = found || words[strings.ReplaceAll(normal(t), "-", " ")]
	}
	eachPhrase(title, func(phrase string) { found = found || words[phrase] })
	return found
}

// eachPhrase yields every sequence of one to four words in lower case. It also yields a sequence that ends in s without
// the s, if the last word is longer than shortest.
func eachPhrase(text string, yield func(string)) {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '&'
	})
	for i := range words {
		for n := 1; n <= longest && i+n <= len(words); n++ {
			phrase := strings.Join(words[i:i+n], " ")
			yield(phrase)
			if single, plural := strings.CutSuffix(phrase, "s"); plural && len(words[i+n-1]) > shortest {
				yield(single)
			}
		}
	}
}

// normal returns the slug of a tag: lower case with dashes between words.
func normal(tag string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(tag), func(r rune) bool {
		return unicode.IsSpace(r) || r == '-' || r == '_'
	}), "-")
}
