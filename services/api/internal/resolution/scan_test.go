package resolution_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/api/internal/attention/categorise"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/operator"
	"github.com/signalcast/signalcast/services/api/internal/postgres"
	"github.com/signalcast/signalcast/services/api/internal/resolution"
	"github.com/signalcast/signalcast/services/api/internal/signal"
)

func TestMain(m *testing.M) { testkit.Main(m) }

const grace = 10 * time.Minute

var everyVenue = []protocol.Provider{protocol.Kalshi, protocol.Limitless, protocol.Manifold, protocol.Polymarket}

var noon = time.Date(2026, 10, 10, 12, 0, 0, 0, time.UTC)

// ledger is a Scanner with a database of the test.
type ledger struct {
	*resolution.Scanner
	t       *testing.T
	store   *postgres.Store
	service *resolution.Service
	markets *market.Service
	admin   *pgxpool.Pool
	now     func() time.Time
}

// setup returns a ledger whose Scanner reads the given venues.
func setup(t *testing.T, grace time.Duration, now func() time.Time, venues market.Venues) *ledger {
	t.Helper()
	db := testkit.Postgres(t, pg.Schema{Name: "api", Files: postgres.Migrations()})
	l := &ledger{t: t, now: now, admin: testkit.Pool(t, db.Admin)}
	l.exec(`ALTER TABLE api.signals DISABLE TRIGGER check_new`) // the clock of a test is not that of the database
	l.store = postgres.New(testkit.Pool(t, db.URL("api_rw")), postgres.Rules{ResolveChunk: 4, ReadBudget: 20 * time.Second}, now)
	t.Cleanup(l.store.Close)
	l.service = resolution.NewService(l.store, now)
	l.markets = market.NewService(l.store, venues, market.Classify{
		Lane:     func(title string, tags []string) protocol.Lane { return categorise.Classify(title, tags).Lane },
		Category: categorise.Category,
	}, true, now)
	t.Cleanup(l.markets.Close)
	l.Scanner = resolution.NewScanner(l.markets, l.service, everyVenue, grace, now, slog.New(slog.DiscardHandler))
	return l
}

func (l *ledger) exec(sql string, args ...any) {
	l.t.Helper()
	if _, err := l.admin.Exec(l.t.Context(), sql, args...); err != nil {
		l.t.Fatalf("%s: %v", sql, err)
	}
}

func (l *ledger) count(sql string, args ...any) (n int) {
	l.t.Helper()
	if err := l.admin.QueryRow(l.t.Context(), sql, args...).Scan(&n); err != nil {
		l.t.Fatalf("%s: %v", sql, err)
	}
	return n
}

// venueMarket stores an open market that ends at a given time. If open is true, it also stores its totals, as if it had calls.
func (l *ledger) venueMarket(id string, end time.Time, open bool) {
	l.t.Helper()
	l.exec(`INSERT INTO api.markets (market_id, provider, title, status, end_date, fetched_at, created_at, updated_at)
		VALUES ($1, $4, 'Will it hold?', 'open', $2, $3, $3, $3)`, id, end, l.now(), string(protocol.MarketID(id).Provider()))
	l.exec(`INSERT INTO api.market_quotes (market_id, yes_bps, at) VALUES ($1, 5000, $2)`, id, l.now().Add(-time.Millisecond))
	if open {
		l.exec(`INSERT INTO api.market_totals (market_id) VALUES ($1)`, id)
	}
}

// file files one call of each of n operators on a market: YES and NO alternately.
func (l *ledger) file(id string, n int) {
	l.t.Helper()
	for i := range n {
		side := []protocol.Side{protocol.Yes, protocol.No}[i%2]
		if v := l.fileAs(protocol.MarketID(id), fmt.Sprint("op", i), side); v != signal.VerdictFiled {
			l.t.Fatalf("file on %s: %s", id, v)
		}
	}
}

// fileAs files a call of the operator with this name and returns the verdict of the filing statement.
func (l *ledger) fileAs(id protocol.MarketID, name string, side protocol.Side) signal.Verdict {
	l.t.Helper()
	people := operator.NewService(l.store, "0123456789abcdef0123456789abcdef", l.now)
	o, _, err := people.SignIn(l.t.Context(), operator.Identity{Issuer: "https://idp.example", Subject: name, Primary: true})
	if err != nil {
		l.t.Fatal(err)
	}
	f, err := l.store.File(l.t.Context(), signal.Caller{OperatorID: o.ID}, signal.Draft{
		Venue: signal.VenueRequested, ID: uuid.Must(uuid.NewV7()).String(), MarketID: id, Side: side, Price: 5000, Source: "web",
	})
	if err != nil {
		l.t.Fatal(err)
	}
	return f.Verdict
}

