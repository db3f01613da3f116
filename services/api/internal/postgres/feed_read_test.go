package postgres

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalcast/signalcast/services/api/internal/feed"
)

// fill inserts n events of several types into the feed and returns them.
func (b *bundle) fill(n int) []feed.Event {
	b.t.Helper()
	for i, m := range []struct{ id, provider, lane string }{{"1", "polymarket", "SCIENCE"}, {"2", "polymarket", "OTHER"}, {"kalshi-X", "kalshi", "MUSIC"}} {
		b.venueMarket(m.id, 5000+i)
		b.exec(`UPDATE api.markets SET provider = $2, lane = $3 WHERE market_id = $1`, m.id, m.provider, m.lane)
	}
	for _, name := range []string{"mara_k", "tide"} {
		b.operator(name)
	}
	b.exec(`INSERT INTO api.outbox (type, market_id, user_id, at)
		SELECT k.type, (ARRAY['1', '2', 'kalshi-X'])[1 + (i * 7 / 3) % 3],
			CASE WHEN k.type LIKE 'signal.%' THEN (SELECT id FROM api.users WHERE handle = (ARRAY['mara_k', 'tide'])[1 + i % 2]) END, $3
		FROM generate_series(1, $1) i, LATERAL (SELECT ($2::text[])[1 + i % cardinality($2::text[])] AS type) k`,
		n, []string{"signal.created", "signal.event", "market.status", "signal.created", "market.disputed", "market.dispute_cleared", "signal.event"}, noon)
	b.number()
	return b.events()
}

// TestFeedPages checks that the pages of each query contain the matching events of the feed, in both directions.
func TestFeedPages(t *testing.T) {
	t.Parallel()
	b := setup(t)
	all := b.fill(120)
	for _, q := range []feed.Query{
		{},
		{Types: []feed.Type{feed.MarketDisputed}},
		{Types: []feed.Type{feed.SignalCreated, feed.MarketDisputed, feed.MarketResolved}},
		{Lane: "MUSIC"},
		{Providers: []string{"kalshi", "manifold"}},
		{Lane: "SCIENCE", Providers: []string{"polymarket"}, Types: []feed.Type{feed.SignalEvent, feed.MarketStatus}},
		{Handle: "mara_k"},
		{Handle: "mara_k", Types: []feed.Type{feed.SignalEvent}},
		{Handle: "unknown"},
	} {
		for _, forward := range []bool{false, true} {
			q.Limit, q.Forward, q.From = 7, forward, 0
			var want []int64
			for _, e := range all {
				if (len(q.Types) == 0 || slices.Contains(q.Types, e.Type)) && (q.Lane == "" || e.Lane == q.Lane) &&
					(len(q.Providers) == 0 || slices.Contains(q.Providers, e.Provider)) && (q.Handle == "" || e.Handle == q.Handle) {
					want = append(want, e.Seq)
				}
			}
			if !forward {
				slices.Reverse(want)
			}
			if diff := cmp.Diff(want, b.pages(q)); diff != "" {
				t.Errorf("%+v (-want +got):\n%s", q, diff)
			}
		}
	}
}

// pages returns the sequence numbers of the events on all pages of a query.
func (b *bundle) pages(q feed.Query) (seqs []int64) {
	b.t.Helper()
	for more := true; more; {
		p := must(b.ListFeedEvents(b.t.Context(), q))(b.t)
		for _, e := range p.Events {
			seqs = append(seqs, e.Seq)
		}
		more, q.From = p.More, p.Next
	}
	return seqs
}

// TestBriefFeed checks that the brief pages of types contain the number, type, market and operator of each of their events.
func TestBriefFeed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	all := b.fill(120)
	types := []feed.Type{feed.SignalCreated, feed.MarketDisputed}
	var want, got []feed.Event
	for _, e := range all {
		if slices.Contains(types, e.Type) {
			want = append(want, feed.Event{Seq: e.Seq, Type: e.Type, At: e.At, MarketID: e.MarketID, Operator: e.Operator})
		}
	}
	for after := int64(0); after < 120; {
		p := must(b.ListFeedBrief(t.Context(), types, after, 7))(t)
		for i, e := range p.Events {
			if e.Seq <= after || e.Seq > p.Next || !json.Valid(e.Data) {
				t.Errorf("event %d after %d with the data %q", e.Seq, after, e.Data)
			}
			p.Events[i].Data = nil
		}
		if got = append(got, p.Events...); p.Head != 120 || p.Next <= after {
			t.Fatalf("head %d, next %d after %d", p.Head, p.Next, after)
		}
		after = p.Next
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if p := must(b.ListFeedBrief(t.Context(), types, 120, 7))(t); len(p.Events) != 0 || p.Next != 120 {
		t.Errorf("%+v", p)
	}
}

