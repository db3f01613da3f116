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

// TestPulse checks that the totals are published only after they have changed, and at most once in 300 seconds by all processes
// together.
func TestPulse(t *testing.T) {
	t.Parallel()
	clock := testkit.NewClock(time.Date(2026, 10, 10, 12, 0, 0, 0, time.UTC))
	db := testkit.Postgres(t, pg.Schema{Name: "api", Files: postgres.Migrations()})
	store := postgres.New(testkit.Pool(t, db.URL("api_rw")), postgres.Rules{ReadBudget: 20 * time.Second}, clock.Now)
	t.Cleanup(store.Close)
	var totals board.Totals
	var published []string
	var fail error
	process := func() *pulse {
		return &pulse{
			store: store, now: clock.Now, count: func(context.Context) (board.Totals, error) { return totals, fail },
			publish: func(_ context.Context, e feed.Ephemeral) {
				last, _, err := store.FindCopy(t.Context(), feed.Pulse)
				same := err == nil && httpapi.SamePulse(e.Data, &totals) && httpapi.SamePulse(last.Data, &totals)
				published = append(published, fmt.Sprint(e.Type, e.Channel, same))
			},
		}
	}
	one := process()
	publishDue := func(p *pulse, news int, pause time.Duration) {
		t.Helper()
		published = nil
		if got, err := p.publishDue(t.Context()); err != nil || got != pause || len(published) != news {
			t.Fatalf("pause %v, error %v, published %q; want pause %v and %d events", got, err, published, pause, news)
		}
	}
	publishDue(one, 0, pulseEvery) // stores the first copy
	totals.Signals = 1
	clock.Advance(100 * time.Second)
	publishDue(one, 0, 200*time.Second)
	publishDue(process(), 0, 200*time.Second)
	clock.Advance(200 * time.Second)
	publishDue(process(), 1, pulseEvery)
	if published[0] != "pulse.updatedpulsetrue" {
		t.Errorf("published %q", published)
	}
	publishDue(one, 0, pulseEvery)
	clock.Advance(pulseEvery)
	publishDue(one, 0, pulseEvery) // unchanged totals
	totals.Won = 1
	fail = errors.New("database unavailable")
	if _, err := one.publishDue(t.Context()); err == nil {
		t.Error("publishDue ignored a failing count")
	}
	fail = nil
	publishDue(one, 1, pulseEvery)
	clock.Advance(-time.Hour) // another process with a slower clock
	publishDue(process(), 0, pulseEvery)
}
