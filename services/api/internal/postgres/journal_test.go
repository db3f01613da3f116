package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/journal"
	"github.com/signalcast/signalcast/services/api/internal/resolution"
	"github.com/signalcast/signalcast/services/api/internal/signal"
)

// written is a database with rows of every kind that the journal contains, a signing key and a sealer, which appends to the
// journal.
type written struct {
	*bundle
	key    journal.Key
	sealer *journal.Sealer
}

func writtenLedger(t *testing.T) *written {
	t.Helper()
	b := setup(t)
	key := must(journal.NewKey("0123456789abcdef0123456789abcdef"))(t)
	w := &written{b, key, journal.NewSealer(b.Store, key, b.clock.Now)}
	_, mara := b.operator("mara")
	for i := range 12 {
		market := fmt.Sprintf("native-%d", i)
		b.nativeMarket(market, 4000)
		id := b.file(mara, market, protocol.Yes, 4100)
		b.clock.Advance(time.Second)
		if _, err := b.AppendEvent(t.Context(), signal.Caller{KeyHash: mara}, id, signal.Event{ID: newUUID(), Type: "note", Payload: `{"text":"a"}`, CreatedAt: b.clock.Now()}); err != nil {
			t.Fatal(err)
		}
		if i == 3 {
			w.seal() // the journal starts while rows of all kinds exist
		}
		if i%2 == 0 {
			if _, err := resolution.NewService(b.Store, b.clock.Now).Force(t.Context(), market, protocol.VerdictYes, nil); err != nil {
				t.Fatal(err)
			}
		}
		if i == 7 {
			w.seal()
		}
	}
	w.seal()
	return w
}

// seal moves outbox entries into the feed and appends all new rows to the journal.
func (w *written) seal() {
	w.t.Helper()
	w.number()
	if _, err := w.sealer.Seal(w.t.Context(), nil); err != nil {
		w.t.Fatal(err)
	}
}

func (w *written) fsck(external ...journal.Checkpoint) []string {
	w.t.Helper()
	found := must(Fsck(w.t.Context(), w.rw, w.key, external))(w.t)
	return found.Differences
}

// unlocked executes statements as the owner of the tables, with triggers disabled.
func (w *written) unlocked(list ...string) {
	w.t.Helper()
	for _, table := range sealedTables {
		w.exec("ALTER TABLE api." + table + " DISABLE TRIGGER ALL")
	}
	for _, sql := range list {
		w.exec(sql)
	}
}

var sealedTables = []string{"signals", "signal_results", "signal_events", "market_resolutions", "journal_leaves", "journal_checkpoints"}

func TestJournalOfACompleteLedger(t *testing.T) {
	t.Parallel()
	w := writtenLedger(t)
	if d := w.fsck(); len(d) != 0 {
		t.Errorf("fsck of an unchanged ledger: %q", d)
	}
	rows := w.count("SELECT (SELECT count(*) FROM api.signals) + (SELECT count(*) FROM api.signal_results) + (SELECT count(*) FROM api.signal_events) + (SELECT count(*) FROM api.market_resolutions)")
	if leaves := w.count("SELECT count(*) FROM api.journal_leaves"); leaves != rows || rows != 12+6+12+6 {
		t.Errorf("%d leaves for %d rows", leaves, rows)
	}
	before := w.count("SELECT count(*) FROM api.journal_checkpoints")
	w.seal()
	if w.count("SELECT count(*) FROM api.journal_checkpoints") != before {
		t.Error("a checkpoint was signed without changes")
	}
	if note, err := w.Checkpoint(t.Context()); err != nil || !strings.HasPrefix(note, "signalcast.ledger\n36\n") {
		t.Errorf("checkpoint %q %v", note, err)
	}
}

