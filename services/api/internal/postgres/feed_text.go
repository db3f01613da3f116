package postgres

import (
	"strings"

	"github.com/signalcast/signalcast/services/api/internal/feed"
)

// The statements here name types and lanes in their text and not as parameters:
// some are most of the feed and others a few rows in 90 days, and only a planner
// that sees which one it is takes the index that fits. There are few of them, so
// the statements stay prepared.

// ofTypes is the union of one branch for each type. Branch begins with SELECT and
// ends with its order and limit; @ stands for the condition on the type.
func ofTypes(types []feed.Type, branch string) string { return ofTypesOn("", types, branch) }

// ofTypesOn is ofTypes with one channel of a programme, as a parameter; empty: all. The
// events of one are found by it alone: there are dozens of channels.
func ofTypesOn(topic string, types []feed.Type, branch string) string {
	parts := make([]string, len(types))
	for i, t := range types {
		on := "e.type = " + quoted(string(t))
		if topic != "" && (t == feed.SegmentStarted || t == feed.SegmentPreempted) {
			on += " AND e.topic = " + topic
		}
		parts[i] = "(" + strings.Replace(branch, "@", on, 1) + ")"
	}
	return strings.Join(parts, " UNION ALL ")
}

// headText finds the last number up to $1 of a channel without an owner.
func headText(c feed.Channel) string {
	const branch = "SELECT e.seq FROM protocol_events e WHERE @ AND e.seq <= $1 ORDER BY e.seq DESC LIMIT 1"
	if lane := c.Lane(); lane != "" {
		return "SELECT (" + strings.Replace(branch, "@", ofLane(c), 1) + ")"
	}
	return "SELECT max(h.seq) FROM (" + ofTypes(c.Types(), branch) + ") h"
}

// pageText reads such a channel: $1 < seq <= $2, at most $3.
func pageText(c feed.Channel) string {
	const tail = " ORDER BY seq LIMIT $3"
	const branch = "SELECT e.seq, e.type, e.at, e.signal_id, e.data FROM shown_events e WHERE @ AND e.seq > $1 AND e.seq <= $2" + tail
	if lane := c.Lane(); lane != "" {
		return strings.Replace(branch, "@", ofLane(c), 1)
	}
	return "SELECT seq, type, at, signal_id, data FROM (" + ofTypes(c.Types(), branch) + ") e" + tail
}

func ofLane(c feed.Channel) string {
	types := make([]string, len(c.Types()))
	for i, t := range c.Types() {
		types[i] = quoted(string(t))
	}
	return "e.lane = " + quoted(c.Lane()) + " AND e.type IN (" + strings.Join(types, ", ") + ")"
}

func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
