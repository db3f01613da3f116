package postgres

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/resolution"
	"github.com/signalcast/signalcast/services/api/internal/signal"
)

// storedPrices contains the price columns of a stored call.
type storedPrices struct {
	price, basis    int
	verified, rated bool
	middle          *int
	quoted          *time.Time
}

func (b *bundle) pricesOf(id string) (p storedPrices) {
	b.t.Helper()
	err := b.admin.QueryRow(b.t.Context(), `SELECT price_bps, score_basis_bps, price_verified, rated, market_yes_bps, quote_at FROM api.signals WHERE id = $1`, id).
		Scan(&p.price, &p.basis, &p.verified, &p.rated, &p.middle, &p.quoted)
	if err != nil {
		b.t.Fatal(err)
	}
	return p
}

// requireVerdict files a call, fails the test if its verdict is not want, and returns the answer.
func (b *bundle) requireVerdict(hash []byte, d signal.Draft, want signal.Verdict) signal.Filing {
	b.t.Helper()
	f := b.try(signal.Caller{KeyHash: hash}, d)
	if f.Verdict != want {
		b.t.Fatalf("call on %s: %+v, want %s", d.MarketID, f, want)
	}
	return f
}

// TestFilingPricesAsDefined compares the prices that the filing statement stores with storedPrice and scoringPrice.
func TestFilingPricesAsDefined(t *testing.T) {
	t.Parallel()
	b := setupRules(t, Rules{PriceToleranceBps: 150, PastEndIsProvisional: true, ResolveChunk: 1, QuoteMaxAge: ageless})
	n := 0
	for _, middle := range []int{1, 3000, 5000, 7777, 9999} {
		for _, side := range []protocol.Side{protocol.Yes, protocol.No} {
			for _, price := range []int{0, 1, 100, 3000, 5000, 6850, 9999, 10000} {
				n++
				market := fmt.Sprint(700000 + n)
				b.venueMarket(market, middle)
				yes, no := min(middle+100, 9999), min(10_000-middle+100, 9999)
				b.quote(market, yes, no)
				_, hash := b.operator(fmt.Sprintf("pricer%d", n))
				id := b.file(hash, market, side, price)
				snap, of := protocol.Bps(middle), protocol.Bps(yes)
				if side == protocol.No {
					of = protocol.Bps(no)
				}
				stated := storedPrice(side, protocol.Bps(price), &snap)
				basis := scoringPrice(stated, &of, 150)
				if got := b.pricesOf(id); got.price != int(stated) || got.basis != int(basis) || !got.verified || *got.middle != middle {
					t.Errorf("%s at %d, middle %d: stored %+v, want %d/%d", side, price, middle, got, stated, basis)
				}
			}
		}
	}
}

// TestVerifiedBasisIsNotBelowThePriceOfTheSide checks the scoring prices of calls at a quote with bid 2900 and ask 3100.
func TestVerifiedBasisIsNotBelowThePriceOfTheSide(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for i, c := range []struct {
		side          protocol.Side
		stated, basis int
	}{{protocol.Yes, 3000, 3100}, {protocol.No, 6850, 7100}, {protocol.Yes, 3400, 3400}, {protocol.Yes, 0, 3100}} {
		market := fmt.Sprint(900 + i)
		b.venueMarket(market, 3000)
		b.quote(market, 3100, 7100)
		b.clock.Advance(time.Second)
		_, hash := b.operator(fmt.Sprintf("vector%d", i))
		d := newDraft(market, c.side, c.stated)
		f := b.requireVerdict(hash, d, signal.VerdictFiled)
		got := b.pricesOf(d.ID)
		if got.price != c.stated || got.basis != c.basis || !got.verified || got.quoted == nil || !got.quoted.Equal(b.clock.Now().Add(-time.Second)) {
			t.Errorf("%s stated %d: %+v, want %d", c.side, c.stated, got, c.basis)
		}
		if p := f.Prices; int(p.Stated) != c.stated || int(p.Basis) != c.basis || !p.Verified || *p.MarketYes != 3000 || *p.Yes != 3100 || *p.No != 7100 {
			t.Errorf("%s stated %d: answer %+v", c.side, c.stated, p)
		}
		if n := b.count(`SELECT count(*) FROM api.quotes q JOIN api.signals s ON s.market_id = q.market_id AND s.quote_at = q.at
			WHERE s.id = $1 AND q.yes_price_bps = 3100 AND q.no_price_bps = 7100 AND q.rule = 'test'`, d.ID); n != 1 {
			t.Errorf("%d quotes of the call are stored, want 1", n)
		}
	}
}

