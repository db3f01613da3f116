package categorise

import (
	"fmt"
	"strings"
	"testing"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// Files with labels. Keywords may be chosen with knowledge of tuneFile. The labels in holdFile are used only for
// measurement.
const (
	tuneFile = "labels.csv"
	holdFile = "holdout.csv"
)

// count contains, for one lane, the number of markets with that label, of answers that name the lane, and of right answers.
type count struct{ labelled, answered, right int }

func (c count) precision() int { return percent(c.right, c.answered) }
func (c count) recall() int    { return percent(c.right, c.labelled) }

// percent returns part as a percentage of whole, rounded down. It returns 0 if whole is 0.
func percent(part, whole int) int {
	if whole == 0 {
		return 0
	}
	return 100 * part / whole
}

// outcome is the result of the classifier on one sample. In total, a market counts as answered if it gets a lane other than
// OTHER. Categories are counted only for labelled lanes with two categories.
type outcome struct {
	lanes      map[protocol.Lane]*count
	total      count
	categories map[string]*count
	split      count // sum of all categories
	wrong      []string
}

func measure(t *testing.T, labels []label, rows map[string]map[string]row, withTags bool) *outcome {
	t.Helper()
	out := &outcome{lanes: map[protocol.Lane]*count{}, categories: map[string]*count{TV: {}, Film: {}, Fashion: {}, Culture: {}}}
	for _, l := range protocol.Lanes {
		out.lanes[l] = &count{}
	}
	for _, l := range labels {
		r, ok := rows[l.source][l.key]
		if !ok {
			t.Fatalf("the records of %s have no market %s", l.source, l.key)
		}
		if !withTags {
			r.tags = nil
		}
		out.add(l, r)
		if l.category != "" {
			out.addCategory(l, r)
		}
	}
	return out
}

func (o *outcome) add(l label, r row) {
	got := Classify(r.title, r.tags).Lane
	o.lanes[l.lane].labelled++
	o.lanes[got].answered++
	o.total.labelled++
	if got != protocol.LaneOther {
		o.total.answered++
	}
	if got != l.lane {
		o.wrong = append(o.wrong, fmt.Sprintf("want %s, got %s: %q %v", l.lane, got, r.title, r.tags))
		return
	}
	o.lanes[l.lane].right++
	if got != protocol.LaneOther {
		o.total.right++
	}
}

func (o *outcome) addCategory(l label, r row) {
	got := Category(l.lane, r.title, r.tags)
	o.categories[l.category].labelled++
	o.categories[got].answered++
	o.split.labelled++
	o.split.answered++
	if got != l.category {
		o.wrong = append(o.wrong, fmt.Sprintf("want %s, got %s: %q %v", l.category, got, r.title, r.tags))
		return
	}
	o.categories[got].right++
	o.split.right++
}

// String returns the results of the sample as a table, followed by the answers that differ from their labels.
func (o *outcome) String() string {
	var b strings.Builder
	line := func(name string, c *count) {
		if c.labelled+c.answered > 0 {
			fmt.Fprintf(&b, "| %s | %d | %s | %s |\n", name, c.labelled, ratio(c.right, c.answered), ratio(c.right, c.labelled))
		}
	}
	b.WriteString("| lane | labels | precision | recall |\n|---|---|---|---|\n")
	for _, l := range protocol.Lanes {
		line(string(l), o.lanes[l])
	}
	line("all", &o.total)
	for _, c := range []string{TV, Film, Fashion, Culture} {
		line(c, o.categories[c])
	}
	fmt.Fprintf(&b, "coverage %s\n", ratio(o.total.answered, o.total.labelled))
	return b.String() + strings.Join(o.wrong, "\n")
}

func ratio(right, of int) string {
	if of == 0 {
		return "-"
	}
	return fmt.Sprintf("%d%% (%d/%d)", percent(right, of), right, of)
}

// floor contains the smallest results in percent that a measurement must reach, for all markets and for each lane. Each
// value is one market or one point below the measured value. A lane with fewer than ten labels has no floor, because its
// result is not significant.
type floor struct {
	file                                string
	tags                                bool
	precision, recall, coverage, splits int
	lanes                               map[protocol.Lane][2]int // precision, recall
}

const enough = 10

var floors = []floor{
	{
		file: tuneFile, tags: false, precision: 96, recall: 96, coverage: 98, splits: 87,
		lanes: map[protocol.Lane][2]int{
			protocol.LanePolitics: {97, 95},
			protocol.LaneCrypto:   {93, 87},
			protocol.LaneSport:    {98, 98},
			protocol.LaneCulture:  {80, 72},
			protocol.LaneEconomy:  {92, 92},
			protocol.LaneScience:  {90, 90},
			protocol.LaneWorld:    {76, 90},
		},
	},
	{
		file: tuneFile, tags: true, precision: 94, recall: 94, coverage: 99, splits: 87,
		lanes: map[protocol.Lane][2]int{
			protocol.LanePolitics: {93, 95},
			protocol.LaneCrypto:   {93, 93},
			protocol.LaneSport:    {98, 98},
			protocol.LaneCulture:  {66, 54},
			protocol.LaneEconomy:  {85, 85},
			protocol.LaneScience:  {90, 90},
			protocol.LaneWorld:    {81, 81},
		},
	},
	{
		file: holdFile, tags: false, precision: 93, recall: 91, coverage: 97, splits: 86,
		lanes: map[protocol.Lane][2]int{
			protocol.LanePolitics: {95, 88},
			protocol.LaneCrypto:   {95, 77},
			protocol.LaneSport:    {97, 98},
			protocol.LaneEconomy:  {82, 87},
			protocol.LaneScience:  {90, 83},
			protocol.LaneWorld:    {82, 93},
		},
	},
	{
		file: holdFile, tags: true, precision: 91, recall: 91, coverage: 98, splits: 86,
		lanes: map[protocol.Lane][2]int{
			protocol.LanePolitics: {95, 90},
			protocol.LaneCrypto:   {88, 88},
			protocol.LaneSport:    {98, 98},
			protocol.LaneEconomy:  {87, 87},
			protocol.LaneScience:  {88, 66},
			protocol.LaneWorld:    {77, 93},
		},
	},
}

func TestPrecisionAndRecall(t *testing.T) {
	t.Parallel()
	rows, ok := readRows(t)
	if !ok {
		return
	}
	for _, f := range floors {
		o := measure(t, readLabels(t, f.file), rows, f.tags)
		for _, miss := range f.misses(o) {
			t.Errorf("%s, tags %v: %s", f.file, f.tags, miss)
		}
		t.Logf("%s, tags %v\n%s", f.file, f.tags, o)
	}
}

// misses returns one text for each measured figure below its minimum. It also returns a text for each lane that has enough
// labelled markets but no minimum, and for each lane that has a minimum but too few labelled markets.
func (f floor) misses(o *outcome) (out []string) {
	below := func(what string, got, want int) {
		if got < want {
			out = append(out, fmt.Sprintf("%s is %d%%; want at least %d%%", what, got, want))
		}
	}
	below("precision", o.total.precision(), f.precision)
	below("recall", o.total.recall(), f.recall)
	below("coverage", percent(o.total.answered, o.total.labelled), f.coverage)
	below("share of right categories", o.split.recall(), f.splits)
	for _, l := range protocol.Lanes {
		want, has := f.lanes[l]
		if has != (o.lanes[l].labelled >= enough) {
			out = append(out, fmt.Sprintf("lane %s has %d labels; it has a floor: %v", l, o.lanes[l].labelled, has))
		}
		below("precision of "+string(l), o.lanes[l].precision(), want[0])
		below("recall of "+string(l), o.lanes[l].recall(), want[1])
	}
	return out
}
