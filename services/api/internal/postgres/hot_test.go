package postgres

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/services/api/internal/postgres/db"
	"github.com/signalcast/signalcast/services/api/internal/resolution"
)

// TestPlansOfTheFilingStatements checks the query plans that the comments of the filing statements describe, on a connection
// of the write pool. Each table must be read by the named index, and no table may be scanned.
func TestPlansOfTheFilingStatements(t *testing.T) {
	t.Parallel()
	b := setup(t)
	conn, err := b.Store.writes.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	reads := []string{"operator_keys_hash_key", "users_pkey", "markets_pkey", "market_quotes_pkey"}
	for _, c := range []struct {
		name, text string
		reads      []string
		leavesOut  []string
	}{
		{"file_signals", db.FileSignals, reads, []string{"idempotency_keys", "unconfirmed_signals", "market_prices", "audit_log"}},
		{"file_signals_with_key", db.FileSignalsWithKey, append(reads[:4:4], "idempotency_keys_pkey"), []string{"unconfirmed_signals", "market_prices", "audit_log"}},
		{"file_signals_full", db.FileSignalsFull, append(reads[:4:4], "idempotency_keys_pkey"), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.TrimRight(strings.TrimSpace(c.text), ";")
			if _, err := conn.Exec(t.Context(), "PREPARE "+c.name+" AS "+text); err != nil {
				t.Fatal(err)
			}
			rows, err := conn.Query(t.Context(), "EXPLAIN (COSTS OFF) EXECUTE "+c.name+"("+strings.TrimRight(strings.Repeat("NULL,", 25), ",")+")")
			if err != nil {
				t.Fatal(err)
			}
			plan := linesOf(t, rows)
			if strings.Contains(plan, "Seq Scan") {
				t.Errorf("a table is scanned:\n%s", plan)
			}
			for _, index := range c.reads {
				if !strings.Contains(plan, "using "+index) {
					t.Errorf("%s is not used:\n%s", index, plan)
				}
			}
			for _, table := range c.leavesOut {
				if strings.Contains(plan, table) {
					t.Errorf("the plan has the table %s:\n%s", table, plan)
				}
			}
		})
	}
}

// TestFilingStatementsAgree checks that each form of the filing statement contains all lines of the smaller form in the same
// order. A change of a rule in one form only therefore fails.
func TestFilingStatementsAgree(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ small, large string }{{db.FileSignals, db.FileSignalsWithKey}, {db.FileSignalsWithKey, db.FileSignalsFull}} {
		large := statementLines(c.large)
		for _, line := range statementLines(c.small) {
			for len(large) > 0 && large[0] != line {
				large = large[1:]
			}
			if len(large) == 0 {
				t.Fatalf("the larger form lacks the line %q at its position", line)
			}
			large = large[1:]
		}
	}
}

// statementLines returns the lines of a statement without comments and without trailing commas, because a larger form may
// continue the list there. It omits the column first_id, which differs between the forms.
func statementLines(text string) []string {
	var lines []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(strings.TrimSpace(line), ",")
		if line == "" || strings.HasPrefix(line, "--") || strings.HasSuffix(line, "AS first_id") {
			continue
		}
		lines = append(lines, line)
	}
	return lines
}

// TestPlanOfScoring checks the query plan of the scoring statement: it reads a chunk of calls in the order of an index, and
// the data of each call by key.
func TestPlanOfScoring(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.venueMarket("1", 5000)
	b.seedSignals(t.Context(), "1", 500)
	b.seedSignals(t.Context(), "2", 5000)
	b.exec("VACUUM (ANALYZE) api.signals")
	b.exec(`INSERT INTO api.market_resolutions (market_id, outcome, resolver, source, close_at, close_price, lane, resolved_at)
		VALUES ('1', 'YES', 'admin', 'admin', $1, 5000, 'SCIENCE', $1)`, noon.Add(time.Hour))
	confirm := time.Minute
	plan := b.explain("COSTS OFF", scoreSignals, "1", (*string)(nil), 500, resolution.ScoringVersion, &confirm)
	for _, want := range []string{"signals_market_id_user_id_key", "using quotes_pkey on quotes"} {
		if !strings.Contains(plan, want) {
			t.Errorf("%s is not used:\n%s", want, plan)
		}
	}
	if regexp.MustCompile(`Seq Scan on (signals|quotes)\b`).MatchString(plan) {
		t.Errorf("a table is scanned:\n%s", plan)
	}
}

// TestPlanOfTheCheckOfLeaves checks that the query plan of the journal check has no nested loop, which would read the rows
// once for each leaf.
func TestPlanOfTheCheckOfLeaves(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.venueMarket("1", 5000)
	b.seedSignals(t.Context(), "1", 5000)
	b.exec(`INSERT INTO api.journal_leaves (n, kind, of, hash) SELECT row_number() OVER () - 1, 1, id::text, sha256(id::text::bytea) FROM api.signals`)
	b.exec("VACUUM (ANALYZE) api.signals")
	b.exec("VACUUM (ANALYZE) api.journal_leaves")
	plan := b.explain("COSTS OFF", readLeaves)
	if !regexp.MustCompile(`(?m)^  ->  (Hash|Merge) (Left|Right) Join`).MatchString(plan) {
		t.Errorf("the rows are read for each leaf:\n%s", plan)
	}
}
