package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/localdb"
	"github.com/signalcast/signalcast/pkg/testkit"
)

// segment is a part of the programme, as far as tests look at it.
type segment struct {
	SegmentID, Kind, ID, Category string
	StartsAt, EndDate             string
	Replaces                      *struct{ ID string }
	PreemptID                     string
}

type onAir struct{ Now, Next *segment }

func (o onAir) String() string {
	b, err := json.Marshal(o)
	return fmt.Sprintf("%s %v", b, err)
}

// beginning is what a programme's channel begins with now.
func (k *socket) beginning(channel string) onAir {
	k.t.Helper()
	k.say(obj{"op": "unsubscribe", "channels": []string{channel}})
	delete(k.last, channel)
	k.say(obj{"op": "subscribe", "channels": []string{channel}})
	f := k.until("the beginning of "+channel, func(f frame) bool { return f.Op == "snapshot" && f.Channel == channel })
	var out onAir
	if err := json.Unmarshal(f.Data, &out); err != nil {
		k.t.Fatalf("%s: %v", f.Data, err)
	}
	return out
}

// begins waits for the beginning of a channel: readers share one for a second.
func (k *socket) begins(channel string, fits func(onAir) bool) {
	k.t.Helper()
	var b onAir
	var asked time.Time
	defer func() {
		if k.t.Failed() {
			k.t.Logf("%s begins with %s", channel, b)
		}
	}()
	testkit.Eventually(k.t, 10*time.Second, func() bool {
		if time.Since(asked) < 500*time.Millisecond { // it has only so many frames
			return false
		}
		asked, b = time.Now(), k.beginning(channel)
		return fits(b)
	})
}

// told waits for an event of a programme's channel.
func (k *socket) told(channel, kind string) (frame, segment) {
	k.t.Helper()
	f := k.event(channel, kind)
	var s segment
	if err := json.Unmarshal(f.Data, &s); err != nil || f.Seq == 0 {
		k.t.Fatalf("%+v: %v", f, err)
	}
	return f, s
}

