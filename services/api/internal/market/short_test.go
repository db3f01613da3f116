package market

import (
	"testing"

	"github.com/signalcast/signalcast/pkg/syntax"
)

func TestALaneIsGuessedOnlyForAShortAnswerWithoutTopics(t *testing.T) {
	t.Parallel()
	classify := Classify{
		Lane:     func(string, []string) syntax.Lane { return syntax.LaneSport },
		Category: func(lane syntax.Lane, _ string, _ []string) string { return string(lane) },
	}
	for _, c := range []struct {
		lane    syntax.Lane
		short   bool
		want    syntax.Lane
		guessed bool
	}{
		{syntax.LaneOther, true, syntax.LaneSport, true},
		{"", true, syntax.LaneSport, true},
		{syntax.LaneOther, false, syntax.LaneSport, false},
		{syntax.LaneMusic, true, syntax.LaneMusic, false},
		{syntax.LaneMusic, false, syntax.LaneMusic, false},
	} {
		got := cleanRecords([]Record{{ID: "kalshi-X", Title: "t", Lane: c.lane, Short: c.short, FetchedAt: noon}}, classify)
		if len(got) != 1 || got[0].Lane != c.want || got[0].Guessed != c.guessed {
			t.Errorf("%+v gives %+v", c, got)
		}
	}
}
