package postgres

import (
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/api/internal/signal"
)

const insertSignal = `INSERT INTO api.signals (id, market_id, user_id, yes, price_bps, score_basis_bps, price_verified, created_at, market_title, source)
	VALUES ($1, $2, $3, true, 5000, 5000, true, clock_timestamp() + make_interval(secs => $4), 'x', 'web')`

// TestInsertedCallsAreChecked checks that the role of the service can insert only calls of the present minute on markets
// without an outcome. The owner of the schema can insert any call, which adds one audit entry for each session.
func TestInsertedCallsAreChecked(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.exec(`ALTER TABLE api.signals ENABLE TRIGGER check_new`)
	id, hash := b.operator("clock")
	b.venueMarket("7", 5000)
	b.exec(`INSERT INTO api.market_resolutions (market_id, outcome, resolver, source, close_at, lane, resolved_at)
		VALUES ('8', 'YES', 'admin', 'x', $1, 'OTHER', $1)`, noon)
	for _, c := range []struct {
		market  string
		seconds float64
		ok      bool
	}{{"1", 0, true}, {"2", -58, true}, {"3", 58, true}, {"4", -62, false}, {"5", 62, false}, {"8", 0, false}} {
		if _, err := b.rw.Exec(t.Context(), insertSignal, uuid.NewString(), c.market, id, c.seconds); (err == nil) != c.ok {
			t.Errorf("call on market %s, %v s from now: %v", c.market, c.seconds, err)
		}
	}
	// The trigger compares calls with the clock of the database, which differs from the test clock.
	if _, err := b.File(t.Context(), signal.Caller{KeyHash: hash}, newDraft("7", protocol.Yes, 5000)); !errors.Is(err, signal.ErrRefused) {
		t.Errorf("call of another time: %v", err)
	}
	if n := b.count(`SELECT count(*) FROM api.audit_log WHERE action = 'signals.inserted'`); n != 0 {
		t.Errorf("%d audit entries of the service, want 0", n)
	}
	if n := b.count(`SELECT count(*) FROM api.signals`); n != 3 {
		t.Errorf("%d calls are stored, want 3", n)
	}
	for session := range 2 {
		db := b.admin.Config().ConnString()
		conn := testkit.Pool(t, db)
		one, err := conn.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for i := range 3 {
			market := string(rune('a'+session)) + string(rune('a'+i))
			if _, err := one.Exec(t.Context(), insertSignal, uuid.NewString(), market, id, -1e6); err != nil {
				t.Error(err)
			}
		}
		if n := b.count(`SELECT count(*) FROM api.audit_log WHERE action = 'signals.inserted'`); n != session+1 {
			t.Errorf("%d audit entries after %d sessions", n, session+1)
		}
		one.Release()
	}
}

// TestFilingPassesTheCheck checks that the trigger accepts a call that is dated with the time of the database.
func TestFilingPassesTheCheck(t *testing.T) {
	t.Parallel()
	db := testkit.Postgres(t, pg.Schema{Name: "api", Files: Migrations()})
	pool := testkit.Pool(t, db.URL("api_rw"))
	store := New(pool, Rules{QuoteMaxAge: 15 * time.Second, ResolveChunk: 1}, time.Now)
	t.Cleanup(store.Close)
	b := &bundle{Store: store, t: t, rw: pool, admin: testkit.Pool(t, db.Admin), clock: testkit.NewClock(time.Now().UTC())}
	b.venueMarket("7", 5000)
	_, hash := b.operator("now")
	b.file(hash, "7", protocol.Yes, 5000)
}
