package categorise

import (
	"strings"
	"unicode"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// Categories of the programme. Other is the category of markets that the programme does not show.
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

// Values of Method. Keyword is a tag or a word of the title, Override is the decision of an administrator, and Fallback means
// that nothing matched. This package never sets Override; its callers do.
const (
	Keyword  Method = "keyword"
	Override Method = "override"
	Fallback Method = "fallback"
)

// Result is the classification of a market. Confidence is from 0 to 100. It is 0 for the method Fallback.
type Result struct {
	Lane       protocol.Lane
	Category   string
	Confidence int
	Method     Method
}

// Confidence values. A known tag of the venue gives tagConfidence. Keywords in the title give wordConfidence plus perPoint
// for each point by which the best lane leads the second, at most mostFromWords.
const (
	tagConfidence  = 95
	wordConfidence = 40
	perPoint       = 10
	mostFromWords  = 90
)

const (
	// longest is the number of words in the longest keyword.
	longest = 4
	// shortest is the length that a word must exceed, so that a final s may be a plural ending.
	shortest = 4
)

// Classify returns the classification of a market by its tags, or by its title if no tag is known. Without a match, the lane
// is OTHER and the method is Fallback.
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

// ByTags returns the lane of the tags, or OTHER if no tag is known. If the tags name several lanes, a narrow lane has
// precedence over a broad one. The order of the tags has no effect.
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

// Category returns the programme category of a lane. For ENTERTAINMENT it is tv if the title or the tags contain a television
// word, else film. For CULTURE it is fashion if they contain a fashion word, else culture. For another lane it is the fixed
// category of the lane, or Other if the lane has none.
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

// byTitle returns the lane with the greatest sum of keyword weights. If several lanes have this sum, it returns the first one
// in lanes. lead is the difference to the second greatest sum. If the title contains no keyword, byTitle returns LaneOther and
// 0.
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

// eachPhrase calls the function yield with every sequence of words in text, in lower case. The constant longest is the maximum
// number of words in a sequence. If the last word ends in s and is longer than the constant shortest, eachPhrase also calls
// yield with the sequence without the s.
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

// normal returns a tag in lower case with dashes between its words.
func normal(tag string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(tag), func(r rune) bool {
		return unicode.IsSpace(r) || r == '-' || r == '_'
	}), "-")
}
