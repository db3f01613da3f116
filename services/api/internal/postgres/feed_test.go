package postgres

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/api/internal/feed"
	"github.com/signalcast/signalcast/services/api/internal/resolve"
	"github.com/signalcast/signalcast/services/api/internal/signal"
)

func newUUID() string { return uuid.Must(uuid.NewV7()).String() }

// number moves everything out of the outbox and drains every resolved market.
func (b *bundle) number() {
	b.t.Helper()
	for {
		n, err := b.NumberFeed(b.t.Context(), 500, newUUID)
		if err != nil {
			b.t.Fatal(err)
		}
		d, err := b.DrainFeed(b.t.Context(), 1000, nil, newUUID)
		if err != nil {
			b.t.Fatal(err)
		}
		if n == 0 && d.MarketID == "" {
			return
		}
	}
}

// events reads the whole feed and fails when its numbers have a gap.
func (b *bundle) events() []feed.Event {
	b.t.Helper()
	events, err := b.ListFeedAfter(b.t.Context(), 0, 1_000_000)
	if err != nil {
		b.t.Fatal(err)
	}
	for i, e := range events {
		if e.Seq != int64(i)+1 {
			b.t.Fatalf("event %d has number %d", i+1, e.Seq)
		}
	}
	return events
}

// Writers that commit late, and two sequencers at once: every row gets one
// number, there is no gap, and what commits later is never numbered before.
func TestFeedNumbersEveryCommitOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const writers, each = 8, 60
	var wg sync.WaitGroup
	var done atomic.Bool
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				tx, err := b.rw.Begin(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				_, err = tx.Exec(t.Context(), `INSERT INTO outbox (type, data, at) VALUES ('market.status', jsonb_build_object('w', $1::int, 'i', $2::int), $3)`, w, i, noon)
				if err == nil && rand.N(20) == 0 {
					_, err = tx.Exec(t.Context(), `SELECT pg_sleep(0.05)`)
				}
				if err == nil {
					err = tx.Commit(t.Context())
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	var numbering sync.WaitGroup
	for range 2 {
		numbering.Go(func() {
			for stop := false; !stop; {
				stop = done.Load()
				if _, err := b.NumberFeed(t.Context(), 7, newUUID); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	done.Store(true)
	numbering.Wait()
	b.number()
	seen := make(map[int]int)
	for _, e := range b.events() {
		var d struct{ W, I int }
		if err := json.Unmarshal(e.Data, &d); err != nil {
			t.Fatal(err)
		}
		if d.I != seen[d.W] {
			t.Fatalf("writer %d: %d comes after %d", d.W, d.I, seen[d.W])
		}
		seen[d.W]++
	}
	for w := range writers {
		if seen[w] != each {
			t.Errorf("writer %d: %d events of %d", w, seen[w], each)
		}
	}
	if n := b.count(`SELECT count(*) FROM api.outbox`); n != 0 {
		t.Errorf("%d rows left in the outbox", n)
	}
}

// Each type says what contract 4.17.4 writes.
func TestFeedData(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.venueMarket("701122", 3150)
	mara, hash := b.operator("mara_k")
	draft := newDraft("701122", syntax.No, 6850)
	draft.TextTake = new(string)
	*draft.TextTake = `rain "band" <east>`
	if f := b.try(signal.Caller{KeyHash: hash}, draft); f.Verdict != signal.VerdictFiled {
		t.Fatal(f)
	}
	actor, eventID := "owner", newUUID()
	err := b.AppendEvent(t.Context(), signal.Caller{KeyHash: hash}, draft.ID, signal.Event{
		ID: eventID, Type: "confidence", Payload: `{"confidence":80}`, Actor: &actor, CreatedAt: noon,
	})
	if err != nil {
		t.Fatal(err)
	}
	b.exec(`INSERT INTO api.outbox (type, market_id, data, at) VALUES ('market.status', '701122', '{"from":"open","to":"closed"}', $1)`, noon)
	reason := "two sources"
	for _, disputed := range []bool{true, false} {
		if _, err := b.Dispute(t.Context(), "701122", disputed, &reason, noon); err != nil {
			t.Fatal(err)
		}
		b.number()
	}
	proof := "https://records.example/1"
	_, err = b.Claim(t.Context(), resolve.Claim{MarketID: "701122", Verdict: syntax.VerdictNo, Resolver: "oracle", Source: "polymarket", ProofURL: &proof}, noon)
	if err != nil {
		t.Fatal(err)
	}
	b.number()
	public := b.text(`SELECT public_id FROM api.users WHERE id = $1`, mara)
	at := "2026-10-10T12:00:00.000Z"
	null := any(nil)
	record := func(outcome, disputed, reason, disputedAt any) map[string]any {
		m := map[string]any{
			"marketId": "701122", "outcome": outcome, "resolver": null, "source": null, "proofUrl": null, "resolvedAt": null,
			"disputed": disputed, "disputeReason": reason, "disputedAt": disputedAt,
		}
		if outcome != nil {
			m["resolver"], m["source"], m["proofUrl"], m["resolvedAt"] = "oracle", "polymarket", proof, at
		}
		return m
	}
	want := []struct {
		kind feed.Type
		data map[string]any
	}{
		{feed.SignalCreated, map[string]any{
			"id": draft.ID, "operatorPublicId": public, "handle": "mara_k", "marketId": "701122", "marketTitle": "Will it hold?",
			"direction": "NO", "priceAtPrediction": 6850.0, "crowdYesAtSignal": 3150.0, "status": "pending", "score": null,
			"resolvedAt": null, "textTake": *draft.TextTake, "createdAt": at,
		}},
		{feed.SignalEvent, map[string]any{"signalId": draft.ID, "event": map[string]any{
			"id": eventID, "type": "confidence", "payload": map[string]any{"confidence": 80.0}, "actor": "owner", "createdAt": at,
		}}},
		{feed.MarketStatus, map[string]any{"from": "open", "to": "closed"}},
		{feed.MarketDisputed, record(null, true, reason, at)},
		{feed.MarketDisputeCleared, record(null, false, null, null)},
		{feed.MarketResolved, record("NO", false, null, null)},
		{feed.SignalResolved, map[string]any{
			"signalId": draft.ID, "marketId": "701122", "handle": "mara_k", "status": "won", "score": 31.0, "clvBps": 0.0,
		}},
	}
	events := b.events()
	if len(events) != len(want) {
		t.Fatalf("%d events, want %d", len(events), len(want))
	}
	for i, e := range events {
		var data map[string]any
		if err := json.Unmarshal(e.Data, &data); err != nil {
			t.Fatal(err)
		}
		if e.Type != want[i].kind {
			t.Errorf("event %d is %s, want %s", i+1, e.Type, want[i].kind)
		}
		if diff := cmp.Diff(want[i].data, data); diff != "" {
			t.Errorf("%s (-want +got):\n%s", e.Type, diff)
		}
		if e.MarketID != "701122" || e.Provider != "polymarket" || e.Lane != "SCIENCE" || !e.At.Equal(noon) {
			t.Errorf("%s: %+v", e.Type, e)
		}
		if id, err := uuid.Parse(e.ID); err != nil || id.Version() != 7 {
			t.Errorf("%s has id %q", e.Type, e.ID)
		}
	}
}

// text runs a query that answers one text.
func (b *bundle) text(sql string, args ...any) string {
	b.t.Helper()
	var s string
	if err := b.admin.QueryRow(b.t.Context(), sql, args...).Scan(&s); err != nil {
		b.t.Fatalf("%s: %v", sql, err)
	}
	return s
}

// A market larger than one claim transaction: its results are numbered as far as
// they are there, once each, and everything that goes with them moves once.
func TestFeedDrainFollowsTheResults(t *testing.T) {
	t.Parallel()
	b := setupRules(t, Rules{PriceToleranceBps: 1000, ResolveChunk: 700})
	const n = 2500
	b.venueMarket("701122", 4000)
	b.seedSignals(t.Context(), "701122", n)
	b.exec(`INSERT INTO api.open_signals (signal_id, market_id, created_at) SELECT id, market_id, created_at FROM api.signals`)
	if _, err := b.Claim(t.Context(), resolve.Claim{MarketID: "701122", Verdict: syntax.VerdictYes, Resolver: "admin", Source: "admin"}, noon); err != nil {
		t.Fatal(err)
	}
	if _, err := b.NumberFeed(t.Context(), 500, newUUID); err != nil {
		t.Fatal(err)
	}
	scored, numbered := 0, 0
	for more := true; more; {
		d, err := b.DrainFeed(t.Context(), 300, nil, newUUID)
		if err != nil || d.MarketID != "701122" || d.Ended {
			t.Fatalf("%+v, %v", d, err)
		}
		if numbered += d.Numbered; !d.Blocked {
			continue
		}
		if numbered != scored {
			t.Fatalf("%d numbered of %d scored", numbered, scored)
		}
		if other, err := b.DrainFeed(t.Context(), 300, []string{"701122"}, newUUID); err != nil || other.MarketID != "" {
			t.Fatalf("a market to pass over was drained: %+v, %v", other, err)
		}
		var tally resolve.Tally
		if tally, more, err = b.DrainOnce(t.Context(), "701122"); err != nil {
			t.Fatal(err)
		}
		scored += int(tally.Scored)
	}
	b.number()
	users := make(map[string]int)
	for _, e := range b.events()[1:] {
		if e.Type != feed.SignalResolved {
			t.Fatalf("event %d is %s", e.Seq, e.Type)
		}
		users[e.Handle]++
	}
	if len(users) != n || slices.Max(slices.Collect(maps.Values(users))) != 1 {
		t.Errorf("%d operators in the feed, want %d once each", len(users), n)
	}
	if left := b.count(`SELECT count(*) FROM api.open_signals`) + b.count(`SELECT count(*) FROM api.feed_drains`); left != 0 {
		t.Errorf("%d rows left", left)
	}
	wrong := b.count(`SELECT count(*) FROM api.signal_results r LEFT JOIN api.operator_lane_scores o ON o.user_id = r.user_id AND o.lane = 'SCIENCE'
		WHERE o.score IS DISTINCT FROM r.score OR o.won + o.lost + o.void <> 1`)
	if wrong != 0 {
		t.Errorf("%d scores by lane are wrong", wrong)
	}
}

// fill puts a mixed feed of n events and gives them.
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

// A page is what filtering the whole feed gives, in both directions.
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
		{Handle: "nobody"},
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
			var got []int64
			for more := true; more; {
				p, err := b.ListFeedEvents(t.Context(), q)
				if err != nil {
					t.Fatal(err)
				}
				for _, e := range p.Events {
					got = append(got, e.Seq)
				}
				more, q.From = p.More, p.Next
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%+v (-want +got):\n%s", q, diff)
			}
		}
	}
}

// Reading one channel gives the events that the rules put on it, and their
// links agree with the chain over the whole feed.
func TestFeedChannels(t *testing.T) {
	t.Parallel()
	b := setup(t)
	all := b.fill(120)
	messages, err := feed.NewChain(b.Store).Link(t.Context(), all)
	if err != nil {
		t.Fatal(err)
	}
	type place struct{ Seq, Prev int64 }
	on := make(map[feed.Channel][]place)
	for _, m := range messages {
		for _, l := range m.Links {
			on[l.Channel] = append(on[l.Channel], place{m.Seq, l.Prev})
		}
	}
	on[feed.MarketChannel("404")], on[feed.OperatorChannel("nobody")], on[feed.LaneChannel("SPORT")] = nil, nil, nil
	if len(on) != 12 {
		t.Errorf("%d channels: %v", len(on), slices.Collect(maps.Keys(on)))
	}
	for c, want := range on {
		for _, after := range []int64{0, 1, 57, 119, 120} {
			before, err := b.FeedHeads(t.Context(), after, []feed.Channel{c})
			if err != nil {
				t.Fatal(err)
			}
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

// A chain that starts in the middle, or was thrown back, links as one that saw all.
func TestChainRestarts(t *testing.T) {
	t.Parallel()
	b := setup(t)
	all := b.fill(120)
	want, err := feed.NewChain(b.Store).Link(t.Context(), all)
	if err != nil {
		t.Fatal(err)
	}
	c := feed.NewChain(b.Store)
	for range 50 {
		from := rand.N(len(all))
		to := from + 1 + rand.N(len(all)-from)
		got, err := c.Link(t.Context(), all[from:to])
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want[from:to], got); diff != "" {
			t.Fatalf("%d to %d (-want +got):\n%s", from, to, diff)
		}
	}
}

func TestKeepFeed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	partitions := func() int {
		return b.count(`SELECT count(*) FROM pg_inherits WHERE inhparent = 'api.protocol_events'::regclass`)
	}
	before := partitions()
	for i := range 2 {
		if err := b.KeepFeed(t.Context(), noon, 90); err != nil {
			t.Fatal(err)
		}
		if got := partitions() - before; got != 4 {
			t.Errorf("run %d: %d new partitions, want 4", i, got)
		}
	}
	b.fill(10)
	if n := b.count(`SELECT count(*) FROM ` + fmt.Sprintf("api.protocol_events_%s", noon.Format("20060102"))); n != 10 {
		t.Errorf("%d events in today's partition", n)
	}
	if err := b.KeepFeed(t.Context(), noon.Add(92*24*time.Hour), 90); err != nil {
		t.Fatal(err)
	}
	oldest, err := b.FeedOldest(t.Context())
	if err != nil || oldest != 11 {
		t.Errorf("oldest is %d, %v; the day was not dropped", oldest, err)
	}
}
