package app

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/api/internal/board"
	"github.com/signalcast/signalcast/services/api/internal/feed"
	"github.com/signalcast/signalcast/services/api/internal/httpapi"
	"github.com/signalcast/signalcast/services/api/internal/postgres"
)

// The pulse is published when it has changed, and at most once in 300 seconds by all processes together.
func TestPulse(t *testing.T) {
	t.Parallel()
	clock := testkit.NewClock(time.Date(2026, 10, 10, 12, 0, 0, 0, time.UTC))
	db := testkit.Postgres(t, pg.Schema{Name: "api", Files: postgres.Migrations()})
	store := postgres.New(testkit.Pool(t, db.URL("api_rw")), postgres.Rules{ReadBudget: 20 * time.Second}, clock.Now)
	t.Cleanup(store.Close)
	var totals board.Totals
	var told []string
	var fail error
	process := func() *pulse {
		return &pulse{
			store: store, now: clock.Now, count: func(context.Context) (board.Totals, error) { return totals, fail },
			tell: func(_ context.Context, e feed.Ephemeral) {
				last, _, err := store.FindCopy(t.Context(), feed.Pulse)
				same := err == nil && httpapi.SamePulse(e.Data, &totals) && httpapi.SamePulse(last.Data, &totals)
				told = append(told, fmt.Sprint(e.Type, e.Channel, same))
			},
		}
	}
	one := process()
	beat := func(p *pulse, news int, pause time.Duration) {
		t.Helper()
		told = nil
		if got, err := p.beat(t.Context()); err != nil || got != pause || len(told) != news {
			t.Fatalf("pause %v, %v, told %q", got, err, told)
		}
	}
	beat(one, 0, pulseEvery) // the first copy
	totals.Signals = 1
	clock.Advance(100 * time.Second)
	beat(one, 0, 200*time.Second)
	beat(process(), 0, 200*time.Second)
	clock.Advance(200 * time.Second)
	beat(process(), 1, pulseEvery)
	if told[0] != "pulse.updatedpulsetrue" {
		t.Errorf("told %q", told)
	}
	beat(one, 0, pulseEvery)
	clock.Advance(pulseEvery)
	beat(one, 0, pulseEvery) // nothing has changed
	totals.Won = 1
	fail = errors.New("away")
	if _, err := one.beat(t.Context()); err == nil {
		t.Error("nothing failed")
	}
	fail = nil
	beat(one, 1, pulseEvery)
	clock.Advance(-time.Hour) // another process, whose clock is behind
	beat(process(), 0, pulseEvery)
}
