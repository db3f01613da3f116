package program

import (
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// resolvingTime is the time before the end of a market from which its status is StatusResolving.
const resolvingTime = 60 * time.Minute

// Status is the state of the market of a segment, as the programme displays it.
type Status string

// States of the market of a segment.
const (
	StatusLive      Status = "live"
	StatusResolving Status = "resolving"
	StatusResolved  Status = "resolved"
)

// Bucket is the label for the time period in which a segment airs.
type Bucket string

// Labels of the time periods in which segments air. BucketThisWeek is the label of all days after tomorrow.
const (
	BucketOnAir    Bucket = "ON AIR"
	BucketToday    Bucket = "TODAY"
	BucketTomorrow Bucket = "TOMORROW"
	BucketThisWeek Bucket = "THIS WEEK"
)

// Segment is the bumper or the content in one slot of a lane, with the market that it shows.
type Segment struct {
	ID        string
	Kind      Kind
	Market    protocol.MarketID
	Lane      Lane
	Title     string
	StartsAt  time.Time
	EndsAt    time.Time
	MarketEnd time.Time // zero: the market has no end time
	EndsIn    time.Duration
	Yes       protocol.Bps // NoPrice: not known
	Volume    float64      // in dollars; Unknown: not known
	Bucket    Bucket
	Status    Status
	Signals   int64
	Tapes     int64
	Takes     int64
	Streams   int32
	Move      int32     // see Market.Move; not shown
	EventKey  string    // empty: none
	Sides     [2]string // names of YES and NO; empty: Yes and No
	Provider  protocol.Provider
	Slot      Slot
	PlannedAt time.Time // time when the slot was filled; zero: the channel is computed
}

// Route returns the URL path of the page of the segment's market.
func (s *Segment) Route() string { return "/m/" + string(s.Market) }

// Airs reports whether the segment airs at the time t.
func (s *Segment) Airs(t time.Time) bool { return !t.Before(s.StartsAt) && t.Before(s.EndsAt) }

// newSegment returns the bumper or the content segment of a slot that shows the market m. The status and the bucket are those at
// the time now.
func newSegment(channel string, lane Lane, slot Slot, kind Kind, m *Market, now time.Time) Segment {
	s := Segment{
		ID: SegmentID(channel, lane, slot, kind), Kind: kind, Market: m.ID, Lane: lane, Title: m.Title,
		StartsAt: slot.Content(), EndsAt: slot.End(), MarketEnd: m.EndTime(), Yes: m.Yes, Volume: m.Volume,
		Status: statusOf(m, now), Signals: m.Signals, Tapes: m.Tapes, Takes: m.Takes, Streams: m.Streams, Move: m.Move,
		EventKey: m.EventKey, Sides: m.Sides, Provider: m.Provider, Slot: slot,
	}
	if kind == Bumper {
		s.StartsAt, s.EndsAt = slot.Start(), slot.Content()
		s.Title = "NEXT · " + m.Title
	}
	if m.End != 0 {
		s.EndsIn = s.MarketEnd.Sub(now)
	}
	s.Bucket = bucketOf(&s, now)
	return s
}

// statusOf returns StatusResolved if the market has an outcome. It returns StatusResolving if the market ends within
// resolvingTime, has ended, is closed, or is provisional. Otherwise it returns StatusLive.
func statusOf(m *Market, now time.Time) Status {
	switch {
	case m.Status == protocol.MarketResolved:
		return StatusResolved
	case m.Status == protocol.MarketClosed, m.Provisional,
		m.End != 0 && m.End-now.UnixMilli() <= resolvingTime.Milliseconds():
		return StatusResolving
	}
	return StatusLive
}

// bucketOf returns BucketOnAir if the segment airs at the time now. Otherwise it returns the bucket for the UTC day on which the
// segment starts.
func bucketOf(s *Segment, now time.Time) Bucket {
	if s.Airs(now) {
		return BucketOnAir
	}
	y, m, d := now.UTC().Date()
	midnight := time.Date(y, m, d+1, 0, 0, 0, 0, time.UTC)
	switch {
	case s.StartsAt.Before(midnight):
		return BucketToday
	case s.StartsAt.Before(midnight.AddDate(0, 0, 1)):
		return BucketTomorrow
	}
	return BucketThisWeek
}

// StoredSegments returns the segments of the stored entries that air at some time in a period. The period starts at the time
// at and has the given length.
func StoredSegments(channel string, entries []Entry, at time.Time, length time.Duration) []Segment {
	cells := make([]cell, 0, len(entries))
	for i := range entries {
		cells = append(cells, cell{slot: entries[i].Slot, lane: entries[i].Lane, market: entries[i].market(nil)})
	}
	return between(assemble(channel, "", cells, at).Segments, at, length)
}

// ComputedSegments returns the segments of a computed channel that air at some time in a period. The period starts at the
// time at and has the given length. The markets come from pool.
func ComputedSegments(q *Query, pool *Pool, at time.Time, length time.Duration) []Segment {
	cells := rotate(q.Pick(pool, at), pool, SlotAt(at), SlotAt(at.Add(length)))
	return between(assemble(q.Channel(), "", cells, at).Segments, at, length)
}

// between returns the segments that air at some time in a period. The period starts at the time at and has the given length.
func between(all []Segment, at time.Time, length time.Duration) []Segment {
	var out []Segment
	for _, s := range all {
		if s.EndsAt.After(at) && s.StartsAt.Before(at.Add(length)) {
			out = append(out, s)
		}
	}
	return out
}
