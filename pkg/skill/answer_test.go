package skill

import "github.com/signalcast/signalcast/pkg/syntax"

// vector is one record in testdata/vectors.json with what every implementation
// has to say about it.
type vector struct {
	Name   string  `json:"name"`
	Calls  []tally `json:"calls"`
	Report answer  `json:"report"`
}

type tally struct {
	PriceBps   syntax.Bps `json:"priceBps"`
	Confidence int        `json:"confidence,omitempty"`
	Calls      int64      `json:"calls"`
	Wins       int64      `json:"wins"`
}

type answer struct {
	Calls       int64        `json:"calls"`
	Wins        int64        `json:"wins"`
	PriceBps    int          `json:"priceBps"`
	EdgeBps     int          `json:"edgeBps"`
	LowBps      int          `json:"lowBps"`
	HighBps     int          `json:"highBps"`
	Above       float64      `json:"above"`
	Below       float64      `json:"below"`
	TwoSided    float64      `json:"twoSided"`
	Needed      *int64       `json:"needed"`
	NeededSure  *int64       `json:"neededSure"`
	Calibration *calibration `json:"calibration"`
}

type calibration struct {
	Calls          int64 `json:"calls"`
	BrierBps       int   `json:"brierBps"`
	MarketBrierBps int   `json:"marketBrierBps"`
	ReliabilityBps int   `json:"reliabilityBps"`
	ResolutionBps  int   `json:"resolutionBps"`
	UncertaintyBps int   `json:"uncertaintyBps"`
	WithinBps      int   `json:"withinBps"`
	Bins           []bin `json:"bins"`
}

type bin struct {
	From          int   `json:"from"`
	To            int   `json:"to"`
	Calls         int64 `json:"calls"`
	Wins          int64 `json:"wins"`
	ConfidenceBps int   `json:"confidenceBps"`
	HitBps        int   `json:"hitBps"`
	LowBps        int   `json:"lowBps"`
	HighBps       int   `json:"highBps"`
}

func answerOf(r Report) answer {
	a := answer{
		r.Calls, r.Wins, r.PriceBps, r.EdgeBps, r.LowBps, r.HighBps, r.Above, r.Below, r.TwoSided, r.Needed, r.NeededSure, nil,
	}
	if c := r.Calibration; c != nil {
		a.Calibration = &calibration{c.Calls, c.BrierBps, c.MarketBrierBps, c.ReliabilityBps, c.ResolutionBps, c.UncertaintyBps, c.WithinBps, nil}
		for _, b := range c.Bins {
			a.Calibration.Bins = append(a.Calibration.Bins, bin(b))
		}
	}
	return a
}
