package postgres

import (
	"io/fs"
	"testing"

	"github.com/signalcast/signalcast/services/api/internal/postgres/db"
)

// before0020 removes the database objects that migration 0020 and later migrations created.
const before0020 = `
SET ROLE api_migrator; SET search_path = api;
DROP VIEW counted_results;
DROP FUNCTION board_fresh(text, timestamptz, bigint, uuid[]), fill_boards(uuid, integer);
DROP TRIGGER count_field_insert ON board_rows; DROP TRIGGER count_field_update ON board_rows; DROP TRIGGER count_field_delete ON board_rows;
DROP TABLE moments, operator_tallies, board_due, board_field, viewer_reports, board_viewers_due;
ALTER TABLE board_rows DROP COLUMN viewer_minutes, DROP COLUMN skill_calls, DROP COLUMN edge_bps, DROP COLUMN low_bps, DROP COLUMN high_bps, DROP COLUMN counted;
ALTER TABLE operator_scores DROP COLUMN price_sum, DROP COLUMN best_bps, DROP COLUMN best_signal, DROP COLUMN streak, DROP COLUMN last_at,
    DROP COLUMN counted, DROP COLUMN counted_lines;
ALTER TABLE operator_lane_scores DROP COLUMN price_sum, DROP COLUMN counted, DROP COLUMN counted_lines;
DROP FUNCTION board_cast(bigint, bigint, bigint, bigint, bigint);
DROP FUNCTION fill_records, streak_with, moment_tier, moment_id, count_field, within_price;
RESET ROLE; RESET search_path`

// TestMigratedRecords checks that the migrations compute from stored results the same records that scoring would have
// written. Some of these results are not scored or not in the feed yet.
func TestMigratedRecords(t *testing.T) {
	t.Parallel()
	text := ""
	edge := must(fs.Glob(Migrations(), "*_text_takes_edge.sql"))(t)
	for _, name := range append([]string{
		"0020_records.sql", "0025_records_columns.sql", "0026_records_field.sql", "0028_board_speed.sql",
		"0033_counted.sql", "0034_counted_boards.sql", "0035_counted_field.sql",
		"0056_viewer_reports.sql",
	}, edge...) {
		raw := must(fs.ReadFile(Migrations(), name))(t)
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
		for range 60 { // further results are added to the migrated records
			l.step(s)
			l.verify("after the migration")
		}
		l.settle()
		l.compareEdges()
	}
}

// fillAll recomputes all records and board rows, for atOnce operators in each transaction.
func (l *ledger) fillAll(atOnce int) {
	l.t.Helper()
	if err := fillRecords(l.t.Context(), db.New(l.rw), int32(atOnce)); err != nil {
		l.t.Fatal(err)
	}
}

// TestFillRecords checks that fillRecords corrects records and boards, also while results are not in the feed yet and after
// processes of the previous release have scored calls.
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
			l.exec("UPDATE api.operator_scores SET price_sum = 0, best_bps = NULL, best_signal = NULL, streak = 7, last_at = NULL, score = score + 5, clv_sum = 1, counted = 0")
			l.exec("UPDATE api.board_rows SET score = score + 5, counted = 0, month_done = month_done + 1")
			l.exec("UPDATE api.operator_aged SET score = score - 5, done = done + 1")
			l.exec("UPDATE api.operator_tallies SET calls = calls + 1")
			l.exec("UPDATE api.operator_lane_scores SET price_sum = 0, score = 0, counted = counted + 1")
			l.fillAll(1 + n%5)
			l.verify("filled")
			l.compareRecords("filled")
		}
		l.settle()
		l.compareEdges()
	}
}
