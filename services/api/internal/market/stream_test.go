package market_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/api/internal/market"
)

// band is a stream that shows what it is to follow and tells what the test wants.
type band struct {
	wanted chan []market.Streamed
	ticks  chan market.Tick
}

func (b *band) Run(ctx context.Context, want func(context.Context) ([]market.Streamed, error), tell func(market.Tick)) {
	list, err := want(ctx)
	if err != nil {
		return
	}
	b.wanted <- list
	for {
		select {
		case <-ctx.Done():
			return
		case t := <-b.ticks:
			tell(t)
		}
	}
}

// The catalogue follows what has calls and what was looked at, and keeps the last
// price of each second.
func TestTheCatalogueKeepsWhatAStreamTells(t *testing.T) {
	t.Parallel()
	l := setup(t)
	for _, id := range []string{"1", "2", "3"} {
		l.venue.list(id)
		l.get(id)
	}
	l.call("1")
	l.clock.Advance(61 * time.Second)
	l.get("2") // its price has grown old: somebody looks
	l.Settle()
	if _, err := l.admin.Exec(t.Context(), `UPDATE api.markets SET clob_token_id = '9' || market_id, category = 'other'`); err != nil {
		t.Fatal(err)
	}
	l.venue.set(func() { l.venue.down = true }) // so that nothing else tells a price
	b := &band{wanted: make(chan []market.Streamed, 1), ticks: make(chan market.Tick)}
	l.catalogue.Follow(protocol.Polymarket, b)
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan struct{})
	go func() {
		defer close(over)
		_ = l.catalogue.Run(ctx)
	}()
	defer func() { cancel(); <-over }()
	got := <-b.wanted
	if !slices.Equal(got, []market.Streamed{{ID: "1", Token: "91"}, {ID: "2", Token: "92"}}) {
		t.Errorf("follows %v", got)
	}
	at := l.clock.Now().Add(time.Minute)
	for i, yes := range []protocol.Bps{1100, 1200, 1300} {
		b.ticks <- market.Tick{ID: "1", Yes: yes, At: at.Add(time.Duration(-i) * time.Second)}
	}
	testkit.Eventually(t, 20*time.Second, func() bool {
		m, found, err := l.store.FindMarket(t.Context(), "1")
		return err == nil && found && *m.Yes == 1100 && m.PricedAt.Equal(at)
	})
}
