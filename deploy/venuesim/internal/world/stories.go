package world

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

//go:embed stories.json
var storiesJSON []byte

// library is the content of the embedded file stories.json, from which events are invented.
type library struct {
	Lifetimes map[string][]int64 // seconds, by the lifetime of a kind
	Kinds     []*kind
	Words     map[string][]string // lists of invented names, by the word in braces that selects from the list
}

var stories = readLibrary()

func readLibrary() (l library) {
	if err := json.Unmarshal(storiesJSON, &l); err != nil {
		panic(err) // the file is embedded in the program
	}
	return l
}

// kind is a kind of event. Its texts contain placeholders in braces: year, month, day and number; name, which is the
// candidate or the step of a market; and names of lists of words. A list with the suffix 2 inserts a second word of the list.
type kind struct {
	Weight int
	// Form is the relation of the markets: single (one market), race (one for each of Names, of which one ends YES),
	// ladder (one for each step), match (the winner of a game, then totals) or upDown (whether a price rises within an hour).
	Form            string
	Tags            []string
	Lifetime        string
	Least, Most     int    // bounds of the number of markets
	Names           string // list of the candidates of a race
	Step            string // text of a ladder's steps with one number, which starts at up to Low and rises by Rise
	Low, Rise       int
	Title, Question string // title of the event, and question of each market
}

// story is an invented event with its markets.
type story struct {
	event       Event
	tags        []Tag
	description string
	markets     []storyMarket
}

// storyMarket is one market of a story.
type storyMarket struct {
	question, candidate, slug string
	labels                    []string
	outcome                   Outcome
	disputed                  bool
	volume, pace              float64
	course                    *course
}

var yesNo = []string{"Yes", "No"}

const rules = "This market resolves to Yes if the event named in the question takes place before the end date, otherwise to " +
	"No.\n\nThe resolution source is the public record of the body concerned; a consensus of credible reporting may be used as well."

// write returns a new story of the kind. The parameter size is the number of its markets, and end is the time at which they
// end.
func (k *kind) write(d *dice, size int, end time.Time) *story {
	drawn := map[string]string{
		"year": end.Format("2006"), "month": end.Format("January 2006"), "day": end.Format("January 2, 2006"),
		"number": strconv.Itoa(d.between(3, 12)), "name": "",
	}
	fill := func(text string) string {
		parts := strings.Split(text, "{")
		for i, part := range parts[1:] {
			word, rest, _ := strings.Cut(part, "}")
			if _, known := drawn[word]; !known {
				list := strings.TrimRight(word, "2")
				two := d.some(stories.Words[list], 2)
				drawn[list], drawn[list+"2"] = two[0], two[1]
			}
			parts[i+1] = drawn[word] + rest
		}
		return strings.Join(parts, "")
	}
	s := &story{event: Event{Title: fill(k.Title), Exclusive: k.Form == "race"}, description: rules}
	for _, label := range k.Tags {
		s.tags = append(s.tags, NewTag(label))
	}
	var names []string
	switch k.Form {
	case "race":
		names = d.some(stories.Words[k.Names], size)
	case "ladder":
		for low := d.between(k.Low/2, k.Low); len(names) < size; low += k.Rise {
			names = append(names, fmt.Sprintf(k.Step, low))
		}
	case "match":
		s.writeMatch(d, drawn[k.Names], drawn[k.Names+"2"], size)
	case "single":
		names = []string{""}
	case "upDown":
		question := fill(k.Question) + end.Format("January 2, ") + end.Add(-time.Hour).Format("15:04-") + end.Format("15:04 UTC")
		s.markets = []storyMarket{{question: question, labels: []string{"Up", "Down"}}}
	}
	for _, name := range names {
		drawn["name"] = name
		s.markets = append(s.markets, storyMarket{question: fill(k.Question), candidate: name, labels: yesNo})
	}
	if k.Title == "" {
		s.event.Title = s.markets[0].question
	}
	return s
}

// writeMatch adds the markets of a game: first the market for the winner, then markets for the total score.
func (s *story) writeMatch(d *dice, home, away string, size int) {
	s.markets = append(s.markets, storyMarket{question: s.event.Title, candidate: "Match Winner", labels: []string{home, away}})
	for i := 1; i < size; i++ {
		line := fmt.Sprintf("O/U %d.5", d.between(1, 3)+i)
		s.markets = append(s.markets, storyMarket{
			question: home + " vs. " + away + ": " + line, candidate: line, labels: []string{"Over", "Under"},
		})
	}
}
