package postgres

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// storedCall is a call as stored in the database, and the quote at its filing.
type storedCall struct {
	market, operator string
	yes              bool
	price, basis     int
	verified         bool
	quote            *[2]int // prices of YES and NO; nil without a quote
}

func (b *bundle) store(c storedCall) string {
	b.t.Helper()
	id, now := uuid.Must(uuid.NewV7()).String(), b.clock.Now()
	var at *time.Time
	if c.quote != nil {
		quoted := now.Add(-3 * time.Second)
		at = &quoted
		b.exec(`INSERT INTO api.quotes (market_id, at, yes_price_bps, no_price_bps, rule, answer_sha256) VALUES ($1, $2, $3, $4, 'test', sha256('answer'))`,
			c.market, quoted, c.quote[0], c.quote[1])
	}
	b.exec(`INSERT INTO api.signals (id, market_id, user_id, yes, price_bps, score_basis_bps, price_verified, rated, quote_at, market_yes_bps, created_at, market_title, source)
		VALUES ($1, $2, $3, $4, $5, $6, $7, true, $8, 1429, $9, 'call', 'web')`,
		id, c.market, c.operator, c.yes, c.price, c.basis, c.verified, at, now)
	b.exec(`INSERT INTO api.market_totals (market_id, yes) VALUES ($1, 1) ON CONFLICT (market_id) DO UPDATE SET yes = market_totals.yes + 1`, c.market)
	return id
}

// fsckLedger returns a database with one call of each kind, scored by the service. calls contains the call ids by kind.
func fsckLedger(t *testing.T) (b *bundle, calls map[string]string) {
	t.Helper()
	b = setupCounting(t)
	if err := b.AddTolerance(t.Context()); err != nil {
		t.Fatal(err)
	}
	mara, _ := b.operator("mara")
	noor, _ := b.operator("noor")
	calls = map[string]string{}
	b.venueMarket("100", 3000)
	b.exec(`UPDATE api.market_quotes SET volume_usd = 50000`)
	b.nativeMarket("native-own", 5000)
	b.exec(`UPDATE api.markets SET created_by = 'admin' WHERE market_id = 'native-own'`)
	calls["yes"] = b.store(storedCall{"100", mara, true, 3000, 3100, true, &[2]int{3100, 7100}})
	b.clock.Advance(time.Second)
	calls["no"] = b.store(storedCall{"100", noor, false, 6850, 7100, true, &[2]int{3100, 7100}})
	b.clock.Advance(6 * time.Second)
	b.exec(`INSERT INTO api.quotes (market_id, at, yes_price_bps, no_price_bps, rule) VALUES ('100', $1, 3500, 6700, 'test')`, b.clock.Now())
	calls["native"] = b.store(storedCall{"native-own", mara, true, 1000, 5000, true, nil})
	b.clock.Advance(time.Minute)
	b.exec(`UPDATE api.markets SET status = 'closed', closed_at = $1 WHERE market_id = '100'`, b.clock.Now())
	b.clock.Advance(time.Minute)
	oren, _ := b.operator("oren")
	calls["late"] = b.store(storedCall{"100", oren, true, 9000, 9000, false, nil})
	b.clock.Advance(time.Second)
	b.claim("100", protocol.VerdictYes)
	b.claim("native-own", protocol.VerdictYes)
	return b, calls
}

// TestFsckAcceptsStoredCalls checks that FsckCalls reports no difference for calls that filing and scoring have stored. It
// uses two order books (bid 2900 and ask 3100, bid 3300 and ask 3500) and a native market.
func TestFsckAcceptsStoredCalls(t *testing.T) {
	t.Parallel()
	b, calls := fsckLedger(t)
	if list := must(FsckCalls(t.Context(), b.rw, true))(t); len(list) != 0 {
		t.Errorf("differences of stored calls: %+v", list)
	}
	for name, want := range map[string]struct {
		basis   int
		counted bool
	}{"yes": {3500, true}, "no": {7100, true}, "native": {5000, true}, "late": {9000, false}} {
		if n := b.count(`SELECT count(*) FROM api.signal_results WHERE signal_id = $1 AND basis_bps = $2 AND counted = $3`, calls[name], want.basis, want.counted); n != 1 {
			t.Errorf("%s: want scoring price %d and counted %v", name, want.basis, want.counted)
		}
	}
}

