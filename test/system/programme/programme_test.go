// Package programme tests the programme that the clock service publishes. Its test sets the time of the clock service to the
// start of a segment.
package programme

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/sdk/go/feed"
	"github.com/signalcast/signalcast/test/system/feedclient"
	"github.com/signalcast/signalcast/test/system/stack"
)

func TestMain(m *testing.M) { stack.Main(m) }

const (
	slotLength   = 610 * time.Second
	bumperLength = 10 * time.Second
	// maxPriceAge is the maximum age of a price in the programme, 10 minutes, reduced by the time that the test takes.
	maxPriceAge = 8 * time.Minute
)

// Channels of the test. The lane MUSIC always has a next segment, because its markets end hours apart.
const (
	allLanes = "program:default"
	oneLane  = "program:default:MUSIC"
)

// segment is a segment of the programme in an event.
type segment struct {
	SegmentID, Kind, ID, Category string
	StartsAt                      string
	Replaces                      *struct{ ID string }
	PreemptID                     string
}

// TestProgrammeChannel checks that a subscriber to a channel of the programme first receives the current segment, and then each
// start and each change exactly once. Two clock processes run, and the test kills one of them. The test also checks the
// measurements of the segments that were shown.
func TestProgrammeChannel(t *testing.T) {
	t.Parallel()
	content, _ := nextContent(time.Now())
	stack.Wait(t, max(0, time.Until(content)-maxPriceAge)) // the test moves the clock to the next start of content
	s := stack.Start(t, stack.ScoredAtOnce(), stack.Env("RATE_LIMIT_ANON", "0"))
	awaitCopy(t, s, allLanes, "now", "%")
	awaitCopy(t, s, oneLane, "next", "%")
	l := feedclient.Listen(t, s.API, oneLane)
	if now, next := snapshot(t, l); now == nil || next == nil || next.Kind != "content" {
		t.Errorf("the snapshot of %s is %s; want a current and a next segment", oneLane, l.Snapshot(oneLane))
	}

	content, slot := nextContent(time.Now())
	moveClock(t, s, time.Until(content)-8*time.Second)
	s.Side(t, "clock", nil)
	event, started := awaitSegment(t, l, "segment.started", slot)
	at := stack.Stamp(event.At)
	if at != stack.Stamp(content) || started.StartsAt != at || started.ID == "" || started.Kind != "content" {
		t.Errorf("the content starts at %s; want %s: %s", at, stack.Stamp(content), event.Data)
	}
	awaitBegin(t, s, func(now, next *segment) bool {
		return now != nil && now.SegmentID == started.SegmentID && now.ID == started.ID && next != nil
	})
	read(t, s.Clock+"/program/now?lane="+started.Category).Expect(stack.JSON{"segment.segmentId": started.SegmentID})
	requirePreemption(t, s, l, slot+1, started)

	repeated := stack.Query[string](t, s, `SELECT coalesce(string_agg(topic || ' ' || segment, ', '), '') FROM (
		SELECT topic, type || ' ' || (data->>'segmentId') AS segment FROM api.protocol_events WHERE type LIKE 'segment.%'
		GROUP BY 1, 2 HAVING count(*) > 1) d`)
	if repeated != "" {
		t.Errorf("events published more than once: %s; want none", repeated)
	}
	const topics = `SELECT count(DISTINCT topic) FROM api.protocol_events
		WHERE type = 'segment.started' AND data->>'segmentId' LIKE $1`
	if n := stack.Query[int](t, s, topics, fmt.Sprintf("%%:%d:c", slot)); n < 4 {
		t.Errorf("%d channels received the start of slot %d; want at least 4", n, slot)
	}
	stack.Eventually(t, 30*time.Second, "an empty outbox", func() bool {
		return stack.Query[int](t, s, `SELECT count(*) FROM clock.outbox`) == 0
	})
	requireMeasured(t, s, slot)
}

func read(t *testing.T, url string) stack.Answer {
	t.Helper()
	return stack.Send(t, http.MethodGet, url).Require(http.StatusOK)
}

