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

// Formats of the ids in a record.
var (
	uuidForm = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	// The id of an event with an idempotency key is a UUIDv8 that is derived from the key.
	eventForm    = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[78][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	publicIDForm = regexp.MustCompile(`^op_[0-9a-f]{16}$`)
)

// eventTypes are the event types that the history of a call can contain (docs/protocol/events.md).
var eventTypes = []string{"take", "reaffirm", "confidence", "note", "share", "resolved"}

func isMarketID(s string) bool { _, err := protocol.ParseMarketID(s); return err == nil }

func isLane(s string) bool { _, ok := protocol.ParseLane(s); return ok }

// inRange reports whether n is nil or from low to high, inclusive.
func inRange(n *int, low, high int) bool { return n == nil || *n >= low && *n <= high }

// check checks the members of the first line of a record. The parameter now is the current time of the machine that verifies
// the record.
func (h *head) check(now time.Time, d *differences) {
	handle, err := protocol.ParseHandle(h.Handle)
	d.require(err == nil && string(handle) == h.Handle, "handle", h.Handle, "a handle")
	d.require(publicIDForm.MatchString(h.OperatorID), "operatorPublicId", h.OperatorID, "op_ and 16 hex digits")
	_, ok := protocol.ParseOperatorType(h.OperatorType)
	d.require(ok, "operatorType", h.OperatorType, "human, ai_agent or system_bot")
	_, ok = protocol.ParseTier(h.Tier)
	d.require(ok, "tier", h.Tier, "independent, house or automated")
	d.require(!h.AsOf.After(now.Add(maxClockSkew)), "asOf", stamp(&h.AsOf), "not in the future")
	checkTolerances(h.Tolerances, d)
}

// checkForm checks the members of a call that cannot be computed: formats of ids, enumerations, ranges, and the order of times.
// asOf is the time of the record.
func (c *call) checkForm(asOf time.Time, d *differences) {
	d.require(uuidForm.MatchString(c.ID), "id", c.ID, "an id of a call")
	d.require(isMarketID(c.MarketID), "marketId", c.MarketID, "an id of a market")
	d.require(isLane(c.Lane), "lane", c.Lane, "one of the lanes")
	d.require(c.ScoringVertical == nil || isLane(*c.ScoringVertical), "scoringVertical", deref(c.ScoringVertical),
		"one of the lanes")
	d.require(inRange(c.Crowd, 0, 10000), "crowdYesAtSignal", show(c.Crowd), "0 to 10000")
	d.require(inRange(c.Confidence, 1, 100), "confidence", show(c.Confidence), "1 to 100")
	d.require(c.TimeLeft == nil || *c.TimeLeft >= 0, "timeToResolution", show(c.TimeLeft), "0 or more")
	c.checkTime(asOf, "createdAt", &c.CreatedAt, d)
	c.checkTime(asOf, "resolvedAt", c.ResolvedAt, d)
	for i := range c.Events {
		e := &c.Events[i]
		d.require(eventForm.MatchString(e.ID), "events.id", e.ID, "an id of an event")
		d.require(slices.Contains(eventTypes, e.Type), "events.type", e.Type, "a type of event")
		c.checkTime(asOf, "events.createdAt", &e.CreatedAt, d)
	}
	r := c.Resolution
	if r == nil {
		return
	}
	d.require(r.Outcome == "YES" || r.Outcome == "NO" || r.Outcome == "INVALID", "resolution.outcome", r.Outcome,
		"YES, NO or INVALID")
	d.require(slices.Contains([]string{"admin", "oracle", "manual"}, r.Resolver), "resolution.resolver", r.Resolver,
		"admin, oracle or manual")
	d.require(inRange(r.ClosePrice, 0, 10000), "resolution.closePrice", show(r.ClosePrice), "0 to 10000")
	c.checkTime(asOf, "resolution.resolvedAt", &r.ResolvedAt, d)
	// A market is closed at the latest when its outcome is claimed.
	d.require(!r.CloseAt.After(r.ResolvedAt), "resolution.closeAt", stamp(&r.CloseAt), "not after resolvedAt")
}

// checkTime reports a difference if a time is before the call or after asOf, the time of the record. It ignores nil.
func (c *call) checkTime(asOf time.Time, member string, t *time.Time, d *differences) {
	if t == nil {
		return
	}
	d.require(!t.Before(c.CreatedAt), member, stamp(t), "not before the call")
	d.require(!t.After(asOf), member, stamp(t), "not after asOf, "+stamp(&asOf))
}

// duplicateMember returns the name of a member that occurs twice in an object, or "". Duplicates are errors, because some
// JSON readers use the first value and others the last. Names are compared without regard to case, except in the payload of
// an event, whose members its author can choose.
func duplicateMember(text []byte) string {
	type level struct {
		names   map[string]bool // names of the members so far; nil for a list
		name    bool            // the next token is a name
		payload bool            // the level is within a payload
	}
	var open []level
	payload := false
	for d := json.NewDecoder(bytes.NewReader(text)); ; {
		t, err := d.Token()
		if err != nil {
			return "" // the caller reports invalid JSON
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
