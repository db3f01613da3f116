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

func at(t *testing.T, c *dbtime.Clock, want time.Time) {
	t.Helper()
	if got := c.Now(); !got.Equal(want) {
		t.Errorf("%v, not %v", got.UTC(), want.UTC())
	}
}

// TestTimeDoesNotFool: the time goes on alone, whatever is done to the machine's clock.
func TestTimeDoesNotFool(t *testing.T) {
	testkit.Tricks(t, "clock", noon, func(t *testing.T, m *testkit.Machine) {
		m.Pass(time.Minute)
		m.Trick()
		at(t, m.Clock, noon.Add(time.Minute))
		m.Pass(time.Second)
		at(t, m.Clock, noon.Add(61*time.Second))
	})
}

// TestDatabaseTells: the time of the database counts, unless it took long to come.
func TestDatabaseTells(t *testing.T) {
	m := testkit.NewMachine(noon)
	theirs := func(ahead, took time.Duration, err error) dbtime.Ask {
		return func(context.Context) (time.Time, error) {
			m.Pass(took / 2)
			defer m.Pass(took - took/2)
			return m.Clock.Now().Add(ahead), err
		}
	}
	if err := m.Set(t.Context(), theirs(time.Hour, 10*time.Millisecond, nil)); err != nil {
		t.Fatal(err)
	}
	at(t, m.Clock, noon.Add(time.Hour+10*time.Millisecond))
	if err := m.Set(t.Context(), theirs(19*time.Millisecond, 0, nil)); err != nil {
		t.Fatal(err)
	}
	at(t, m.Clock, noon.Add(time.Hour+10*time.Millisecond)) // too near to be moved
	if m.Set(t.Context(), theirs(time.Minute, time.Second, nil)) == nil {
		t.Error("an answer that was a second under way was taken")
	}
	away := errors.New("away")
	if err := m.Set(t.Context(), theirs(time.Minute, 0, away)); !errors.Is(err, away) {
		t.Errorf("%v", err)
	}
	at(t, m.Clock, noon.Add(time.Hour+1010*time.Millisecond))
}

// TestFollow: it asks at once, again soon after a failure, and then every now and then.
func TestFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dbtime.System()
		began, asked := time.Now(), 0
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() {
			done <- c.Follow(ctx, func(context.Context) (time.Time, error) {
				if asked++; asked == 1 {
					return time.Time{}, errors.New("away")
				}
				return time.Now().Add(time.Hour), nil
			})
		}()
		<-time.After(time.Minute)
		synctest.Wait()
		at(t, c, began.Add(time.Minute+time.Hour))
		if asked != 3 {
			t.Errorf("asked %d times in a minute", asked)
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