func (l *ledger) scan() resolution.Report {
	l.t.Helper()
	r, err := l.Scan(l.t.Context())
	if err != nil {
		l.t.Fatal(err)
	}
	return r
}

// want compares a report with the expected numbers of markets scanned and resolved, calls scored, markets skipped by reason,
// and errors.
func (l *ledger) want(r resolution.Report, scanned, resolved int, scored int64, skipped map[string]int, failed int) {
	l.t.Helper()
	if r.Busy || r.Scanned != scanned || r.Resolved != resolved || r.Scored != scored || len(r.Errors) != failed ||
		fmt.Sprint(r.Skipped) != fmt.Sprint(skipped) {
		l.t.Errorf("report %+v, want %d scanned, %d resolved, %d scored, skipped %v, %d errors", r, scanned, resolved, scored, skipped, failed)
	}
}

// reader is a venue whose answers the test sets. It stores the requests.
type reader struct {
	market.Venue
	now    func() time.Time
	mu     sync.Mutex
	asked  []protocol.MarketID
	busy   int
	most   int
	hold   chan struct{} // answers wait until it is closed; nil: no wait
	answer func(r *market.Record) error
}

func (r *reader) Get(ctx context.Context, id protocol.MarketID) (market.Record, error) {
	r.mu.Lock()
	r.asked = append(r.asked, id)
	r.busy++
	r.most = max(r.most, r.busy)
	hold, answer := r.hold, r.answer
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		r.busy--
		r.mu.Unlock()
	}()
	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
			return market.Record{}, ctx.Err()
		}
	}
	out := market.Record{ID: id, Status: protocol.MarketOpen, FetchedAt: r.now(), Short: true}
	if answer == nil {
		return out, nil
	}
	return out, answer(&out)
}

func (r *reader) take() map[protocol.MarketID]bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	seen := map[protocol.MarketID]bool{}
	for _, id := range r.asked {
		seen[id] = true
	}
	r.asked = nil
	return seen
}

func withReader(t *testing.T, grace time.Duration) (*ledger, *reader, *testkit.Clock) {
	t.Helper()
	clock := testkit.NewClock(noon)
	r := &reader{now: clock.Now}
	return setup(t, grace, clock.Now, market.Venues{protocol.Polymarket: r}), r, clock
}

// final changes the answer of a venue to a final result.
func final(r *market.Record, v protocol.Verdict) {
	payout := "0.5"
	r.Status, r.Provisional, r.Verdict, r.Payout, r.URL = protocol.MarketResolved, true, &v, &payout, "https://venue.example/event/hold"
}

// finalSince stores that a venue has shown a final result since a time.
func (l *ledger) finalSince(id string, v protocol.Verdict, since time.Time) {
	l.t.Helper()
	l.exec(`UPDATE api.markets SET status = 'closed', provisional = true, final_verdict = $2, final_payout = '0.5', final_at = $3
		WHERE market_id = $1`, id, string(v), since)
}

