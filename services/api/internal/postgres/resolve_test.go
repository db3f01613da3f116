package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/api/internal/resolution"
	"github.com/signalcast/signalcast/services/api/internal/signal"
)

// TestScoringEqualsTheDefinition compares the scores that the SQL computes with those of the Go definition, for every price,
// side and verdict.
func TestScoringEqualsTheDefinition(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := resolution.NewService(b.Store, b.clock.Now)
	closing := protocol.Bps(7100)
	for i, verdict := range []protocol.Verdict{protocol.VerdictYes, protocol.VerdictNo, protocol.VerdictInvalid} {
		market := fmt.Sprint(100 + i)
		b.venueMarket(market, int(closing))
		calls := int64(20002)
		if verdict == protocol.VerdictInvalid { // every call is void at every price
			calls = 2002
		}
		b.seedSignals(t.Context(), market, int(calls))
		b.clock.Advance(time.Second)
		r, err := s.Force(t.Context(), market, verdict, nil)
		if err != nil || r.Tally.Scored != calls || r.Rest {
			t.Fatalf("outcome %s: %+v, %v", verdict, r, err)
		}
		claim := scoredClaim{Verdict: verdict, CloseAt: b.clock.Now(), CloseYes: &closing, Rated: true}
		if n := b.compareScores(market, &claim); int64(n) != calls {
			t.Errorf("%d calls compared", n)
		}
	}
	b.compareCounters()
}

// compareScores compares the results of the calls on a market with the Go definition, and returns the number of results.
func (b *bundle) compareScores(marketID string, claim *scoredClaim) (n int) {
	b.t.Helper()
	rows, err := b.admin.Query(b.t.Context(), `SELECT s.yes, s.score_basis_bps, s.market_yes_bps, s.price_verified, s.rated, m.created_by IS NOT DISTINCT FROM s.user_id::text,
		s.created_at, r.status, r.score, r.clv_bps, r.outcome, r.beat_crowd, r.basis_bps, r.confirmed_at, coalesce(r.reason, ''), r.counted, r.scoring_version, r.scoring_vertical
		FROM api.signals s JOIN api.signal_results r ON r.signal_id = s.id JOIN api.markets m ON m.market_id = s.market_id WHERE s.market_id = $1`, marketID)
	if err != nil {
		b.t.Fatal(err)
	}
	var (
		yes               bool
		call              scoredCall
		got               scoredResult
		version, vertical string
	)
	_, err = pgx.ForEachRow(rows, []any{
		&yes, &call.Basis, &call.MarketYes, &call.Verified, &call.Rated, &call.Creator, &call.CreatedAt,
		&got.Status, &got.Score, &got.CLV, &got.Outcome, &got.BeatCrowd, &got.Basis, &got.ConfirmedAt, &got.Reason, &got.Counted, &version, &vertical,
	}, func() error {
		n++
		call.Side = protocol.SideOf(yes)
		want := claim.score(call)
		if got.Status != want.Status || got.Score != want.Score || !same(got.CLV, want.CLV) || !same(got.Outcome, want.Outcome) ||
			got.BeatCrowd != want.BeatCrowd || got.Basis != want.Basis || got.Reason != want.Reason || got.Counted != want.Counted ||
			(got.ConfirmedAt == nil) != (want.ConfirmedAt == nil) || got.ConfirmedAt != nil && !got.ConfirmedAt.Equal(*want.ConfirmedAt) ||
			version != resolution.ScoringVersion || vertical != "SCIENCE" {
			return fmt.Errorf("%+v under %+v: %+v, want %+v", call, claim, got, want)
		}
		return nil
	})
	if err != nil {
		b.t.Error(err)
	}
	return n
}

