package partner

import (
	"encoding/json"
	"time"
	"unicode/utf8"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/hub/internal/federation"
)

// row reads the members of a JSON object by their exact names. bad is set if a member is missing or has the wrong type.
type row struct {
	members map[string]json.RawMessage
	bad     bool
}

func newRow(raw []byte) *row {
	r := &row{}
	r.bad = !utf8.Valid(raw) || json.Unmarshal(raw, &r.members) != nil || r.members == nil
	return r
}

// required returns the member with this name. If it is absent, null or not of type T, it sets r.bad.
func required[T any](r *row, name string) (v T) {
	raw, there := r.members[name]
	if !there || string(raw) == "null" || json.Unmarshal(raw, &v) != nil {
		r.bad = true
	}
	return v
}

// nullable returns the member with this name; nil if it is null. If it is absent or not of type T, it sets r.bad.
func nullable[T any](r *row, name string) *T {
	if string(r.members[name]) == "null" {
		return nil
	}
	v := required[T](r, name)
	return &v
}

// optional returns the member with this name, or other if it is absent or null. If it is not of type T, it sets r.bad.
func optional[T any](r *row, name string, other T) T {
	if raw, there := r.members[name]; !there || string(raw) == "null" {
		return other
	}
	return required[T](r, name)
}

func (r *row) time(name string) time.Time {
	t, ok := protocol.ParseStamp(required[string](r, name))
	r.bad = r.bad || !ok
	return t
}

// readTape parses a tape (clip) of a partner. It returns false if a member is missing or has the wrong type.
func readTape(raw []byte) (federation.Tape, bool) {
	r := newRow(raw)
	t := federation.Tape{
		ID: required[string](r, "id"), Origin: required[string](r, "origin"), OriginURL: required[string](r, "originUrl"), Handle: required[string](r, "handle"),
		URL: required[string](r, "url"), Href: required[string](r, "href"),
		DurationS: nullable[int64](r, "durationS"), Views: required[int64](r, "views"), Stance: nullable[string](r, "stance"),
		CreatedAt: r.time("createdAt"), Boosted: required[bool](r, "boosted"),
	}
	if market := nullable[string](r, "marketId"); market != nil {
		t.MarketID = *market
	}
	return t, !r.bad
}

// readOperator parses an operator of a partner. It returns false if a required member is missing, if a member has the wrong type,
// or for an AI agent. Older stations do not send tier, operatorType and statistics such as streak; their operators count as
// independent humans.
func readOperator(raw []byte) (federation.Operator, bool) {
	r := newRow(raw)
	o := federation.Operator{
		Origin: required[string](r, "origin"), OriginURL: required[string](r, "originUrl"), Handle: required[string](r, "handle"),
		DisplayName: required[string](r, "displayName"), AvatarURL: nullable[string](r, "avatarUrl"), Score: required[int64](r, "score"),
		Accuracy: required[int64](r, "accuracy"), Total: required[int64](r, "total"), Won: required[int64](r, "won"), Lost: required[int64](r, "lost"),
		Pending: required[int64](r, "pending"), Followers: required[int64](r, "followers"), Href: required[string](r, "href"),
		Tier: optional(r, "tier", string(protocol.Independent)), OperatorType: optional(r, "operatorType", string(protocol.Human)), Streak: optional[int64](r, "streak", 0),
	}
	o.Resolved = optional(r, "resolved", o.Won+o.Lost)
	if optional(r, "isAi", false) {
		r.bad = true
	}
	if _, there := r.members["avgClvBps"]; there {
		o.AvgClv = nullable[int64](r, "avgClvBps")
	}
	return o, !r.bad
}
