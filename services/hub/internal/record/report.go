package record

import (
	"github.com/signalcast/signalcast/pkg/skill"
	recordv1 "github.com/signalcast/signalcast/proto/record/v1"
)

// ReportOf returns a report of the ledger as the statistics of an export have it, so that both are shown in one way; nil for
// nil.
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
