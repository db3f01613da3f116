package edge

import (
	"encoding/json"

	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/api/internal/board"
)

func showPulse(t *board.Totals) openapi.PulseTotals {
	return openapi.PulseTotals{
		Signals: t.Signals, IndependentSignals: t.Independent, HouseSignals: t.House, AutomatedSignals: t.Automated,
		Last7: t.Last7, Prev7: t.Prev7, IndependentOperators: t.IndependentOperators, IndependentActive28: t.IndependentActive28,
		HouseOperators: t.HouseOperators, Registered: t.Registered, Markets: t.Markets,
		Resolved: t.Resolved(), Won: t.Won, Lost: t.Lost, Open: t.Open, ClvCount: t.CLVCount, BeatLine: t.BeatLine,
	}
}

// PulseData is what the channel of the pulse shows.
func PulseData(t *board.Totals) []byte { return encode(showPulse(t)) }

// SamePulse tells whether data shows these totals.
func SamePulse(data []byte, t *board.Totals) bool {
	var was openapi.PulseTotals
	return json.Unmarshal(data, &was) == nil && was == showPulse(t)
}
