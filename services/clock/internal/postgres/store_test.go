package postgres

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/clock/internal/program"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// bundle is a fixture: a Store with a database, and a time and copies that the test sets.
type bundle struct {
	*Store
	pool  *pgxpool.Pool
	admin *pgxpool.Pool
	now   time.Time
	slot  program.Slot // running slot according to the clock of the database

	copies  program.Copies
	refresh func(context.Context) error // refreshes the copy of the markets
	changed atomic.Int32                // number of calls of Director.Changed
}

func setup(t *testing.T) *bundle {
	t.Helper()
	t.Parallel()
	db := testkit.Postgres(t, Schema(""))
	b := &bundle{refresh: func(context.Context) error { return nil }, pool: testkit.Pool(t, db.URL("clock_rw")), admin: testkit.Pool(t, db.Admin)}
	b.Store = New(b.pool, testkit.ReadTime)
	if err := b.pool.QueryRow(t.Context(), "SELECT clock_timestamp()").Scan(&b.now); err != nil {
		t.Fatal(err)
	}
	b.slot = program.SlotAt(b.now)
	return b
}

func (b *bundle) apply(t *testing.T, want int, changes ...program.Change) {
	t.Helper()
	got, err := b.ApplySlots(t.Context(), "default", changes, b.now)
	if err != nil || got != want {
		t.Fatalf("apply: %d changed, %v, want %d", got, err, want)
	}
}

