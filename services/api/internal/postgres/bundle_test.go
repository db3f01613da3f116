package postgres

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/operator"
	"github.com/signalcast/signalcast/services/api/internal/resolution"
	"github.com/signalcast/signalcast/services/api/internal/signal"
)

// noon is the time at which the test clock starts.
var noon = time.Date(2026, 10, 10, 12, 0, 0, 0, time.UTC)

// ageless is a value of Rules.QuoteMaxAge with which every quote is fresh.
const ageless = 100 * 365 * 24 * time.Hour

// bundle is a store with a separate database and a clock that the test sets.
type bundle struct {
	*Store
	t     *testing.T
	admin *pgxpool.Pool
	rw    *pgxpool.Pool
	clock *testkit.Clock
}

func setup(t *testing.T) *bundle {
	t.Helper()
	return setupRules(t, Rules{PastEndIsProvisional: true, ResolveChunk: 100_000, QuoteMaxAge: ageless})
}

func setupRules(t *testing.T, rules Rules) *bundle {
	t.Helper()
	db := testkit.Postgres(t, pg.Schema{Name: "api", Files: Migrations()})
	b := &bundle{t: t, clock: testkit.NewClock(noon), admin: testkit.Pool(t, db.Admin), rw: testkit.Pool(t, db.URL("api_rw"))}
	// The trigger compares calls with the clock of the database, which differs from the test clock.
	b.exec(`ALTER TABLE api.signals DISABLE TRIGGER check_new`)
	rules.HubURL = "https://hub.example/"
	rules.ReadBudget = 20 * time.Second // long, so that a busy machine does not cause db_unavailable
	b.Store = New(b.rw, rules, b.clock.Now)
	t.Cleanup(b.Store.Close)
	return b
}

// must returns the value v of a call. If the call returned an error, the test fails.
func must[T any](v T, err error) func(testing.TB) T { return testkit.Must(v, err) }

// exec executes a statement with the permissions of the database administrator. An error fails the test.
func (b *bundle) exec(sql string, args ...any) {
	b.t.Helper()
	if _, err := b.admin.Exec(b.t.Context(), sql, args...); err != nil {
		b.t.Fatalf("%s: %v", sql, err)
	}
}

// count executes a query that returns one number, and returns it.
func (b *bundle) count(sql string, args ...any) int {
	b.t.Helper()
	var n int
	if err := b.admin.QueryRow(b.t.Context(), sql, args...).Scan(&n); err != nil {
		b.t.Fatalf("%s: %v", sql, err)
	}
	return n
}

// operator creates an operator with an API key, and returns the id of the operator and the hash of the key.
func (b *bundle) operator(name string) (id string, hash []byte) {
	b.t.Helper()
	s := operator.NewService(b.Store, "0123456789abcdef0123456789abcdef", b.clock.Now)
	o, _, err := s.SignIn(b.t.Context(), operator.Identity{Issuer: "https://idp.example", Subject: "did:idp:" + name, Primary: true, Username: name})
	if err != nil {
		b.t.Fatal(err)
	}
	plaintext, _, err := s.Mint(b.t.Context(), o.ID, "test", operator.PrefixKey, nil, false)
	if err != nil {
		b.t.Fatal(err)
	}
	return o.ID, operator.Hash(plaintext)
}

// venueMarket creates an open market of the primary venue with the given YES price.
func (b *bundle) venueMarket(id string, yesBps int) {
	b.t.Helper()
	now := b.clock.Now()
	b.exec(`INSERT INTO api.markets (market_id, provider, title, status, end_date, lane, fetched_at, created_at, updated_at)
		VALUES ($1, 'polymarket', 'Will it hold?', 'open', $2, 'SCIENCE', $3, $3, $3)`, id, now.Add(24*time.Hour), now)
	b.exec(`INSERT INTO api.market_quotes (market_id, yes_bps, at) VALUES ($1, $2, $3)`, id, yesBps, now)
	b.exec(`INSERT INTO api.market_prices (market_id, at, yes_bps) VALUES ($1, $2, $3)`, id, now, yesBps)
	if yesBps > 0 && yesBps < 10_000 {
		b.quote(id, yesBps, 10_000-yesBps)
	}
}

// quote sets the newest quote of a market. It is dated with the present time of the test clock.
func (b *bundle) quote(id string, yes, no int) {
	b.t.Helper()
	b.exec(`UPDATE api.market_quotes SET yes_price_bps = $2, no_price_bps = $3, quoted_at = $4, quote_rule = 'test' WHERE market_id = $1`, id, yes, no, b.clock.Now())
}

