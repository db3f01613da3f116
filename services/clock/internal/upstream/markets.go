package upstream

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"
	"google.golang.org/grpc"

	"github.com/signalcast/signalcast/pkg/syntax"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	"github.com/signalcast/signalcast/services/clock/internal/program"
)

const (
	// every is how often the copy is renewed, on average.
	every = 5 * time.Second
	// within bounds one renewal.
	within = 4 * time.Second
	// maxIDs is how many markets one call may ask for.
	maxIDs = 500
	// maxAnswer is the largest answer taken: every market that may be aired
	// comes in one.
	maxAnswer = 64 << 20
)

// Markets keeps the newest copy of the ledger's markets.
type Markets struct {
	ledger marketv1.MarketReadServiceClient
	log    *slog.Logger
	now    func() time.Time

	needed func() []syntax.MarketID
	pool   atomic.Pointer[program.Pool]
	flight singleflight.Group
}

// New makes an empty copy. The ledger is asked for the airable markets, and for
// those that needed names besides.
func New(ledger marketv1.MarketReadServiceClient, log *slog.Logger, now func() time.Time) *Markets {
	return &Markets{ledger: ledger, log: log, now: now, needed: func() []syntax.MarketID { return nil }}
}

// Need sets what else is asked for: the markets of stored slots, whose state
// matters after they stop being airable. It is called before the first Refresh.
func (m *Markets) Need(needed func() []syntax.MarketID) { m.needed = needed }

// Pool is the newest copy, nil before the first one.
func (m *Markets) Pool() *program.Pool { return m.pool.Load() }

// Run renews the copy until ctx ends and calls renewed after each renewal. The
// time between two is jittered, so that replicas do not ask together.
func (m *Markets) Run(ctx context.Context, renewed func()) {
	failing := false
	for {
		err := m.Refresh(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil && !failing:
			m.log.WarnContext(ctx, "the ledger is away, the last copy of its markets stays", "error", err)
		case err == nil && failing:
			m.log.InfoContext(ctx, "the ledger is back")
		}
		failing = err != nil
		if err == nil {
			renewed()
		}
		pause := every*3/4 + rand.N(every/2)
		if pool := m.Pool(); pool == nil || len(pool.Markets) == 0 {
			pause /= 10 // the first markets are waited for
		}
		if !wait(ctx, pause) {
			return
		}
	}
}

func wait(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// Refresh renews the copy once; calls at the same time share one renewal. The
// last copy stays when it fails. Fault: signal_service_unavailable.
func (m *Markets) Refresh(ctx context.Context) error {
	_, err, _ := m.flight.Do("", func() (any, error) {
		ctx, cancel := context.WithTimeout(ctx, within)
		defer cancel()
		markets, err := m.fetch(ctx)
		if err != nil {
			return nil, err
		}
		m.swap(markets)
		return nil, nil
	})
	return err
}

func (m *Markets) swap(markets []program.Market) {
	old, now := m.pool.Load(), m.now()
	switch {
	case old == nil:
		m.pool.Store(program.NewPool(markets, now, 1))
	case slices.EqualFunc(old.Markets, markets, program.Market.Equal):
		m.pool.Store(old.Confirmed(now))
	default:
		m.pool.Store(program.NewPool(markets, now, old.Version+1))
	}
}

func (m *Markets) fetch(ctx context.Context) ([]program.Market, error) {
	large := grpc.MaxCallRecvMsgSize(maxAnswer)
	answer, err := m.ledger.ListAirable(ctx, &marketv1.ListAirableRequest{}, large)
	if err != nil {
		return nil, fmt.Errorf("list airable markets: %w", err)
	}
	markets := make([]program.Market, 0, len(answer.GetMarkets()))
	held := make(map[syntax.MarketID]bool, len(answer.GetMarkets()))
	add := func(list []*marketv1.Market) {
		for _, raw := range list {
			if one, ok := fromProto(raw); ok && !held[one.ID] {
				held[one.ID] = true
				markets = append(markets, one)
			}
		}
	}
	add(answer.GetMarkets())
	var rest []string
	for _, id := range m.needed() {
		if !held[id] {
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