// compareCounters compares the counters of every operator with its results. Won, lost and void count all calls; the other
// counters include counted calls only.
func (b *bundle) compareCounters() {
	b.t.Helper()
	if n := b.count(`SELECT count(*) FROM api.operator_scores c JOIN (
			SELECT r.user_id, count(*) FILTER (WHERE r.status = 'won') AS won, count(*) FILTER (WHERE r.status = 'lost') AS lost,
				count(*) FILTER (WHERE r.status = 'void') AS void,
				count(*) FILTER (WHERE r.counted) AS counted, count(*) FILTER (WHERE r.counted AND v.venue) AS lines,
				coalesce(sum(r.score) FILTER (WHERE r.counted), 0) AS score,
				coalesce(sum(r.clv_bps) FILTER (WHERE r.counted AND v.venue), 0) AS clv, count(r.clv_bps) FILTER (WHERE r.counted AND v.venue) AS clvs,
				count(*) FILTER (WHERE r.counted AND v.venue AND r.clv_bps > 0) AS beat,
				coalesce(sum(least(greatest(r.basis_bps, 1), 9999)) FILTER (WHERE r.counted AND v.venue), 0) AS prices,
				min(r.basis_bps) FILTER (WHERE r.counted AND r.status = 'won') AS best, max(r.resolved_at) FILTER (WHERE r.counted) AS last
			FROM api.signal_results r JOIN api.signals s ON s.id = r.signal_id
			JOIN (SELECT market_id, provider <> 'manual' AS venue FROM api.markets) v ON v.market_id = s.market_id
			GROUP BY r.user_id) r USING (user_id)
		WHERE (c.won, c.lost, c.void, c.counted, c.counted_lines, c.score, c.clv_sum, c.clv_count, c.beat_line, c.price_sum, c.best_bps, c.last_at)
			IS DISTINCT FROM (r.won, r.lost, r.void, r.counted, r.lines, r.score, r.clv, r.clvs, r.beat, r.prices, r.best, r.last)`); n != 0 {
		b.t.Errorf("the counters of %d operators differ from their results", n)
	}
	if n := b.count(`SELECT count(*) FROM api.moments m FULL JOIN (
			SELECT signal_id, basis_bps FROM api.signal_results WHERE status = 'won' AND counted AND basis_bps <= 5000
		) r USING (signal_id) WHERE m.odds_bps IS DISTINCT FROM r.basis_bps`); n != 0 {
		b.t.Errorf("%d moments differ from the results", n)
	}
}

func same[T comparable](a, b *T) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}

