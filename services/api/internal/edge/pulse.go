package edge

import (
	"encoding/json"

	"github.com/signalcast/signalcast/services/api/internal/board"
)

// pulseJSON are the totals of the pulse.
type pulseJSON struct {
	Signals              int64 `json:"signals"`
	IndependentSignals   int64 `json:"independentSignals"`
	HouseSignals         int64 `json:"houseSignals"`
	AutomatedSignals     int64 `json:"automatedSignals"`
	Last7                int64 `json:"last7"`
	Prev7                int64 `json:"prev7"`
	IndependentOperators int64 `json:"independentOperators"`
	IndependentActive28  int64 `json:"independentActive28"`
	HouseOperators       int64 `json:"houseOperators"`
	Registered           int64 `json:"registered"`
	Markets              int64 `json:"markets"`
	Resolved             int64 `json:"resolved"`
	Won                  int64 `json:"won"`
	Lost                 int64 `json:"lost"`
	Open                 int64 `json:"open"`
	CLVCount             int64 `json:"clvCount"`
	BeatLine             int64 `json:"beatLine"`
}

func showPulse(t *board.Totals) pulseJSON {
	return pulseJSON{
		Signals: t.Signals, IndependentSignals: t.Independent, HouseSignals: t.House, AutomatedSignals: t.Automated,
		Last7: t.Last7, Prev7: t.Prev7, IndependentOperators: t.IndependentOperators, IndependentActive28: t.IndependentActive28,
		HouseOperators: t.HouseOperators, Registered: t.Registered, Markets: t.Markets,
		Resolved: t.Resolved(), Won: t.Won, Lost: t.Lost, Open: t.Open, CLVCount: t.CLVCount, BeatLine: t.BeatLine,
	}
}

// PulseData is what the channel of the pulse shows.
func PulseData(t *board.Totals) []byte { return encode(showPulse(t)) }

// SamePulse tells whether data shows these totals.
func SamePulse(data []byte, t *board.Totals) bool {
	var was pulseJSON
	return json.Unmarshal(data, &was) == nil && was == showPulse(t)
}
