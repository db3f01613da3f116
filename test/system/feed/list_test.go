package feed

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalcast/signalcast/test/system/feedclient"
	"github.com/signalcast/signalcast/test/system/stack"
)

// storedEvent is an event of the feed as the database stores it.
type storedEvent struct {
	feedclient.Event
	kind, market, lane, handle string
}

// storedEvents reads the events with a number above after. It fails the test unless their numbers are consecutive.
func storedEvents(t *testing.T, s *stack.Stack, after int64) []storedEvent {
	t.Helper()
	const events = `
SELECT e.seq, e.type, coalesce(e.market_id, ''), coalesce(e.lane, ''), coalesce(u.handle, ''), e.data::text
FROM api.protocol_events e LEFT JOIN api.users u ON u.id = e.user_id WHERE e.seq > $1 ORDER BY e.seq`
	rows, err := s.DB(t).Query(t.Context(), events, after)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var list []storedEvent
	for rows.Next() {
		var e storedEvent
		var data string
		if err := rows.Scan(&e.Seq, &e.kind, &e.market, &e.lane, &e.handle, &data); err != nil {
			t.Fatal(err)
		}
		if want := after + int64(len(list)) + 1; e.Seq != want {
			t.Fatalf("the next event in the database has the number %d; want %d", e.Seq, want)
		}
		e.Sum = feedclient.Checksum(e.kind, []byte(data))
		list = append(list, e)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

// isOn reports whether a channel contains the event, according to the table in docs/protocol/ws.md.
func (e *storedEvent) isOn(channel string) bool {
	signal := strings.HasPrefix(e.kind, "signal.")
	subject, name, _ := strings.Cut(channel, ":")
	switch {
	case channel == feedclient.AllEvents:
		return true
	case channel == "signals":
		return signal
	case subject == "signals":
		return signal && "lane:"+e.lane == name
	case subject == "market":
		return e.market == name && (signal || strings.HasPrefix(e.kind, "market.") || strings.HasPrefix(e.kind, "stream."))
	case subject == "operator":
		own := []string{"signal.created", "signal.resolved", "moment.minted", "clip.ready"}
		return e.handle == name && (slices.Contains(own, e.kind) || strings.HasPrefix(e.kind, "operator."))
	case channel == "resolutions":
		return e.kind == "market.resolved" || strings.HasPrefix(e.kind, "market.dispute")
	}
	return false
}

// requireAll fails the test unless each reader receives every event of each of its channels once and in order, within the time
// d.
func requireAll(t *testing.T, readers []*feedclient.Reader, events []storedEvent, d time.Duration) {
	t.Helper()
	due := func(channel string, after int64) (out []feedclient.Event) {
		for i := range events {
			if events[i].Seq > after && events[i].isOn(channel) {
				out = append(out, events[i].Event)
			}
		}
		return out
	}
	last := map[string]int64{}
	isLate := func(r *feedclient.Reader) bool {
		for channel := range r.Channels {
			if _, known := last[channel]; !known {
				last[channel] = 0
				if all := due(channel, 0); len(all) > 0 {
					last[channel] = all[len(all)-1].Seq
				}
			}
			if r.Position(channel) < last[channel] {
				return true
			}
		}
		return false
	}
	for end := time.Now().Add(d); slices.ContainsFunc(readers, isLate) && time.Now().Before(end); {
		stack.Wait(t, 50*time.Millisecond)
	}
	deliveries, sessions := 0, 0
	for i, r := range readers {
		for channel, after := range r.Channels {
			want, got := due(channel, after), r.Received(channel)
			deliveries += len(want)
			if !slices.Equal(want, got) {
				t.Errorf("events that reader %d (%s) received on %s (-want +got):\n%.2000s", i, r.Kind, channel, cmp.Diff(want, got))
			}
		}
		c := r.Counts()
		sessions += c.Sessions
		// The server reports when the database is unavailable, and sends the delayed events later.
		c.Errors = slices.DeleteFunc(c.Errors, func(text string) bool { return strings.HasPrefix(text, "db_unavailable") })
		if c.Gaps+c.Missing+c.Repeats+len(c.Errors) > 0 {
			t.Errorf("reader %d (%s) observed %d gaps, %d missing predecessors, %d repeated events and the errors %q; want none",
				i, r.Kind, c.Gaps, c.Missing, c.Repeats, c.Errors)
		}
	}
	t.Logf("%d events, %d deliveries to %d readers in %d sessions", len(events), deliveries, len(readers), sessions)
}

// TestChannelsOfEvents checks that events are on the channels that docs/protocol/ws.md lists for them.
func TestChannelsOfEvents(t *testing.T) {
	t.Parallel()
	filed := storedEvent{kind: "signal.created", market: "1", lane: "MUSIC", handle: "mara"}
	added := storedEvent{kind: "signal.event", market: "1", lane: "MUSIC", handle: "mara"}
	resolved := storedEvent{kind: "market.resolved", market: "1", lane: "MUSIC"}
	for channel, want := range map[string][3]bool{
		"signals": {true, true, false}, "signals:lane:MUSIC": {true, true, false}, "signals:lane:TECH": {},
		"market:1": {true, true, true}, "market:2": {}, "operator:mara": {true, false, false}, "operator:tide": {},
		"resolutions": {false, false, true}, feedclient.AllEvents: {true, true, true}, "live": {},
	} {
		if got := [3]bool{filed.isOn(channel), added.isOn(channel), resolved.isOn(channel)}; got != want {
			t.Errorf("event %s is on the channels %v; want %v", channel, got, want)
		}
	}
}
