package record

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// What the protocol's ids look like.
var (
	uuidForm = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	// The id of an event is made of its idempotency key, in version 8, where it came with one.
	eventForm    = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[78][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	publicIDForm = regexp.MustCompile(`^op_[0-9a-f]{16}$`)
)

// eventTypes are the words for what happens to a call.
var eventTypes = []string{"take", "reaffirm", "confidence", "note", "share", "resolved"}

func isMarketID(s string) bool { _, err := protocol.ParseMarketID(s); return err == nil }

func isLane(s string) bool { _, ok := protocol.ParseLane(s); return ok }

// among reports whether a number is null or from low to high.
func among(n *int, low, high int) bool { return n == nil || *n >= low && *n <= high }

func (h *head) check(now time.Time, d *differences) {
	handle, err := protocol.ParseHandle(h.Handle)
	d.that(err == nil && string(handle) == h.Handle, "handle", h.Handle, "a handle")
	d.that(publicIDForm.MatchString(h.OperatorID), "operatorPublicId", h.OperatorID, "op_ and 16 hex digits")
	_, ok := protocol.ParseOperatorType(h.OperatorType)
	d.that(ok, "operatorType", h.OperatorType, "human, ai_agent or system_bot")
	_, ok = protocol.ParseTier(h.Tier)
	d.that(ok, "tier", h.Tier, "independent, house or automated")
	d.that(!h.AsOf.After(now.Add(mostAhead)), "asOf", stamp(&h.AsOf), "not in the future")
	checkTolerances(h.Tolerances, d)
}

// checkForm checks what is not recomputed: ids, words, ranges, and the order of times.
func (c *call) checkForm(asOf time.Time, d *differences) {
	d.that(uuidForm.MatchString(c.ID), "id", c.ID, "an id of a call")
	d.that(isMarketID(c.MarketID), "marketId", c.MarketID, "an id of a market")
	d.that(isLane(c.Lane), "lane", c.Lane, "one of the lanes")
	d.that(c.ScoringVertical == nil || isLane(*c.ScoringVertical), "scoringVertical", deref(c.ScoringVertical), "one of the lanes")
	d.that(among(c.Crowd, 0, 10000), "crowdYesAtSignal", show(c.Crowd), "0 to 10000")
	d.that(among(c.Confidence, 1, 100), "confidence", show(c.Confidence), "1 to 100")
	d.that(c.TimeLeft == nil || *c.TimeLeft >= 0, "timeToResolution", show(c.TimeLeft), "0 or more")
	c.upTo(asOf, "createdAt", &c.CreatedAt, d)
	c.upTo(asOf, "resolvedAt", c.ResolvedAt, d)
	for i := range c.Events {
		e := &c.Events[i]
		d.that(eventForm.MatchString(e.ID), "events.id", e.ID, "an id of an event")
		d.that(slices.Contains(eventTypes, e.Type), "events.type", e.Type, "a type of events")
		c.upTo(asOf, "events.createdAt", &e.CreatedAt, d)
	}
	r := c.Resolution
	if r == nil {
		return
	}
	d.that(r.Outcome == "YES" || r.Outcome == "NO" || r.Outcome == "INVALID", "resolution.outcome", r.Outcome, "YES, NO or INVALID")
	d.that(slices.Contains([]string{"admin", "oracle", "manual"}, r.Resolver), "resolution.resolver", r.Resolver, "admin, oracle or manual")
	d.that(among(r.ClosePrice, 0, 10000), "resolution.closePrice", show(r.ClosePrice), "0 to 10000")
	c.upTo(asOf, "resolution.resolvedAt", &r.ResolvedAt, d)
	// The closing time is the claim at the latest. Calls after it are void.
	d.that(!r.CloseAt.After(r.ResolvedAt), "resolution.closeAt", stamp(&r.CloseAt), "not behind resolvedAt")
}

// upTo compares a time with the call and with the record.
func (c *call) upTo(asOf time.Time, member string, t *time.Time, d *differences) {
	if t == nil {
		return
	}
	d.that(!t.Before(c.CreatedAt), member, stamp(t), "not before the call")
	d.that(!t.After(asOf), member, stamp(t), "not behind asOf, "+stamp(&asOf))
}

// twice names a member that an object has two times, in whatever spelling: readers
// differ in which of them they take. The payload of an event is its author's, and there
// only one spelling counts.
func twice(text []byte) string {
	type level struct {
		names   map[string]bool // nil: a list
		name    bool            // a name comes next
		payload bool
	}
	var open []level
	payload := false
	for d := json.NewDecoder(bytes.NewReader(text)); ; {
		t, err := d.Token()
		if err != nil {
			return "" // invalid JSON was reported before
		}
		var at *level
		if len(open) > 0 {
			at = &open[len(open)-1]
		}
		switch t {
		case json.Delim('}'), json.Delim(']'):
			open = open[:len(open)-1]
			continue
		}
		if at != nil && at.name {
			at.name = false
			name := t.(string)
			key := name
			if payload = at.payload || name == "payload"; !at.payload {
				key = strings.ToLower(strings.ToUpper(name))
			}
			if at.names[key] {
				return name
			}
			at.names[key] = true
			continue
		}
		if at != nil {
			at.name = at.names != nil
		}
		inside := at != nil && (at.payload || at.names != nil && payload)
		switch t {
		case json.Delim('{'):
			open = append(open, level{names: map[string]bool{}, name: true, payload: inside})
		case json.Delim('['):
			open = append(open, level{payload: inside})
		}
	}
}
