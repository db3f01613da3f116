package market_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/postgres"
)

func TestMain(m *testing.M) { testkit.Main(m) }

var noon = time.Date(2026, 10, 10, 12, 0, 0, 0, time.UTC)

// ledger is a market service with a separate database and a venue that the test controls.
type ledger struct {
	*market.Service
	t         *testing.T
	store     *postgres.Store
	catalogue *market.Catalogue
	venue     *venue
	clock     *testkit.Clock
	admin     *pgxpool.Pool
	rw        *pgxpool.Pool
}

func setup(t *testing.T) *ledger {
	t.Helper()
	db := testkit.Postgres(t, pg.Schema{Name: "api", Files: postgres.Migrations()})
	l := &ledger{
		t: t, clock: testkit.NewClock(noon), admin: testkit.Pool(t, db.Admin), rw: testkit.Pool(t, db.URL("api_rw")),
	}
	// The trigger compares calls with the clock of the database, which differs from the test clock.
	if _, err := l.admin.Exec(t.Context(), `ALTER TABLE api.signals DISABLE TRIGGER check_new`); err != nil {
		t.Fatal(err)
	}
	l.venue = &venue{now: l.clock.Now, open: map[protocol.MarketID]bool{}, gate: make(chan struct{})}
	close(l.venue.gate)
	l.store, l.Service, l.catalogue = l.replica()
	return l
}

// replica returns the store, service and catalogue of another process with the same database and venue.
func (l *ledger) replica() (*postgres.Store, *market.Service, *market.Catalogue) {
	store := postgres.New(l.rw, postgres.Rules{ResolveChunk: 1000, PastEndIsProvisional: true, QuoteMaxAge: 15 * time.Second, ReadBudget: 20 * time.Second}, l.clock.Now)
	classify := market.Classify{
		Lane:     func(string, []string) protocol.Lane { return protocol.LaneScience },
		Category: func(lane protocol.Lane, _ string, _ []string) string { return strings.ToLower(string(lane)) },
	}
	service := market.NewService(store, market.Venues{protocol.Polymarket: l.venue}, classify, true, l.clock.Now)
	l.t.Cleanup(store.Close)
	l.t.Cleanup(service.Close)
	return store, service, market.NewCatalogue(service, slog.New(slog.DiscardHandler))
}

func (l *ledger) count(sql string, args ...any) (n int) {
	l.t.Helper()
	if err := l.admin.QueryRow(l.t.Context(), sql, args...).Scan(&n); err != nil {
		l.t.Fatalf("%s: %v", sql, err)
	}
	return n
}

// call stores an open call on a market, in the form that the catalogue reads.
func (l *ledger) call(id string) {
	l.t.Helper()
	if _, err := l.admin.Exec(l.t.Context(), `INSERT INTO api.market_totals (market_id) VALUES ($1)`, id); err != nil {
		l.t.Fatal(err)
	}
}

func (l *ledger) get(id string) market.Market {
	l.t.Helper()
	m, err := l.Get(l.t.Context(), protocol.MarketID(id))
	if err != nil {
		l.t.Fatalf("get %s: %v", id, err)
	}
	return m
}

// venue is a market.Venue with numbered markets and a price that the test sets.
type venue struct {
	now  func() time.Time
	gate chan struct{} // Get waits until this is closed

	mu     sync.Mutex
	open   map[protocol.MarketID]bool // the markets that exist; the value is true for open markets
	down   bool
	busy   bool // the request limit of the process is reached
	yes    protocol.Bps
	pages  int // list requests
	quotes int // quote requests
	asked  []protocol.MarketID
	// confirmed lists the markets of each request for second quotes.
	confirmed [][]protocol.MarketID
	respond   func(*market.Record)
}

const pageSize = 100

func (v *venue) set(change func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	change()
}

func (v *venue) list(ids ...string) {
	v.set(func() {
		for _, id := range ids {
			v.open[protocol.MarketID(id)] = true
		}
	})
}

func (v *venue) takeAsked() []protocol.MarketID {
	v.mu.Lock()
	defer v.mu.Unlock()
	asked := v.asked
	v.asked = nil
	slices.Sort(asked)
	return asked
}

// record returns the answer about a market. The caller must hold the lock of the venue.
func (v *venue) record(id protocol.MarketID) market.Record {
	end, volume, yes := v.now().Add(48*time.Hour), 5000.0, v.yes
	r := market.Record{
		ID: id, Title: "Market " + string(id), EndDate: &end, Status: protocol.MarketOpen,
		Yes: &yes, Volume: &volume, VolumeUSD: &volume, FetchedAt: v.now(),
	}
	if !v.open[id] {
		r.Status = protocol.MarketClosed
	}
	if v.respond != nil {
		v.respond(&r)
	}
	return r
}

func (v *venue) Get(ctx context.Context, id protocol.MarketID) (market.Record, error) {
	select {
	case <-v.gate:
	case <-ctx.Done():
		return market.Record{}, ctx.Err()
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.busy {
		return market.Record{}, market.Busy()
	}
	v.asked = append(v.asked, id)
	if v.down {
		return market.Record{}, fmt.Errorf("connection refused")
	}
	if _, exists := v.open[id]; !exists {
		return market.Record{}, market.ErrNotFound
	}
	return v.record(id), nil
}

func (v *venue) ListOpen(ctx context.Context, cursor string) ([]market.Record, string, error) {
	if p := market.PurposeOf(ctx); p != market.ForCatalogue {
		return nil, "", fmt.Errorf("list request with purpose %d", p)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.pages++
	if v.down {
		return nil, "", fmt.Errorf("connection refused")
	}
	var ids []protocol.MarketID
	for id, open := range v.open {
		if open && string(id) > cursor {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	next := ""
	if len(ids) > pageSize {
		ids = ids[:pageSize]
		next = string(ids[pageSize-1])
	}
	return v.records(ids), next, nil
}

func (v *venue) Quote(ctx context.Context, ids []protocol.MarketID) ([]market.Record, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch p := market.PurposeOf(ctx); p {
	case market.ForCatalogue:
		v.quotes++
	case market.ForConfirm:
		v.confirmed = append(v.confirmed, slices.Clone(ids))
	default:
		return nil, fmt.Errorf("quote request with purpose %d", p)
	}
	if v.down {
		return nil, fmt.Errorf("connection refused")
	}
	return v.records(slices.DeleteFunc(slices.Clone(ids), func(id protocol.MarketID) bool { return !v.open[id] })), nil
}

func (v *venue) records(ids []protocol.MarketID) []market.Record {
	out := make([]market.Record, len(ids))
	for i, id := range ids {
		out[i] = v.record(id)
	}
	return out
}
