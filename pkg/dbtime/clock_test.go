package dbtime_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/signalcast/signalcast/pkg/dbtime"
	"github.com/signalcast/signalcast/pkg/testkit"
)

var noon = time.Date(2026, 10, 10, 12, 0, 0, 0, time.UTC)

func requireTime(t *testing.T, c *dbtime.Clock, want time.Time) {
	t.Helper()
	if got := c.Now(); !got.Equal(want) {
		t.Errorf("the clock shows %v, want %v", got.UTC(), want.UTC())
	}
}

// The clock advances by the monotonic clock only, whatever happens to the system clock.
func TestClockChanges(t *testing.T) {
	testkit.ClockChanges(t, "clock", noon, func(t *testing.T, m *testkit.Machine) {
		m.Advance(time.Minute)
		m.ChangeClock()
		requireTime(t, m.Clock, noon.Add(time.Minute))
		m.Advance(time.Second)
		requireTime(t, m.Clock, noon.Add(61*time.Second))
	})
}

// TestClockFollowsTheDatabase checks that the clock follows the time of the database, except when an answer takes too
// long.
func TestClockFollowsTheDatabase(t *testing.T) {
	m := testkit.NewMachine(noon)
	databaseTime := func(ahead, took time.Duration, err error) dbtime.Ask {
		return func(context.Context) (time.Time, error) {
			m.Advance(took / 2)
			defer m.Advance(took - took/2)
			return m.Clock.Now().Add(ahead), err
		}
	}
	if err := m.Set(t.Context(), databaseTime(time.Hour, 10*time.Millisecond, nil)); err != nil {
		t.Fatal(err)
	}
	requireTime(t, m.Clock, noon.Add(time.Hour+10*time.Millisecond))
	if err := m.Set(t.Context(), databaseTime(19*time.Millisecond, 0, nil)); err != nil {
		t.Fatal(err)
	}
	requireTime(t, m.Clock, noon.Add(time.Hour+10*time.Millisecond)) // the difference is within the tolerance
	if m.Set(t.Context(), databaseTime(time.Minute, time.Second, nil)) == nil {
		t.Error("an answer that took one second was accepted")
	}
	errUnavailable := errors.New("unavailable")
	if err := m.Set(t.Context(), databaseTime(time.Minute, 0, errUnavailable)); !errors.Is(err, errUnavailable) {
		t.Errorf("error %v, want that of the request", err)
	}
	requireTime(t, m.Clock, noon.Add(time.Hour+1010*time.Millisecond))
}

// TestFollow checks that Follow requests the time of the database at once, one second after a failure, and then every
// 30 seconds.
func TestFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dbtime.System()
		start, asked := time.Now(), 0
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() {
			done <- c.Follow(ctx, func(context.Context) (time.Time, error) {
				if asked++; asked == 1 {
					return time.Time{}, errors.New("unavailable")
				}
				return time.Now().Add(time.Hour), nil
			})
		}()
		<-time.After(time.Minute)
		synctest.Wait()
		requireTime(t, c, start.Add(time.Minute+time.Hour))
		if asked != 3 {
			t.Errorf("asked %d times in a minute, want 3", asked)
		}
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

func TestSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		if err := dbtime.Sleep(t.Context(), time.Minute); err != nil || time.Since(start) != time.Minute {
			t.Errorf("ended after %v: %v; want 1m0s and no error", time.Since(start), err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := dbtime.Sleep(ctx, time.Minute); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Minute+time.Second {
			t.Errorf("ended after %v: %v; want 1m1s and the error of the context", time.Since(start), err)
		}
	})
}
