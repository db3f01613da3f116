package record

import (
	"encoding/json"
	"time"
)

// formula is the version of the score that is known here.
const formula = "1.1"

// tiers are the moments, by the highest price that each takes.
var tiers = [...]struct {
	name string
	most int
}{{"LEGENDARY", 500}, {"EPIC", 1000}, {"RARE", 2000}, {"UNCOMMON", 3500}, {"COMMON", 5000}}

// counts reports whether the call is part of points.
func (c *call) counts() bool { return c.Counted != nil && *c.Counted }

// check recomputes the numbers of one call and compares them. confirm: second quotes are on.
func (c *call) check(confirm bool, d *differences) {
	d.that(c.Direction == "YES" || c.Direction == "NO", "direction", c.Direction, "YES or NO")
	c.checkResult(confirm, d)
	moment := ""
	if c.Status == "won" && c.counts() {
		for i := len(tiers) - 1; i >= 0; i-- {
			if c.Basis <= tiers[i].most {
				moment = tiers[i].name
			}
		}
	}
	d.same("moment", deref(c.Moment), moment)
	c.checkEvents(d)
}

// checkResult scores the call and decides whether it counts (docs/scores.md).
func (c *call) checkResult(confirm bool, d *differences) {
	r := c.Resolution
	// A dispute stops scoring, and calls that were scored keep their result. A large claim is scored in
	// chunks, and its calls wait meanwhile.
	waits := r != nil && !r.Disputed && c.Scoring && c.Status == "pending"
	d.same("scoring", c.Scoring, waits)
	if r == nil || c.Status == "pending" && (r.Disputed || c.Scoring) {
		d.same("status", c.Status, "pending")
		d.that(c.ScoringVersion == nil, "scoringVersion", deref(c.ScoringVersion), "null")
		d.that(c.ScoringVertical == nil, "scoringVertical", deref(c.ScoringVertical), "null")
		d.that(c.Score == nil, "score", show(c.Score), "null")
		d.that(c.Outcome == nil, "outcome", deref(c.Outcome), "null")
		d.that(c.Clv == nil, "clvBps", show(c.Clv), "null")
		d.that(c.ClosePrice == nil, "closePrice", show(c.ClosePrice), "null")
		d.that(c.ResolvedAt == nil, "resolvedAt", stamp(c.ResolvedAt), "null")
		d.that(c.Counted == nil, "counted", c.counts(), "null")
		d.that(c.Reason == nil, "reason", deref(c.Reason), "null")
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
	d.same("reason", deref(c.Reason), reason)
	d.that(c.Counted != nil, "counted", plain("null"), "true or false")
	d.same("counted", c.counts(), status != "void" && c.eligible(confirm))
	d.same("status", c.Status, status)
	d.same("score", show(c.Score), show(&score))
	d.same("outcome", deref(c.Outcome), outcome)
	d.same("closePrice", show(c.ClosePrice), show(r.ClosePrice))
	d.same("clvBps", show(c.Clv), show(clv))
	d.same("resolvedAt", stamp(c.ResolvedAt), stamp(&r.ResolvedAt))
	d.same("scoringVersion", deref(c.ScoringVersion), formula)
	d.that(c.ScoringVertical != nil, "scoringVertical", plain("null"), "one of the lanes")
}

// StatusOf returns the status of a call after an outcome (docs/scores.md). It is void for INVALID, and for a text that is no outcome.
func StatusOf(outcome, direction string) string {
	switch outcome {
	case direction:
		return "won"
	case "YES", "NO":
		return "lost"
	}
	return "void"
}

// ScoreOf returns the points of a call; price is its scoring price in bps (docs/scores.md).
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

// late reports whether the call is void because it was not before the closing time. Times are
// in milliseconds: a call in the millisecond of the closing time can be either, as its reason
// says. So can an unverified call, which may have become public with an answer of the venue
// that showed the market closed.
func (c *call) late(d *differences) bool {
	says := deref(c.Reason) == "late"
	switch closed := c.Resolution.CloseAt; {
	case c.CreatedAt.Equal(closed):
		return says
	case c.CreatedAt.After(closed):
		return true
	}
	d.that(!says || !c.Verified, "reason", deref(c.Reason), "null, of a verified call before closeAt")
	return says && !c.Verified
}

// eligible reports whether a won or lost call counts.
func (c *call) eligible(confirm bool) bool {
	return c.Verified && c.Rated && c.Resolution.Rated && !c.Own &&
		(c.native() || c.Quote != nil && (!confirm || c.SecondQuote != nil))
}

// checkEvents compares the event of the result with the line; a result has one, and
// nothing else has.
func (c *call) checkEvents(d *differences) {
	results, last := 0, time.Time{}
	for i := range c.Events {
		e := &c.Events[i]
		d.that(!e.CreatedAt.Before(last), "events", stamp(&e.CreatedAt), "in the order of time")
		last = e.CreatedAt
		if e.Type != "resolved" {
			continue
		}
		results++
		var r resolvedEvent
		if err := json.Unmarshal(e.Payload, &r); err != nil {
			d.add("events.resolved", plain("nothing readable"), "an object")
			continue
		}
		if c.Resolution == nil {
			continue // counted below
		}
		d.same("events.resolved.outcome", r.Outcome, c.Resolution.Outcome)
		d.same("events.resolved.status", r.Status, c.Status)
		d.same("events.resolved.score", show(r.Score), show(c.Score))
		d.same("events.resolved.closePrice", show(r.ClosePrice), show(c.ClosePrice))
		d.same("events.resolved.clvBps", show(r.Clv), show(c.Clv))
		d.same("events.resolved.scoreBasisBps", show(r.Basis), show(&c.Basis))
		d.same("events.resolved.counted", r.Counted != nil && *r.Counted, c.counts())
		d.same("events.resolved.reason", deref(r.Reason), deref(c.Reason))
		d.same("events.resolved.resolver", r.Resolver, c.Resolution.Resolver)
		d.same("events.resolved.source", deref(r.Source), deref(c.Resolution.Source))
		d.same("events.resolved.proofUrl", deref(r.ProofURL), deref(c.Resolution.ProofURL))
		d.same("events.resolved.scoringVersion", deref(r.ScoringVersion), deref(c.ScoringVersion))
		d.same("events.resolved.scoringVertical", deref(r.ScoringVertical), deref(c.ScoringVertical))
		d.same("events.resolved.createdAt", stamp(&e.CreatedAt), stamp(c.ResolvedAt))
	}
	want := 0
	if c.Status != "pending" {
		want = 1
	}
	d.same("events.resolved", results, want)
}
