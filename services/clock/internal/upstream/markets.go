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
	// every is how often the copy is renewed, on average.
	every = 5 * time.Second
	// within bounds one renewal.
	within = 4 * time.Second
	// maxIDs is how many markets one request may name.
	maxIDs = 500
	// maxAnswer is the largest accepted answer in bytes: one answer has every market that may be aired.
	maxAnswer = 64 << 20
)

// Markets keeps the newest copy of the ledger's markets.
type Markets struct {
	ledger marketv1.MarketReadServiceClient
	log    *slog.Logger
	now    func() time.Time

	needed func() []protocol.MarketID
	copies *program.Copies
	flight singleflight.Group
}

// New returns what renews copies.Markets. The copy contains the airable markets and those that needed names: the markets
// of stored slots, whose state matters after they stop being airable.
func New(
	ledger marketv1.MarketReadServiceClient, copies *program.Copies, needed func() []protocol.MarketID, log *slog.Logger,
	now func() time.Time,
) *Markets {
	return &Markets{ledger: ledger, copies: copies, needed: needed, log: log, now: now}
}

// Run renews the copy until ctx ends and calls renewed after each renewal. The
// time between renewals is random, so that replicas do not send requests together.
func (m *Markets) Run(ctx context.Context, renewed func()) {
	failing := false
	for {
		err := m.Refresh(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil && !failing:
			m.log.WarnContext(ctx, "market refresh failed, serving the last copy", "error", err)
		case err == nil && failing:
			m.log.InfoContext(ctx, "market refresh recovered")
		}
		failing = err != nil
		if err == nil {
			renewed()
		}
		pause := every*3/4 + rand.N(every/2)
		if pool := m.copies.Markets.Load(); pool == nil || len(pool.Markets) == 0 {
			pause /= 10 // nothing can be aired before the first copy
		}
		if dbtime.Sleep(ctx, pause) != nil {
			return
		}
	}
}

// Refresh renews the copy once; calls at the same time share one renewal. The
// last copy stays when it fails. Fault: signal_service_unavailable.
func (m *Markets) Refresh(ctx context.Context) error {
	_, err, _ := m.flight.Do("", func() (any, error) {
		ctx, cancel := context.WithTimeout(ctx, within)
		defer cancel()
		at := m.now() // markets stored later may be missing in the answer
		markets, err := m.fetch(ctx)
		if err != nil {
			return nil, err
		}
		m.swap(markets, at)
		return nil, nil
	})
	return err
}

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

func (m *Markets) fetch(ctx context.Context) ([]program.Market, error) {
	large := grpc.MaxCallRecvMsgSize(maxAnswer)
	answer, err := m.ledger.ListAirable(ctx, &marketv1.ListAirableRequest{}, large)
	if err != nil {
		return nil, fmt.Errorf("list airable markets: %w", err)
	}
	markets := make([]program.Market, 0, len(answer.GetMarkets()))
	held := make(map[protocol.MarketID]bool, len(answer.GetMarkets()))
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
