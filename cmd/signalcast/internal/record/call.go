package record

import (
	"encoding/json"
	"time"
)

// scoringVersion is the version of the scoring formula that this package implements.
const scoringVersion = "1.1"

// tiers lists the moments, which are badges of won calls, from the rarest to the most common. The field most is the highest
// scoring price, in bps, of a call with the moment.
var tiers = [...]struct {
	name string
	most int
}{{"LEGENDARY", 500}, {"EPIC", 1000}, {"RARE", 2000}, {"UNCOMMON", 3500}, {"COMMON", 5000}}

// counts reports whether the score of the call is part of the operator's points. It returns false if c.Counted is nil.
func (c *call) counts() bool { return c.Counted != nil && *c.Counted }

// check computes the result and the moment of the call again and reports each difference. If confirm is true, a call on a
// venue market counts only with a second quote.
func (c *call) check(confirm bool, d *differences) {
	d.require(c.Direction == "YES" || c.Direction == "NO", "direction", c.Direction, "YES or NO")
	c.checkResult(confirm, d)
	moment := ""
	if c.Status == "won" && c.counts() {
		for i := len(tiers) - 1; i >= 0; i-- {
			if c.Basis <= tiers[i].most {
				moment = tiers[i].name
			}
		}
	}
	d.equal("moment", deref(c.Moment), moment)
	c.checkEvents(d)
}

// checkResult computes the score of the call and whether it counts (docs/scores.md), and reports each difference from the
// record.
func (c *call) checkResult(confirm bool, d *differences) {
	r := c.Resolution
	// A dispute stops scoring; calls that were scored before it keep their result. The calls of a large market are scored in
	// chunks and are pending until then.
	waits := r != nil && !r.Disputed && c.Scoring && c.Status == "pending"
	d.equal("scoring", c.Scoring, waits)
	if r == nil || c.Status == "pending" && (r.Disputed || c.Scoring) {
		d.equal("status", c.Status, "pending")
		d.require(c.ScoringVersion == nil, "scoringVersion", deref(c.ScoringVersion), "null")
		d.require(c.ScoringVertical == nil, "scoringVertical", deref(c.ScoringVertical), "null")
		d.require(c.Score == nil, "score", show(c.Score), "null")
		d.require(c.Outcome == nil, "outcome", deref(c.Outcome), "null")
		d.require(c.Clv == nil, "clvBps", show(c.Clv), "null")
		d.require(c.ClosePrice == nil, "closePrice", show(c.ClosePrice), "null")
		d.require(c.ResolvedAt == nil, "resolvedAt", stamp(c.ResolvedAt), "null")
		d.require(c.Counted == nil, "counted", c.counts(), "null")
		d.require(c.Reason == nil, "reason", deref(c.Reason), "null")
		return
	}
	status, outcome := "void", ""
	late := c.late(d)
	if !late {
		status = StatusOf(r.Outcome, c.Direction)
	}
	if status != "void" {
		outcome = r.Outcome
	}
	score := ScoreOf(status, c.Basis)
	var clv *int
	if r.ClosePrice != nil && status != "void" {
		side := *r.ClosePrice
		if c.Direction == "NO" {
			side = 10000 - side
		}
		n := side - c.Basis
		clv = &n
	}
	reason := ""
	if late {
		reason = "late"
	}
	d.equal("reason", deref(c.Reason), reason)
	d.require(c.Counted != nil, "counted", plain("null"), "true or false")
	d.equal("counted", c.counts(), status != "void" && c.eligible(confirm))
	d.equal("status", c.Status, status)
	d.equal("score", show(c.Score), show(&score))
	d.equal("outcome", deref(c.Outcome), outcome)
	d.equal("closePrice", show(c.ClosePrice), show(r.ClosePrice))
	d.equal("clvBps", show(c.Clv), show(clv))
	d.equal("resolvedAt", stamp(c.ResolvedAt), stamp(&r.ResolvedAt))
	d.equal("scoringVersion", deref(c.ScoringVersion), scoringVersion)
	d.require(c.ScoringVertical != nil, "scoringVertical", plain("null"), "one of the lanes")
}

