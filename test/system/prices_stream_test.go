package system

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/signalcast/signalcast/sdk/go/feed"
	"github.com/signalcast/signalcast/test/system/stack"
)

// priceEvent is one event of a channel of prices.
type priceEvent struct {
	MarketID    string
	YesBps      *int
	YesPriceBps *int
	NoPriceBps  *int

	at time.Time
}

// priceReader records the events of one channel of prices.
type priceReader struct {
	mu     sync.Mutex
	events []priceEvent
	wrong  string // description of the first unexpected message
}

// readPrices opens a websocket to an api process and records the events of the channel until the test ends.
func readPrices(t *testing.T, api, channel string) *priceReader {
	t.Helper()
	c, err := feed.Open(t.Context(), feed.Options{URL: "ws" + api[len("http"):] + "/ws", Channels: []string{channel}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	r := &priceReader{}
	go func() {
		for {
			m, err := c.Next(t.Context())
			if err != nil {
				return
			}
			e, ok := m.(*feed.Event)
			if !ok {
				continue
			}
			p := priceEvent{at: e.At}
			r.mu.Lock()
			if err := json.Unmarshal(e.Data, &p); err != nil || e.Numbered() || e.Type != "price.tick" || e.Channel != channel {
				r.wrong = fmt.Sprintf("%s %s %d %s", e.Channel, e.Type, e.Seq, e.Data)
			}
			r.events = append(r.events, p)
			r.mu.Unlock()
		}
	}()
	return r
}

// count returns the number of the given markets whose last event has the prices of a market at yes bps with a spread of 1 cent.
func (r *priceReader) count(markets []*stack.VenueMarket, yes int) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	last := make(map[string]priceEvent)
	for _, e := range r.events {
		last[e.MarketID] = e
	}
	for _, m := range markets {
		e := last[m.ID]
		if e.YesBps != nil && *e.YesBps == yes && e.YesPriceBps != nil && *e.YesPriceBps == yes+50 && e.NoPriceBps != nil && *e.NoPriceBps == 10_050-yes {
			n++
		}
	}
	return n
}

// TestPricesOfAllMarkets changes the prices of hundreds of markets at a venue. Readers of the channels of prices at two api
// processes must receive the last price of each market, and at most one event for each market and second.
func TestPricesOfAllMarkets(t *testing.T) {
	t.Parallel()
	s := ledgerStack(t)
	o, replica := s.NewOperator(t), s.Side(t, "api", nil)
	markets := make([]*stack.VenueMarket, stack.Size(t, 200, 60, 400))
	stack.AtOnce(8, func(worker int) {
		for i := worker; i < len(markets); i += 8 {
			tag := "Science"
			if i%2 == 1 {
				tag = "Politics"
			}
			markets[i] = s.NewVenueMarket(t, "polymarket", 0.30, stack.JSON{"tags": []string{tag}})
			markets[i].Read(t)
			s.InsertCalls(t, markets[i].ID, []stack.StoredCall{{Operator: o.ID, Yes: true, Price: 3050, Basis: 3050}})
		}
	})
	markets[len(markets)-1].AwaitFollowed(t)
	readers := map[string]*priceReader{
		"all at the first process":      readPrices(t, s.API, "prices"),
		"all at the second process":     readPrices(t, replica.URL, "prices"),
		"science at the second process": readPrices(t, replica.URL, "prices:SCIENCE"),
	}
	native := s.NewNativeMarket(t, 5000, nil)
	for _, price := range []int{41, 52, 63} {
		stack.AtOnce(8, func(worker int) {
			for i := worker; i < len(markets); i += 8 {
				markets[i].Change(t, stack.JSON{"yesPrice": float64(price) / 100})
			}
		})
	}
	o.File(t, stack.Call(native, "YES", 5000))
	for name, r := range readers {
		want := len(markets)
		if name == "science at the second process" {
			want /= 2
		}
		stack.Eventually(t, 90*time.Second, fmt.Sprintf("the last prices of %d markets: %s", want, name), func() bool { return r.count(markets, 6300) == want })
		stack.Eventually(t, 30*time.Second, "the price of the native market: "+name, func() bool {
			r.mu.Lock()
			defer r.mu.Unlock()
			for _, e := range r.events {
				if e.MarketID == native && *e.YesBps == 5556 && *e.YesPriceBps == 5556 && *e.NoPriceBps == 4444 {
					return true
				}
			}
			return false
		})
		r.mu.Lock()
		before := make(map[string]time.Time)
		for _, e := range r.events {
			if gap := e.at.Sub(before[e.MarketID]); gap < 500*time.Millisecond {
				t.Errorf("%s: two events of market %s within %s; want at most one in a second", name, e.MarketID, gap)
			}
			before[e.MarketID] = e.at
		}
		if r.wrong != "" {
			t.Errorf("%s: unexpected event %s", name, r.wrong)
		}
		r.mu.Unlock()
	}
}
