package record

import (
	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/skill"
	recordv1 "github.com/signalcast/signalcast/proto/record/v1"
)

// Request returns the ledger request for the record of an operator. recent is the maximum number of newest calls in the record.
// moments is the maximum number of moments.
func Request(handle protocol.Handle, recent, moments int32) *recordv1.GetOperatorRecordRequest {
	return &recordv1.GetOperatorRecordRequest{
		By: &recordv1.GetOperatorRecordRequest_Handle{Handle: string(handle)}, Recent: recent, Moments: moments,
	}
}

// Resolved returns the number of won and lost calls.
func Resolved(s *recordv1.Stats) int64 { return s.GetWon() + s.GetLost() }

// Pending returns the number of calls that are neither won, lost nor void.
func Pending(s *recordv1.Stats) int64 { return s.GetTotal() - Resolved(s) - s.GetVoid() }

// AvgClv returns the mean closing line value in basis points. It returns nil if s is nil or has no such value.
func AvgClv(s *recordv1.Stats) *int32 {
	if s == nil {
		return nil
	}
	return s.AvgClvBps
}

// levels has the numbers of resolved calls from which the levels 2 to 5 begin, and titles the titles of all levels.
var (
	levels = [...]int64{5, 15, 50, 200}
	titles = [...]string{"RECRUIT", "OPERATOR", "FIELD OPERATOR", "SENIOR OPERATOR", "STATION CHIEF"}
)

// Level returns the level of an operator with this number of resolved calls, from 1 to 5.
func Level(resolved int64) int {
	n := 1
	for n <= len(levels) && resolved >= levels[n-1] {
		n++
	}
	return n
}

// Title returns the title of an operator with this number of resolved calls.
func Title(resolved int64) string { return titles[Level(resolved)-1] }

// ErrPulse is the error of a request for network statistics while the ledger cannot calculate them.
var ErrPulse = apperr.New(apperr.Unavailable, "pulse_unavailable", "the network statistics are unavailable; retry later")

// ReportOf converts an edge report of the ledger to the type of package skill, which exports also use. It returns nil for nil.
func ReportOf(r *recordv1.Report) *skill.Report {
	if r == nil {
		return nil
	}
	out := &skill.Report{
		Calls: r.GetCalls(), Wins: r.GetWins(), PriceBps: int(r.GetPriceBps()), EdgeBps: int(r.GetEdgeBps()), LowBps: int(r.GetLowBps()),
		HighBps: int(r.GetHighBps()), Above: r.GetAbove(), Below: r.GetBelow(), TwoSided: r.GetTwoSided(), Needed: r.Needed, NeededSure: r.NeededSure,
	}
	c := r.GetCalibration()
	if c == nil {
		return out
	}
	out.Calibration = &skill.Calibration{
		Calls: c.GetCalls(), BrierBps: int(c.GetBrierBps()), MarketBrierBps: int(c.GetMarketBrierBps()), ReliabilityBps: int(c.GetReliabilityBps()),
		ResolutionBps: int(c.GetResolutionBps()), UncertaintyBps: int(c.GetUncertaintyBps()), WithinBps: int(c.GetWithinBps()),
	}
	for _, b := range c.GetBins() {
		out.Calibration.Bins = append(out.Calibration.Bins, skill.Bin{
			From: int(b.GetFrom()), To: int(b.GetTo()), Calls: b.GetCalls(), Wins: b.GetWins(), ConfidenceBps: int(b.GetConfidenceBps()),
			HitBps: int(b.GetHitBps()), LowBps: int(b.GetLowBps()), HighBps: int(b.GetHighBps()),
		})
	}
	return out
}
