package postgres

import (
	"fmt"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/signal"
)

// TestMaxSlippage checks that a call is rejected if the price is worse than its stated price by more than maxSlippageBps.
func TestMaxSlippage(t *testing.T) {
	t.Parallel()
	b := setupRules(t, Rules{PastEndIsProvisional: true, ResolveChunk: 1, QuoteMaxAge: 15 * time.Second})
	b.venueMarket("7", 3000)
	b.quote("7", 3100, 7100)
	b.nativeMarket("native-aaaaaaaaaa", 5000)
	b.venueMarket("9", 7000)
	b.quote("9", 7100, 3100)
	b.venueMarket("8", 3000)
	b.exec(`UPDATE api.markets SET status = 'closed' WHERE market_id = '8'`)
	n := 0
	for _, c := range []struct {
		market        string
		side          protocol.Side
		stated, limit int
		venue         signal.VenueState
		later         time.Duration
		want          signal.Verdict
	}{
		{"7", protocol.Yes, 3000, 100, 0, 0, signal.VerdictFiled},
		{"7", protocol.Yes, 3000, 99, 0, 0, signal.VerdictMoved},
		{"7", protocol.No, 7300, 0, 0, 0, signal.VerdictFiled},
		{"7", protocol.No, 3000, 99, 0, 0, signal.VerdictMoved}, // converted to 7000
		{"7", protocol.No, 3000, 100, 0, 0, signal.VerdictFiled},
		{"7", protocol.No, 1, 0, 0, 0, signal.VerdictMoved}, // not converted: a NO price of 9999 would be out of bounds at 7100
		{"7", protocol.No, 500, 200, 0, 0, signal.VerdictMoved},
		{"9", protocol.No, 7000, 200, 0, 0, signal.VerdictFiled}, // converted to 3000
		{"9", protocol.No, 7500, 200, 0, 0, signal.VerdictMoved}, // neither 7500 nor 2500 is what NO costs
		{"9", protocol.No, 3500, 200, 0, 0, signal.VerdictFiled},
		{"native-aaaaaaaaaa", protocol.Yes, 4000, 200, 0, 0, signal.VerdictMoved},
		{"8", protocol.Yes, 0, 0, 0, 0, signal.VerdictProvisional},
		{"404", protocol.Yes, 0, 0, 0, 0, signal.VerdictUnknown},
		{"7", protocol.Yes, 3000, 10_000, 0, time.Minute, signal.VerdictQuote},
		{"7", protocol.Yes, 3000, 10_000, signal.VenueRequested, 0, signal.VerdictUnverified},
		{"7", protocol.Yes, 3000, 10_000, signal.VenueSkipped, 0, signal.VerdictFiled},
	} {
		n++
		b.clock.Advance(c.later)
		before := b.count(`SELECT count(*) FROM api.signals`)
		_, hash := b.operator(fmt.Sprintf("slip%d", n))
		d := newDraft(c.market, c.side, c.stated)
		d.Venue, d.MaxSlippage = c.venue, new(protocol.Bps(c.limit))
		f := b.requireVerdict(hash, d, c.want)
		if stored := b.count(`SELECT count(*) FROM api.signals`) - before; (stored == 1) != (c.want == signal.VerdictFiled) {
			t.Errorf("case %+v stored %d calls", c, stored)
		}
		if c.want == signal.VerdictMoved && c.market == "7" && (*f.Prices.Yes != 3100 || *f.Prices.No != 7100 || *f.Prices.MarketYes != 3000) {
			t.Errorf("case %+v: answer %+v", c, f.Prices)
		}
	}
}

// TestAllowUnverifiedKeepsTheBound checks that allowUnverified accepts a call without a fresh quote. maxSlippageBps still
// rejects a moved price, even if the quote arrives during the request to the venue.
func TestAllowUnverifiedKeepsTheBound(t *testing.T) {
	t.Parallel()
	b := setupRules(t, Rules{PastEndIsProvisional: true, ResolveChunk: 1, QuoteMaxAge: 15 * time.Second})
	b.venueMarket("fresh", 3000)
	b.venueMarket("stale", 3000)
	b.quote("stale", 3100, 7100)
	b.clock.Advance(time.Minute)
	b.quote("fresh", 3100, 7100)
	b.nativeMarket("native-aaaaaaaaaa", 5000)
	b.stub("stub")
	for i, c := range []struct {
		name     string
		market   string
		stated   int
		venue    signal.VenueState
		want     signal.Verdict
		verified bool
	}{
		{"before the request to the venue", "stale", 3000, signal.VenueNotRequested, signal.VerdictQuote, false},
		{"no quote", "stale", 0, signal.VenueRequested, signal.VerdictFiled, false},
		{"no quote in a dry run", "stale", 0, signal.VenueSkipped, signal.VerdictFiled, false},
		{"the venue denies the market", "stale", 0, signal.VenueHasNoMarket, signal.VerdictProvisional, false},
		{"within the bound", "fresh", 2900, signal.VenueNotRequested, signal.VerdictFiled, true},
		{"moved", "fresh", 2899, signal.VenueNotRequested, signal.VerdictMoved, true},
		{"moved during the request to the venue", "fresh", 2899, signal.VenueRequested, signal.VerdictMoved, true},
		{"moved in a dry run", "fresh", 2899, signal.VenueSkipped, signal.VerdictMoved, true},
		{"moved native market", "native-aaaaaaaaaa", 4000, signal.VenueNotRequested, signal.VerdictMoved, true},
		{"unconfirmed market", "stub", 3000, signal.VenueRequested, signal.VerdictFiled, false},
		{"unconfirmed market that the venue denies", "stub", 3000, signal.VenueHasNoMarket, signal.VerdictAbsent, false},
	} {
		before := b.count(`SELECT (SELECT count(*) FROM api.signals) + (SELECT count(*) FROM api.unconfirmed_signals)`)
		_, hash := b.operator(fmt.Sprintf("allow%d", i))
		d := newDraft(c.market, protocol.Yes, c.stated)
		d.Venue, d.MaxSlippage, d.AllowUnverified = c.venue, new(protocol.Bps(200)), true
		f := b.try(signal.Caller{KeyHash: hash}, d)
		if f.Verdict != c.want || f.Prices.Verified != c.verified {
			t.Errorf("%s: verdict %s, verified %v; want %s, %v", c.name, f.Verdict, f.Prices.Verified, c.want, c.verified)
		}
		stored := b.count(`SELECT (SELECT count(*) FROM api.signals) + (SELECT count(*) FROM api.unconfirmed_signals)`) - before
		if (stored == 1) != (c.want == signal.VerdictFiled) {
			t.Errorf("%s: %d calls were stored", c.name, stored)
		}
		if c.want == signal.VerdictFiled && !c.verified && int(f.Prices.Basis) != c.stated {
			t.Errorf("%s: the scoring price is %d; want the stated %d", c.name, f.Prices.Basis, c.stated)
		}
	}
}