// TestEveryColumnIsSealed changes each column of each append-only table and checks that Fsck reports the change.
func TestEveryColumnIsSealed(t *testing.T) {
	t.Parallel()
	w := writtenLedger(t)
	w.unlocked(`ALTER TABLE api.signal_results DROP CONSTRAINT signal_results_check, DROP CONSTRAINT signal_results_status_check, DROP CONSTRAINT signal_results_reason_check`,
		`ALTER TABLE api.market_resolutions DROP CONSTRAINT market_resolutions_outcome_check, DROP CONSTRAINT market_resolutions_resolver_check`,
		`ALTER TABLE api.signal_events DROP CONSTRAINT signal_events_type_check`)
	other := map[string]string{
		"uuid": "gen_random_uuid()", "text": "coalesce(%s, '') || 'x'", "boolean": "NOT %s", "integer": "coalesce(%s, 0) + 1", "smallint": "coalesce(%s, 0) + 1",
		"timestamp with time zone": "coalesce(%s, now()) + interval '1 microsecond'", "jsonb": `%s || '{"x":1}'`,
	}
	columns := 0
	for _, table := range sealedTables[:4] {
		rows, err := w.admin.Query(t.Context(), `SELECT column_name, data_type FROM information_schema.columns
			WHERE table_schema = 'api' AND table_name = $1`, table)
		if err != nil {
			t.Fatal(err)
		}
		types := map[string]string{}
		for rows.Next() {
			var name, kind string
			if err := rows.Scan(&name, &kind); err != nil {
				t.Fatal(err)
			}
			types[name] = kind
		}
		for name, kind := range types {
			to := other[kind]
			if strings.Contains(to, "%s") {
				to = fmt.Sprintf(to, name)
			}
			if table == "signal_results" && name == "outcome" {
				to = "CASE outcome WHEN 'YES' THEN 'NO' ELSE 'YES' END"
			}
			w.exec("CREATE TABLE api.kept AS SELECT ctid AS was, t.* FROM api." + table + " t LIMIT 1")
			w.exec(fmt.Sprintf("UPDATE api.%s SET %s = %s WHERE ctid = (SELECT was FROM api.kept)", table, name, to))
			if !slices.ContainsFunc(w.fsck(), func(line string) bool { return strings.HasPrefix(line, table+" ") }) {
				t.Errorf("the change of %s.%s was not reported", table, name)
			}
			key := map[string]string{"signals": "id", "signal_results": "signal_id", "signal_events": "id", "market_resolutions": "market_id"}[table]
			if name == key {
				w.exec(fmt.Sprintf("UPDATE api.%[1]s t SET %[2]s = k.%[2]s FROM api.kept k WHERE NOT EXISTS (SELECT FROM api.journal_leaves l WHERE l.of = t.%[2]s::text)", table, name))
			} else {
				w.exec(fmt.Sprintf("UPDATE api.%[1]s t SET %[2]s = k.%[2]s FROM api.kept k WHERE t.%[3]s = k.%[3]s", table, name, key))
			}
			w.exec("DROP TABLE api.kept")
			columns++
		}
		if d := w.fsck(); len(d) != 0 {
			t.Fatalf("%s: not restored: %q", table, d)
		}
	}
	t.Logf("%d columns", columns)
	if columns != 21+16+6+14 {
		t.Errorf("%d columns; add a new column to the view journal_rows", columns)
	}
}

// TestQuotesOfCallsAreSealed checks that Fsck reports a changed quote of a call, and removed facts of a result in the newer
// format of leaves.
func TestQuotesOfCallsAreSealed(t *testing.T) {
	t.Parallel()
	w := writtenLedger(t)
	w.venueMarket("900", 4000)
	_, hash := w.operator("quoted")
	w.rules.ConfirmAfter = confirmAfter
	w.fileCounted(hash, "900", protocol.Yes, 4100)
	w.claim("900", protocol.VerdictYes)
	w.seal()
	if d := w.fsck(); len(d) != 0 {
		t.Fatalf("fsck of an unchanged ledger: %q", d)
	}
	for sql, undo := range map[string]string{
		`UPDATE api.quotes SET yes_price_bps = yes_price_bps - 1 WHERE at = (SELECT min(at) FROM api.quotes)`: `UPDATE api.quotes SET yes_price_bps = yes_price_bps + 1 WHERE at = (SELECT min(at) FROM api.quotes)`,
		`UPDATE api.quotes SET no_price_bps = no_price_bps - 1 WHERE at = (SELECT max(at) FROM api.quotes)`:   `UPDATE api.quotes SET no_price_bps = no_price_bps + 1 WHERE at = (SELECT max(at) FROM api.quotes)`,
	} {
		w.exec(sql)
		if d := w.fsck(); len(d) != 1 {
			t.Errorf("fsck after %s: %q", sql, d)
		}
		w.exec(undo)
	}
	w.unlocked(`UPDATE api.signal_results SET counted = false, basis_bps = NULL, confirmed_at = NULL WHERE confirmed_at IS NOT NULL`)
	if d := w.fsck(); len(d) != 1 || !strings.Contains(d[0], "signal_results") {
		t.Errorf("fsck after a removed fact: %q", d)
	}
}

