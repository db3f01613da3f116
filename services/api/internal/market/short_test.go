package market

import (
	"testing"

	"github.com/signalcast/signalcast/pkg/protocol"
)

func TestALaneIsGuessedOnlyForAShortAnswerWithoutTopics(t *testing.T) {
	t.Parallel()
	classify := Classify{
		Lane:     func(string, []string) protocol.Lane { return protocol.LaneSport },
		Category: func(lane protocol.Lane, _ string, _ []string) string { return string(lane) },
	}
	for _, c := range []struct {
		lane    protocol.Lane
		short   bool
		want    protocol.Lane
		guessed bool
	}{
		{protocol.LaneOther, true, protocol.LaneSport, true},
		{"", true, protocol.LaneSport, true},
		{protocol.LaneOther, false, protocol.LaneSport, false},
		{protocol.LaneMusic, true, protocol.LaneMusic, false},
		{protocol.LaneMusic, false, protocol.LaneMusic, false},
	} {
		got := cleanRecords([]Record{{ID: "kalshi-X", Title: "t", Lane: c.lane, Short: c.short, FetchedAt: noon}}, classify)
		if len(got) != 1 || got[0].Lane != c.want || got[0].Guessed != c.guessed {
			t.Errorf("case %+v: %+v", c, got)
		}
	}
}
