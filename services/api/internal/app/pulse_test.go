package app

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/api/internal/board"
	"github.com/signalcast/signalcast/services/api/internal/feed"
)

// shelf keeps copies in memory.
type shelf map[feed.Channel]feed.Copy

func (s shelf) FindCopy(_ context.Context, c feed.Channel) (feed.Copy, bool, error) {
	one, ok := s[c]
	return one, ok, nil
}

func (s shelf) TakeFacts(_ context.Context, _ []feed.Fact, copies []feed.Copy) error {
	for _, c := range copies {
		s[c.Channel] = c
	}
	return nil
}

// The pulse is told when it has changed, and at most once in 300 seconds, whichever
// process does so.
func TestPulse(t *testing.T) {
	t.Parallel()
	clock := testkit.NewClock(time.Date(2026, 10, 10, 12, 0, 0, 0, time.UTC))
	store := shelf{}
	var totals board.Totals
	var told []string
	var fail error
	process := func() *pulse {
		return &pulse{
			store: store, now: clock.Now, count: func(context.Context) (board.Totals, error) { return totals, fail },
			tell: func(_ context.Context, e feed.Ephemeral) {
				told = append(told, fmt.Sprint(e.Type, e.Channel, string(e.Data) == string(store[feed.Pulse].Data)))
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
