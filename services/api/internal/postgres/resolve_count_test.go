package postgres

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/resolution"
)

const (
	confirmAfter = 5 * time.Second
	leastVolume  = 10_000
)

// setupCounting returns a database for tests of counted calls. Second quotes are required, and markets need a smallest
// volume to be rated.
func setupCounting(t *testing.T) *bundle {
	t.Helper()
	return setupRules(t, Rules{
		PastEndIsProvisional: true, ResolveChunk: 100_000, ConfirmAfter: confirmAfter,
		RatedMinVolumeUSD: leastVolume, RatedCreators: []string{"oracle_desk"},
	})
}

// call inserts a call as a filing stores it, with a quote dated 1.5 seconds before it.
func (b *bundle) call(marketID, operatorID string, c scoredCall) string {
	b.t.Helper()
	id := uuid.Must(uuid.NewV7()).String()
	b.exec(`INSERT INTO api.signals (id, market_id, user_id, yes, price_bps, score_basis_bps, price_verified, rated, market_yes_bps, created_at, quote_at, market_title, source)
		VALUES ($1, $2, $3, $4, $5, $5, $6, $7, $8, $9::timestamptz, CASE WHEN $6 THEN $9::timestamptz - interval '1.5 seconds' END, 'call', 'web')`,
		id, marketID, operatorID, c.Side == protocol.Yes, c.Basis, c.Verified, c.Rated, c.MarketYes, c.CreatedAt)
	b.exec(`INSERT INTO api.market_totals (market_id, yes) VALUES ($1, 1) ON CONFLICT (market_id) DO UPDATE SET yes = market_totals.yes + 1`, marketID)
	b.exec(`INSERT INTO api.operator_totals (user_id, total) VALUES ($1, 1) ON CONFLICT (user_id) DO UPDATE SET total = operator_totals.total + 1`, operatorID)
	return id
}

func (b *bundle) storeQuote(marketID string, q market.Quote) {
	b.t.Helper()
	b.exec(`INSERT INTO api.quotes (market_id, at, yes_price_bps, no_price_bps, rule) VALUES ($1, $2, $3, $4, 'test')`, marketID, q.At, q.Yes, q.No)
}

// TestScoringEqualsTheDefinitionForAnyCall compares the scores that the SQL computes with those of the Go definition, for
// generated markets, calls, quotes and closing times.
func TestScoringEqualsTheDefinitionForAnyCall(t *testing.T) {
	t.Parallel()
	b := setupCounting(t)
	operators := make([]string, 5)
	for i := range operators {
		operators[i], _ = b.operator(fmt.Sprint("caller", i))
	}
	n, compared := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		second := func(label string, from, to int) time.Time {
			return noon.Add(time.Duration(rapid.IntRange(from, to).Draw(rt, label)) * 500 * time.Millisecond)
		}
		bps := func(label string) protocol.Bps { return protocol.Bps(rapid.IntRange(1, 9999).Draw(rt, label)) }
		id, created := fmt.Sprint(1000+n), ""
		claim := scoredClaim{
			Verdict:      rapid.SampledFrom([]protocol.Verdict{protocol.VerdictYes, protocol.VerdictNo, protocol.VerdictInvalid}).Draw(rt, "verdict"),
			CloseAt:      second("close", 0, 1300),
			Native:       rapid.Bool().Draw(rt, "native"),
			Rated:        rapid.Bool().Draw(rt, "rated"),
			ConfirmAfter: confirmAfter,
		}
		b.clock.Set(noon)
		closing := bps("closing")
		if claim.Native {
			id = fmt.Sprintf("native-%010d", n)
			b.nativeMarket(id, int(max(100, min(closing, 9900))))
			closing = max(100, min(closing, 9900))
			created = rapid.SampledFrom(append([]string{"admin"}, operators...)).Draw(rt, "creator")
			b.exec(`UPDATE api.markets SET created_by = $2 WHERE market_id = $1`, id, created)
		} else {
			b.venueMarket(id, int(closing))
		}
		b.exec(`UPDATE api.markets SET rated_ruling = $2 WHERE market_id = $1`, id, claim.Rated)
		claim.CloseYes = &closing
		for at := second("first quote", -10, 40); at.Before(noon.Add(12*time.Minute)) && len(claim.Quotes) < 5; {
			q := market.Quote{Yes: bps("yes"), No: bps("no"), At: at}
			claim.Quotes = append(claim.Quotes, q)
			b.storeQuote(id, q)
			at = at.Add(time.Duration(rapid.IntRange(1, 800).Draw(rt, "step")) * 500 * time.Millisecond)
		}
		for _, operator := range operators {
			c := scoredCall{
				Side: rapid.SampledFrom([]protocol.Side{protocol.Yes, protocol.No}).Draw(rt, "side"), Basis: protocol.Bps(rapid.IntRange(0, 10000).Draw(rt, "basis")),
				Verified: rapid.IntRange(0, 4).Draw(rt, "verified") > 0, Rated: rapid.IntRange(0, 4).Draw(rt, "rated at the call") > 0,
				CreatedAt: second("created", 0, 1300),
			}
			if rapid.Bool().Draw(rt, "market price") {
				yes := bps("market yes")
				c.MarketYes = &yes
			}
			b.call(id, operator, c)
		}
		b.clock.Set(noon.Add(20 * time.Minute))
		decided := claim.CloseAt
		if _, err := resolution.NewService(b.Store, b.clock.Now).Force(t.Context(), id, claim.Verdict, &decided); err != nil {
			rt.Fatal(err)
		}
		compared += b.compareScores(id, &claim)
	})
	if compared == 0 || t.Failed() {
		t.Fatalf("only %d calls were compared", compared)
	}
	b.compareCounters()
	if got := b.count(`SELECT count(*) FROM api.signal_results WHERE counted AND confirmed_at IS NOT NULL`); got == 0 {
		t.Error("no counted call has a second quote")
	}
}