// StatusOf returns the status of a call (docs/scores.md). The parameter direction is the side of the call, YES or NO. The
// status is won if the outcome is that side, lost if it is the other side, and otherwise void.
func StatusOf(outcome, direction string) string {
	switch outcome {
	case direction:
		return "won"
	case "YES", "NO":
		return "lost"
	}
	return "void"
}

// ScoreOf returns the score of a call with a status and a scoring price in bps (docs/scores.md): 0 to 99 if won, -100 to -1 if
// lost, otherwise 0.
func ScoreOf(status string, price int) int {
	price = min(max(price, 1), 10000)
	switch status {
	case "won":
		return (10000 - price) / 100
	case "lost":
		return -((price + 99) / 100)
	}
	return 0
}

// late reports whether the call is void because it was filed after the market closed. In two cases the reason in the record
// decides. One is a call in the millisecond of the closing time. The other is an unverified call before that time: the venue
// response that made the call public may show the market closed.
func (c *call) late(d *differences) bool {
	recorded := deref(c.Reason) == "late"
	switch closed := c.Resolution.CloseAt; {
	case c.CreatedAt.Equal(closed):
		return recorded
	case c.CreatedAt.After(closed):
		return true
	}
	d.require(!recorded || !c.Verified, "reason", deref(c.Reason), "null, of a verified call before closeAt")
	return recorded && !c.Verified
}

// eligible reports whether a won or lost call may count in the operator's points. If confirm is true, a call on a venue market
// needs a second quote.
func (c *call) eligible(confirm bool) bool {
	return c.Verified && c.Rated && c.Resolution.Rated && !c.Own &&
		(c.native() || c.Quote != nil && (!confirm || c.SecondQuote != nil))
}

// checkEvents checks that the events of the call are in chronological order, and compares the event of type resolved with the
// call. A scored call must have one event of this type, a pending call none.
func (c *call) checkEvents(d *differences) {
	results, last := 0, time.Time{}
	for i := range c.Events {
		e := &c.Events[i]
		d.require(!e.CreatedAt.Before(last), "events", stamp(&e.CreatedAt), "in chronological order")
		last = e.CreatedAt
		if e.Type != "resolved" {
			continue
		}
		results++
		var r resolvedEvent
		if err := json.Unmarshal(e.Payload, &r); err != nil {
			d.add("events.resolved", plain("no valid payload"), "an object")
			continue
		}
		if c.Resolution == nil {
			continue // the number of results is compared below
		}
		d.equal("events.resolved.outcome", r.Outcome, c.Resolution.Outcome)
		d.equal("events.resolved.status", r.Status, c.Status)
		d.equal("events.resolved.score", show(r.Score), show(c.Score))
		d.equal("events.resolved.closePrice", show(r.ClosePrice), show(c.ClosePrice))
		d.equal("events.resolved.clvBps", show(r.Clv), show(c.Clv))
		d.equal("events.resolved.scoreBasisBps", show(r.Basis), show(&c.Basis))
		d.equal("events.resolved.counted", r.Counted != nil && *r.Counted, c.counts())
		d.equal("events.resolved.reason", deref(r.Reason), deref(c.Reason))
		d.equal("events.resolved.resolver", r.Resolver, c.Resolution.Resolver)
		d.equal("events.resolved.source", deref(r.Source), deref(c.Resolution.Source))
		d.equal("events.resolved.proofUrl", deref(r.ProofURL), deref(c.Resolution.ProofURL))
		d.equal("events.resolved.scoringVersion", deref(r.ScoringVersion), deref(c.ScoringVersion))
		d.equal("events.resolved.scoringVertical", deref(r.ScoringVertical), deref(c.ScoringVertical))
		d.equal("events.resolved.createdAt", stamp(&e.CreatedAt), stamp(c.ResolvedAt))
	}
	want := 0
	if c.Status != "pending" {
		want = 1
	}
	d.equal("events.resolved", results, want)
}