// TestNativeBasisIsNotBelowTheInitialPrice checks the scoring prices of calls on native markets with a crowd price of 1429
// and an initial price of 5000.
func TestNativeBasisIsNotBelowTheInitialPrice(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.nativeMarket("native-aaaaaaaaaa", 5000)
	b.exec(`UPDATE api.market_quotes SET yes_bps = 1429 WHERE market_id = 'native-aaaaaaaaaa'`)
	for i, c := range []struct {
		side          protocol.Side
		stated, basis int
	}{{protocol.Yes, 1000, 5000}, {protocol.No, 8571, 8571}, {protocol.No, 7000, 8571}} {
		market := fmt.Sprintf("native-bbbbbbbbb%d", i)
		b.nativeMarket(market, 5000)
		b.exec(`UPDATE api.market_quotes SET yes_bps = 1429 WHERE market_id = $1`, market)
		_, hash := b.operator(fmt.Sprintf("native%d", i))
		d := newDraft(market, c.side, c.stated)
		b.requireVerdict(hash, d, signal.VerdictFiled)
		if got := b.pricesOf(d.ID); got.basis != c.basis || !got.verified || !got.rated || got.quoted != nil || *got.middle != 1429 {
			t.Errorf("%s stated %d: %+v, want %d", c.side, c.stated, got, c.basis)
		}
	}
	if n := b.count(`SELECT count(*) FROM api.quotes`); n != 0 {
		t.Errorf("%d quotes of native markets are stored, want 0", n)
	}
}

// TestCallWithoutAFreshQuote checks that a call without a fresh quote is not filed before its venue was requested. After the
// request it is stored unverified at its stated price.
func TestCallWithoutAFreshQuote(t *testing.T) {
	t.Parallel()
	b := setupRules(t, Rules{PastEndIsProvisional: true, ResolveChunk: 1, QuoteMaxAge: 15 * time.Second})
	b.venueMarket("7", 3000)
	b.quote("7", 3100, 7100)
	_, hash := b.operator("old")
	_, other := b.operator("young")
	b.clock.Advance(15 * time.Second)
	b.requireVerdict(other, newDraft("7", protocol.Yes, 2000), signal.VerdictFiled)
	b.clock.Advance(time.Millisecond)
	d := newDraft("7", protocol.No, 3000)
	b.requireVerdict(hash, d, signal.VerdictQuote)
	if n := b.count(`SELECT count(*) FROM api.signals`); n != 1 {
		t.Fatalf("%d calls are stored, want 1", n)
	}
	d.Venue = signal.VenueRequested
	f := b.requireVerdict(hash, d, signal.VerdictFiled)
	// The middle price is at most 15 minutes old, so it converts the stated price and is stored.
	if got := b.pricesOf(d.ID); got.price != 7000 || got.basis != 7000 || got.verified || got.quoted != nil || *got.middle != 3000 {
		t.Errorf("stored %+v", got)
	}
	if p := f.Prices; p.Verified || p.Yes != nil || p.No != nil || fmt.Sprint(p.Warnings(d)) != "[price_converted price_unverified]" {
		t.Errorf("answer %+v", p)
	}
	b.clock.Advance(15 * time.Minute)
	d = newDraft("7", protocol.No, 3000)
	d.Venue = signal.VenueRequested
	_, third := b.operator("older")
	b.requireVerdict(third, d, signal.VerdictFiled)
	if got := b.pricesOf(d.ID); got.price != 3000 || got.basis != 3000 || got.middle != nil {
		t.Errorf("stored %+v", got)
	}
	d = newDraft("7", protocol.No, 3000)
	d.Venue = signal.VenueHasNoMarket
	_, fourth := b.operator("denied")
	b.requireVerdict(fourth, d, signal.VerdictProvisional)
}

// TestDuplicateIsReportedBeforePrices checks that an earlier call of the operator is reported before a needed request to the
// venue and before a moved price.
func TestDuplicateIsReportedBeforePrices(t *testing.T) {
	t.Parallel()
	b := setupRules(t, Rules{PastEndIsProvisional: true, ResolveChunk: 1, QuoteMaxAge: 15 * time.Second})
	b.venueMarket("7", 3000)
	_, hash := b.operator("twice")
	first := b.file(hash, "7", protocol.Yes, 3000)
	moved := newDraft("7", protocol.Yes, 100)
	moved.MaxSlippage = new(protocol.Bps(0))
	for _, d := range []signal.Draft{newDraft("7", protocol.Yes, 3000), moved} {
		if f := b.requireVerdict(hash, d, signal.VerdictDuplicate); f.FirstID != first {
			t.Errorf("second call: %+v; want a duplicate of the first call", f)
		}
		b.clock.Advance(time.Minute)
		if f := b.requireVerdict(hash, d, signal.VerdictDuplicate); f.FirstID != first {
			t.Errorf("without a fresh quote: %+v", f)
		}
	}
}

