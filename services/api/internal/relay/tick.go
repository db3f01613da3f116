package relay

import (
	"context"
	"fmt"
	"log/slog"
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
	// watchedLife is how long the hub's word on viewers of streams holds.
	watchedLife = 30 * time.Second
	// MostMarkets is how many markets one process follows.
	MostMarkets = 20_000
)

// Ticker tells the readers of this process how the markets that they look at stand:
// the price and the crowd once a second, how many look once in five. Each process
// asks for the markets of its own readers alone, so nothing has to be told between
// processes but how many readers each has.
type Ticker struct {
	store  feed.Store
	redis  *redisx.Client
	id     string // of this process
	broker *broker.Broker
	now    func() time.Time
	log    *slog.Logger

	told map[string]feed.Standing

	mu      sync.Mutex
	viewers map[string]int // readers, and those who watch a stream
	watched map[string]int // those who watch a stream alone
}

// NewTicker makes a Ticker.
func NewTicker(store feed.Store, c *redisx.Client, fanOut *broker.Broker, now func() time.Time, log *slog.Logger) *Ticker {
	return &Ticker{store: store, redis: c, id: uuid.NewString(), broker: fanOut, now: now, log: log}
}

// Viewers is how many look at a market, as readers over all processes or by watching a
// stream that is bound to it: as of some seconds ago, and readers as of now where there
// were none here then.
func (t *Ticker) Viewers(ctx context.Context, marketID string) int {
	t.mu.Lock()
	n, known := t.viewers[marketID]
	watched := t.watched[marketID]
	t.mu.Unlock()
	if known {
		return n
	}
	others, err := t.elsewhere(ctx, marketID)
	if err != nil {
		others = 0 // those of this process are known
	}
	return watched + others + t.broker.Readers(feed.MarketChannel(marketID))
}

// Everyone is how many look at each market; while Redis is away, the readers of this
// process alone and those who watch.
func (t *Ticker) Everyone(ctx context.Context) map[protocol.MarketID]int64 {
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

// Counted is how many looked at a market some seconds ago, as far as this process knows
// without asking.
func (t *Ticker) Counted(marketID string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return max(t.viewers[marketID], t.watched[marketID])
}

// Run tells until ctx ends.
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
			t.Look(ctx)
			continue
		case <-prices.C:
			err = t.Tell(ctx)
		}
		if err != nil && !failing && ctx.Err() == nil {
			t.log.WarnContext(ctx, "prices of readers' markets are not read", "error", err)
		}
		failing = err != nil
	}
}

// Tell reads where the readers' markets stand and tells what has changed. Of a market
// that is new here everything is told: its readers' snapshot may be older.
func (t *Ticker) Tell(ctx context.Context) error {
	readers := t.broker.Markets()
	ids := make([]string, 0, len(readers))
	for id := range readers {
		if len(ids) == MostMarkets {
			break
		}
		ids = append(ids, id)
	}
	if len(ids) == 0 {
		t.told = nil
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, priceEvery)
	defer cancel()
	states, err := t.store.ListStandings(ctx, ids)
	if err != nil {
		return err
	}
	now, told := t.now(), make(map[string]feed.Standing, len(states))
	for _, s := range states {
		told[s.MarketID] = s
		before := t.told[s.MarketID]
		if s.Yes != nil && (before.Yes == nil || *before.Yes != *s.Yes) {
			t.publish(s.MarketID, feed.PriceTick, now, priceData(s))
		}
		if s.CrowdYes != before.CrowdYes || s.CrowdNo != before.CrowdNo {
			t.publish(s.MarketID, feed.CrowdUpdated, now, crowdData(s))
		}
	}
	t.told = told
	return nil
}

func (t *Ticker) publish(marketID string, kind feed.Type, at time.Time, data []byte) {
	t.broker.Publish(feed.Ephemeral{Channel: feed.MarketChannel(marketID), Type: kind, At: at, Data: data})
}

// Market ids hold no letter that JSON would escape.
func priceData(s feed.Standing) []byte {
	return fmt.Appendf(nil, `{"marketId":"%s","yesBps":%d}`, s.MarketID, *s.Yes)
}

func crowdData(s feed.Standing) []byte {
	percent, total := "null", s.CrowdYes+s.CrowdNo
	if total > 0 {
		percent = strconv.FormatInt((200*s.CrowdYes+total)/(2*total), 10)
	}
	return fmt.Appendf(nil, `{"yesPercent":%s,"totalSignals":%d}`, percent, total)
}

// Look counts readers over all processes and those who watch, and tells what has
// changed. What cannot be read counts nobody.
func (t *Ticker) Look(ctx context.Context) {
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
	looking := make(map[string]int, len(sums))
	for id, n := range sums {
		looking[id] = n + watched[id]
	}
	t.mu.Lock()
	before := t.viewers
	t.viewers, t.watched = looking, watched
	t.mu.Unlock()
	for id, n := range looking {
		if before[id] != n && own[id] > 0 {
			t.publish(id, feed.ViewersUpdated, now, fmt.Appendf(nil, `{"viewers":%d}`, n))
		}
	}
}

func (t *Ticker) watch(ctx context.Context, now time.Time) (map[string]int, error) {
	ctx, cancel := context.WithTimeout(ctx, priceEvery)
	defer cancel()
	return t.store.ListWatched(ctx, now.Add(-watchedLife))
}