func TestScanReport(t *testing.T) {
	t.Parallel()
	l, r, _ := withReader(t, grace)
	r.answer = func(a *market.Record) error {
		switch a.ID {
		case "2":
			a.Provisional = true
		case "3":
			a.Status, a.Provisional = protocol.MarketClosed, true
		case "4":
			a.Status = protocol.MarketUnknown
		case "5":
			final(a, protocol.VerdictYes)
		case "6":
			final(a, protocol.VerdictInvalid)
		case "7": // an administrator resolves it while its venue is read
			_, err := l.service.Force(t.Context(), "7", protocol.VerdictNo, nil)
			return err
		case "9":
			return market.ErrNotFound
		case "10":
			return errors.New("connection refused")
		}
		return nil
	}
	for id := range 10 {
		l.venueMarket(fmt.Sprint(id+1), noon.Add(time.Hour), false)
		l.file(fmt.Sprint(id+1), 3)
	}
	l.finalSince("5", protocol.VerdictYes, noon.Add(-grace+time.Millisecond))
	l.finalSince("6", protocol.VerdictInvalid, noon.Add(-grace))
	l.exec(`UPDATE api.markets SET disputed = true WHERE market_id = '8'`)
	l.venueMarket("11", noon.Add(time.Hour), false) // no open call
	report := l.scan()
	l.want(report, 10, 1, 3, map[string]int{
		resolution.SkipUndecided: 2, resolution.SkipProvisional: 1, resolution.SkipUnknown: 2, resolution.SkipGrace: 1, resolution.SkipDisputed: 1,
	}, 1)
	if report.Errors[0] != (resolution.ScanError{MarketID: "10", Code: "venue_unavailable"}) {
		t.Errorf("errors of the report: %v", report.Errors)
	}
	if seen := r.take(); seen["8"] || seen["11"] {
		t.Errorf("a disputed market or one without calls was read: %v", seen)
	}
	o, found, err := l.service.Outcome(t.Context(), "6")
	if err != nil || !found || *o.Verdict != protocol.VerdictInvalid || *o.Resolver != "oracle" || *o.Source != "polymarket" ||
		*o.ProofURL != "https://venue.example/event/hold" {
		t.Errorf("record %+v, %v, %v", o, found, err)
	}
	if n := l.count(`SELECT count(*) FROM api.market_resolutions WHERE payout = '0.5'`); n != 1 {
		t.Error("the venue's payout was not stored")
	}
}

func TestPassesReadAllMarkets(t *testing.T) {
	t.Parallel()
	l, r, clock := withReader(t, grace)
	for id := range 1200 {
		l.venueMarket(fmt.Sprint(id+1), noon.Add(time.Hour), true)
	}
	seen := map[protocol.MarketID]bool{}
	for _, want := range []int{500, 1000, 1200} {
		clock.Advance(time.Second)
		if report := l.scan(); report.Scanned != 500 {
			t.Fatalf("a pass read %d markets, want 500", report.Scanned)
		}
		for id := range r.take() {
			seen[id] = true
		}
		if len(seen) != want {
			t.Errorf("%d markets seen, want %d", len(seen), want)
		}
	}
	if r.most > 8 {
		t.Errorf("%d markets were read concurrently, want at most 8", r.most)
	}
}

func TestOnlyOneScanAtATime(t *testing.T) {
	t.Parallel()
	l, r, _ := withReader(t, grace)
	l.venueMarket("1", noon.Add(time.Hour), true)
	r.hold = make(chan struct{})
	first := make(chan resolution.Report)
	go func() {
		report, err := l.Scan(t.Context())
		if err != nil {
			t.Error(err)
		}
		first <- report
	}()
	testkit.Eventually(t, 10*time.Second, func() bool { r.mu.Lock(); defer r.mu.Unlock(); return r.busy == 1 })
	if report := l.scan(); !report.Busy || report.Scanned != 0 {
		t.Errorf("a second scan reports %+v", report)
	}
	close(r.hold)
	if report := <-first; report.Busy || report.Scanned != 1 {
		t.Errorf("the first scan reports %+v", report)
	}
	if report := l.scan(); report.Busy {
		t.Error("the lock remains after its scan")
	}
}

func TestScanFinishesInterruptedScoring(t *testing.T) {
	t.Parallel()
	l, _, _ := withReader(t, grace)
	l.venueMarket("1", noon.Add(time.Hour), false)
	l.file("1", 11) // the store scores four at a time
	// The resolution is committed, and the process crashes before it drains the rest.
	r, err := l.store.Claim(t.Context(), resolution.Claim{MarketID: "1", Verdict: protocol.VerdictYes, Resolver: "admin", Source: "admin"}, func() time.Time { return noon })
	if err != nil || !r.Rest {
		t.Fatalf("first transaction of the claim: %+v, %v; want a rest", r, err)
	}
	l.want(l.scan(), 0, 0, 11, map[string]int{}, 0)
	if n := l.count(`SELECT count(*) FROM api.signal_results`); n != 11 {
		t.Errorf("%d of 11 calls scored", n)
	}
	l.want(l.scan(), 0, 0, 0, map[string]int{}, 0)
}

