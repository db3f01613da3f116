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
DROP INDEX board_rows_edge;
ALTER TABLE board_rows DROP COLUMN skill_calls, DROP COLUMN edge_bps, DROP COLUMN low_bps, DROP COLUMN high_bps;
ALTER TABLE operator_scores DROP COLUMN price_sum, DROP COLUMN best_bps, DROP COLUMN best_signal, DROP COLUMN streak, DROP COLUMN last_at;
ALTER TABLE operator_lane_scores DROP COLUMN price_sum;
DROP FUNCTION streak_with, moment_tier, moment_id, count_field, within_price;
RESET ROLE; RESET search_path`

// What the migration makes of the results of before equals what each of them would have
// made by itself, those that wait for their scores or feed rows included.
func TestRecordsOfBefore(t *testing.T) {
	t.Parallel()
	text, err := fs.ReadFile(Migrations(), "0020_records.sql")
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(3) {
		l := newLedger(t, 90+seed, 9)
		s := l.service()
		for range 260 {
			l.step(s)
		}
		l.exec(before0020)
		l.exec("SET ROLE api_migrator; SET search_path = api;" + string(text) + "; RESET ROLE; RESET search_path")
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
