package categorise

import (
	"strings"
	"unicode"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// Categories of the program clock; other is for what no lane of it airs.
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

// Method says what decided.
type Method string

// The methods of a result. An override is made by the caller, never here.
const (
	Keyword  Method = "keyword"
	Override Method = "override"
	Fallback Method = "fallback"
)

// Result is where a market belongs. Confidence is 0 to 100; a fallback has 0.
type Result struct {
	Lane       protocol.Lane
	Category   string
	Confidence int
	Method     Method
}

// Confidence figures: tags are the venue's own word; a title earns more the
// further its best lane is ahead of the next.
const (
	tagConfidence  = 95
	wordConfidence = 40
	perPoint       = 10
	mostFromWords  = 90
)

const (
	// longest is the number of words in the longest keyword.
	longest = 4
	// shortest is the length of a word from which on an s at its end may be
	// that of a plural.
	shortest = 4
)

// Classify decides by the tags, then by the title, else OTHER.
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

// ByTags decides by the venue's tags alone. A narrow lane beats a broad one,
// whatever the order of the tags.
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

// Category gives the clock category of a lane. ENTERTAINMENT is tv with a word
// of television in title or tags, else film; CULTURE is fashion with a word of
// fashion, else culture.
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

// byTitle adds up the weights of the keywords found; equal sums go to the lane
// that stands first in the table. lead is the distance to the next lane.
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

// eachPhrase yields every run of one to four words in lower case; one that ends
// in s is yielded without it as well, if its last word is not too short for that.
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

// normal is the slug form of a tag: lower case, dashes between words.
func normal(tag string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(tag), func(r rune) bool {
		return unicode.IsSpace(r) || r == '-' || r == '_'
	}), "-")
}