// TestSecondQuote checks the effect of second quotes on the scoring price and on whether a call counts, including the time
// limits.
func TestSecondQuote(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		call    scoredCall
		quotes  []market.Quote // At is relative to noon, the time of the call
		after   time.Duration  // Rules.ConfirmAfter
		basis   int
		counted bool
	}{
		"a higher price is the basis": {
			scoredCall{Side: protocol.Yes, Basis: 3100}, quotes(6*time.Second, 3500, 6700), confirmAfter, 3500, true,
		},
		"a lower price is not": {
			scoredCall{Side: protocol.Yes, Basis: 3100}, quotes(6*time.Second, 2000, 8200), confirmAfter, 3100, true,
		},
		"the price of NO": {
			scoredCall{Side: protocol.No, Basis: 7100}, quotes(6*time.Second, 2600, 7700), confirmAfter, 7700, true,
		},
		"a quote that is too early": {
			scoredCall{Side: protocol.Yes, Basis: 3100}, quotes(confirmAfter-time.Millisecond, 9000, 1100), confirmAfter, 3100, false,
		},
		"a quote at the earliest time": {
			scoredCall{Side: protocol.Yes, Basis: 3100}, quotes(confirmAfter, 3500, 6700), confirmAfter, 3500, true,
		},
		"the first of several": {
			scoredCall{Side: protocol.Yes, Basis: 3100},
			append(quotes(5*time.Second, 3200, 7000), quotes(7*time.Second, 9000, 1100)...), confirmAfter, 3200, true,
		},
		"a quote at the latest time": {
			scoredCall{Side: protocol.Yes, Basis: 3100}, quotes(confirmWithin, 3500, 6700), confirmAfter, 3500, true,
		},
		"a quote that is too late": {
			scoredCall{Side: protocol.Yes, Basis: 3100}, quotes(confirmWithin+time.Millisecond, 3500, 6700), confirmAfter, 3100, false,
		},
		"a quote at the closing time": {
			scoredCall{Side: protocol.Yes, Basis: 3100, CreatedAt: noon.Add(19 * time.Minute)}, quotes(20*time.Minute, 3500, 6700), confirmAfter, 3100, false,
		},
		"no quote": {
			scoredCall{Side: protocol.Yes, Basis: 3100}, nil, confirmAfter, 3100, false,
		},
		"second quotes are off": {
			scoredCall{Side: protocol.Yes, Basis: 3100}, quotes(6*time.Second, 3500, 6700), 0, 3100, true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setupRules(t, Rules{ResolveChunk: 100, ConfirmAfter: c.after})
			id, _ := b.operator("caller")
			b.venueMarket("1", 3000)
			c.call.Verified, c.call.Rated = true, true
			if c.call.CreatedAt.IsZero() {
				c.call.CreatedAt = noon
			}
			b.call("1", id, c.call)
			unverified := c.call
			unverified.Verified = false
			other, _ := b.operator("other")
			b.call("1", other, unverified)
			for _, q := range c.quotes {
				b.storeQuote("1", q)
			}
			b.clock.Set(noon.Add(20 * time.Minute))
			b.claim("1", protocol.VerdictYes)
			if n := b.count(`SELECT count(*) FROM api.signal_results WHERE user_id = $1 AND basis_bps = $2 AND counted = $3 AND (confirmed_at IS NOT NULL) = ($3 AND $4)`,
				id, c.basis, c.counted, c.after > 0); n != 1 {
				t.Errorf("the result does not have basis %d, counted %v", c.basis, c.counted)
			}
			if n := b.count(`SELECT count(*) FROM api.signal_results WHERE user_id = $1 AND basis_bps = $2 AND NOT counted AND confirmed_at IS NULL`, other, c.call.Basis); n != 1 {
				t.Error("an unverified call has a second quote or counts")
			}
		})
	}
}

