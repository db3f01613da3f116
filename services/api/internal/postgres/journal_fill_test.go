package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/journal"
	"github.com/signalcast/signalcast/services/api/internal/postgres/db"
)

// planNode is a node of the plan of an executed statement, as EXPLAIN returns it in JSON.
type planNode struct {
	Rows    float64 `json:"Actual Rows"`
	Removed float64 `json:"Rows Removed by Filter"`
	Loops   float64 `json:"Actual Loops"`
	Plans   []planNode
}

// touched returns the number of rows that the node and all nodes below it processed.
func (p planNode) touched() float64 {
	n := (p.Rows + p.Removed) * p.Loops
	for _, part := range p.Plans {
		n += part.touched()
	}
	return n
}

// fillRows returns the number of rows that one step of filling the journal processed, according to its query plan.
func (b *bundle) fillRows(at journal.Place, n int) float64 {
	b.t.Helper()
	at.Kind = max(at.Kind, journal.Signal)
	e := &explainer{b: b, options: "ANALYZE, TIMING OFF, FORMAT JSON"}
	if _, err := oldLeaves(b.t.Context(), db.New(planned{e}), at, n); !errors.Is(err, errExplained) {
		b.t.Fatal(err)
	}
	var said []struct{ Plan planNode }
	if err := json.Unmarshal([]byte(e.plan), &said); err != nil || len(said) != 1 {
		b.t.Fatalf("plan %.200s: %v", e.plan, err)
	}
	return said[0].Plan.touched()
}

// TestFillingGoesThroughEachRowOnce checks that the work of one step of filling the journal does not depend on the total
// number of rows, and that no step reads the rows of another step.
func TestFillingGoesThroughEachRowOnce(t *testing.T) {
	t.Parallel()
	const rows, batch = 20_000, 500
	b := setup(t)
	b.venueMarket("1", 5000)
	b.seedSignals(t.Context(), "1", rows)
	b.exec(`INSERT INTO api.market_resolutions (market_id, outcome, resolver, source, close_at, close_price, lane, resolved_at)
		SELECT 'native-' || i, 'YES', 'admin', 'admin', $2, 5000, 'SCIENCE', $2 FROM generate_series(1, $1) i`, 3*batch, noon)
	b.exec("VACUUM (ANALYZE) api.signals")
	b.exec("VACUUM (ANALYZE) api.market_resolutions")
	key := must(journal.NewKey("0123456789abcdef0123456789abcdef"))(t)
	var head journal.Head
	steps, most := map[journal.Kind]int{}, map[journal.Kind]float64{}
	for !head.Filled.Done() {
		kind := max(head.Filled.Kind, journal.Signal)
		touched := b.fillRows(head.Filled, batch)
		leaves, to, err := b.JournalOld(t.Context(), head.Filled, batch)
		if err != nil {
			t.Fatal(err)
		}
		if len(leaves) > batch {
			t.Fatalf("one step read %d rows", len(leaves))
		}
		if len(leaves) == batch {
			steps[kind]++
			most[kind] = max(most[kind], touched)
		}
		size := head.Tree.Size()
		for i := range leaves {
			head.Tree.Add(leaves[i].Hash)
		}
		if head.Note, err = key.Sign(&head.Tree); err != nil {
			t.Fatal(err)
		}
		head.Filled = to
		if err := b.JournalAppend(t.Context(), size, leaves, head, noon); err != nil {
			t.Fatal(err)
		}
	}
	if steps[journal.Signal] != rows/batch || steps[journal.Resolution] != 3 {
		t.Errorf("full steps by kind: %v", steps)
	}
	for kind := range steps {
		t.Logf("%s: up to %.0f rows in all nodes of a step", kind, most[kind])
		if most[kind] > 10*batch {
			t.Errorf("a step of %d %s processes up to %.0f rows", batch, kind, most[kind])
		}
	}
	if n := b.count("SELECT count(*) FROM api.journal_leaves"); n != rows+3*batch {
		t.Errorf("%d leaves", n)
	}
}

// TestFillingResumes checks that filling the journal skips rows that already have a leaf after a restart. A row that is
// written in the meantime gets one leaf.
func TestFillingResumes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	key := must(journal.NewKey("0123456789abcdef0123456789abcdef"))(t)
	w := &written{b, key, nil}
	_, mara := b.operator("mara")
	for i := range 6 {
		market := fmt.Sprintf("native-%d", i)
		b.nativeMarket(market, 4000)
		b.file(mara, market, protocol.Yes, 4100)
	}
	for _, breaks := range []int{2, 3} {
		// In each step a call is filed while the journal is filled. After breaks steps the sealer fails.
		steps := 0
		w.sealer = journal.NewSealer(&stepping{Store: b.Store, step: func() error {
			if steps++; steps > breaks {
				return errStopped
			}
			market := fmt.Sprintf("native-%d-%d", breaks, steps)
			b.nativeMarket(market, 4000)
			b.file(mara, market, protocol.No, 4100)
			return nil
		}}, key, b.clock.Now)
		if _, err := w.sealer.Seal(t.Context(), nil); err == nil {
			t.Fatal("the filling did not stop")
		}
	}
	w.sealer = journal.NewSealer(&stepping{Store: b.Store, step: func() error { return nil }}, key, b.clock.Now)
	w.seal()
	if d := w.fsck(); len(d) != 0 {
		t.Errorf("fsck after the filling: %q", d)
	}
	if n := b.count("SELECT count(*) FROM api.journal_leaves"); n != 6+2+3 {
		t.Errorf("%d leaves", n)
	}
}

var errStopped = errors.New("stopped")

// stepping is a store whose steps of filling the journal contain two rows. It calls step before each of them.
type stepping struct {
	*Store
	step func() error
}

func (s *stepping) JournalOld(ctx context.Context, after journal.Place, _ int) ([]journal.Leaf, journal.Place, error) {
	if err := s.step(); err != nil {
		return nil, after, err
	}
	return s.Store.JournalOld(ctx, after, 2)
}
