package postgres_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestDigestDays(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	const day = "2026-09-17"
	take := func(after time.Duration) bool {
		t.Helper()
		taken, err := store.ReserveDigest(t.Context(), day, noon.Add(after))
		if err != nil {
			t.Fatal(err)
		}
		return taken
	}
	var won atomic.Int32
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if taken, err := store.ReserveDigest(t.Context(), day, noon); err != nil {
				t.Error(err)
			} else if taken {
				won.Add(1)
			}
		})
	}
	group.Wait()
	if won.Load() != 1 {
		t.Fatalf("%d requests reserved the same day; want 1", won.Load())
	}
	if take(10*time.Minute - time.Second) {
		t.Error("the day was reserved again while it is being sent")
	}
	if !take(10 * time.Minute) {
		t.Error("an unfinished reservation did not expire")
	}
	if err := store.FreeDigest(t.Context(), day, false); err != nil || !take(11*time.Minute) {
		t.Error("a released day cannot be reserved", err)
	}
	for _, want := range []bool{true, false} {
		if started, err := store.StartDigest(t.Context(), day, noon.Add(12*time.Minute)); err != nil || started != want {
			t.Fatalf("start of the digest: %v, %v; want %v", started, err, want)
		}
	}
	if err := store.FreeDigest(t.Context(), day, false); err != nil || take(48*time.Hour) {
		t.Error("a day that is being sent was reserved again", err)
	}
	if err := store.FreeDigest(t.Context(), day, true); err != nil || !take(49*time.Hour) {
		t.Error("a day whose digest was not sent cannot be reserved", err)
	}
	if started, err := store.StartDigest(t.Context(), day, noon); err != nil || !started {
		t.Fatal(started, err)
	}
	if err := store.EndDigest(t.Context(), day, 2); err != nil {
		t.Fatal(err)
	}
	if take(100 * time.Hour) {
		t.Error("a day that was sent was reserved again")
	}
	if taken, err := store.ReserveDigest(t.Context(), "2026-09-18", noon); err != nil || !taken {
		t.Error("reserving another day:", taken, err)
	}
}