// TestRatedAtTheCall checks that a stored call records whether its market was rated at that time.
func TestRatedAtTheCall(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		rules  Rules
		market string
		change string
		want   bool
	}{
		{"enough volume", Rules{RatedMinVolumeUSD: 10_000}, "7", `UPDATE api.market_quotes SET volume_usd = 10000`, true},
		{"little volume", Rules{RatedMinVolumeUSD: 10_000}, "7", `UPDATE api.market_quotes SET volume_usd = 9999.99`, false},
		{"no volume", Rules{RatedMinVolumeUSD: 10_000}, "7", `UPDATE api.market_quotes SET volume_usd = NULL`, false},
		{"no least volume", Rules{}, "7", `UPDATE api.market_quotes SET volume_usd = NULL`, true},
		{"set unrated by an administrator", Rules{}, "7", `UPDATE api.markets SET rated_ruling = false`, false},
		{"set rated by an administrator", Rules{RatedMinVolumeUSD: 10_000}, "7", `UPDATE api.markets SET rated_ruling = true`, true},
		{"native of an admin", Rules{}, "native-aaaaaaaaaa", `SELECT`, true},
		{"native of an operator", Rules{}, "native-aaaaaaaaaa", `UPDATE api.markets SET created_by = '0199f0a4-0000-7000-8000-000000000001'`, false},
		{"native without a creator", Rules{}, "native-aaaaaaaaaa", `UPDATE api.markets SET created_by = NULL`, false},
		{"no creators", Rules{}, "7", `UPDATE api.markets SET provider = 'manifold', creator = 'ann'`, false},
		{"another creator", Rules{RatedCreators: []string{"bob"}}, "7", `UPDATE api.markets SET provider = 'manifold', creator = 'ann'`, false},
		{"a creator", Rules{RatedCreators: []string{"bob", "ann"}}, "7", `UPDATE api.markets SET provider = 'manifold', creator = 'ann'`, true},
		{"all creators", Rules{RatedCreators: []string{"*"}}, "7", `UPDATE api.markets SET provider = 'manifold', creator = 'ann'`, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.rules.QuoteMaxAge, c.rules.ResolveChunk = ageless, 1
			b := setupRules(t, c.rules)
			if c.market == "7" {
				b.venueMarket("7", 3000)
			} else {
				b.nativeMarket(c.market, 3000)
			}
			b.exec(c.change)
			if m, _, err := b.FindMarket(t.Context(), protocol.MarketID(c.market)); err != nil || m.Rated != c.want {
				t.Errorf("market: rated %v, %v", m.Rated, err)
			}
			_, hash := b.operator("rated")
			d := newDraft(c.market, protocol.Yes, 3000)
			f := b.requireVerdict(hash, d, signal.VerdictFiled)
			if got := b.pricesOf(d.ID).rated; got != c.want || f.Prices.Rated != c.want || slices.Contains(f.Prices.Warnings(d), "market_unrated") == c.want {
				t.Errorf("stored call: rated %v; answer: %v", got, f.Prices.Rated)
			}
		})
	}
}

// TestSetRated checks that the rated setting of an administrator applies to later calls and is in the audit log.
func TestSetRated(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.venueMarket("7", 3000)
	hashes := b.operators(3)
	var got []bool
	for i, rated := range []bool{true, false, true} {
		if err := b.SetRated(t.Context(), "7", rated, "thin book", b.clock.Now()); err != nil {
			t.Fatal(err)
		}
		got = append(got, b.pricesOf(b.file(hashes[i], "7", protocol.Yes, 3000)).rated)
	}
	if fmt.Sprint(got) != "[true false true]" {
		t.Errorf("calls are rated %v", got)
	}
	if err := b.SetRated(t.Context(), "404", true, "x", b.clock.Now()); !errors.Is(err, market.ErrNotFound) {
		t.Errorf("unknown market: %v", err)
	}
	b.claim("7", protocol.VerdictYes)
	if err := b.SetRated(t.Context(), "7", false, "too late", b.clock.Now()); !errors.Is(err, resolution.ErrResolved) || apperr.Of(err).Extra["outcome"] == nil {
		t.Errorf("resolved market: %v", err)
	}
	if m := b.market("7"); m.RatedRuling == nil || !*m.RatedRuling {
		t.Errorf("a rejected setting is stored: %v", m.RatedRuling)
	}
	if n := b.count(`SELECT count(*) FROM api.audit_log WHERE action = 'market.rated'`); n != 3 {
		t.Errorf("%d audit entries, want 3", n)
	}
}

