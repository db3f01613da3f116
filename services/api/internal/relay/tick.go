package relay

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/redisx"
	"github.com/signalcast/signalcast/services/api/internal/broker"
	"github.com/signalcast/signalcast/services/api/internal/feed"
)

const (
	priceEvery   = time.Second
	viewersEvery = 5 * time.Second
	// watchedLife is the time after which a viewer count that the hub has reported is ignored.
	watchedLife = 30 * time.Second
	// MaxMarkets is the maximum number of markets whose prices and crowds one process publishes in a second.
	MaxMarkets = 20_000
)

// Ticker publishes changes of markets to the readers of this process. It reads the price and the crowd once a second, and
// the number of viewers every five seconds. A process reads only the markets that its readers watch. Processes share only
// their numbers of readers.
type Ticker struct {
	store  feed.Store
	redis  *redisx.Client
	id     string // random id of this process
	broker *broker.Broker
	now    func() time.Time
	log    *slog.Logger

	// published is the state of each market that was published last on its channel. prices is that of the channels of prices.
	published, prices map[string]feed.MarketState
	// searched is the number of the last event that was searched for calls on native markets.
	searched int64

	mu      sync.Mutex
	moved   map[string]bool // markets whose prices may have changed since the last publication, at most MaxMarkets
	viewers map[string]int  // viewers by market: readers of its channel in all processes and viewers of its streams
	own     map[string]int  // markets with readers in this process
	tokens  map[string]int  // viewers by order-book token of their markets
	watched map[string]int  // viewers of streams by market
}

// NewTicker returns a Ticker that publishes to fanOut, with a random process id.
func NewTicker(store feed.Store, c *redisx.Client, fanOut *broker.Broker, now func() time.Time, log *slog.Logger) *Ticker {
	return &Ticker{store: store, redis: c, id: uuid.NewString(), broker: fanOut, now: now, log: log}
}

// Viewers returns the number of viewers of a market: the readers of its channel in all processes, and the viewers of streams
// that show the market. The number can be some seconds old. It is counted now if the market had no readers in this process at
// the last count.
func (t *Ticker) Viewers(ctx context.Context, marketID string) int {
	t.mu.Lock()
	n, known := t.viewers[marketID], t.own[marketID] > 0
	watched := t.watched[marketID]
	t.mu.Unlock()
	if known {
		return n
	}
	others, err := t.countOthers(ctx, marketID)
	if err != nil {
		others = 0 // count only the readers of this process
	}
	return watched + others + t.broker.Readers(feed.MarketChannel(marketID))
}

// AllViewers returns the number of viewers by market. While Redis is unavailable, the number includes only the readers of this
// process and the viewers of streams.
func (t *Ticker) AllViewers(ctx context.Context) map[protocol.MarketID]int64 {
	others, err := t.others(ctx)
	if err != nil {
		others = nil
	}
	t.mu.Lock()
	watched := t.watched
	t.mu.Unlock()
	sums := make(map[protocol.MarketID]int64)
	for _, part := range []map[string]int{others, t.broker.Markets(), watched} {
		for id, n := range part {
			sums[protocol.MarketID(id)] += int64(n)
		}
	}
	return sums
}

// CachedViewers returns the number of viewers of a market at the last count, some seconds ago. It sends no request to Redis or
// the database.
func (t *Ticker) CachedViewers(marketID string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.viewers[marketID]
}

// TokenViewers returns the number of viewers of the markets with an order-book token at the last count, some seconds ago. It
// returns 0 if no such market is known. It sends no request to Redis or the database.
func (t *Ticker) TokenViewers(token string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.tokens[token]
}

// Run publishes states and viewer counts until ctx ends. It logs the first of several consecutive errors.
func (t *Ticker) Run(ctx context.Context) error {
	prices, viewers := time.NewTicker(priceEvery), time.NewTicker(viewersEvery)
	defer prices.Stop()
	defer viewers.Stop()
	for failing := false; ; {
		var err error
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-viewers.C:
			t.PublishViewers(ctx)
			continue
		case <-prices.C:
			err = t.PublishStates(ctx)
		}
		if err != nil && !failing && ctx.Err() == nil {
			t.log.WarnContext(ctx, "reading prices of markets failed", "error", err)
		}
		failing = err != nil
	}
}