// requirePreemption replaces the next segment by another market. The change must be published exactly once and immediately,
// although the test kills the clock process that stored it. A second change of the slot must be refused.
func requirePreemption(t *testing.T, s *stack.Stack, l *feedclient.Listener, slot int64, started segment) {
	t.Helper()
	preempt := func(body stack.JSON) stack.Answer {
		return stack.Send(t, http.MethodPost, s.Hub+"/api/broadcast/preempt", s.Admin(), stack.Body(body))
	}
	var other string
	var entry stack.JSON
	var made stack.Answer
	stack.Eventually(t, time.Minute, "a market that may air", func() bool { // the copy in the clock process may be older than the ledger
		other = lastingMarket(t, s, started.ID)
		entry = stack.JSON{"marketId": other, "lane": started.Category, "reason": "it lasts"}
		made = preempt(entry)
		return made.Code() != "market_not_airable"
	})
	id := made.Require(http.StatusCreated).Text("item.id")
	replaceClock(t, s)
	event, changed := awaitSegment(t, l, "segment.preempted", slot)
	if changed.PreemptID != id || changed.ID != other || changed.Replaces == nil {
		t.Errorf("the event of the change is %s; want market %s and entry %s", event.Data, other, id)
	}
	awaitCopy(t, s, oneLane, "next", other)
	awaitBegin(t, s, func(_, next *segment) bool {
		return next != nil && next.SegmentID == changed.SegmentID && next.ID == other
	})
	preempt(entry).RequireError(http.StatusConflict, "slot_taken")
	preempt(stack.JSON{"action": "cancel", "id": id}).Require(http.StatusOK)
	stack.Send(t, http.MethodGet, s.Hub+"/api/broadcast/preempt", s.Admin()).Require(http.StatusOK).
		Expect(stack.JSON{"items.0.status": "cancelled"})
}

// requireMeasured moves the clock to the time at which the slot is measured, and checks the measurements.
func requireMeasured(t *testing.T, s *stack.Stack, slot int64) {
	t.Helper()
	stack.Eventually(t, time.Minute, "prices at the start of the slot", func() bool {
		return stack.Query[int](t, s, `SELECT count(yes_bps_start) FROM clock.airings WHERE slot = $1`, slot) > 0
	})
	end := time.Unix((slot+1)*int64(slotLength/time.Second), 0)
	moveClock(t, s, time.Until(end.Add(10*time.Minute+5*time.Second)))
	var influence stack.Answer
	stack.Eventually(t, 2*time.Minute, "the influence of the slot", func() bool {
		influence = read(t, s.Hub+"/api/broadcast/influence?window=1h&limit=200")
		return influence.Contains(fmt.Sprintf(":%d:c", slot)) && influence.Value("summary.baselineAbsMoveBps") != nil
	})
	var measured struct {
		Items []struct {
			YesBpsBefore, YesBpsAfter, MoveBps int
			SignalsDuring                      *int
			MeasuredAt, EndedAt                time.Time
		}
	}
	influence.Expect(stack.JSON{"window": "1h"}).Decode(&measured)
	for _, m := range measured.Items {
		late := m.MeasuredAt.Sub(m.EndedAt)
		if m.MoveBps != m.YesBpsAfter-m.YesBpsBefore || m.SignalsDuring == nil || late < 10*time.Minute || late > 15*time.Minute {
			t.Errorf("the measurement is %+v, made %v after the end; want the difference of its prices, signalsDuring, and 10 to 15 minutes",
				m, late)
		}
	}
}

// nextContent returns the time at which the next content starts, and its slot.
func nextContent(at time.Time) (time.Time, int64) {
	slot := at.Unix()/int64(slotLength/time.Second) + 1
	return time.Unix(slot*int64(slotLength/time.Second), 0).Add(bumperLength).UTC(), slot
}