// exec changes the database of the stack.
func (s *stack) exec(t testing.TB, sql string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.DatabaseURL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	if _, err := conn.Exec(ctx, sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// moveClock gives the clock service another time, which it takes from the database, as
// all services do, when it starts anew.
func (s *stack) moveClock(t testing.TB, ahead time.Duration) {
	t.Helper()
	s.exec(t, fmt.Sprintf(`CREATE SCHEMA IF NOT EXISTS moved;
		CREATE OR REPLACE FUNCTION moved.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS
			$$ SELECT pg_catalog.clock_timestamp() + interval '%d milliseconds' $$;
		GRANT USAGE ON SCHEMA moved TO clock_rw;
		ALTER ROLE clock_rw SET search_path = moved, pg_catalog, clock`, ahead.Milliseconds()))
}

// newClock ends the clock without warning and waits until the launcher has another one.
func (s *stack) newClock(t testing.TB) {
	t.Helper()
	now, err := read(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	old := now.PIDs["clock"]
	testkit.Kill(t, old)
	testkit.Eventually(t, 30*time.Second, func() bool {
		now, err := read(s.dir)
		return err == nil && now.PIDs["clock"] != 0 && now.PIDs["clock"] != old
	})
}

// secondClock starts one more replica of the clock.
func (s *stack) secondClock(t testing.TB) {
	t.Helper()
	now, err := read(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	proc := fmt.Sprintf("/proc/%d/", now.PIDs["clock"])
	environ, err := os.ReadFile(proc + "environ")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(shared.run.dir, "bin", "clock"))
	cmd.Env = append(strings.Split(strings.TrimRight(string(environ), "\x00"), "\x00"),
		"HTTP_ADDR=127.0.0.1:0", "GRPC_ADDR=127.0.0.1:0", "METRICS_ADDR=")
	child, err := localdb.StartChild(cmd, syscall.SIGTERM)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { child.Stop(context.Background(), syscall.SIGTERM, stopWithin) })
}

// onAir waits until the ledger has a copy of a channel with such a market.
func (s *stack) onAir(t testing.TB, channel, place, market string) {
	t.Helper()
	testkit.Eventually(t, 90*time.Second, func() bool {
		return s.row(t, `SELECT count(*)::text FROM api.channel_copies WHERE channel = $1 AND data->$2->>'id' LIKE $3`, channel, place, market) == "1"
	})
}

// lasting returns the id of an open, priced market that ends in two days or later. It excludes the market with the id not.
// It reads the ledger, because at some times of the day the lineup of the programme has no such market.
func (s *stack) lasting(t testing.TB, not string) (found string) {
	t.Helper()
	eventually(t, func() bool { // the catalogue is read venue by venue
		found = s.row(t, `SELECT coalesce((SELECT market_id FROM api.market_records
			WHERE status = 'open' AND NOT provisional AND NOT disputed AND end_date > now() + interval '2 days'
				AND yes_bps IS NOT NULL AND quoted_at > now() - interval '1 minute' AND market_id <> $1
			ORDER BY quoted_at DESC NULLS LAST, market_id LIMIT 1), '')`, not)
		return found != ""
	}, "a market that may air and lasts")
	return found
}

const (
	slotLength   = 610 * time.Second
	bumperLength = 10 * time.Second
)

// contentAfter is when the content after a moment begins, and its slot.
func contentAfter(at time.Time) (time.Time, int64) {
	slot := at.Unix()/int64(slotLength/time.Second) + 1
	return time.Unix(slot*int64(slotLength/time.Second), 0).Add(bumperLength).UTC(), slot
}

// TestProgrammeIsTold: a channel of the programme begins with what is on, hears what
// begins when it begins and what a director changes, each once, with two clocks and with
// one that is killed.
func TestProgrammeIsTold(t *testing.T) {
	t.Parallel()
	next, _ := contentAfter(time.Now())
	time.Sleep(time.Until(next) - 8*time.Minute) // prices older than ten minutes do not air, and the clock is moved to the next start
	s := startOther(t, "RATE_LIMIT_ANON=0")
	k := s.connect(t, nil)
	// Markets of music end hours apart, so this channel always has a next one. The twelve of crypto may all end before the next slot.
	const all, channel = "program:default", "program:default:MUSIC"
	s.onAir(t, all, "now", "%")
	s.onAir(t, channel, "next", "%")
	if b := k.beginning(channel); b.Now == nil || b.Next == nil || b.Next.Kind != "content" {
		t.Errorf("%s begins with %s", channel, b)
	}

	// The next start, a few seconds away for two clocks that have just come.
	content, slot := contentAfter(time.Now())
	s.moveClock(t, time.Until(content)-8*time.Second)
	s.newClock(t)
	s.secondClock(t)
	f, started := k.told(channel, "segment.started")
	for !strings.HasSuffix(started.SegmentID, fmt.Sprintf(":%d:c", slot)) { // that of the slot before, told late
		f, started = k.told(channel, "segment.started")
	}
	if f.At != content.Format("2006-01-02T15:04:05.000Z") || started.StartsAt != f.At || started.ID == "" || started.Kind != "content" {
		t.Errorf("at %s %s", f.At, f.Data)
	}
	k.begins(channel, func(b onAir) bool {
		return b.Now != nil && b.Now.SegmentID == started.SegmentID && b.Now.ID == started.ID && b.Next != nil
	})
	shown := get(t, s.Clock+"/program/now?lane="+started.Category).is(http.StatusOK)
	if got := shown.str("segment.segmentId"); got != started.SegmentID {
		t.Errorf("the route shows %s, told was %s", got, started.SegmentID)
	}

	// A director: what is to come is another one, told at once; the clock that has
	// committed it and may not have sent it is killed.
	other := s.lasting(t, started.ID)
	entry := obj{"marketId": other, "lane": started.Category, "reason": "it lasts"}
	made := post(t, s.Hub+"/api/broadcast/preempt", s.admin(), payload(entry)).is(http.StatusCreated)
	s.newClock(t)
	f, changed := k.told(channel, "segment.preempted")
	if changed.PreemptID != made.str("item.id") || changed.ID != other || changed.Replaces == nil || !strings.HasSuffix(changed.SegmentID, fmt.Sprintf(":%d:c", slot+1)) {
		t.Errorf("preempted: %s", f.Data)
	}
	s.onAir(t, channel, "next", other)
	k.begins(channel, func(b onAir) bool {
		return b.Next != nil && b.Next.SegmentID == changed.SegmentID && b.Next.ID == other
	})
	post(t, s.Hub+"/api/broadcast/preempt", s.admin(), payload(entry)).fails(http.StatusConflict, "slot_taken")
	post(t, s.Hub+"/api/broadcast/preempt", s.admin(), payload(obj{"action": "cancel", "id": made.str("item.id")})).is(http.StatusOK)
	if got := get(t, s.Hub+"/api/broadcast/preempt", s.admin()).is(http.StatusOK).str("items.0.status"); got != "cancelled" {
		t.Errorf("the entry is %s", got)
	}

	// Of all of it each once, and nothing waits.
	twice := s.row(t, `SELECT coalesce(string_agg(topic || ' ' || segment, ', '), '') FROM (
		SELECT topic, type || ' ' || (data->>'segmentId') AS segment FROM api.protocol_events WHERE type LIKE 'segment.%'
		GROUP BY 1, 2 HAVING count(*) > 1) d`)
	if twice != "" {
		t.Errorf("told twice: %s", twice)
	}
	if n := s.row(t, `SELECT count(DISTINCT topic)::text FROM api.protocol_events WHERE type = 'segment.started' AND data->>'segmentId' LIKE $1`, fmt.Sprintf("%%:%d:c", slot)); n < "4" && len(n) == 1 {
		t.Errorf("%s channels were told of slot %d", n, slot)
	}
	eventually(t, func() bool { return s.row(t, `SELECT count(*)::text FROM clock.outbox`) == "0" }, "an empty outbox")

	// What aired is measured, by whichever clock is there by then.
	s.measured(t, slot)
}

// TestPulseAndStreams: the pulse begins with what there is, and a stream on a market is
// in its record.
func TestPulseAndStreams(t *testing.T) {
	t.Parallel()
	s := up(t)
	p := s.person(t)
	market := s.native(t, 5000)
	p.call(t, market, "YES", 5000)
	k := s.connect(t, nil)
	k.say(obj{"op": "subscribe", "channels": []string{"pulse", "market:" + market}})
	begins := k.snapshots("pulse", "market:"+market)
	var totals map[string]int64
	if err := json.Unmarshal([]byte(begins["pulse"]), &totals); err != nil || len(totals) != 17 || totals["resolved"] != totals["won"]+totals["lost"] {
		t.Errorf("%s: %v", begins["pulse"], err)
	}
	if d := begins["market:"+market]; !strings.Contains(d, `"viewers":1`) {
		t.Errorf("the only reader sees %s", d)
	}
	s.connect(t, nil).say(obj{"op": "subscribe", "channels": []string{"market:" + market}})
	k.until("a second reader", func(f frame) bool { return f.Type == "viewers.updated" && string(f.Data) == `{"viewers":2}` })
	p.decided(t, "approved")
	post(t, s.Hub+"/api/m/"+market+"/streams", p.auth(t), payload(obj{"url": "https://video.example/" + p.user + "/index.m3u8"})).is(http.StatusOK)
	k.event("market:"+market, "stream.bound")
	eventually(t, func() bool {
		return s.row(t, `SELECT streams::text FROM api.market_records WHERE market_id = $1`, market) == "1"
	}, "the stream in the market's record")
}
