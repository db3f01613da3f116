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

// scriptedStream is a market.Stream that sends the wanted markets to the test and publishes the ticks that the test sends.
type scriptedStream struct {
	wanted chan []market.Streamed
	ticks  chan market.Tick
}

func (b *scriptedStream) Run(ctx context.Context, want func(context.Context) ([]market.Streamed, error), publish func(market.Tick)) {
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
			publish(t)
		}
	}
}

// TestStreamedPricesAreStored checks that the catalogue streams the markets with calls and the markets that readers
// requested. It must store the last price of each second.
func TestStreamedPricesAreStored(t *testing.T) {
	t.Parallel()
	l := setup(t)
	for _, id := range []string{"1", "2", "3"} {
		l.venue.list(id)
		l.get(id)
	}
	l.call("1")
	l.clock.Advance(61 * time.Second)
	l.get("2") // the price is old, and a reader requests it
	l.Settle()
	if _, err := l.admin.Exec(t.Context(), `UPDATE api.markets SET clob_token_id = '9' || market_id, category = 'other'`); err != nil {
		t.Fatal(err)
	}
	l.venue.set(func() { l.venue.down = true }) // so that only the stream changes the price
	b := &scriptedStream{wanted: make(chan []market.Streamed, 1), ticks: make(chan market.Tick)}
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
		t.Errorf("streamed markets: %v", got)
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
