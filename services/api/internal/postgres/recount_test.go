package postgres

import (
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// TestRecountFindsEachCounter changes each stored counter, one at a time, and checks that Recount reports it.
func TestRecountFindsEachCounter(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, mara := b.operator("mara")
	for _, market := range []string{"native-1", "native-2"} {
		b.nativeMarket(market, 4000)
		b.fileCounted(mara, market, protocol.Yes, 4100)
	}
	b.claim("native-1", protocol.VerdictYes)
	b.number()
	for done := false; !done; {
		var err error
		if done, err = b.FoldBoards(t.Context(), 1000, b.clock.Now().Add(-28*24*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	if list, err := Recount(t.Context(), b.rw); err != nil || len(list) > 0 {
		t.Fatalf("recount of an unchanged ledger: %v %+v", err, list)
	}
	for counter, sets := range map[string][]string{
		"market_totals":        {"yes", "no", "crowd_yes", "crowd_no"},
		"operator_totals":      {"total"},
		"operator_scores":      {"won", "lost", "void", "score", "clv_sum", "clv_count", "beat_line", "price_sum", "counted", "counted_lines"},
		"operator_lane_scores": {"won", "lost", "void", "score", "price_sum", "counted", "counted_lines"},
		"board_rows":           {"score", "won", "lost", "void", "total", "calls", "takes", "month_score", "month_done", "counted", "viewer_minutes", "cast_all", "cast_month"},
	} {
		for _, column := range sets {
			b.requireReported(counter, "UPDATE api."+counter+" SET "+column+" = "+column+" + 1", "UPDATE api."+counter+" SET "+column+" = "+column+" - 1")
		}
	}
	b.requireReported("operator_takes", "INSERT INTO api.operator_takes (user_id, takes) VALUES ('"+id+"', 1)", "DELETE FROM api.operator_takes")
	for _, lane := range []string{"", "SCIENCE"} {
		for _, column := range []string{"calls", "takes", "score", "done"} {
			b.requireReported("operator_aged", "INSERT INTO api.operator_aged (user_id, lane, "+column+") VALUES ('"+id+"', '"+lane+"', 1)", "DELETE FROM api.operator_aged")
		}
	}
	b.requireReported("operator_lane_scores", "UPDATE api.operator_lane_scores SET lane = 'OTHER'", "UPDATE api.operator_lane_scores SET lane = 'SCIENCE'")
}

// requireReported executes the statement damage, fails the test if Recount does not report the counter, and executes undo.
func (b *bundle) requireReported(counter, damage, undo string) {
	b.t.Helper()
	b.exec(damage)
	list := must(Recount(b.t.Context(), b.rw))(b.t)
	named := false
	for _, d := range list {
		named = named || d.Counter == counter
	}
	if !named {
		b.t.Errorf("%s: reported %+v", damage, list)
	}
	b.exec(undo)
	if list, err := Recount(b.t.Context(), b.rw); err != nil || len(list) > 0 {
		b.t.Fatalf("recount after %s: %v %+v", undo, err, list)
	}
}
