package export

import (
	"cmp"
	"slices"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/skill"
	exportv1 "github.com/signalcast/signalcast/proto/export/v1"
)

// Moments are the tiers of calls that were won against the odds, from common to rare. Most is the highest scoring price of the
// tier in basis points.
var Moments = [...]struct {
	Tier string
	Most protocol.Bps
}{{"COMMON", 5000}, {"UNCOMMON", 3500}, {"RARE", 2000}, {"EPIC", 1000}, {"LEGENDARY", 500}}

// Moment returns the rarest tier that a won, counted call reaches with its scoring price. It returns "" for other calls and
// for prices above all tiers.
func Moment(c *exportv1.Call) string {
	tier := ""
	if statusOf(c) == protocol.Won && counts(c) {
		for _, m := range Moments {
			if protocol.Bps(c.GetSignal().GetScoreBasisBps()) <= m.Most {
				tier = m.Tier
			}
		}
	}
	return tier
}

// Tally accumulates the statistics of an operator call by call. Total, Won, Lost, Void and Pending include all calls. Score,
// streak and moments include counted calls only. Closing line value and edge include counted calls on venue markets only. The
// zero value is an empty tally.
type Tally struct {
	Total, Won, Lost, Void, Pending int64
	Score                           int64
	Moments                         map[string]int64
	Events                          int64

	clv, clvs int64
	loss      place   // place of the newest loss
	wins      []place // places of wins after the newest loss
	sample    skill.Sample
	tooMany   bool // the edge has more calls than skill.MaxCalls
}

// place is the position of a result among the results that determine a streak. They are ordered by resolution time, filing
// time and id.
type place struct {
	resolved, created time.Time
	id                string
}

func (p place) after(o place) bool {
	return cmp.Or(p.resolved.Compare(o.resolved), p.created.Compare(o.created), cmp.Compare(p.id, o.id)) > 0
}

// Add adds a call to the statistics. It returns an error if the call cannot be added to the sample of the edge.
func (t *Tally) Add(c *exportv1.Call) error {
	signal := c.GetSignal()
	t.Total++
	t.Events += int64(len(c.GetEvents()))
	if counts(c) {
		t.Score += int64(signal.GetScore())
	}
	if signal.ClvBps != nil && counts(c) && onVenue(c) {
		t.clv, t.clvs = t.clv+int64(*signal.ClvBps), t.clvs+1
	}
	if tier := Moment(c); tier != "" {
		if t.Moments == nil {
			t.Moments = map[string]int64{}
		}
		t.Moments[tier]++
	}
	at := place{shownTime(signal.GetResolvedAt()), shownTime(signal.GetCreatedAt()), signal.GetId()}
	switch statusOf(c) {
	case protocol.Won:
		t.Won++
		if counts(c) && at.after(t.loss) {
			t.wins = append(t.wins, at)
		}
	case protocol.Lost:
		t.Lost++
		if counts(c) && at.after(t.loss) {
			t.loss = at
			t.wins = slices.DeleteFunc(t.wins, func(w place) bool { return !w.after(at) })
		}
	case protocol.Void:
		t.Void++
	default:
		t.Pending++
	}
	return t.weigh(c)
}

// shownTime returns t truncated to milliseconds, the precision of the published record.
func shownTime(t *timestamppb.Timestamp) time.Time {
	return ledgerclient.Time(t).Truncate(time.Millisecond)
}

// weigh adds a counted, decided call on a venue market to the sample of the edge. It ignores all other calls. If the sample
// already has skill.MaxCalls calls, it sets tooMany.
func (t *Tally) weigh(c *exportv1.Call) error {
	if !counts(c) || !onVenue(c) {
		return nil
	}
	signal := c.GetSignal()
	decided, ok := skill.Decided(statusOf(c), protocol.Bps(signal.GetScoreBasisBps()), int(signal.GetConfidence()))
	if !ok || t.tooMany {
		return nil
	}
	if t.sample.Calls() == skill.MaxCalls {
		t.tooMany = true
		return nil
	}
	return t.sample.Add(decided)
}

// Resolved returns the number of won and lost calls.
func (t *Tally) Resolved() int64 { return t.Won + t.Lost }

// Accuracy returns the percentage of won calls among all won and lost calls, rounded half up. It returns 0 if there are none.
func (t *Tally) Accuracy() int64 {
	n := t.Resolved()
	if n == 0 {
		return 0
	}
	return (200*t.Won + n) / (2 * n)
}

// Streak returns the number of counted wins since the newest counted loss.
func (t *Tally) Streak() int64 { return int64(len(t.wins)) }

// AvgClv returns the mean closing line value in basis points, rounded half away from zero. It returns nil if no call has a
// closing line value.
func (t *Tally) AvgClv() *int64 {
	if t.clvs == 0 {
		return nil
	}
	sum, sign := t.clv, int64(1)
	if sum < 0 {
		sum, sign = -sum, -1
	}
	mean := sign * ((2*sum + t.clvs) / (2 * t.clvs))
	return &mean
}

// Edge is a report on the edge over the market price, as docs/method.md defines it.
type Edge = skill.Report

// EdgeVersion is the version of the formulas with which Edge is calculated.
const EdgeVersion = skill.Version

// Edge returns the report on the edge over the counted, decided calls on venue markets. It returns nil if there are none, or if
// there are more than skill.MaxCalls.
func (t *Tally) Edge() *Edge {
	if t.tooMany {
		return nil
	}
	if r, ok := t.sample.Report(); ok {
		return &r
	}
	return nil
}
