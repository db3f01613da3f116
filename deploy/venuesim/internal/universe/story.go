package universe

import (
	"fmt"
	"time"

	"github.com/signalcast/signalcast/deploy/venuesim/internal/world"
)

// story is what an event is about.
type story struct {
	event       world.Event
	description string
	sports      string
	tags        []world.Tag
	extraTags   []string
	children    []child
}

// child is one market of an event.
type child struct {
	question, group, slug string
	outcomes              []string
	placeholder           bool
	verdict               world.Verdict
	disputed              bool
	volume, pace          float64
	course                *course
}

var yesNo = []string{"Yes", "No"}

const rules = "This market resolves to \"Yes\" if the event named in the question takes place before the end date, otherwise to \"No\".\n\n" +
	"The resolution source is the public record of the body concerned; a consensus of credible reporting may be used as well."

// one is an event with a single question.
func one(question string) *story {
	return &story{
		event: world.Event{Title: question}, description: rules,
		children: []child{{question: question, outcomes: yesNo}},
	}
}

// race is a one-winner event; the last of five or more is the placeholder for
// everybody else.
func race(title, questionForm string, names []string) *story {
	s := &story{event: world.Event{Title: title, NegRisk: true}, description: rules}
	for i, name := range names {
		c := child{question: fmt.Sprintf(questionForm, name), group: name, outcomes: yesNo}
		if i == len(names)-1 && len(names) >= 5 {
			c.question, c.group, c.placeholder = fmt.Sprintf(questionForm, "another candidate"), "Other", true
		}
		s.children = append(s.children, c)
	}
	return s
}

// ladder is an event of independent thresholds.
func ladder(title, questionForm string, steps []string) *story {
	s := &story{event: world.Event{Title: title}, description: rules}
	for _, step := range steps {
		s.children = append(s.children, child{question: fmt.Sprintf(questionForm, step), group: step, outcomes: yesNo})
	}
	return s
}

// match is a game: the winner, and for larger sizes totals and a handicap.
func match(d *dice, league, home, away string, size int, end time.Time) *story {
	title := fmt.Sprintf("%s: %s vs. %s", league, home, away)
	s := &story{
		event: world.Event{Title: title}, sports: "moneyline",
		description: "This market refers to the game between " + home + " and " + away + " scheduled for " + day(end) +
			".\n\nIt resolves to the side that wins. If the game is called off, it resolves 50-50.",
		children: []child{{question: title, group: "Match Winner", outcomes: []string{home, away}}},
	}
	for i := 1; i < size; i++ {
		line := fmt.Sprintf("%d.5", d.between(1, 3)+i)
		s.children = append(s.children, child{
			question: fmt.Sprintf("%s vs. %s: O/U %s", home, away, line), group: "O/U " + line, outcomes: []string{"Over", "Under"},
		})
	}
	return s
}

// upDown asks whether a coin rises in the hour that ends with the event.
func upDown(coin string, end time.Time) *story {
	q := fmt.Sprintf("%s Up or Down - %s, %s-%s UTC", coin, end.Format("January 2"), end.Add(-time.Hour).Format("15:04"), end.Format("15:04"))
	return &story{
		event:       world.Event{Title: q},
		description: "This market resolves to \"Up\" if the closing price of " + coin + " is at or above its opening price of the period in the title, otherwise to \"Down\".",
		children:    []child{{question: q, outcomes: []string{"Up", "Down"}}},
	}
}

func day(t time.Time) string { return t.Format("January 2, 2006") }