func TestPollReadsDueMarkets(t *testing.T) {
	t.Parallel()
	l, r, clock := withReader(t, grace)
	ends := map[protocol.MarketID]time.Time{
		"1": noon.Add(time.Hour),                       // near its end
		"2": noon.Add(time.Hour).Add(10 * time.Minute), // not near its end
		"3": noon.Add(-24 * time.Hour),                 // after its end
		"4": noon.Add(48 * time.Hour),                  // far from its end, with a final result
		"5": noon.Add(-time.Hour),                      // disputed
		"6": noon.Add(-time.Hour),                      // no calls
	}
	for id, end := range ends {
		l.venueMarket(string(id), end, id != "6")
	}
	l.exec(`UPDATE api.markets SET disputed = true WHERE market_id = '5'`)
	l.finalSince("4", protocol.VerdictYes, noon)
	r.answer = func(a *market.Record) error {
		if a.ID == "4" { // prevents its resolution
			return errors.New("connection refused")
		}
		end := ends[a.ID]
		a.EndDate = &end
		return nil
	}
	poll := func(want ...protocol.MarketID) {
		t.Helper()
		if _, err := l.Poll(t.Context()); err != nil {
			t.Fatal(err)
		}
		seen := r.take()
		ok := len(seen) == len(want)
		for _, id := range want {
			ok = ok && seen[id]
		}
		if !ok {
			t.Errorf("after %v read %v, want %v", clock.Now().Sub(noon), seen, want)
		}
	}
	poll()
	clock.Set(noon.Add(29 * time.Second))
	poll()
	clock.Set(noon.Add(30 * time.Second))
	poll("1", "3")
	poll()
	clock.Set(noon.Add(60 * time.Second))
	poll("1", "3")
	clock.Set(noon.Add(5 * time.Minute))
	poll("1", "2", "3", "4")
	clock.Set(noon.Add(10 * time.Minute))
	poll("1", "2", "3", "4") // 4: its result was final for the grace period
	clock.Set(noon.Add(10*time.Minute + time.Second))
	poll("4")
}