// moveClock restarts the clock service with a time that is ahead of the real time. The service reads the time from the database
// when it starts.
func moveClock(t *testing.T, s *stack.Stack, ahead time.Duration) {
	t.Helper()
	_, err := s.DB(t).Exec(t.Context(), fmt.Sprintf(`CREATE SCHEMA IF NOT EXISTS moved;
		CREATE OR REPLACE FUNCTION moved.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS
			$$ SELECT pg_catalog.clock_timestamp() + interval '%d milliseconds' $$;
		GRANT USAGE ON SCHEMA moved TO clock_rw;
		ALTER ROLE clock_rw SET search_path = moved, pg_catalog, clock`, ahead.Milliseconds()))
	if err != nil {
		t.Fatal(err)
	}
	replaceClock(t, s)
}

// replaceClock kills the clock service and waits until its replacement runs.
func replaceClock(t *testing.T, s *stack.Stack) {
	t.Helper()
	old := s.PID(t, "clock")
	s.Kill(t, "clock")
	stack.Eventually(t, 30*time.Second, "a new clock process", func() bool {
		pid, ok := s.FindPID("clock")
		return ok && pid != old
	})
}

// awaitCopy waits until the ledger has a copy of the channel in which the id of the current or next market matches an SQL
// pattern. which is "now" or "next".
func awaitCopy(t *testing.T, s *stack.Stack, channel, which, market string) {
	t.Helper()
	stack.Eventually(t, 90*time.Second, "the channel "+channel+" with a segment "+which, func() bool {
		const copies = `SELECT count(*) FROM api.channel_copies WHERE channel = $1 AND data->$2->>'id' LIKE $3`
		return stack.Query[int](t, s, copies, channel, which, market) == 1
	})
}

// snapshot returns the current and the next segment in the first snapshot of the channel oneLane.
func snapshot(t *testing.T, l *feedclient.Listener) (now, next *segment) {
	t.Helper()
	var on struct{ Now, Next *segment }
	if err := json.Unmarshal([]byte(l.Snapshot(oneLane)), &on); err != nil {
		t.Fatalf("%s: %v", l.Snapshot(oneLane), err)
	}
	return on.Now, on.Next
}

// awaitBegin waits until a new snapshot of the channel oneLane contains segments for which fits returns true. All readers
// receive the same snapshot for up to a second.
func awaitBegin(t *testing.T, s *stack.Stack, fits func(now, next *segment) bool) {
	t.Helper()
	stack.Eventually(t, 10*time.Second, "a snapshot of "+oneLane, func() bool {
		l := feedclient.Listen(t, s.API, oneLane)
		defer l.Close()
		if fits(snapshot(t, l)) {
			return true
		}
		stack.Wait(t, 450*time.Millisecond)
		return false
	})
}

// awaitSegment waits for a numbered event of the type kind about the content of a slot.
func awaitSegment(t *testing.T, l *feedclient.Listener, kind string, slot int64) (event *feed.Event, found segment) {
	t.Helper()
	event = l.EventThat(oneLane, kind, func(e *feed.Event) bool {
		found = segment{}
		if err := json.Unmarshal(e.Data, &found); err != nil || !e.Numbered() {
			t.Fatalf("event %s has the number %d and the data %s; want a number above 0 and a segment (error %v)", e.Type, e.Seq, e.Data, err)
		}
		return strings.HasSuffix(found.SegmentID, fmt.Sprintf(":%d:c", slot))
	})
	return event, found
}

// lastingMarket returns an open market with a price that ends in two days or later, and that differs from a given market. It
// reads the database of the ledger, because at some times of the day the programme contains no such market.
func lastingMarket(t *testing.T, s *stack.Stack, not string) (found string) {
	t.Helper()
	stack.Eventually(t, 30*time.Second, "a market that may air and lasts", func() bool {
		found = stack.Query[string](t, s, `SELECT coalesce((SELECT market_id FROM api.market_records
			WHERE status = 'open' AND NOT provisional AND NOT disputed AND end_date > now() + interval '2 days'
				AND yes_bps IS NOT NULL AND quoted_at > now() - interval '1 minute' AND market_id <> $1
			ORDER BY quoted_at DESC NULLS LAST, market_id LIMIT 1), '')`, not)
		return found != ""
	})
	return found
}
