package upstream

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"time"

	"golang.org/x/sync/singleflight"
	"google.golang.org/grpc"

	"github.com/signalcast/signalcast/pkg/dbtime"
	"github.com/signalcast/signalcast/pkg/protocol"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	"github.com/signalcast/signalcast/services/clock/internal/program"
)

const (
	// refreshEvery is the mean time between two refreshes of the copy of the markets.
	refreshEvery = 5 * time.Second
	// refreshTimeout is the timeout of one refresh of the copy of the markets.
	refreshTimeout = 4 * time.Second
	// maxIDs is the maximum number of market ids in one request.
	maxIDs = 500
	// maxAnswer is the maximum size of an answer in bytes. One answer contains all airable markets.
	maxAnswer = 64 << 20
)

// Markets maintains a copy of the markets of the ledger in memory.
type Markets struct {
	ledger marketv1.MarketReadServiceClient
	log    *slog.Logger
	now    func() time.Time

	needed func() []protocol.MarketID
	copies *program.Copies
	flight singleflight.Group
}

// New returns a Markets that refreshes copies.Markets. The copy contains the airable markets. It also contains the markets
// that the function needed returns, such as those of stored slots, even if they are no longer airable.
func New(
	ledger marketv1.MarketReadServiceClient, copies *program.Copies, needed func() []protocol.MarketID, log *slog.Logger,
	now func() time.Time,
) *Markets {
	return &Markets{ledger: ledger, copies: copies, needed: needed, log: log, now: now}
}

// Run refreshes the copy of the markets until ctx ends, and calls the function refreshed after each success. The time between
// refreshes is random, so that replicas do not send their requests at the same time.
func (m *Markets) Run(ctx context.Context, refreshed func()) {
	failing := false
	for {
		err := m.Refresh(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil && !failing:
			m.log.WarnContext(ctx, "market refresh failed", "serving", "last copy", "error", err)
		case err == nil && failing:
			m.log.InfoContext(ctx, "market refresh recovered")
		}
		failing = err != nil
		if err == nil {
			refreshed()
		}
		pause := refreshEvery*3/4 + rand.N(refreshEvery/2)
		if pool := m.copies.Markets.Load(); pool == nil || len(pool.Markets) == 0 {
			pause /= 10 // no programme is possible before the first copy
		}
		if dbtime.Sleep(ctx, pause) != nil {
			return
		}
	}
}

// Refresh refreshes the copy of the markets once. Concurrent calls share one refresh. If the refresh fails, the last copy remains
// in use. Error: signal_service_unavailable.
func (m *Markets) Refresh(ctx context.Context) error {
	_, err, _ := m.flight.Do("", func() (any, error) {
		ctx, cancel := context.WithTimeout(ctx, refreshTimeout)
		defer cancel()
		at := m.now() // before the request, because the response may lack markets that are stored later
		markets, err := m.fetch(ctx)
		if err != nil {
			return nil, err
		}
		m.swap(markets, at)
		return nil, nil
	})
	return err
}

// swap replaces the copy of the markets. If the markets have not changed, it changes only the fetch time of the copy. The
// parameter at is the fetch time.
func (m *Markets) swap(markets []program.Market, at time.Time) {
	old := m.copies.Markets.Load()
	switch {
	case old == nil:
		m.copies.Markets.Store(program.NewPool(markets, at, 1))
	case slices.EqualFunc(old.Markets, markets, program.Market.Equal):
		m.copies.Markets.Store(old.Confirmed(at))
	default:
		m.copies.Markets.Store(program.NewPool(markets, at, old.Version+1))
	}
}

// fetch requests the airable markets, and then the needed markets that the first response does not contain.
func (m *Markets) fetch(ctx context.Context) ([]program.Market, error) {
	large := grpc.MaxCallRecvMsgSize(maxAnswer)
	answer, err := m.ledger.ListAirable(ctx, &marketv1.ListAirableRequest{}, large)
	if err != nil {
		return nil, fmt.Errorf("list airable markets: %w", err)
	}
	markets := make([]program.Market, 0, len(answer.GetMarkets()))
	seen := make(map[protocol.MarketID]bool, len(answer.GetMarkets()))
	add := func(list []*marketv1.Market) {
		for _, raw := range list {
			if one, ok := fromProto(raw); ok && !seen[one.ID] {
				seen[one.ID] = true
				markets = append(markets, one)
			}
		}
	}
	add(answer.GetMarkets())
	var rest []string
	for _, id := range m.needed() {
		if !seen[id] {
			rest = append(rest, string(id))
		}
	}
	for ids := range slices.Chunk(rest, maxIDs) {
		answer, err := m.ledger.ListMarkets(ctx, &marketv1.ListMarketsRequest{Ids: ids}, large)
		if err != nil {
			return nil, fmt.Errorf("list markets: %w", err)
		}
		add(answer.GetMarkets())
	}
	return markets, nil
}
