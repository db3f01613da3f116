package postgres

import (
	"io/fs"
	"testing"
)

// before0020 takes away what migration 0020 brought.
const before0020 = `
SET ROLE api_migrator; SET search_path = api;
DROP TRIGGER count_field_insert ON board_rows; DROP TRIGGER count_field_update ON board_rows; DROP TRIGGER count_field_delete ON board_rows;
DROP TABLE moments, operator_tallies, board_due, board_field;
ALTER TABLE board_rows DROP COLUMN skill_calls, DROP COLUMN edge_bps, DROP COLUMN low_bps, DROP COLUMN high_bps;
ALTER TABLE operator_scores DROP COLUMN price_sum, DROP COLUMN best_bps, DROP COLUMN best_signal, DROP COLUMN streak, DROP COLUMN last_at;
ALTER TABLE operator_lane_scores DROP COLUMN price_sum;
DROP FUNCTION fill_records, streak_with, moment_tier, moment_id, count_field, within_price;
RESET ROLE; RESET search_path`

// What the migration makes of the results of before equals what each of them would have
// made by itself, those that wait for their scores or feed rows included.
func TestRecordsOfBefore(t *testing.T) {
	t.Parallel()
	text := ""
	for _, name := range []string{"0020_records.sql", "0025_records_columns.sql", "0026_records_field.sql"} {
		raw, err := fs.ReadFile(Migrations(), name)
		if err != nil {
			t.Fatal(err)
		}
		text += string(raw) + ";"
	}
	for seed := range uint64(3) {
		l := newLedger(t, 90+seed, 9)
		s := l.service()
		for range 260 {
			l.step(s)
		}
		l.exec(before0020)
		l.exec("SET ROLE api_migrator; SET search_path = api;" + text + " RESET ROLE; RESET search_path")
		l.fillAll(7)
		l.verify("migrated")
		l.compareRecords("migrated")
		for range 60 { // and it goes on from there
			l.step(s)
			l.verify("going on")
		}
		l.settle()
		l.compareEdges()
	}
}

// fillAll fills every record, so many at a time.
func (l *ledger) fillAll(atOnce int) {
	l.t.Helper()
	var after *string
	for {
		if err := l.rw.QueryRow(l.t.Context(), query("record_fill"), after, atOnce).Scan(&after); err != nil {
			l.t.Fatal(err)
		}
		if after == nil {
			return
		}
	}
}

// Filled again, with results that are waiting and after programs of before have scored,
// records are what they are worth.
func TestFillRecords(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3) {
		l := newLedger(t, 190+seed, 9)
		s := l.service()
		for n := range 200 {
			l.step(s)
			if n%40 != 39 {
				continue
			}
			l.exec("UPDATE api.operator_scores SET price_sum = 0, best_bps = NULL, best_signal = NULL, streak = 7, last_at = NULL")
			l.exec("UPDATE api.operator_tallies SET calls = calls + 1")
			l.exec("UPDATE api.operator_lane_scores SET price_sum = 0")
			l.fillAll(1 + n%5)
			l.verify("filled")
			l.compareRecords("filled")
		}
		l.settle()
		l.compareEdges()
	}
}
