package partner

import (
	"encoding/json"
	"time"
	"unicode/utf8"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/hub/internal/federation"
)

// row reads the members of one object by their exact names; bad notes that one was
// missing or of another type.
type row struct {
	members map[string]json.RawMessage
	bad     bool
}

func open(raw []byte) *row {
	r := &row{}
	r.bad = !utf8.Valid(raw) || json.Unmarshal(raw, &r.members) != nil || r.members == nil
	return r
}

// get reads a member that must be there. Nothing of another type is taken.
func get[T any](r *row, name string) (v T) {
	raw, there := r.members[name]
	if !there || string(raw) == "null" || json.Unmarshal(raw, &v) != nil {
		r.bad = true
	}
	return v
}

// orNull is get for a member that must be there and may be null.
func orNull[T any](r *row, name string) *T {
	if string(r.members[name]) == "null" {
		return nil
	}
	v := get[T](r, name)
	return &v
}

// or is get for a member that may be missing.
func or[T any](r *row, name string, other T) T {
	if raw, there := r.members[name]; !there || string(raw) == "null" {
		return other
	}
	return get[T](r, name)
}

func (r *row) time(name string) time.Time {
	t, ok := protocol.ParseStamp(get[string](r, name))
	r.bad = r.bad || !ok
	return t
}

// readTape reads a tape; all of its members are required.
func readTape(raw []byte) (federation.Tape, bool) {
	r := open(raw)
	t := federation.Tape{
		ID: get[string](r, "id"), Origin: get[string](r, "origin"), OriginURL: get[string](r, "originUrl"), Handle: get[string](r, "handle"),
		URL: get[string](r, "url"), MarketID: get[string](r, "marketId"), Href: get[string](r, "href"),
		DurationS: orNull[int64](r, "durationS"), Views: get[int64](r, "views"), Stance: orNull[string](r, "stance"),
		CreatedAt: r.time("createdAt"), Boosted: get[bool](r, "boosted"),
	}
	return t, !r.bad
}

// readOperator reads an operator. What stands behind `followers` came later: a station
// that does not say it speaks of people.
func readOperator(raw []byte) (federation.Operator, bool) {
	r := open(raw)
	o := federation.Operator{
		Origin: get[string](r, "origin"), OriginURL: get[string](r, "originUrl"), Handle: get[string](r, "handle"),
		DisplayName: get[string](r, "displayName"), AvatarURL: orNull[string](r, "avatarUrl"), Score: get[int64](r, "score"),
		Accuracy: get[int64](r, "accuracy"), Total: get[int64](r, "total"), Won: get[int64](r, "won"), Lost: get[int64](r, "lost"),
		Pending: get[int64](r, "pending"), Followers: get[int64](r, "followers"), Href: get[string](r, "href"),
		Tier: or(r, "tier", string(protocol.Independent)), OperatorType: or(r, "operatorType", string(protocol.Human)), Streak: or[int64](r, "streak", 0),
	}
	o.Resolved = or(r, "resolved", o.Won+o.Lost)
	if or(r, "isAi", false) {
		r.bad = true
	}
	if _, there := r.members["avgClvBps"]; there {
		o.AvgClv = orNull[int64](r, "avgClvBps")
	}
	return o, !r.bad
}