// TestFactsOfTheLedger checks that the title, the price and the end date of a call come from the stored market, and that the
// values of the client are stored separately.
func TestFactsOfTheLedger(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.venueMarket("7", 3000)
	b.venueMarket("8", 3000)
	b.exec(`UPDATE api.markets SET end_date = NULL WHERE market_id = '8'`)
	b.stub("9")
	_, hash := b.operator("facts")
	crowd, ttr := protocol.Bps(9000), 5
	for _, c := range []struct {
		market string
		crowd  *protocol.Bps
		ttr    *int
		want   string
	}{
		{"7", &crowd, &ttr, "Will it hold? 3000 2026-10-11 12:00:00+00 9000 5"},
		{"8", nil, nil, "Will it hold? 3000 - 3000 -"},
		{"9", &crowd, nil, "9 - - 9000 -"},
	} {
		d := newDraft(c.market, protocol.Yes, 3000)
		d.CrowdYes, d.TimeToResolution, d.Venue = c.crowd, c.ttr, signal.VenueRequested
		b.requireVerdict(hash, d, signal.VerdictFiled)
		var got string
		if err := b.admin.QueryRow(t.Context(), `SELECT concat_ws(' ', market_title, coalesce(market_yes_bps::text, '-'),
			coalesce((closes_at AT TIME ZONE 'UTC')::text || '+00', '-'), coalesce(crowd_yes_bps::text, '-'), coalesce(ttr::text, '-'))
			FROM (SELECT id, market_title, market_yes_bps, closes_at, crowd_yes_bps, ttr FROM api.signals
				UNION ALL SELECT signal_id, market_id, NULL, NULL, crowd_yes_bps, ttr FROM api.unconfirmed_signals) s WHERE id = $1`, d.ID).Scan(&got); err != nil {
			t.Fatal(err)
		}
		if got != c.want {
			t.Errorf("market %s: %s, want %s", c.market, got, c.want)
		}
	}
}

// TestReplayAnswersTheStoredPrices checks that a repeated request returns the prices stored at filing, even if the market
// has changed since.
func TestReplayAnswersTheStoredPrices(t *testing.T) {
	t.Parallel()
	b := setupRules(t, Rules{PastEndIsProvisional: true, ResolveChunk: 1, QuoteMaxAge: 15 * time.Second, RatedMinVolumeUSD: 10_000})
	b.venueMarket("7", 3000)
	b.quote("7", 3100, 7100)
	b.venueMarket("8", 3000)
	b.exec(`UPDATE api.market_quotes SET quoted_at = NULL WHERE market_id = '8'`)
	b.nativeMarket("native-aaaaaaaaaa", 5000)
	_, hash := b.operator("again")
	for _, market := range []string{"7", "8", "native-aaaaaaaaaa"} {
		key, sum := "key-"+market, sha256.Sum256([]byte(market))
		d := newDraft(market, protocol.No, 2000)
		d.IdempotencyKey, d.BodyHash, d.Venue = &key, sum[:], signal.VenueRequested
		filed := b.requireVerdict(hash, d, signal.VerdictFiled)
		b.exec(`UPDATE api.market_quotes SET yes_bps = 9000, yes_price_bps = 9100, no_price_bps = 1100, quoted_at = $2, at = $2, volume_usd = 1e6
			WHERE market_id = $1`, market, b.clock.Now())
		again := newDraft(market, protocol.No, 2000)
		again.IdempotencyKey, again.BodyHash = d.IdempotencyKey, d.BodyHash
		for _, repeat := range []signal.Draft{again, d} {
			f := b.requireVerdict(hash, repeat, signal.VerdictReplay)
			if f.FirstID != d.ID || numbers(f.Prices) != numbers(filed.Prices) ||
				!slices.Equal(f.Prices.Warnings(repeat), filed.Prices.Warnings(d)) {
				t.Errorf("market %s: replayed %s, filed %s", market, numbers(f.Prices), numbers(filed.Prices))
			}
		}
	}
}

// numbers returns prices as text, with the values of their pointers.
func numbers(p signal.Prices) string {
	out := fmt.Sprint(p.Stated, p.Basis, p.Verified, p.Rated)
	for _, n := range []*protocol.Bps{p.MarketYes, p.Yes, p.No} {
		if n == nil {
			out += " -"
		} else {
			out += fmt.Sprintf(" %d", *n)
		}
	}
	return out
}
