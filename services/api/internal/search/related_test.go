package search_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/api/internal/search"
)

func TestRelated(t *testing.T) {
	t.Parallel()
	x := search.NewIndex()
	with := func(d search.Doc, event string, status syntax.MarketStatus, lane syntax.Lane) search.Doc {
		d.EventKey, d.Status, d.Lane = event, status, lane
		return d
	}
	const open, closed = syntax.MarketOpen, syntax.MarketClosed
	active := with(doc("1", "Will the Ostrava gauge read above 6 m before 1 December?", "", 1), "flood", open, syntax.LaneScience)
	other := with(doc("lmt-x", "Something else", "", 1e9), "flood", open, syntax.LaneWorld)
	other.Provider = syntax.Limitless
	blank := with(doc("9", "Comets", "", 0), "", open, syntax.LaneScience)
	blank.Volume = nil
	x.Put([]search.Doc{
		active, other, blank,
		with(doc("2", "Ostrava gauge above 5 m", "", 10), "flood", open, syntax.LaneScience),
		with(doc("3", "River closed", "", 999), "flood", closed, syntax.LaneOther),
		with(doc("4", "Morava", "", 20), "flood", open, syntax.LaneOther),
		with(doc("5", "Ostrava gauge in spring", "", 5), "", open, syntax.LaneWorld),
		with(doc("6", "Gauge of Ostrava, above or not", "", 500), "", closed, syntax.LaneWorld),
		with(doc("7", "Will the moon be seen before 1 December?", "ostrava-gauge-above-6", 70), "", syntax.MarketResolved, syntax.LaneScience),
		with(doc("8", "Stars", "", 3), "", open, syntax.LaneScience),
		with(doc("10", "Ostrava gauge", "", 3), "", syntax.MarketUnknown, syntax.LaneScience),
	})
	show := func(list []search.Related) string {
		var out []string
		for _, r := range list {
			out = append(out, fmt.Sprintf("%s:%s:%.2f", r.ID, r.Relation, r.Similarity))
		}
		return strings.Join(out, " ")
	}
	const want = "4:same_event:0.00 2:same_event:0.44 3:same_event:0.00 5:similar:0.22 6:similar:0.33 7:similar:0.20 8:same_lane:0.00 9:same_lane:0.00"
	if got := show(x.Related(active)); got != want {
		t.Errorf("%s", got)
	}
	// A market that the index has not seen yet is no different.
	fresh := active
	fresh.ID = "77"
	if got := show(x.Related(fresh)); !strings.Contains(got, "1:same_event:1.00") {
		t.Errorf("%s", got)
	}
	var many []search.Doc
	for i := range 50 {
		many = append(many, with(doc(fmt.Sprint(1000+i), "Ostrava", "", float64(i)), "flood", open, syntax.LaneOther))
	}
	x.Put(many)
	if list := x.Related(active); len(list) != search.MostRelated || list[0].ID != "1049" || list[11].ID != "1038" {
		t.Errorf("%d related, %s", len(list), show(list))
	}
	lone := with(doc("88", "zzz", "", 1), "", open, syntax.LaneOther)
	if list := x.Related(lone); len(list) != 0 {
		t.Errorf("OTHER is a lane: %s", show(list))
	}
}
