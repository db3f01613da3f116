package record

import (
	"encoding/json"
	"time"
)

// formula is the version of the score that is known here.
const formula = "1.0"

// tiers are the moments, by the highest price that each takes.
var tiers = [...]struct {
	name string
	most int
}{{"LEGENDARY", 500}, {"EPIC", 1000}, {"RARE", 2000}, {"UNCOMMON", 3500}, {"COMMON", 5000}}

// check works out what follows for one call and compares.
func (c *call) check(d *differences) {
	d.that(c.Direction == "YES" || c.Direction == "NO", "direction", c.Direction, "YES or NO")
	c.checkResult(d)
	moment := ""
	if c.Status == "won" && c.Verified {
		for i := len(tiers) - 1; i >= 0; i-- {
			if c.Basis <= tiers[i].most {
				moment = tiers[i].name
			}
		}
	}
	d.same("moment", deref(c.Moment), moment)
	c.checkEvents(d)
}

// checkResult scores the call (contract 4.2.1 to 4.2.3).
func (c *call) checkResult(d *differences) {
	r := c.Resolution
	// A dispute stops scoring, and what was scored stands. A large claim is scored in
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
		return
	}
	status, score, outcome := "void", 0, ""
	var clv *int
	price := max(c.Basis, 1)
	switch r.Outcome {
	case c.Direction:
		status, score, outcome = "won", (10000-price)/100, r.Outcome
	case "YES", "NO":
		status, score, outcome = "lost", -((price + 99) / 100), r.Outcome
	}
	if r.ClosePrice != nil && status != "void" {
		side := *r.ClosePrice
		if c.Direction == "NO" {
			side = 10000 - side
		}
		n := side - c.Basis
		clv = &n
	}
	d.same("status", c.Status, status)
	d.same("score", show(c.Score), show(&score))
	d.same("outcome", deref(c.Outcome), outcome)
	d.same("closePrice", show(c.ClosePrice), show(r.ClosePrice))
	d.same("clvBps", show(c.Clv), show(clv))
	d.same("resolvedAt", stamp(c.ResolvedAt), stamp(&r.ResolvedAt))
	d.same("scoringVersion", deref(c.ScoringVersion), formula)
	d.that(c.ScoringVertical != nil, "scoringVertical", plain("null"), "one of the lanes")
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
