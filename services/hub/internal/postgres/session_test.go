package postgres_test

import (
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
	"github.com/signalcast/signalcast/services/hub/internal/postgres"
)

// phone is the device of test sessions.
var phone = caller.Device{Browser: "Chrome on Android", Address: "203.0.113.0/24"}

func TestSessionsEndOneByOneAndTogether(t *testing.T) {
	t.Parallel()
	db := testkit.Postgres(t, postgres.Schema(""))
	store := postgres.New(testkit.Pool(t, db.URL("hub_rw")), testkit.ReadTime)
	ctx, noon := t.Context(), time.Date(2026, 9, 18, 12, 0, 0, 0, time.UTC)
	me, other := operator.ID(uuid.NewString()), operator.ID(uuid.NewString())
	bind := make([]byte, 32)
	add := func(id operator.ID) time.Time {
		t.Helper()
		at, err := store.AddSession(ctx, caller.StoredSession{Operator: id, IssuedAt: noon, SignedInAt: noon.Add(-time.Minute), Bind: bind, Device: phone})
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	active := func(id operator.ID, at time.Time) bool {
		t.Helper()
		row, found, err := store.FindSession(ctx, id, at)
		if err != nil || !found || !row.SignedInAt.Equal(noon.Add(-time.Minute)) || len(row.Bind) != 32 {
			t.Fatalf("%+v %t %v", row, found, err)
		}
		return row.EndedAt.IsZero()
	}
	first, second, third := add(me), add(me), add(other)
	if !first.Equal(noon) || !second.Equal(noon.Add(-time.Second)) || !third.Equal(noon) {
		t.Fatalf("issued at %v, %v and %v", first, second, third)
	}
	if err := store.EndSession(ctx, me, first, noon); err != nil {
		t.Fatal(err)
	}
	if active(me, first) || !active(me, second) {
		t.Error("one session must end, the other must stay")
	}
	if err := store.EndSessions(ctx, me, noon); err != nil {
		t.Fatal(err)
	}
	if active(me, second) || !active(other, third) {
		t.Error("all sessions of one operator must end, those of another must stay")
	}
	if _, found, err := store.FindSession(ctx, me, noon.Add(time.Hour)); found || err != nil {
		t.Errorf("unknown session: %t %v", found, err)
	}
	if err := store.UseSession(ctx, other, third, noon.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if n, err := store.SweepSessions(ctx, noon.Add(time.Hour), noon); n != 2 || err != nil {
		t.Errorf("%d sessions without use deleted, %v; want 2", n, err)
	}
	list, err := store.ListSessions(ctx, other, noon, 10)
	if err != nil || len(list) != 1 || !list[0].UsedAt.Equal(noon.Add(time.Hour)) || list[0].Device != phone {
		t.Errorf("the session in use: %+v, %v", list, err)
	}
	if list, err := store.ListSessions(ctx, other, noon.Add(time.Hour), 10); err != nil || len(list) != 0 {
		t.Errorf("idle sessions are listed: %+v, %v", list, err)
	}
}

// TestNewDevices checks when a sign-in counts as one from a new device.
func TestNewDevices(t *testing.T) {
	t.Parallel()
	db := testkit.Postgres(t, postgres.Schema(""))
	store := postgres.New(testkit.Pool(t, db.URL("hub_rw")), testkit.ReadTime)
	me, noon := operator.ID(uuid.NewString()), time.Date(2026, 9, 18, 12, 0, 0, 0, time.UTC)
	tablet := caller.Device{Browser: phone.Browser, Address: "198.51.100.0/24"}
	for i, step := range []struct {
		from caller.Device
		days int
		want bool
	}{{phone, 0, false}, {phone, 1, false}, {tablet, 2, true}, {tablet, 3, false}, {phone, 60, false}, {tablet, 93, true}} {
		at := noon.AddDate(0, 0, step.days)
		isNew, err := store.UseDevice(t.Context(), me, step.from, at.Add(-caller.DeviceLife), at)
		if isNew != step.want || err != nil {
			t.Errorf("sign-in %d: new device %t, %v; want %t", i, isNew, err, step.want)
		}
	}
}

func TestConcurrentSignInsGetDistinctSeconds(t *testing.T) {
	t.Parallel()
	db := testkit.Postgres(t, postgres.Schema(""))
	store := postgres.New(testkit.Pool(t, db.URL("hub_rw")), testkit.ReadTime)
	me, noon := operator.ID(uuid.NewString()), time.Date(2026, 9, 18, 12, 0, 0, 0, time.UTC)
	var wg sync.WaitGroup
	var mu sync.Mutex
	seen := map[time.Time]bool{}
	for range 12 {
		wg.Go(func() {
			at, err := store.AddSession(t.Context(), caller.StoredSession{Operator: me, IssuedAt: noon, SignedInAt: noon})
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			seen[at] = true
		})
	}
	wg.Wait()
	if len(seen) != 12 {
		t.Errorf("12 sign-ins have %d different seconds", len(seen))
	}
}