// TestTamperingShows checks that Fsck reports deleted and inserted rows, and changes of the journal and its checkpoints.
func TestTamperingShows(t *testing.T) {
	t.Parallel()
	other := must(journal.NewKey("another secret, of 32 bytes or more"))(t)
	for name, c := range map[string]struct{ do, want string }{
		"a row deleted":               {`DELETE FROM api.signal_results WHERE signal_id = (SELECT min(signal_id::text)::uuid FROM api.signal_results)`, "missing; it is leaf"},
		"a row deleted with its leaf": {`DELETE FROM api.signal_events WHERE id = (SELECT of::uuid FROM api.journal_leaves WHERE n = 9 AND kind = 3 OR kind = 3 ORDER BY n LIMIT 1); DELETE FROM api.journal_leaves l WHERE kind = 3 AND NOT EXISTS (SELECT FROM api.signal_events e WHERE e.id::text = l.of)`, "missing before it"},
		"a row inserted": {`INSERT INTO api.signals (id, market_id, user_id, yes, price_bps, score_basis_bps, price_verified, created_at, market_title, source)
			SELECT gen_random_uuid(), 'native-x', user_id, true, 100, 100, true, created_at, 'x', 'web' FROM api.signals LIMIT 1`, "not in the journal"},
		"a row changed with its leaf":    {`UPDATE api.market_resolutions SET reason = 'x'; UPDATE api.journal_leaves l SET hash = sha256('x') WHERE kind = 4;`, "another root"},
		"the end of the journal deleted": {`DELETE FROM api.journal_leaves WHERE n > 30`, "the newest"},
		"the newest checkpoint changed":  {`UPDATE api.journal_checkpoints SET note = replace(note, 'ledger', 'lodger')`, "signature is not valid"},
		"all checkpoints deleted":        {`DELETE FROM api.journal_checkpoints`, "no checkpoint"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := writtenLedger(t)
			w.unlocked(c.do)
			d := w.fsck()
			if !strings.Contains(strings.Join(d, "\n"), c.want) && !(c.want == "the newest" && strings.Contains(strings.Join(d, "\n"), "the journal has only 31")) {
				t.Errorf("found %q, want %q", d, c.want)
			}
		})
	}
	t.Run("everything rewritten with another key", func(t *testing.T) {
		t.Parallel()
		w := writtenLedger(t)
		note := must(w.Checkpoint(t.Context()))(t)
		kept := must(w.key.Open(note))(t)
		w.unlocked(`UPDATE api.signals SET price_bps = 1`, `DELETE FROM api.journal_leaves`, `DELETE FROM api.journal_checkpoints`)
		rewriter := journal.NewSealer(w.Store, other, w.clock.Now)
		if _, err := rewriter.Seal(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		if d := w.fsck(); len(d) == 0 {
			t.Error("checkpoints of another key were accepted")
		}
		w.unlocked(`DELETE FROM api.journal_leaves`, `DELETE FROM api.journal_checkpoints`)
		if _, err := w.sealer.Seal(t.Context(), nil); err != nil { // with the original key
			t.Fatal(err)
		}
		if d := w.fsck(); len(d) != 0 {
			t.Errorf("fsck before the tampering: %q", d)
		}
		if d := w.fsck(kept); len(d) == 0 {
			t.Error("an external checkpoint does not reveal the rewrite")
		}
	})
}

// TestFsckOfALargeLedger checks that Fsck accepts a database with 40,000 rows in the journal, within four seconds.
func TestFsckOfALargeLedger(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.venueMarket("1", 5000)
	b.seedSignals(t.Context(), "1", 40_000)
	key := must(journal.NewKey("0123456789abcdef0123456789abcdef"))(t)
	w := &written{b, key, journal.NewSealer(b.Store, key, b.clock.Now)}
	began := time.Now()
	if _, err := w.sealer.Seal(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	sealed := time.Since(began)
	began = time.Now()
	if d := w.fsck(); len(d) != 0 {
		t.Errorf("fsck of the large ledger: %q", d)
	}
	took := time.Since(began)
	t.Logf("40,000 rows: sealed in %v, checked in %v", sealed, took)
	if took > 4*time.Second {
		t.Errorf("the check took %v", took)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Fsck(ctx, w.rw, key, nil); err == nil {
		t.Error("a canceled check returned a result")
	}
}