// TestFsckFindsEveryDeviation stores one wrong value after the other and checks that FsckCalls reports it.
func TestFsckFindsEveryDeviation(t *testing.T) {
	t.Parallel()
	b, calls := fsckLedger(t)
	for _, table := range sealedTables[:4] {
		b.exec("ALTER TABLE api." + table + " DISABLE TRIGGER ALL")
	}
	b.exec(`ALTER TABLE api.signal_results DROP CONSTRAINT signal_results_check`)
	for _, c := range []struct{ call, plant, undo, what string }{
		{"yes", `signals SET score_basis_bps = 3000`, `signals SET score_basis_bps = 3100`, "scoreBasisBps at filing"},
		{"late", `signals SET score_basis_bps = 9100`, `signals SET score_basis_bps = 9000`, "scoreBasisBps at filing"},
		{"native", `signals SET score_basis_bps = 1429`, `signals SET score_basis_bps = 5000`, "scoreBasisBps at filing"},
		{"yes", `signals SET quote_at = quote_at - interval '1 ms'`, `signals SET quote_at = quote_at + interval '1 ms'`, "scoreBasisBps at filing"},
		{"yes", `signals SET created_at = created_at + interval '1 hour'`, `signals SET created_at = created_at - interval '1 hour'`, "quoteAt"},
		{"no", `signals SET price_verified = false`, `signals SET price_verified = true`, "counted"},
		{"no", `signals SET rated = false`, `signals SET rated = true`, "counted"},
		{"yes", `signal_results SET basis_bps = 3100, score = 69, clv_bps = clv_bps + 400`, `signal_results SET basis_bps = 3500, score = 65, clv_bps = clv_bps - 400`, "scoreBasisBps"},
		{
			"yes", `signal_results SET confirmed_at = NULL, basis_bps = 3100, score = 69, clv_bps = clv_bps + 400`,
			`signal_results SET confirmed_at = (SELECT max(at) FROM api.quotes), basis_bps = 3500, score = 65, clv_bps = clv_bps - 400`, "counted",
		},
		{"yes", `signal_results SET score = 66`, `signal_results SET score = 65`, "score"},
		{"yes", `signal_results SET clv_bps = clv_bps + 1`, `signal_results SET clv_bps = clv_bps - 1`, "clvBps"},
		{"yes", `signal_results SET counted = false`, `signal_results SET counted = true`, "counted"},
		{"late", `signal_results SET reason = NULL, status = 'won', score = 10, outcome = 'YES'`, `signal_results SET reason = 'late', status = 'void', score = 0, outcome = NULL`, "reason"},
		{"late", `signal_results SET status = 'lost', score = -90`, `signal_results SET status = 'void', score = 0`, "status"},
	} {
		where := ` WHERE id = '` + calls[c.call] + `'`
		if strings.HasPrefix(c.plant, "signal_results") {
			where = ` WHERE signal_id = '` + calls[c.call] + `'`
		}
		b.exec("UPDATE api." + c.plant + where)
		b.named(c.plant, c.what, calls[c.call])
		b.exec("UPDATE api." + c.undo + where)
	}
	for plant, undo := range map[string]string{
		`UPDATE api.market_resolutions SET rated = false WHERE market_id = '100'`:                                    `UPDATE api.market_resolutions SET rated = true`,
		`UPDATE api.markets SET created_by = (SELECT user_id::text FROM api.signals WHERE market_id = 'native-own')`: `UPDATE api.markets SET created_by = 'admin'`,
	} {
		b.exec(plant)
		b.named(plant, "counted", "")
		b.exec(undo)
	}
	b.exec(`UPDATE api.market_resolutions SET close_at = close_at - interval '2 minutes' WHERE market_id = '100'`)
	b.named("earlier close", "reason", "")
	b.exec(`UPDATE api.market_resolutions SET close_at = close_at + interval '2 minutes' WHERE market_id = '100'`)
	if list := must(FsckCalls(t.Context(), b.rw, true))(t); len(list) != 0 {
		t.Errorf("after all deviations were undone: %+v", list)
	}
}

// named fails the test if FsckCalls does not report a difference of the member what for the call id. An empty id means any
// call. plant names the wrong value in the error message.
func (b *bundle) named(plant, what, id string) {
	b.t.Helper()
	list := must(FsckCalls(b.t.Context(), b.rw, true))(b.t)
	for _, d := range list {
		if d.Counter == what && (id == "" || d.Of == id) {
			return
		}
	}
	b.t.Errorf("%s: no difference of %s reported: %+v", plant, what, list)
}
