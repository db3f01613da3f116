package record

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/skill"
	"github.com/signalcast/signalcast/proto/openapi"
)

// totals contains the totals of the calls of a record. Score and streak use only counted calls. The average closing line
// value and the edge use only counted calls on venue markets.
type totals struct {
	numbers
	events  int64
	scoring int64 // calls on a resolved market that are not scored yet
	clv     int64 // sum of the closing line values, in bps
	clvs    int64 // number of calls in clv
	results []result
	sample  skill.Sample
	many    bool // the record has more than skill.MaxCalls calls, so it has no edge
}

// result is the part of a counted call that the computation of the streak needs.
type result struct {
	won               bool
	resolved, created time.Time
	id                string
}

func (t *totals) add(c *call) error {
	t.Total++
	t.events += int64(len(c.Events))
	switch c.Status {
	case "won":
		t.Won++
	case "lost":
		t.Lost++
	case "void":
		t.Void++
	default:
		t.Pending++
	}
	if c.Scoring {
		t.scoring++
	}
	if c.Score != nil && c.counts() {
		t.Score += int64(*c.Score)
	}
	if c.Clv != nil && c.counts() && !c.native() {
		t.clv, t.clvs = t.clv+int64(*c.Clv), t.clvs+1
	}
	if c.Moment != nil {
		if t.Moments == nil {
			t.Moments = map[string]int64{}
		}
		t.Moments[*c.Moment]++
	}
	if !c.counts() || c.ResolvedAt == nil {
		return nil
	}
	t.results = append(t.results, result{c.Status == "won", *c.ResolvedAt, c.CreatedAt, c.ID})
	if c.native() {
		return nil
	}
	if t.many = t.many || t.sample.Calls() == skill.MaxCalls; t.many {
		return nil
	}
	confidence := 0
	if c.Confidence != nil {
		confidence = *c.Confidence
	}
	return t.sample.Add(skill.Call{Price: protocol.Bps(c.Basis), Won: c.Status == "won", Confidence: confidence})
}

// close computes the totals that depend on all calls: resolved, accuracy, average closing line value and streak
// (docs/scores.md, Sums).
func (t *totals) close() {
	t.Resolved = t.Won + t.Lost
	if t.Resolved > 0 {
		t.Accuracy = int64(math.Floor(100*float64(t.Won)/float64(t.Resolved) + 0.5))
	}
	if t.clvs > 0 {
		mean := int64(math.Round(float64(t.clv) / float64(t.clvs))) // halves away from zero
		t.AvgClv = &mean
	}
	slices.SortFunc(t.results, func(a, b result) int { // newest first
		return cmp.Or(b.resolved.Compare(a.resolved), b.created.Compare(a.created), cmp.Compare(b.id, a.id))
	})
	for _, r := range t.results {
		if !r.won {
			break
		}
		t.Streak++
	}
}

// check reports each difference between the totals and the last line of the record.
func (t *totals) check(e *end, d *differences) {
	t.close()
	d.equal("complete", e.Complete, true)
	d.equal("calls", e.Calls, t.Total)
	d.equal("events", e.Events, t.events)
	n := e.Numbers
	d.equal("numbers.total", n.Total, t.Total)
	d.equal("numbers.won", n.Won, t.Won)
	d.equal("numbers.lost", n.Lost, t.Lost)
	d.equal("numbers.void", n.Void, t.Void)
	d.equal("numbers.pending", n.Pending, t.Pending)
	d.equal("numbers.resolved", n.Resolved, t.Resolved)
	d.equal("numbers.accuracy", n.Accuracy, t.Accuracy)
	d.equal("numbers.score", n.Score, t.Score)
	d.equal("numbers.streak", n.Streak, t.Streak)
	d.equal("numbers.avgClvBps", show(n.AvgClv), show(t.AvgClv))
	for _, tier := range tiers {
		says, there := n.Moments[tier.name]
		d.require(there, "numbers.moments", plain("no "+tier.name), "a number for each tier")
		d.equal("numbers.moments."+tier.name, says, t.Moments[tier.name])
	}
	d.equal("numbers.moments", len(n.Moments), len(tiers))
	t.checkEdge(e.Edge, d)
}

func (t *totals) checkEdge(e *edge, d *differences) {
	r, ok := t.sample.Report()
	if ok = ok && !t.many; ok != (e != nil) {
		d.equal("edge", e != nil, ok)
		return
	}
	if e == nil {
		return
	}
	if e.Version != skill.Version {
		d.equal("edge.version", e.Version, skill.Version)
		return // the figures of another version are not comparable
	}
	d.equal("edge.calls", e.Calls, r.Calls)
	d.equal("edge.wins", e.Wins, r.Wins)
	d.equal("edge.priceBps", e.PriceBps, int64(r.PriceBps))
	d.equal("edge.edgeBps", e.EdgeBps, int64(r.EdgeBps))
	d.equal("edge.lowBps", e.LowBps, int64(r.LowBps))
	d.equal("edge.highBps", e.HighBps, int64(r.HighBps))
	d.near("edge.chance.above", e.Chance.Above, r.Above)
	d.near("edge.chance.below", e.Chance.Below, r.Below)
	d.near("edge.chance.twoSided", e.Chance.TwoSided, r.TwoSided)
	d.equal("edge.callsNeeded", show(e.CallsNeeded), show(r.Needed))
	d.equal("edge.callsNeededSure", show(e.CallsNeededSure), show(r.NeededSure))
	c := r.Calibration
	if (c != nil) != (e.Calibration != nil) {
		d.equal("edge.calibration", e.Calibration != nil, c != nil)
		return
	}
	if c == nil {
		return
	}
	s := e.Calibration
	d.equal("edge.calibration.calls", s.Calls, c.Calls)
	d.equal("edge.calibration.brierBps", s.BrierBps, int64(c.BrierBps))
	d.equal("edge.calibration.marketBrierBps", s.MarketBrierBps, int64(c.MarketBrierBps))
	d.equal("edge.calibration.reliabilityBps", s.ReliabilityBps, int64(c.ReliabilityBps))
	d.equal("edge.calibration.resolutionBps", s.ResolutionBps, int64(c.ResolutionBps))
	d.equal("edge.calibration.uncertaintyBps", s.UncertaintyBps, int64(c.UncertaintyBps))
	d.equal("edge.calibration.withinBps", s.WithinBps, int64(c.WithinBps))
	d.equal("edge.calibration.bins", len(s.Bins), len(c.Bins))
	for i := range min(len(s.Bins), len(c.Bins)) {
		b := c.Bins[i]
		d.equal(fmt.Sprintf("edge.calibration.bins[%d]", i), s.Bins[i], openapi.Calibration_Bins{
			From: int64(b.From), To: int64(b.To), Calls: b.Calls, Wins: b.Wins, ConfidenceBps: int64(b.ConfidenceBps),
			HitBps: int64(b.HitBps), LowBps: int64(b.LowBps), HighBps: int64(b.HighBps),
		})
	}
}