// TestFeedChannels checks that a read of one channel returns the events of that channel, and that the hash links of these
// events equal those of a chain over the whole feed.
func TestFeedChannels(t *testing.T) {
	t.Parallel()
	b := setup(t)
	all := b.fill(120)
	messages := must(feed.NewChain(b.Store).Link(t.Context(), all))(t)
	type place struct{ Seq, Prev int64 }
	on := make(map[feed.Channel][]place)
	for _, m := range messages {
		for _, l := range m.Links {
			on[l.Channel] = append(on[l.Channel], place{m.Seq, l.Prev})
		}
	}
	on[feed.MarketChannel("404")], on[feed.OperatorChannel("unknown")], on[feed.LaneChannel("SPORT")] = nil, nil, nil
	if len(on) != 14 {
		t.Errorf("%d channels: %v", len(on), slices.Collect(maps.Keys(on)))
	}
	for c, want := range on {
		for _, after := range []int64{0, 1, 57, 119, 120} {
			before := must(b.FeedHeads(t.Context(), after, []feed.Channel{c}))(t)
			prev, got := before[c], []place(nil)
			for at := after; at < 120; {
				page, through, err := b.ListFeedChannel(t.Context(), c, at, 120, 5)
				if err != nil || through <= at {
					t.Fatal(through, err)
				}
				for _, m := range page {
					got = append(got, place{m.Seq, prev})
					prev = m.Seq
				}
				at = through
			}
			rest := slices.DeleteFunc(slices.Clone(want), func(p place) bool { return p.Seq <= after })
			if diff := cmp.Diff(rest, got); diff != "" && len(rest)+len(got) > 0 {
				t.Errorf("%s after %d (-want +got):\n%s", c, after, diff)
			}
		}
	}
}

// TestChainRestarts checks that a hash chain that starts in the middle of the feed, or is reset, produces the same links as
// a chain over the whole feed.
func TestChainRestarts(t *testing.T) {
	t.Parallel()
	b := setup(t)
	all := b.fill(120)
	want := must(feed.NewChain(b.Store).Link(t.Context(), all))(t)
	c := feed.NewChain(b.Store)
	for range 50 {
		from := rand.N(len(all))
		to := from + 1 + rand.N(len(all)-from)
		got := must(c.Link(t.Context(), all[from:to]))(t)
		if diff := cmp.Diff(want[from:to], got); diff != "" {
			t.Fatalf("%d to %d (-want +got):\n%s", from, to, diff)
		}
	}
}

// dayPartition creates the feed partition of a past day, by the clock of the database, and inserts one event into it.
func (b *bundle) dayPartition(daysAgo int) {
	b.t.Helper()
	b.exec(fmt.Sprintf(`DO $$
		DECLARE d date := (now() AT TIME ZONE 'UTC')::date - %d;
		BEGIN
			EXECUTE format('CREATE TABLE api.protocol_events_%%s PARTITION OF api.protocol_events FOR VALUES FROM (%%L) TO (%%L)',
				to_char(d, 'YYYYMMDD'), d || ' 00:00Z', d + 1 || ' 00:00Z');
			INSERT INTO api.protocol_events (seq, id, type, at, data)
				SELECT 1000 - %[1]d, gen_random_uuid(), 'market.status', (d || ' 12:00Z')::timestamptz, '{}';
		END $$`, daysAgo))
}

func (b *bundle) partitions() int {
	b.t.Helper()
	return b.count(`SELECT count(*) FROM pg_inherits WHERE inhparent = 'api.protocol_events'::regclass`)
}