// PublishStates reads the prices and crowds of up to MaxMarkets markets with readers, and publishes those that have changed.
// For a market without an earlier state, it publishes a known price and a crowd that is not empty, because the snapshot of
// its readers can be older. If the channels of prices have readers, it also publishes the prices of markets that Moved has
// recorded, and of native markets with new calls.
func (t *Ticker) PublishStates(ctx context.Context) error {
	readers := t.broker.Markets()
	channels := t.priceChannels()
	moved := t.takeMoved(len(channels) > 0)
	ids := make([]string, 0, len(readers)+len(moved))
	for id := range readers {
		if len(ids) == MaxMarkets {
			break
		}
		ids = append(ids, id)
	}
	for id := range moved {
		if readers[id] == 0 {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		t.published = nil
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, priceEvery)
	defer cancel()
	states, err := t.store.ListMarketStates(ctx, ids)
	if err != nil {
		t.Moved(slices.Collect(maps.Keys(moved))) // the next call publishes them
		return err
	}
	now, published := t.now(), make(map[string]feed.MarketState, len(readers))
	for _, s := range states {
		if readers[s.MarketID] > 0 {
			published[s.MarketID] = s
			before := t.published[s.MarketID]
			if s.Yes != nil && !s.SamePrices(&before) {
				t.publish(s.MarketID, feed.PriceTick, now, priceData(s))
			}
			if s.CrowdYes != before.CrowdYes || s.CrowdNo != before.CrowdNo {
				t.publish(s.MarketID, feed.CrowdUpdated, now, crowdData(s))
			}
		}
		if before, known := t.prices[s.MarketID]; moved[s.MarketID] && s.Yes != nil && !(known && s.SamePrices(&before)) {
			t.publishPrice(channels, s, now)
		}
	}
	t.published = published
	return nil
}

// publishPrice publishes the prices of a market on those of the given channels that contain the market.
func (t *Ticker) publishPrice(channels map[feed.Channel]bool, s feed.MarketState, now time.Time) {
	if len(t.prices) >= MaxMarkets {
		clear(t.prices)
	}
	t.prices[s.MarketID] = s
	for _, c := range [...]feed.Channel{feed.Prices, feed.PricesChannel(s.Lane)} {
		if channels[c] {
			t.broker.Publish(feed.Ephemeral{Channel: c, Type: feed.PriceTick, Subject: s.MarketID, At: now, Data: priceData(s)})
		}
	}
}

// priceChannels returns the channels of prices that have readers in this process.
func (t *Ticker) priceChannels() map[feed.Channel]bool {
	out := make(map[feed.Channel]bool)
	for c := range t.broker.Channels() {
		if c.HasPrices() {
			out[c] = true
		}
	}
	return out
}

// Moved records markets whose prices may have changed. If the channels of prices have readers, the next PublishStates publishes
// their prices. Ids above MaxMarkets are dropped; the prices of these markets follow with their next change.
func (t *Ticker) Moved(ids []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.moved == nil {
		t.moved = make(map[string]bool)
	}
	for _, id := range ids {
		if len(t.moved) < MaxMarkets {
			t.moved[id] = true
		}
	}
}

// takeMoved returns the markets that Moved has recorded since the last call, and the native markets with new calls, because a
// call changes the price of a native market. If read is false, it returns none.
func (t *Ticker) takeMoved(read bool) map[string]bool {
	t.mu.Lock()
	moved := t.moved
	t.moved = nil
	t.mu.Unlock()
	if !read {
		t.prices, t.searched = nil, t.broker.Head()
		return nil
	}
	if moved == nil {
		moved = make(map[string]bool)
	}
	if t.prices == nil {
		t.prices = make(map[string]feed.MarketState)
	}
	called, head := t.broker.MarketsOf(feed.SignalCreated, t.searched)
	t.searched = head
	for _, id := range called {
		if protocol.MarketID(id).IsNative() {
			moved[id] = true
		}
	}
	return moved
}

func (t *Ticker) publish(marketID string, kind feed.Type, at time.Time, data []byte) {
	t.broker.Publish(feed.Ephemeral{Channel: feed.MarketChannel(marketID), Type: kind, At: at, Data: data})
}

// priceData returns the data of a price.tick event. s.Yes must not be nil. Market ids contain no characters that JSON escapes.
func priceData(s feed.MarketState) []byte {
	price := func(p *int) string {
		if p == nil {
			return "null"
		}
		return strconv.Itoa(*p)
	}
	return fmt.Appendf(nil, `{"marketId":"%s","yesBps":%d,"yesPriceBps":%s,"noPriceBps":%s}`,
		s.MarketID, *s.Yes, price(s.YesPrice), price(s.NoPrice))
}

func crowdData(s feed.MarketState) []byte {
	percent, total := "null", s.CrowdYes+s.CrowdNo
	if total > 0 {
		percent = strconv.FormatInt((200*s.CrowdYes+total)/(2*total), 10)
	}
	return fmt.Appendf(nil, `{"yesPercent":%s,"totalSignals":%d}`, percent, total)
}

// PublishViewers counts the viewers of all markets, and publishes the changed counts of markets that have readers in this
// process. If the counts of other processes or of streams cannot be read, PublishViewers uses 0 for them.
func (t *Ticker) PublishViewers(ctx context.Context) {
	own := t.broker.Markets()
	sums, err := t.count(ctx, own)
	if err != nil {
		sums = own
	}
	now := t.now()
	watched, err := t.watch(ctx, now)
	if err != nil {
		watched = nil
	}
	viewers := maps.Clone(sums)
	for id, n := range watched {
		viewers[id] += n
	}
	tokens := t.byToken(ctx, viewers)
	t.mu.Lock()
	before, read := t.viewers, t.own
	t.viewers, t.own, t.watched, t.tokens = viewers, own, watched, tokens
	t.mu.Unlock()
	for id := range own {
		if n := viewers[id]; before[id] != n || read[id] == 0 {
			t.publish(id, feed.ViewersUpdated, now, fmt.Appendf(nil, `{"viewers":%d}`, n))
		}
	}
}

// byToken adds up the viewers of markets by order-book token. It returns nil if the tokens cannot be read.
func (t *Ticker) byToken(ctx context.Context, viewers map[string]int) map[string]int {
	if len(viewers) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, priceEvery)
	defer cancel()
	tokens, err := t.store.ListMarketTokens(ctx, slices.Collect(maps.Keys(viewers)))
	if err != nil {
		return nil
	}
	sums := make(map[string]int, len(tokens))
	for id, token := range tokens {
		sums[token] += viewers[id]
	}
	return sums
}

func (t *Ticker) watch(ctx context.Context, now time.Time) (map[string]int, error) {
	ctx, cancel := context.WithTimeout(ctx, priceEvery)
	defer cancel()
	return t.store.ListWatched(ctx, now.Add(-watchedLife))
}