func quotes(after time.Duration, yes, no int) []market.Quote {
	return []market.Quote{{Yes: protocol.Bps(yes), No: protocol.Bps(no), At: noon.Add(after)}}
}

// TestRatedAtResolution checks when a market is rated at its resolution, so that calls on it count.
func TestRatedAtResolution(t *testing.T) {
	t.Parallel()
	b := setupCounting(t)
	operator, _ := b.operator("maker")
	n := 0
	for name, c := range map[string]struct {
		id, set string
		args    []any
		want    bool
	}{
		"volume reached":        {"1", `UPDATE api.market_quotes SET volume_usd = 10000 WHERE market_id = $1`, nil, true},
		"volume not reached":    {"1", `UPDATE api.market_quotes SET volume_usd = 9999.99 WHERE market_id = $1`, nil, false},
		"volume not reported":   {"1", `UPDATE api.market_quotes SET volume_usd = NULL WHERE market_id = $1`, nil, false},
		"ruled rated":           {"1", `UPDATE api.markets SET rated_ruling = true WHERE market_id = $1`, nil, true},
		"ruled unrated":         {"native", `UPDATE api.markets SET created_by = 'admin', rated_ruling = false WHERE market_id = $1`, nil, false},
		"native of an admin":    {"native", `UPDATE api.markets SET created_by = 'admin' WHERE market_id = $1`, nil, true},
		"native of an operator": {"native", `UPDATE api.markets SET created_by = $2 WHERE market_id = $1`, []any{operator}, false},
		"a listed creator":      {"manifold", `UPDATE api.markets SET creator = 'oracle_desk' WHERE market_id = $1`, nil, true},
		"another creator":       {"manifold", `UPDATE api.markets SET creator = 'anybody' WHERE market_id = $1`, nil, false},
	} {
		n++
		id := fmt.Sprint(n)
		switch c.id {
		case "native":
			id = fmt.Sprintf("native-%010d", n)
			b.nativeMarket(id, 5000)
		case "manifold":
			id = fmt.Sprintf("manifold-m%d", n)
			b.venueMarket(id, 5000)
			b.exec(`UPDATE api.markets SET provider = 'manifold' WHERE market_id = $1`, id)
		default:
			b.venueMarket(id, 5000)
		}
		b.exec(c.set, append([]any{id}, c.args...)...)
		b.claim(id, protocol.VerdictYes)
		if got := b.count(`SELECT count(*) FROM api.market_resolutions WHERE market_id = $1 AND rated`, id) == 1; got != c.want {
			t.Errorf("%s: rated is %v", name, got)
		}
	}
}

// TestResolvedEventShowsHowACallWasScored checks the data of the event signal.resolved for a counted call and for a late
// call.
func TestResolvedEventShowsHowACallWasScored(t *testing.T) {
	t.Parallel()
	b := setupCounting(t)
	b.venueMarket("1", 3000)
	b.exec(`UPDATE api.markets SET rated_ruling = true`)
	first, _ := b.operator("first")
	second, _ := b.operator("second")
	counted := b.call("1", first, scoredCall{Side: protocol.Yes, Basis: 3100, Verified: true, Rated: true, CreatedAt: noon})
	b.storeQuote("1", market.Quote{Yes: 3500, No: 6700, At: noon.Add(6500 * time.Millisecond)})
	late := b.call("1", second, scoredCall{Side: protocol.Yes, Basis: 3100, Verified: true, Rated: true, CreatedAt: noon.Add(time.Minute)})
	b.clock.Set(noon.Add(time.Hour))
	decided := noon.Add(time.Minute)
	if _, err := resolution.NewService(b.Store, b.clock.Now).Force(t.Context(), "1", protocol.VerdictYes, &decided); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]map[string]any{
		counted: {
			"outcome": "YES", "status": "won", "score": 65.0, "closePrice": 3000.0, "clvBps": -500.0, "scoringVersion": "1.1", "scoreBasisBps": 3500.0,
			"counted": true, "reason": nil, "quoteAt": "2026-10-10T11:59:58.500Z", "confirmedAt": "2026-10-10T12:00:06.500Z",
		},
		late: {
			"outcome": "YES", "status": "void", "score": 0.0, "closePrice": 3000.0, "clvBps": nil, "scoringVersion": "1.1", "scoreBasisBps": 3100.0,
			"counted": false, "reason": "late", "quoteAt": "2026-10-10T12:00:58.500Z", "confirmedAt": nil,
		},
	} {
		events, err := b.ListEvents(t.Context(), id)
		if err != nil || len(events) != 1 || events[0].Type != "resolved" {
			t.Fatalf("events of the call: %+v, %v", events, err)
		}
		var got map[string]any
		if err := json.Unmarshal([]byte(events[0].Payload), &got); err != nil {
			t.Fatal(err)
		}
		for member, value := range want {
			if has, ok := got[member]; !ok || has != value {
				t.Errorf("%s is %v, want %v", member, has, value)
			}
		}
	}
}
