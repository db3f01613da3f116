package postgres

import (
	"encoding/json"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/feed"
	"github.com/signalcast/signalcast/services/api/internal/resolution"
	"github.com/signalcast/signalcast/services/api/internal/signal"
)

func newUUID() string { return uuid.Must(uuid.NewV7()).String() }

// number moves all outbox entries and the results of every resolved market into the feed.
func (b *bundle) number() {
	b.t.Helper()
	for {
		n := must(b.NumberFeed(b.t.Context(), 500))(b.t)
		if d := must(b.DrainFeed(b.t.Context(), 1000, nil))(b.t); n == 0 && d.MarketID == "" {
			return
		}
	}
}

// events returns the whole feed. It fails the test if the sequence numbers have a gap.
func (b *bundle) events() []feed.Event {
	b.t.Helper()
	events := must(b.ListFeedAfter(b.t.Context(), 0, 1_000_000))(b.t)
	for i, e := range events {
		if e.Seq != int64(i)+1 {
			b.t.Fatalf("event %d has number %d", i+1, e.Seq)
		}
	}
	return events
}

// writeLate writes n facts, each in a separate transaction. One transaction in 20 commits with a delay.
func (b *bundle) writeLate(writer, n int) {
	for i := range n {
		tx, err := b.rw.Begin(b.t.Context())
		if err != nil {
			b.t.Error(err)
			return
		}
		_, err = tx.Exec(b.t.Context(), `INSERT INTO outbox (type, data, at) VALUES ('market.status', jsonb_build_object('w', $1::int, 'i', $2::int), $3)`, writer, i, noon)
		if err == nil && rand.N(20) == 0 {
			_, err = tx.Exec(b.t.Context(), `SELECT pg_sleep(0.05)`)
		}
		if err == nil {
			err = tx.Commit(b.t.Context())
		}
		if err != nil {
			b.t.Error(err)
			return
		}
	}
}