// nativeMarket creates an open native market with the initial YES price prior.
func (b *bundle) nativeMarket(id string, prior int) {
	b.t.Helper()
	now := b.clock.Now()
	b.exec(`INSERT INTO api.markets (market_id, provider, title, status, end_date, lane, initial_yes_bps, created_by, created_at, updated_at)
		VALUES ($1, 'manual', 'Will the gauge rise?', 'open', $2, 'SCIENCE', $3, 'admin', $4, $4)`, id, now.Add(24*time.Hour), prior, now)
	b.exec(`INSERT INTO api.market_quotes (market_id, yes_bps, at) VALUES ($1, $2, $3)`, id, prior, now)
	b.exec(`INSERT INTO api.market_prices (market_id, at, yes_bps) VALUES ($1, $2, $3)`, id, now, prior)
}

// signals returns a signal.Service that uses the store and the given venues, which may be nil.
func (b *bundle) signals(venues market.Venues) *signal.Service {
	return signal.NewService(b.Store, market.NewService(b.Store, venues, lanes(), true, b.clock.Now), b.clock.Now)
}

func newDraft(market string, side protocol.Side, price int) signal.Draft {
	return signal.Draft{
		ID: uuid.Must(uuid.NewV7()).String(), MarketID: protocol.MarketID(market), Side: side, Price: protocol.Bps(price), Source: "web",
	}
}

// file files a call, fails the test if the call is not accepted, and returns its id. Without a fresh quote the call is
// unverified.
func (b *bundle) file(hash []byte, market string, side protocol.Side, price int) string {
	b.t.Helper()
	d := newDraft(market, side, price)
	d.Venue = signal.VenueRequested
	if got := b.try(signal.Caller{KeyHash: hash}, d); got.Verdict != signal.VerdictFiled {
		b.t.Fatalf("filing on %s: %+v", market, got)
	}
	return d.ID
}

func (b *bundle) try(c signal.Caller, d signal.Draft) signal.Filing {
	b.t.Helper()
	return must(b.File(b.t.Context(), c, d))(b.t)
}

// claim claims the outcome of a market in the name of the venue's oracle.
func (b *bundle) claim(market string, verdict protocol.Verdict) {
	b.t.Helper()
	if _, err := b.Claim(b.t.Context(), resolution.Claim{MarketID: market, Verdict: verdict, Resolver: "oracle", Source: "polymarket"}, b.clock.Now); err != nil {
		b.t.Fatal(err)
	}
}

// operators creates n operators and returns the hashes of their API keys.
func (b *bundle) operators(n int) [][]byte {
	b.t.Helper()
	list := make([][]byte, n)
	for i := range n {
		_, list[i] = b.operator(fmt.Sprintf("op%d", i))
	}
	return list
}

// seedSignals inserts calls of n operators on a market directly into the tables, and updates the same counters as the filing
// statement.
func (b *bundle) seedSignals(ctx context.Context, market string, n int) {
	b.t.Helper()
	b.exec(`INSERT INTO api.users (id, issuer, provider_id, public_id, handle, display_name, created_at)
		SELECT ('018f0000-0000-7000-8000-' || lpad(to_hex(i), 12, '0'))::uuid, 'seed', 'seed' || i, 'op_' || lpad(to_hex(i), 16, '0'), 'seed' || i, 'Seed', $2
		FROM generate_series(1, $1) i ON CONFLICT DO NOTHING`, n, noon)
	b.exec(`INSERT INTO api.operator_scores (user_id) SELECT id FROM api.users ON CONFLICT DO NOTHING`)
	b.exec(`INSERT INTO api.operator_totals (user_id) SELECT id FROM api.users ON CONFLICT DO NOTHING`)
	b.exec(`INSERT INTO api.signals (id, market_id, user_id, yes, price_bps, score_basis_bps, price_verified, rated, crowd_yes_bps, market_yes_bps, created_at, market_title, source)
		SELECT gen_random_uuid(), $1, u.id, i % 2 = 0, i % 10001, i % 10001, true, true, 4000, 4000, $3, 'seed', 'web'
		FROM generate_series(1, $2) i JOIN api.users u ON u.provider_id = 'seed' || i AND u.issuer = 'seed'`, market, n, noon)
	b.exec(`INSERT INTO api.market_totals (market_id, yes, no) SELECT $1, count(*) FILTER (WHERE yes), count(*) FILTER (WHERE NOT yes)
		FROM api.signals WHERE market_id = $1`, market)
}
