package postgres

import (
	"fmt"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/search"
	"github.com/signalcast/signalcast/services/api/internal/signal"
)

// confident files a call with the given confidence in percent, or without a confidence if it is 0, and returns the id of the
// call.
func (b *bundle) confident(hash []byte, id string, side protocol.Side, confidence int) string {
	b.t.Helper()
	d := newDraft(id, side, 3000)
	d.Venue = signal.VenueRequested
	if confidence > 0 {
		d.Confidence = &confidence
	}
	if got := b.try(signal.Caller{KeyHash: hash}, d); got.Verdict != signal.VerdictFiled {
		b.t.Fatalf("filing: %+v", got)
	}
	return d.ID
}

func TestSentiment(t *testing.T) {
	t.Parallel()
	b := setup(t)
	keys := b.operators(8)
	b.apply(true, b.answer("1", 3000, func(r *market.Record) {
		end := noon.Add(400 * time.Hour)
		r.EndDate = &end
	}))
	id := b.confident(keys[0], "1", protocol.Yes, 80)
	b.confident(keys[1], "1", protocol.Yes, 0)
	b.clock.Advance(25 * time.Hour)
	no := b.confident(keys[2], "1", protocol.No, 70)
	b.confident(keys[3], "1", protocol.No, 60)
	for _, one := range []string{id, id, no} {
		b.exec(`INSERT INTO api.signal_events (id, signal_id, type, payload, created_at) VALUES (gen_random_uuid(), $1, 'take', '{}', $2)`, one, noon)
	}
	b.exec(`INSERT INTO api.signal_events (id, signal_id, type, payload, created_at) VALUES (gen_random_uuid(), $1, 'note', '{}', $2)`, id, noon)
	b.exec(`UPDATE api.users SET operator_type = 'system_bot' WHERE handle = 'op4'`)
	b.confident(keys[4], "1", protocol.Yes, 100)
	s := search.NewService(b.Store, b.clock.Now)
	got, err := s.Sentiment(t.Context(), "1")
	if err != nil {
		t.Fatal(err)
	}
	if got.Yes != 2 || got.No != 2 || got.WeightYes != 1.3 || got.WeightNo != 1.3 || *got.ConfidenceYes != 80 || *got.ConfidenceNo != 65 ||
		got.TakesYes != 2 || got.TakesNo != 1 || got.Signals24h != 2 || got.Before == nil || *got.Before != 3000 || !got.UpdatedAt.Equal(b.clock.Now()) {
		t.Errorf("sentiment: %+v", got)
	}
	text, empty := "It will rise.", ""
	for i, take := range []*string{&text, &empty, nil} { // only a text that is not empty is a take
		d := newDraft("1", protocol.No, 7000)
		d.TextTake, d.Venue = take, signal.VenueRequested
		if f := b.try(signal.Caller{KeyHash: keys[5+i]}, d); f.Verdict != signal.VerdictFiled {
			t.Fatalf("call with text: %s", f.Verdict)
		}
	}
	if n := b.count(`SELECT takes FROM api.market_takes WHERE market_id = '1'`); n != 4 {
		t.Errorf("%d takes of the market, want 3 events and 1 call with a text", n)
	}
	b.clock.Advance(time.Minute) // the first answer is cached
	if got, err = s.Sentiment(t.Context(), "1"); err != nil || got.TakesNo != 2 || got.No != 5 {
		t.Errorf("sentiment with a text: %d takes of %d NO calls, %v; want 2 of 5", got.TakesNo, got.No, err)
	}
	if got, err = s.Sentiment(t.Context(), "999"); err != nil || got.Yes+got.No != 0 || got.WeightYes != 0 || got.ConfidenceNo != nil || got.Before != nil {
		t.Errorf("market without calls: %+v %v", got, err)
	}
}

func TestListGaps(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for i, price := range []int{3000, 3000, 9900, 5000, 5000} {
		b.venueMarket(fmt.Sprint(i+1), price)
	}
	b.nativeMarket("native-aaaaaaaaaaaa", 5000)
	for id, sides := range map[string][2]int{
		"1": {3, 0}, "2": {2, 2}, "3": {1, 1}, "4": {0, 9}, "5": {0, 3}, "native-aaaaaaaaaaaa": {3, 1},
	} {
		b.exec(`INSERT INTO api.market_totals (market_id, yes, no, crowd_yes, crowd_no) VALUES ($1, $2 + 5, $3, $2, $3)`, id, sides[0], sides[1])
	}
	b.claim("4", protocol.VerdictNo)
	b.exec(`UPDATE api.market_quotes SET at = $1 WHERE market_id = '5'`, noon.Add(-time.Hour))
	s := search.NewService(b.Store, b.clock.Now)
	list := func(id protocol.MarketID, limit int) string {
		t.Helper()
		return fmt.Sprint(must(s.Gaps(t.Context(), id, limit))(t))
	}
	// The crowd and the price are 10000 and 3000, 5000 and 3000, 7500 and 5833 bps. The other markets have too few calls,
	// are resolved, or have no price.
	if got := list("", 0); got != "[{1 3 0} {2 2 2} {native-aaaaaaaaaaaa 3 1}]" {
		t.Error(got)
	}
	if got := list("", 1); got != "[{1 3 0}]" {
		t.Error(got)
	}
	if got := list("2", 20) + list("3", 20) + list("999", 20); got != "[{2 2 2}][][]" {
		t.Error(got)
	}
}

// TestListAddresses checks that addresses name confirmed markets and operators with a call, without hidden ones, and that an offset
// and a limit select a part of them.
func TestListAddresses(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for i := range 3 {
		b.venueMarket(fmt.Sprint(i+1), 3000)
	}
	b.stub("kalshi-STUB")
	for _, hash := range b.operators(3)[:2] {
		b.file(hash, "1", protocol.Yes, 3000)
	}
	b.moderate("market", "2", true)
	b.moderate("profile", "op1", true)
	s := search.NewService(b.Store, b.clock.Now)
	for _, c := range []struct {
		offset int64
		limit  int
		want   string
	}{{0, 9, "[{1 } {3 } { op0}] 3 <nil>"}, {1, 1, "[{3 }] 3 <nil>"}, {3, 9, "[] 3 <nil>"}} {
		got, total, err := s.Addresses(t.Context(), c.offset, c.limit)
		if text := fmt.Sprint(got, total, err); text != c.want {
			t.Errorf("from %d, %d: %s; want %s", c.offset, c.limit, text, c.want)
		}
	}
	b.exec(`UPDATE api.users SET erased_at = now() WHERE handle = 'op0'`)
	if got, total, err := s.Addresses(t.Context(), 0, 9); fmt.Sprint(got, total, err) != "[{1 } {3 }] 2 <nil>" {
		t.Errorf("with a deleted account: %v %d %v", got, total, err)
	}
}