// TestFeedNumbersEveryCommitOnce runs writers that commit with delays, and two concurrent sequencers. Every entry must get
// one sequence number without gaps, in the order of the commits of each writer.
func TestFeedNumbersEveryCommitOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const writers, each = 8, 60
	var wg sync.WaitGroup
	var done atomic.Bool
	for w := range writers {
		wg.Go(func() { b.writeLate(w, each) })
	}
	var numbering sync.WaitGroup
	for range 2 {
		numbering.Go(func() {
			for stop := false; !stop; {
				stop = done.Load()
				if _, err := b.NumberFeed(t.Context(), 7); err != nil {
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
			t.Fatalf("writer %d: event %d is numbered after %d", d.W, d.I, seen[d.W])
		}
		seen[d.W]++
	}
	for w := range writers {
		if seen[w] != each {
			t.Errorf("writer %d: %d events, want %d", w, seen[w], each)
		}
	}
	if n := b.count(`SELECT count(*) FROM api.outbox`); n != 0 {
		t.Errorf("%d entries are left in the outbox", n)
	}
}

// TestFeedData checks the data that the feed stores for each event type.
func TestFeedData(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.venueMarket("701122", 3150)
	mara, hash := b.operator("mara_k")
	draft := newDraft("701122", protocol.No, 6850)
	take := `rain "band" <east>`
	draft.TextTake = &take
	if f := b.try(signal.Caller{KeyHash: hash}, draft); f.Verdict != signal.VerdictFiled {
		t.Fatal(f)
	}
	actor, eventID := "owner", newUUID()
	_, err := b.AppendEvent(t.Context(), signal.Caller{KeyHash: hash}, draft.ID, signal.Event{
		ID: eventID, Type: "confidence", Payload: `{"confidence":80}`, Actor: &actor, CreatedAt: noon,
	})
	if err != nil {
		t.Fatal(err)
	}
	b.exec(`INSERT INTO api.outbox (type, market_id, data, at) VALUES ('market.status', '701122', '{"from":"open","to":"closed"}', $1)`, noon)
	reason, proof := "two sources", "https://records.example/1"
	for _, disputed := range []bool{true, false} {
		if _, err := b.Dispute(t.Context(), "701122", disputed, &reason, func() time.Time { return noon }); err != nil {
			t.Fatal(err)
		}
		b.number()
	}
	_, err = b.Claim(t.Context(), resolution.Claim{MarketID: "701122", Verdict: protocol.VerdictNo, Resolver: "oracle", Source: "polymarket", ProofURL: &proof}, func() time.Time { return noon })
	if err != nil {
		t.Fatal(err)
	}
	b.number()
	const at = `"2026-10-10T12:00:00.000Z"`
	const later = `"2026-10-10T12:00:00.001Z"` // later than every call on the market
	const unclaimed = `"marketId": "701122", "marketTitle": "Will it hold?", "outcome": null, "resolver": null, "source": null, "proofUrl": null, "resolvedAt": null`
	receipt := `"id": "` + draft.ID + `", "receiptUrl": "https://hub.example/receipts/` + draft.ID + `", "handle": "mara_k", `
	const title = `"marketId": "701122", "marketTitle": "Will it hold?", `
	want := map[feed.Type]string{
		feed.SignalCreated: `{` + receipt + title + `"operatorPublicId": "` + b.text(`SELECT public_id FROM api.users WHERE id = $1`, mara) + `",
			"direction": "NO", "priceAtPrediction": 6850,
			"crowdYesAtSignal": 3150, "status": "pending", "score": null, "resolvedAt": null, "textTake": "rain \"band\" <east>", "createdAt": ` + at + `,
			"scoreBasisBps": 6850, "priceVerified": true, "rated": true, "counted": null, "marketYesAtSignal": 3150,
			"reason": null, "confirmedAt": null, "quoteAt": ` + at + `, "closesAtSignal": "2026-10-11T12:00:00.000Z"}`,
		feed.SignalEvent: `{` + receipt + title + `"signalId": "` + draft.ID + `", "event": {"id": "` + eventID + `", "type": "confidence",
			"payload": {"confidence": 80}, "actor": "owner", "createdAt": ` + at + `}}`,
		feed.MarketStatus:         `{` + title + `"from": "open", "to": "closed"}`,
		feed.MarketDisputed:       `{` + unclaimed + `, "disputed": true, "disputeReason": "two sources", "disputedAt": ` + later + `}`,
		feed.MarketDisputeCleared: `{` + unclaimed + `, "disputed": false, "disputeReason": null, "disputedAt": null}`,
		feed.MarketResolved: `{` + title + `"outcome": "NO", "resolver": "oracle", "source": "polymarket", "proofUrl": "` + proof + `",
			"resolvedAt": ` + later + `, "disputed": false, "disputeReason": null, "disputedAt": null}`,
		feed.SignalResolved: `{` + receipt + title + `"signalId": "` + draft.ID + `", "status": "won", "score": 31, "clvBps": 0,
			"scoreBasisBps": 6850, "priceVerified": true, "rated": true, "counted": true, "reason": null}`,
	}
	order := []feed.Type{
		feed.SignalCreated, feed.SignalEvent, feed.MarketStatus, feed.MarketDisputed, feed.MarketDisputeCleared, feed.MarketResolved, feed.SignalResolved,
	}
	b.wantFeed(order, want)
}

// TestFeedDataNamesTheSides checks that a new call and the events of an outcome name the sides of a market, unless they are Yes
// and No or the venue has not two names.
func TestFeedDataNamesTheSides(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, hash := b.operator("mara_k")
	for id, c := range map[string]struct{ labels, yesIndex, want string }{
		"1": {`{Ochre Rovers,Slate City}`, "0", `{"no": "Slate City", "yes": "Ochre Rovers"}`},
		"2": {`{Slate City,Ochre Rovers}`, "1", `{"no": "Slate City", "yes": "Ochre Rovers"}`},
		"3": {`{Yes,No}`, "0", ""},
		"4": {`{NO,YES}`, "1", ""},
		"5": {`{No,Yes}`, "0", `{"no": "Yes", "yes": "No"}`},
		"6": {`{Ochre Rovers}`, "0", ""},
		"7": {`{Ochre Rovers,""}`, "0", ""},
		"8": {`{Ochre Rovers,Slate City,Draw}`, "0", ""},
		"9": {`{Ochre Rovers,Slate City}`, "2", ""},
	} {
		b.venueMarket(id, 3150)
		b.exec(`UPDATE api.markets SET outcome_labels = $2, yes_index = $3::text::smallint WHERE market_id = $1`, id, c.labels, c.yesIndex)
		if f := b.try(signal.Caller{KeyHash: hash}, newDraft(id, protocol.No, 6850)); f.Verdict != signal.VerdictFiled {
			t.Fatal(id, f)
		}
		claim := resolution.Claim{MarketID: id, Verdict: protocol.VerdictNo, Resolver: "oracle", Source: "polymarket"}
		if _, err := b.Claim(t.Context(), claim, func() time.Time { return noon }); err != nil {
			t.Fatal(id, err)
		}
		b.number()
		for kind, want := range map[feed.Type]string{feed.SignalCreated: c.want, feed.MarketResolved: c.want, feed.SignalResolved: ""} {
			got := b.text(`SELECT coalesce(data ->> 'sides', '') FROM api.protocol_events WHERE market_id = $1 AND type = $2`, id, string(kind))
			if got != want {
				t.Errorf("%s with YES at %s: %s has sides %q, want %q", c.labels, c.yesIndex, kind, got, want)
			}
		}
	}
}

// TestFeedDataOfEveryRead checks that all reads of the feed return the same data for an event. The data contains the
// market, without its title while an administrator hides it.
func TestFeedDataOfEveryRead(t *testing.T) {
	t.Parallel()
	b := setupRules(t, Rules{PastEndIsProvisional: true, ResolveChunk: 1000, QuoteMaxAge: ageless})
	b.venueMarket("7", 3000)
	_, hash := b.operator("mara_k")
	draft := newDraft("7", protocol.Yes, 3000)
	b.requireVerdict(hash, draft, signal.VerdictFiled)
	actor := "owner"
	event := signal.Event{ID: newUUID(), Type: "confidence", Payload: `{"confidence":80}`, Actor: &actor, CreatedAt: noon}
	if _, err := b.AppendEvent(t.Context(), signal.Caller{KeyHash: hash}, draft.ID, event); err != nil {
		t.Fatal(err)
	}
	b.exec(`INSERT INTO api.outbox (type, market_id, data, at) VALUES ('market.status', '7', '{"from":"open","to":"closed"}', $1)`, noon)
	b.exec(`INSERT INTO api.outbox (type, market_id, at) VALUES ('market.disputed', '7', $1), ('market.dispute_cleared', '7', $1)`, noon)
	b.number()
	b.claim("7", protocol.VerdictYes)
	b.number()
	for _, hidden := range []bool{false, true, false} {
		b.moderate("market", "7", hidden)
		title := "Will it hold?"
		if hidden {
			title = removed
		}
		want := make(map[int64]string)
		for _, e := range b.events() {
			var d struct{ ID, SignalID, MarketID, MarketTitle, Handle, ReceiptURL string }
			if err := json.Unmarshal(e.Data, &d); err != nil {
				t.Fatal(err)
			}
			if d.MarketID != "7" || d.MarketTitle != title {
				t.Errorf("%s, market hidden %v: %s", e.Type, hidden, e.Data)
			}
			if strings.HasPrefix(string(e.Type), "market.") == (d.ReceiptURL == "https://hub.example/receipts/"+draft.ID && d.Handle == "mara_k") {
				t.Errorf("wrong receipt URL or handle in %s: %s", e.Type, e.Data)
			}
			want[e.Seq] = string(e.Data)
		}
		page, err := b.ListFeedEvents(t.Context(), feed.Query{Limit: 50})
		if err != nil || len(page.Events) != len(want) || len(want) != 8 {
			t.Fatalf("%d of %d events, %v", len(page.Events), len(want), err)
		}
		for _, e := range page.Events {
			if string(e.Data) != want[e.Seq] {
				t.Errorf("%s on a page: %s; want %s", e.Type, e.Data, want[e.Seq])
			}
		}
		for c, n := range map[feed.Channel]int{
			feed.MarketChannel("7"): 7, feed.OperatorChannel("mara_k"): 3, feed.MeChannel("mara_k"): 3,
			feed.Signals: 3, feed.LaneChannel("SCIENCE"): 3, feed.Resolutions: 3,
		} {
			list, _, err := b.ListFeedChannel(t.Context(), c, 0, 50, 50)
			if err != nil || len(list) != n {
				t.Fatalf("%s: %d events, %v; want %d", c, len(list), err, n)
			}
			for _, m := range list {
				if string(m.Data) != want[m.Seq] {
					t.Errorf("%s on %s: %s; want %s", m.Type, c, m.Data, want[m.Seq])
				}
			}
		}
	}
}

// wantFeed compares the whole feed with the expected types, in order, and the expected data of each type. All events must be
// about market 701122 and dated about noon.
func (b *bundle) wantFeed(order []feed.Type, want map[feed.Type]string) {
	b.t.Helper()
	events := b.events()
	if len(events) != len(order) {
		b.t.Fatalf("%d events, want %d", len(events), len(order))
	}
	for i, e := range events {
		var got, data any
		if err := errors.Join(json.Unmarshal(e.Data, &got), json.Unmarshal([]byte(want[e.Type]), &data)); err != nil {
			b.t.Fatal(err)
		}
		if diff := cmp.Diff(data, got); diff != "" || e.Type != order[i] {
			b.t.Errorf("event %d is %s, want %s (-want +got):\n%s", i+1, e.Type, order[i], diff)
		}
		if e.MarketID != "701122" || e.Provider != "polymarket" || e.Lane != "SCIENCE" || e.At.Sub(noon) > time.Millisecond {
			b.t.Errorf("wrong market or time of %s: %+v", e.Type, e)
		}
		if id, err := uuid.Parse(e.ID); err != nil || id.Version() != 7 {
			b.t.Errorf("%s has id %q", e.Type, e.ID)
		}
	}
}

// text executes a query that returns one text, and returns it.
func (b *bundle) text(sql string, args ...any) string {
	b.t.Helper()
	var s string
	if err := b.admin.QueryRow(b.t.Context(), sql, args...).Scan(&s); err != nil {
		b.t.Fatalf("%s: %v", sql, err)
	}
	return s
}

// TestFeedDrainFollowsTheResults resolves a market with more calls than one claim transaction scores. Each result must be in
// the feed once, as soon as it is stored, and each derived counter must change once.
func TestFeedDrainFollowsTheResults(t *testing.T) {
	t.Parallel()
	b := setupRules(t, Rules{PriceToleranceBps: 1000, ResolveChunk: 700})
	const n = 2500
	b.venueMarket("701122", 4000)
	b.seedSignals(t.Context(), "701122", n)
	b.exec(`INSERT INTO api.open_signals (signal_id, market_id, created_at) SELECT id, market_id, created_at FROM api.signals`)
	if _, err := b.Claim(t.Context(), resolution.Claim{MarketID: "701122", Verdict: protocol.VerdictYes, Resolver: "admin", Source: "admin"}, func() time.Time { return noon }); err != nil {
		t.Fatal(err)
	}
	if _, err := b.NumberFeed(t.Context(), 500); err != nil {
		t.Fatal(err)
	}
	scored, numbered := 0, 0
	for more := true; more; {
		d, err := b.DrainFeed(t.Context(), 300, nil)
		if err != nil || d.MarketID != "701122" || d.Ended {
			t.Fatalf("drain: %+v, %v", d, err)
		}
		if numbered += d.Numbered; !d.Blocked {
			continue
		}
		if numbered != scored {
			t.Fatalf("%d numbered of %d scored", numbered, scored)
		}
		if other, err := b.DrainFeed(t.Context(), 300, []string{"701122"}); err != nil || other.MarketID != "" {
			t.Fatalf("a skipped market was drained: %+v, %v", other, err)
		}
		var tally resolution.Tally
		if tally, more, err = b.DrainOnce(t.Context(), "701122"); err != nil {
			t.Fatal(err)
		}
		if tally.Scored > 0 {
			scored = b.count(`SELECT count(*) FROM api.signal_results`) + b.count(`SELECT count(*) FROM api.moments`)
		}
	}
	b.number()
	users := make(map[string]int)
	before, minted := feed.Event{}, 0
	for _, e := range b.events()[1:] {
		switch e.Type {
		case feed.SignalResolved:
			users[e.Handle]++
		case feed.MomentMinted:
			minted++
			if before.Type != feed.SignalResolved || before.Handle != e.Handle || !strings.Contains(string(before.Data), `"status":"won"`) {
				t.Fatalf("moment %d follows %s of %s", e.Seq, before.Type, before.Handle)
			}
		default:
			t.Fatalf("event %d is %s", e.Seq, e.Type)
		}
		before = e
	}
	if minted == 0 || minted != b.count(`SELECT count(*) FROM api.moments m JOIN api.protocol_events e ON e.signal_id = m.signal_id AND e.type = 'moment.minted'
		AND e.data ->> 'id' = m.id::text AND e.data ->> 'tier' = m.tier AND (e.data ->> 'oddsBps')::integer = m.odds_bps`) {
		t.Errorf("%d moments are in the feed", minted)
	}
	if len(users) != n || slices.Max(slices.Collect(maps.Values(users))) != 1 {
		t.Errorf("%d operators are in the feed, want %d once each", len(users), n)
	}
	if left := b.count(`SELECT count(*) FROM api.open_signals`) + b.count(`SELECT count(*) FROM api.feed_drains`); left != 0 {
		t.Errorf("%d rows are left", left)
	}
	wrong := b.count(`SELECT count(*) FROM api.signal_results r LEFT JOIN api.operator_lane_scores o ON o.user_id = r.user_id AND o.lane = 'SCIENCE'
		WHERE o.score IS DISTINCT FROM r.score OR o.won + o.lost + o.void <> 1`)
	if wrong != 0 {
		t.Errorf("%d scores by lane are wrong", wrong)
	}
}
