package record

import (
	"github.com/signalcast/signalcast/pkg/fault"
	recordv1 "github.com/signalcast/signalcast/proto/record/v1"
)

// Resolved returns how many calls were won or lost.
func Resolved(s *recordv1.Stats) int64 { return s.GetWon() + s.GetLost() }

// Pending returns how many calls have no result yet.
func Pending(s *recordv1.Stats) int64 { return s.GetTotal() - Resolved(s) - s.GetVoid() }

// AvgClv returns the mean closing line value in bps; nil without a closing line.
func AvgClv(s *recordv1.Stats) *int32 {
	if s == nil {
		return nil
	}
	return s.AvgClvBps
}

// Title returns the title of an operator by the number of resolved calls.
func Title(resolved int64) string {
	switch {
	case resolved < 5:
		return "RECRUIT"
	case resolved < 15:
		return "OPERATOR"
	case resolved < 50:
		return "FIELD OPERATOR"
	case resolved < 200:
		return "SENIOR OPERATOR"
	}
	return "STATION CHIEF"
}

// ErrPulse is the answer when the network cannot be counted.
var ErrPulse = fault.New(fault.Unavailable, "pulse_unavailable", "the network cannot be counted now")