// TestConcurrentResolversClaimOnce runs scans, polls and an administrator with the opposite verdict on the same markets at the
// same time. Each market must be resolved once.
func TestConcurrentResolversClaimOnce(t *testing.T) {
	t.Parallel()
	l, r, _ := withReader(t, 0)
	r.answer = func(a *market.Record) error { final(a, protocol.VerdictYes); return nil }
	const markets = 10
	for id := range markets {
		l.venueMarket(fmt.Sprint(id+1), noon.Add(time.Hour), false)
		l.file(fmt.Sprint(id+1), 3)
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	wins := 0
	won := func(n int) {
		mu.Lock()
		defer mu.Unlock()
		wins += n
	}
	for range 8 {
		for _, pass := range []func(context.Context) (resolution.Report, error){l.Scan, l.Poll} {
			wg.Go(func() {
				report, err := pass(t.Context())
				if err != nil || len(report.Errors) > 0 {
					t.Errorf("report %+v, %v; want no errors", report, err)
				}
				won(report.Resolved)
			})
		}
		for id := range markets {
			wg.Go(func() {
				_, err := l.service.Force(t.Context(), fmt.Sprint(id+1), protocol.VerdictNo, nil)
				switch {
				case err == nil:
					won(1)
				case !errors.Is(err, resolution.ErrResolved):
					t.Error(err)
				}
			})
		}
	}
	wg.Wait()
	if n := l.count(`SELECT count(*) FROM api.market_resolutions`); n != markets || wins != markets {
		t.Errorf("%d resolutions, %d successful resolvers, want %d", n, wins, markets)
	}
	if n := l.count(`SELECT count(*) FROM api.signal_results`); n != 3*markets {
		t.Errorf("%d results of %d calls", n, 3*markets)
	}
}

// TestMarketsWithoutCallsAreResolved checks that a closed market without calls is resolved by the rules of the others: after the
// grace period, by a second read, and not while its result is provisional or it is disputed. The result is one resolution and one
// event. Markets that are open are not read.
func TestMarketsWithoutCallsAreResolved(t *testing.T) {
	t.Parallel()
	l, r, clock := withReader(t, grace)
	state := map[protocol.MarketID]func(*market.Record){
		"1": func(*market.Record) {}, // open
		"2": func(a *market.Record) { final(a, protocol.VerdictYes) },
		"3": func(a *market.Record) { a.Status, a.Provisional = protocol.MarketClosed, true },
		"4": func(a *market.Record) { final(a, protocol.VerdictNo) }, // disputed
		"5": func(a *market.Record) { final(a, protocol.VerdictInvalid) },
	}
	r.answer = func(a *market.Record) error { state[a.ID](a); return nil }
	for id := range state {
		l.venueMarket(string(id), noon.Add(time.Hour), false)
		if _, err := l.markets.Refresh(t.Context(), id); id != "1" && err != nil {
			t.Fatal(err)
		}
	}
	l.exec(`UPDATE api.markets SET disputed = true WHERE market_id = '4'`)
	r.take()
	poll := func(after time.Duration, want ...protocol.MarketID) {
		t.Helper()
		clock.Set(noon.Add(after))
		if _, err := l.Poll(t.Context()); err != nil {
			t.Fatal(err)
		}
		seen := r.take()
		for _, id := range want {
			if !seen[id] {
				t.Errorf("after %v market %s was not read", after, id)
			}
		}
		if len(seen) != len(want) {
			t.Errorf("after %v read %v, want %v", after, seen, want)
		}
	}
	outcomes := func() int { return l.count(`SELECT count(*) FROM api.market_resolutions`) }
	poll(5*time.Minute - time.Second)
	poll(5*time.Minute, "2", "3", "5")
	state["5"] = func(*market.Record) {} // the venue withdraws the result
	poll(grace - time.Second)
	if n := outcomes(); n != 0 {
		t.Errorf("%d markets resolved within the grace period, want 0", n)
	}
	poll(grace, "2", "3", "5")
	if n := l.count(`SELECT count(*) FROM api.market_resolutions WHERE market_id = '2' AND outcome = 'YES' AND resolver = 'oracle'
		AND source = 'polymarket' AND payout = '0.5' AND proof_url = 'https://venue.example/event/hold'`); n != 1 || outcomes() != 1 {
		t.Errorf("%d resolutions of market 2, %d of all; want 1 and 1", n, outcomes())
	}
	if n := l.count(`SELECT count(*) FROM api.outbox WHERE type = 'market.resolved'`); n != 1 {
		t.Errorf("%d events market.resolved, want 1", n)
	}
	m, err := l.markets.Get(t.Context(), "2")
	if err != nil || m.Status != protocol.MarketResolved || m.Verdict == nil || *m.Verdict != protocol.VerdictYes {
		t.Errorf("market 2 is %s, %v, %v; want resolved", m.Status, m.Verdict, err)
	}
	// The pause grows with the time since the end.
	poll(15*time.Minute, "3")
	poll(25*time.Hour, "3")
	poll(28 * time.Hour)
	l.exec(`UPDATE api.markets SET disputed = false WHERE market_id = '4'`)
	poll(29*time.Hour, "3", "4")
	if outcomes() != 2 {
		t.Errorf("%d outcomes after the dispute was cleared, want 2", outcomes())
	}
}

// TestBacklogOfMarketsWithoutCalls checks that one pass reads at most 50 of many resolved markets without calls, that each pass
// continues after the last, and that they do not delay markets with calls.
func TestBacklogOfMarketsWithoutCalls(t *testing.T) {
	t.Parallel()
	l, r, clock := withReader(t, grace)
	r.answer = func(a *market.Record) error { final(a, protocol.VerdictNo); return nil }
	l.exec(`INSERT INTO api.markets (market_id, provider, title, status, provisional, closed_at, fetched_at, final_verdict, final_at, created_at, updated_at)
		SELECT n::text, 'polymarket', 'A market', 'closed', true, $1, $1, 'NO', $1, $1, $1 FROM generate_series(1, 220) n`, noon.Add(-time.Hour))
	l.venueMarket("7000", noon.Add(-time.Minute), false)
	l.file("7000", 2)
	l.finalSince("7000", protocol.VerdictNo, noon.Add(-time.Hour))
	for pass, want := range []int{51, 50, 50, 50, 20, 0} {
		clock.Advance(30 * time.Second)
		report, err := l.Poll(t.Context())
		if err != nil || report.Resolved != want || pass == 0 && report.Scored != 2 {
			t.Errorf("pass %d resolved %d markets with %d calls, %v; want %d", pass, report.Resolved, report.Scored, err, want)
		}
	}
	if n := l.count(`SELECT count(*) FROM api.outbox WHERE type = 'market.resolved'`); n != 221 {
		t.Errorf("%d events market.resolved, want one for each market", n)
	}
}