func (b *bundle) list(t *testing.T) []program.Entry {
	t.Helper()
	got, err := b.ListSlots(t.Context(), "default", b.slot-5, b.slot+50)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func put(lane program.Lane, slot program.Slot, market, old string) program.Change {
	return program.Change{
		Entry: program.Entry{Lane: lane, Slot: slot, Market: protocol.MarketID(market), Title: "Will " + market + "?", EventKey: "key-" + market, End: 1790000000123},
		Old:   protocol.MarketID(old),
	}
}

func cleared(lane program.Lane, slot program.Slot, old string) program.Change {
	return program.Change{Entry: program.Entry{Lane: lane, Slot: slot}, Old: protocol.MarketID(old)}
}

func TestStatementsPrepare(t *testing.T) {
	b := setup(t)
	testkit.PrepareStatements(t, b.pool, "db")
	if err := b.Ready(t.Context()); err != nil {
		t.Errorf("ready: %v", err)
	}
}

func TestApplySlots(t *testing.T) {
	b := setup(t)
	k := b.slot + 2
	plain := put("crypto", k, "9", "")
	plain.EventKey, plain.End = "", 0
	filled := b.now.UnixMilli()
	b.apply(t, 3, put("sports", k, "1", ""), put("sports", k+1, "2", ""), plain)
	want := []program.Entry{plain.Entry, put("sports", k, "1", "").Entry, put("sports", k+1, "2", "").Entry}
	want[0].Filled, want[1].Filled, want[2].Filled = filled, filled, filled
	if diff := cmp.Diff(want, b.list(t)); diff != "" {
		t.Fatalf("stored (-want +got):\n%s", diff)
	}
	b.apply(t, 0, put("sports", k, "3", ""))  // the slot has another market
	b.apply(t, 0, put("sports", k, "3", "2")) // the stored market is not the expected one
	b.apply(t, 0, cleared("sports", k, "2"))  // the stored market is not the expected one either
	b.apply(t, 2, put("sports", k, "3", "1"), cleared("sports", k+1, "2"))
	want = []program.Entry{want[0], put("sports", k, "3", "").Entry}
	want[1].Filled = filled
	if diff := cmp.Diff(want, b.list(t)); diff != "" {
		t.Fatalf("stored (-want +got):\n%s", diff)
	}
	if other, err := b.ListSlots(t.Context(), "station", k, k); err != nil || len(other) != 0 {
		t.Errorf("another channel contains %v, %v; want nothing", other, err)
	}
}

// TestStartedSlotIsImmutable checks that no role, not even the owner of the table, can change a slot that has started according
// to the clock of the database.
func TestStartedSlotIsImmutable(t *testing.T) {
	b := setup(t)
	b.apply(t, 2, put("sports", b.slot, "1", ""), put("sports", b.slot+2, "2", ""))
	before := b.list(t)
	for name, changes := range map[string][]program.Change{
		"refill":             {put("sports", b.slot, "3", "1")},
		"clear":              {cleared("sports", b.slot, "1")},
		"with a future slot": {put("sports", b.slot+2, "4", "2"), put("sports", b.slot, "3", "1")},
	} {
		if n, err := b.ApplySlots(t.Context(), "default", changes, b.now); !refused(err) {
			t.Errorf("%s of a started slot: %d, %v", name, n, err)
		}
	}
	for _, c := range []struct {
		role *pgxpool.Pool
		stmt string
	}{
		{b.pool, "UPDATE program_slots SET title = 'x' WHERE slot = $1"},
		{b.pool, "DELETE FROM program_slots WHERE slot = $1"},
		{b.pool, "UPDATE program_slots SET slot = slot - 5 WHERE slot = $1 + 2"},
		{b.pool, "UPDATE program_slots SET lane = 'music' WHERE slot = $1 + 2"},
		{b.admin, "UPDATE clock.program_slots SET market_id = '7' WHERE slot = $1"},
		{b.admin, "DELETE FROM clock.program_slots WHERE slot = $1"},
	} {
		if _, err := c.role.Exec(t.Context(), c.stmt, int64(b.slot)); !refused(err) {
			t.Errorf("%s: %v", c.stmt, err)
		}
	}
	if _, err := b.admin.Exec(t.Context(), "TRUNCATE clock.program_slots CASCADE"); !refused(err) {
		t.Errorf("truncate: %v", err)
	}
	if diff := cmp.Diff(before, b.list(t)); diff != "" {
		t.Errorf("stored (-want +got):\n%s", diff)
	}
}

func TestAiringsAreImmutable(t *testing.T) {
	b := setup(t)
	b.apply(t, 1, put("sports", b.slot, "1", ""))
	a := program.Airing{
		SegmentID: program.SegmentID("default", "sports", b.slot, program.Content), Channel: "default", Lane: "sports", Slot: b.slot, Market: "1",
		StartedAt: b.slot.Content(), EndedAt: b.slot.End(), Yes: 3150,
	}
	for want := range 2 {
		if published, err := b.Publish(t.Context(), program.Publication{Airings: []program.Airing{a}, Now: b.now}); err != nil || published.Aired != 1-want {
			t.Fatalf("publish: %+v, %v; want %d new airings", published, err, 1-want)
		}
		a.Yes = program.NoPrice // the first stored price does not change
	}
	var yes int
	if err := b.pool.QueryRow(t.Context(), "SELECT yes_bps_start FROM airings WHERE segment_id = $1", a.SegmentID).Scan(&yes); err != nil || yes != 3150 {
		t.Errorf("price at the start %d, %v", yes, err)
	}
	for _, stmt := range []string{"UPDATE airings SET yes_bps_start = 1", "DELETE FROM airings", "TRUNCATE program_slots", "DROP TABLE airings"} {
		if _, err := b.pool.Exec(t.Context(), stmt); !refused(err) {
			t.Errorf("%s: %v", stmt, err)
		}
	}
	a.SegmentID, a.Slot = "default:sports:1:c", 1
	if _, err := b.Publish(t.Context(), program.Publication{Airings: []program.Airing{a}, Now: b.now}); err == nil {
		t.Error("an airing of a slot that was never stored was accepted")
	}
}

func TestConcurrentFillers(t *testing.T) {
	b := setup(t)
	var wg sync.WaitGroup
	var mu sync.Mutex
	added := 0
	for i := range 20 {
		wg.Go(func() {
			var changes []program.Change
			for d := range program.Slot(10) {
				changes = append(changes, put("sports", b.slot+2+d, string(rune('1'+i%9)), ""))
			}
			n, err := b.ApplySlots(context.Background(), "default", changes, b.now)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			added += n
			mu.Unlock()
		})
	}
	wg.Wait()
	if got := len(b.list(t)); got != 10 || added != 10 {
		t.Errorf("%d slots stored, %d added, want 10", got, added)
	}
}

func TestUnavailableDatabase(t *testing.T) {
	b := setup(t)
	down := New(testkit.Pool(t, "postgres://clock_rw@127.0.0.1:1/nowhere"), testkit.ReadTime)
	for name, err := range map[string]error{
		"read":        errOf(down.ListSlots(t.Context(), "default", 1, 2)),
		"write":       errOf(down.ApplySlots(t.Context(), "default", []program.Change{put("sports", b.slot+2, "1", "")}, b.now)),
		"transaction": errOf(down.Publish(t.Context(), program.Publication{})),
		"influence":   errOf(down.Influence(t.Context(), b.now, 1)),
		"cancel":      errOf(down.CancelPreempt(t.Context(), "0199f0b0-0000-7000-8000-000000000001", 1, b.now)),
		"ready":       down.Ready(t.Context()),
	} {
		if f := apperr.Of(err); f == nil || f.Kind != apperr.Unavailable {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// errOf returns the error of a function call with two results.
func errOf[T any](_ T, err error) error { return err }

// refused reports whether the database rejected a statement for lack of privileges.
func refused(err error) bool {
	var pgErr *pgconn.PgError
	return errors.As(err, &pgErr) && pgErr.Code == "42501"
}