// TestOneOutcomeUnderRaces runs 50 concurrent claims with opposite verdicts. One outcome must be stored. The other claims
// must be rejected with an error that contains that outcome.
func TestOneOutcomeUnderRaces(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.venueMarket("60", 5000)
	hashes := b.operators(10)
	for _, h := range hashes {
		b.file(h, "60", protocol.Yes, 5000)
	}
	b.clock.Advance(time.Second)
	s := resolution.NewService(b.Store, b.clock.Now)
	var wg sync.WaitGroup
	var mu sync.Mutex
	claimed, outcomes := 0, map[string]int{}
	for i := range 50 {
		wg.Go(func() {
			verdict := []protocol.Verdict{protocol.VerdictYes, protocol.VerdictNo, protocol.VerdictInvalid}[i%3]
			r, err := s.Force(context.Background(), "60", verdict, nil)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				claimed++
				outcomes[string(verdict)]++
				if r.Tally.Scored != 10 {
					t.Errorf("scored %d", r.Tally.Scored)
				}
			case errors.Is(err, resolution.ErrResolved):
				o, _ := apperr.Of(err).Extra["outcome"].(map[string]any)
				outcomes[fmt.Sprint(o["outcome"])]++
			default:
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := b.count(`SELECT count(*) FROM api.signal_results`); claimed != 1 || n != 10 {
		t.Errorf("%d claims, %d results", claimed, n)
	}
	o, _, err := s.Outcome(t.Context(), "60")
	if err != nil || len(outcomes) != 1 || outcomes[string(*o.Verdict)] != 50 {
		t.Errorf("answered outcomes %v; stored is %s, %v", outcomes, *o.Verdict, err)
	}
	b.compareScores("60", &scoredClaim{Verdict: *o.Verdict, CloseAt: b.clock.Now(), CloseYes: new(protocol.Bps(5000)), Rated: true})
}

// TestFilingAgainstClaim files calls while a market is resolved. Each call must be either stored and scored, or rejected and
// not stored. A call that is sent after a rejection must be rejected too.
func TestFilingAgainstClaim(t *testing.T) {
	t.Parallel()
	b := setup(t)
	hashes := b.operators(60)
	s := resolution.NewService(b.Store, b.clock.Now)
	accepted, refused := 0, 0
	for round := range 20 {
		market := fmt.Sprint(900 + round)
		b.venueMarket(market, 5000)
		var (
			wg                  sync.WaitGroup
			mu                  sync.Mutex
			ids                 []string
			notBefore, notAfter time.Time // earliest and latest time of the claim
		)
		bound := func(earliest, latest time.Time) {
			mu.Lock()
			defer mu.Unlock()
			if earliest.After(notBefore) {
				notBefore = earliest
			}
			if !latest.IsZero() && (notAfter.IsZero() || latest.Before(notAfter)) {
				notAfter = latest
			}
		}
		for i, h := range hashes {
			wg.Go(func() {
				time.Sleep(time.Duration(i/6) * time.Millisecond)
				d, sent := newDraft(market, protocol.Yes, 5000), time.Now()
				switch f := b.try(signal.Caller{KeyHash: h}, d); f.Verdict {
				case signal.VerdictFiled:
					bound(sent, time.Time{})
					mu.Lock()
					ids = append(ids, d.ID)
					mu.Unlock()
				case signal.VerdictSettled:
					bound(time.Time{}, time.Now())
				default:
					t.Errorf("unexpected answer: %+v", f)
				}
			})
		}
		wg.Go(func() {
			time.Sleep(time.Duration(round%10) * time.Millisecond)
			sent := time.Now()
			if _, err := s.Force(context.Background(), market, protocol.VerdictYes, nil); err != nil {
				t.Error(err)
			}
			bound(sent, time.Now())
		})
		wg.Wait()
		if notBefore.After(notAfter) {
			t.Errorf("market %s: a call was accepted %v after another was refused", market, notBefore.Sub(notAfter))
		}
		accepted, refused = accepted+len(ids), refused+len(hashes)-len(ids)
		stored := b.count(`SELECT count(*) FROM api.signals WHERE market_id = $1`, market)
		scored := b.count(`SELECT count(*) FROM api.signals s JOIN api.signal_results r ON r.signal_id = s.id WHERE s.market_id = $1 AND s.id::text = ANY ($2)`, market, ids)
		if stored != len(ids) || scored != len(ids) {
			t.Errorf("market %s: %d calls accepted, %d stored, %d of the accepted ones scored", market, len(ids), stored, scored)
		}
	}
	if accepted == 0 || refused == 0 {
		t.Errorf("%d calls accepted, %d refused: the claims did not race with the calls", accepted, refused)
	}
}

func TestChunksAndDispute(t *testing.T) {
	t.Parallel()
	b := setupRules(t, Rules{PriceToleranceBps: 1000, PastEndIsProvisional: true, ResolveChunk: 100})
	b.venueMarket("70", 7100)
	b.seedSignals(t.Context(), "70", 1000)
	r, err := b.Claim(t.Context(), resolution.Claim{MarketID: "70", Verdict: protocol.VerdictYes, Resolver: "oracle", Source: "polymarket"}, func() time.Time { return noon.Add(time.Second) })
	if err != nil || !r.Rest || r.Tally.Scored != 0 {
		t.Fatalf("claim: %+v, %v", r, err)
	}
	for range 3 {
		if tally, more, err := b.DrainOnce(t.Context(), "70"); err != nil || !more || tally.Scored != 100 {
			t.Fatalf("drain step: %+v %v %v", tally, more, err)
		}
	}
	s := resolution.NewService(b.Store, b.clock.Now)
	reason := "the source is wrong"
	o, _, err := s.Dispute(t.Context(), "70", true, &reason)
	if err != nil || !o.Disputed || o.Verdict == nil || *o.DisputeReason != reason {
		t.Fatalf("dispute: %+v, %v", o, err)
	}
	if tally, more, err := b.DrainOnce(t.Context(), "70"); err != nil || more || tally.Scored != 0 {
		t.Fatalf("while disputed: %+v %v %v", tally, more, err)
	}
	if _, err := s.Force(t.Context(), "70", protocol.VerdictNo, nil); !errors.Is(err, resolution.ErrDisputed) {
		t.Errorf("claimed again: %v", err)
	}
	before := b.count(`SELECT count(*) FROM api.signal_results`)
	o, tally, err := s.Dispute(t.Context(), "70", false, nil)
	if err != nil || o.Disputed || tally.Scored != 700 || before != 300 {
		t.Fatalf("cleared dispute: %+v %+v %d, %v", o, tally, before, err)
	}
	if n := b.count(`SELECT count(*) FROM api.score_drains`); n != 0 {
		t.Errorf("%d drains left", n)
	}
	if n := b.count(`SELECT count(DISTINCT signal_id) FROM api.signal_results WHERE scoring_version = '1.1'`); n != 1000 {
		t.Errorf("%d results", n)
	}
}

// TestDisputeRacesClaim runs a dispute concurrently with a claim that scores in one transaction. The dispute must take
// effect before or after the whole claim, so that no call is scored after the dispute is acknowledged.
func TestDisputeRacesClaim(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := resolution.NewService(b.Store, b.clock.Now)
	const calls = 200
	for i := range 20 {
		market := fmt.Sprint(700 + i)
		b.venueMarket(market, 5000)
		b.seedSignals(t.Context(), market, calls)
		scored := func() int {
			return b.count(`SELECT count(*) FROM api.signal_results r JOIN api.signals s ON s.id = r.signal_id WHERE s.market_id = $1`, market)
		}
		claimed := make(chan error, 1)
		go func() {
			_, err := s.Force(context.Background(), market, protocol.VerdictNo, nil)
			claimed <- err
		}()
		time.Sleep(time.Duration(i) * time.Millisecond / 2)
		if _, _, err := s.Dispute(t.Context(), market, true, nil); err != nil {
			t.Fatal(err)
		}
		atDispute, err := scored(), <-claimed
		if after := scored(); after != atDispute || (err == nil) != (after == calls) || err != nil && (!errors.Is(err, resolution.ErrDisputed) || after != 0) {
			t.Errorf("market %s: %d calls scored at the dispute, %d after the claim, which returned %v; want 0 and a refusal, or %d", market, atDispute, after, err, calls)
		}
		if _, _, err := s.Dispute(t.Context(), market, false, nil); err != nil {
			t.Fatal(err)
		}
		if err != nil {
			if _, err := s.Force(t.Context(), market, protocol.VerdictNo, nil); err != nil {
				t.Errorf("claim after clearing: %v", err)
			}
		}
		if n := scored(); n != calls {
			t.Errorf("market %s: %d of %d calls are scored in the end", market, n, calls)
		}
	}
	b.compareCounters()
}

// TestScoringSurvivesCrashes closes all connections of the store at random times, as if its process were killed. Scoring
// must continue, and each call must be scored once.
func TestScoringSurvivesCrashes(t *testing.T) {
	t.Parallel()
	const calls = 5000
	for _, chunk := range []int{500, 100_000} {
		t.Run(fmt.Sprintf("chunks of %d", chunk), func(t *testing.T) {
			t.Parallel()
			b := setupRules(t, Rules{PastEndIsProvisional: true, ResolveChunk: chunk, QuoteMaxAge: ageless})
			b.clock.Advance(time.Second)
			s := resolution.NewService(b.Store, b.clock.Now)
			crashes := 0
			for i, verdict := range []protocol.Verdict{protocol.VerdictYes, protocol.VerdictNo, protocol.VerdictInvalid} {
				market, closing := fmt.Sprint(600+i), protocol.Bps(7100)
				b.venueMarket(market, int(closing))
				b.seedSignals(t.Context(), market, calls)
				resolveOnce := func() error {
					_, err := s.Force(t.Context(), market, verdict, nil)
					if errors.Is(err, resolution.ErrResolved) {
						_, err = s.Drain(t.Context(), market)
					}
					return err
				}
				for range 8 {
					done := make(chan error, 1)
					go func() { done <- resolveOnce() }()
					time.Sleep(time.Duration(rand.IntN(120)) * time.Millisecond)
					b.count(`SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE usename = 'api_rw' AND datname = current_database()`)
					if err := <-done; err != nil {
						crashes++
					}
				}
				testkit.Eventually(t, 20*time.Second, func() bool { return resolveOnce() == nil })
				if n := b.compareScores(market, &scoredClaim{Verdict: verdict, CloseAt: b.clock.Now(), CloseYes: &closing, Rated: true}); n != calls {
					t.Errorf("%s: %d of %d calls are scored", verdict, n, calls)
				}
			}
			b.compareCounters()
			if crashes == 0 {
				t.Error("no scoring was interrupted")
			}
		})
	}
}

func TestDisputeBeforeClaim(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.venueMarket("71", 5000)
	s := resolution.NewService(b.Store, b.clock.Now)
	first, second := "first", "second"
	if _, _, err := s.Dispute(t.Context(), "404", true, &first); !errors.Is(err, resolution.ErrNotFound) {
		t.Errorf("unknown market: %v", err)
	}
	o, _, err := s.Dispute(t.Context(), "71", true, &first)
	if err != nil || !o.Disputed || o.Verdict != nil || o.ResolvedAt != nil {
		t.Fatalf("dispute before the claim: %+v, %v", o, err)
	}
	at := *o.DisputedAt
	b.clock.Advance(time.Minute)
	if o, _, err = s.Dispute(t.Context(), "71", true, &second); err != nil || !o.DisputedAt.Equal(at) || *o.DisputeReason != second {
		t.Errorf("repeat: %+v, %v", o, err)
	}
	if o, _, err = s.Dispute(t.Context(), "71", true, nil); err != nil || o.DisputeReason == nil || *o.DisputeReason != second {
		t.Errorf("repeat without a reason: %+v, %v; want the reason %q", o, err, second)
	}
	if _, err := s.Force(t.Context(), "71", protocol.VerdictYes, nil); !errors.Is(err, resolution.ErrDisputed) {
		t.Errorf("claim: %v", err)
	}
	if _, _, err := s.Dispute(t.Context(), "71", false, nil); err != nil {
		t.Fatal(err)
	}
	if _, found, err := s.Outcome(t.Context(), "71"); found || err != nil {
		t.Errorf("a cleared dispute without a claim gave a resolution record: %v %v", found, err)
	}
	if _, err := s.Force(t.Context(), "71", protocol.VerdictYes, nil); err != nil {
		t.Errorf("claim after clearing: %v", err)
	}
	// A dispute is reported first, with or without an outcome.
	if _, err := s.Force(t.Context(), "71", protocol.VerdictNo, nil); !errors.Is(err, resolution.ErrResolved) {
		t.Errorf("second claim: %v", err)
	}
	if o, _, err := s.Dispute(t.Context(), "71", true, nil); err != nil || *o.Verdict != protocol.VerdictYes || o.DisputeReason != nil {
		t.Errorf("dispute after the claim: %+v, %v", o, err)
	}
	if _, err := s.Force(t.Context(), "71", protocol.VerdictNo, nil); !errors.Is(err, resolution.ErrDisputed) {
		t.Errorf("second claim while disputed: %v", err)
	}
	if _, _, err := s.Dispute(t.Context(), "71", false, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Force(t.Context(), "71", protocol.VerdictNo, nil); !errors.Is(err, resolution.ErrResolved) {
		t.Errorf("second claim after clearing: %v", err)
	}
	if n := b.count(`SELECT count(*) FROM api.audit_log WHERE subject = '71'`); n != 6 {
		t.Errorf("%d audit rows, want one for each change and repetition", n)
	}
}

func TestResolvedEventIsReadFromTheResult(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.venueMarket("72", 7100)
	b.quote("72", 6190, 3900)
	_, hash := b.operator("caller")
	id := b.file(hash, "72", protocol.Yes, 6190)
	b.clock.Advance(time.Minute)
	s := resolution.NewService(b.Store, b.clock.Now)
	if _, err := s.Claim(t.Context(), resolution.Claim{MarketID: "72", Verdict: protocol.VerdictYes, Resolver: "oracle", Source: "polymarket"}); err != nil {
		t.Fatal(err)
	}
	list, err := b.ListEvents(t.Context(), id)
	if err != nil || len(list) != 1 || list[0].Type != "resolved" || *list[0].Actor != "polymarket" || !list[0].CreatedAt.Equal(b.clock.Now()) {
		t.Fatalf("events of the call: %+v, %v", list, err)
	}
	r, err := b.GetSignal(t.Context(), id)
	if err != nil || r.Status != protocol.Won || *r.Score != 38 || *r.CLVBps != 910 || *r.ClosePrice != 7100 || *r.Outcome != protocol.Yes {
		t.Errorf("resolved call: %+v, %v", r, err)
	}
}

// TestTheRecordIsAppendOnly checks that neither the service roles nor the owner of the tables can change a column of calls,
// events and results. No role can store a second call of an operator on a market, or a second result of a call.
func TestTheRecordIsAppendOnly(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.venueMarket("80", 5000)
	id, hash := b.operator("locked")
	call := b.call("80", id, scoredCall{Side: protocol.Yes, Basis: 4500, Verified: true, Rated: true, CreatedAt: noon}) // a moment, after it is won
	note := signal.Event{ID: newUUID(), Type: "note", Payload: `{"text":"a"}`, CreatedAt: noon}
	if _, err := b.AppendEvent(t.Context(), signal.Caller{KeyHash: hash}, call, note); err != nil {
		t.Fatal(err)
	}
	if _, err := resolution.NewService(b.Store, b.clock.Now).Force(t.Context(), "80", protocol.VerdictYes, nil); err != nil {
		t.Fatal(err)
	}
	refuse := func(role, sql string) {
		t.Helper()
		_, err := b.admin.Exec(t.Context(), "SET ROLE "+role+"; "+sql)
		var refused *pgconn.PgError
		if !errors.As(err, &refused) || refused.Code != "42501" && refused.Code != "23505" {
			t.Errorf("as %s: %s returned %v; want insufficient_privilege or unique_violation", role, sql, err)
		}
	}
	for _, table := range []string{"signals", "signal_results", "signal_events", "market_resolutions", "moments"} {
		rows, err := b.admin.Query(t.Context(), `SELECT column_name::text FROM information_schema.columns WHERE table_schema = 'api' AND table_name = $1`, table)
		if err != nil {
			t.Fatal(err)
		}
		columns, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil || len(columns) == 0 {
			t.Fatalf("columns %v, %v", columns, err)
		}
		list := []string{"DELETE FROM api." + table, "TRUNCATE api." + table + " CASCADE"}
		for _, c := range columns {
			list = append(list, fmt.Sprintf("UPDATE api.%s SET %s = %[2]s", table, c))
		}
		for _, sql := range list {
			refuse("api_rw", sql)
			refuse("api_migrator", sql)
		}
		for _, sql := range []string{"DROP TABLE api." + table, "ALTER TABLE api." + table + " DISABLE TRIGGER ALL", "COPY api." + table + " TO PROGRAM 'cat'"} {
			refuse("api_rw", sql)
		}
	}
	for _, sql := range []string{
		"SET session_replication_role = replica", "CREATE TABLE api.x (i int)",
		`INSERT INTO api.signals (id, market_id, user_id, yes, price_bps, score_basis_bps, price_verified, created_at, market_title, source)
			SELECT gen_random_uuid(), market_id, user_id, NOT yes, 1, 1, true, created_at, market_title, source FROM api.signals`,
		`INSERT INTO api.signal_results SELECT * FROM api.signal_results`,
		"INSERT INTO api.signal_events SELECT * FROM api.signal_events ON CONFLICT (id) DO UPDATE SET actor = 'other'",
	} {
		refuse("api_rw", sql)
	}
}