func TestKeepFeed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	before := b.partitions()
	for i := range 2 {
		if err := b.MaintainFeed(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := b.partitions() - before; got != 4 {
			t.Errorf("run %d: %d new partitions, want 4", i, got)
		}
	}
	for _, daysAgo := range []int{200, 91, 90, 1} {
		b.dayPartition(daysAgo)
	}
	// An event of an older day with a greater number than an event of a later day.
	b.exec(`INSERT INTO api.protocol_events (seq, id, type, at, data)
		SELECT 912, gen_random_uuid(), 'market.status', ((now() AT TIME ZONE 'UTC')::date - 91 || ' 23:59Z')::timestamptz, '{}'`)
	if err := b.MaintainFeed(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := b.partitions() - before; got != 6 {
		t.Errorf("%d partitions are left; want today's, three of coming days and two of past days", got)
	}
	oldest, err := b.FeedOldest(t.Context())
	if err != nil || oldest != 913 {
		t.Errorf("the oldest number is %d, %v; want the first one after the dropped events", oldest, err)
	}
	b.exec(`INSERT INTO api.outbox (type, market_id, at) SELECT 'market.status', NULL, now() FROM generate_series(1, 10)`)
	if _, err := b.NumberFeed(t.Context(), 100); err != nil {
		t.Fatal(err)
	}
	if n := b.count(`SELECT count(*) FROM api.protocol_events_rest`); n != 0 {
		t.Errorf("%d events of today are in the default partition", n)
	}
}

// TestWriterCannotHaveYoungEventsDropped checks that the role api_rw cannot choose the date or the retention period of the
// cleanup, and therefore cannot delete the events of yesterday.
func TestWriterCannotHaveYoungEventsDropped(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.dayPartition(1)
	b.dayPartition(89)
	for _, sql := range []string{
		`SELECT keep_feed('2199-01-01'::date, 90)`, `SELECT keep_feed('2199-01-01'::date, 0)`, `SELECT keep_feed(0)`,
		`SELECT keep_feed()`, `SELECT keep_feed() FROM set_config('TimeZone', 'Pacific/Kiritimati', true)`,
		`DROP TABLE protocol_events_rest`, `DELETE FROM protocol_events`, `TRUNCATE protocol_events`,
	} {
		_, _ = b.rw.Exec(t.Context(), sql) // the statement must fail or have no effect
		if n := b.count(`SELECT count(*) FROM api.protocol_events`); n != 2 {
			t.Fatalf("%s: %d of 2 events are left", sql, n)
		}
	}
	callable := b.count(`SELECT count(*) FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
		WHERE n.nspname = 'api' AND p.prosecdef AND p.pronargs > 0 AND has_function_privilege('api_rw', p.oid, 'EXECUTE') AND p.proname LIKE 'keep%'`)
	if callable != 0 {
		t.Errorf("%d functions with the owner's rights accept a date from their caller", callable)
	}
}

// TestFeedOfOneProgramme checks that a query with a topic returns the segment events of that programme and all events
// without a topic.
func TestFeedOfOneProgramme(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.venueMarket("1", 5000)
	b.exec(`INSERT INTO api.outbox (type, market_id, at, topic)
		SELECT k.type, '1', $1, k.topic FROM generate_series(1, 20) i, LATERAL (VALUES
			('segment.started', 'program:default'), ('segment.started', 'program:hot'), ('segment.preempted', 'program:default:SPORT'),
			('market.status', NULL)) AS k (type, topic)`, noon)
	b.number()
	all := b.events()
	for _, q := range []feed.Query{
		{Topic: "program:default"},
		{Topic: "program:default", Types: []feed.Type{feed.SegmentStarted}},
		{Topic: "program:default", Types: []feed.Type{feed.SegmentStarted, feed.SegmentPreempted, feed.MarketStatus}},
		{Topic: "program:default:SPORT", Types: []feed.Type{feed.MarketStatus}},
		{Topic: "program:nothing", Types: []feed.Type{feed.SegmentStarted, feed.MarketStatus}},
	} {
		var want []int64
		for _, e := range all {
			if (len(q.Types) == 0 || slices.Contains(q.Types, e.Type)) && (e.Topic == "" || e.Topic == q.Topic) {
				want = append(want, e.Seq)
			}
		}
		slices.Reverse(want)
		q.Limit = 7
		if diff := cmp.Diff(want, b.pages(q)); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", q, diff)
		}
	}
}
