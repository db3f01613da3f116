package market

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
)

const (
	// readTimeout is the timeout of a read of a venue.
	readTimeout = 5 * time.Second
	// lookupTimeout is the longest time that a caller waits for a venue when it can continue without the answer. A
	// venue that does not answer must leave enough time to write the call.
	lookupTimeout = time.Second
	// staleAfter is the age from which a market that is read is also refreshed at its venue.
	staleAfter = 60 * time.Second
	// absentFor is the time for which a venue's answer "no such market" is cached.
	absentFor = 10 * time.Second
	// refreshPause is the pause after a refresh that a reader caused.
	refreshPause = 10 * time.Second
	// maxSetSize is the largest number of ids in an expiringSet.
	maxSetSize = 10_000
	// MaxBatch is the largest number of markets in one list request.
	MaxBatch = 500
	// MaxAirable is the largest number of markets in an airable list.
	MaxAirable = 400
	// MaxPoints is the largest number of snapshots in one price history.
	MaxPoints = 500
)

// Store stores markets. Each method is one transaction.
type Store interface {
	// FindMarket returns a market as it is stored.
	FindMarket(ctx context.Context, id protocol.MarketID) (Market, bool, error)
	// ListMarkets returns the markets that exist, in no order.
	ListMarkets(ctx context.Context, ids []string) ([]Market, error)
	// ListAirable returns open markets with a price by end date. An empty lane selects every lane, limit 0 all markets.
	ListAirable(ctx context.Context, now time.Time, lane protocol.Lane, limit int) ([]Market, error)
	// ListPrices returns snapshots, oldest first, thinned to at most limit.
	ListPrices(ctx context.Context, id protocol.MarketID, from time.Time, limit int) ([]Point, error)
	// ListNative returns native markets, newest first.
	ListNative(ctx context.Context, status NativeStatus, due bool, limit int, now time.Time) ([]Native, error)

	// ApplyRecords stores answers of venues and returns the number of answers that were newer than the stored market.
	// Older answers and answers about resolved markets change nothing. With every, each price of an open market becomes
	// a snapshot.
	ApplyRecords(ctx context.Context, records []Record, every bool, now time.Time) (int, error)
	// SetRated sets whether calls on a market count. Faults: ErrNotFound, already_resolved.
	SetRated(ctx context.Context, id protocol.MarketID, rated bool, reason string, now time.Time) error
	// InsertStub stores a market that no venue has confirmed, for a call of an operator, unless it is already stored.
	// It returns false when the operator has MaxUnconfirmed calls on such markets.
	InsertStub(ctx context.Context, id protocol.MarketID, operator string, now time.Time) (stored bool, err error)
	// InsertNative creates a native market with its first snapshot.
	InsertNative(ctx context.Context, m Market) error
	// FindSigned returns the market that a signed message has created, if any.
	FindSigned(ctx context.Context, messageID string) (protocol.MarketID, bool, error)
	// InsertSigned creates a native market for a signed message and returns the id of the market of that message, which
	// may be an earlier one. Faults: ErrTier, rate_limited.
	InsertSigned(ctx context.Context, m Market, messageID string) (protocol.MarketID, error)

	// The methods below are for the Catalogue.

	// ListHot returns markets with open calls, or in a programme soon, whose price is older than before, at most limit.
	// It then adds at most fresh markets with open calls that never had an answer. It omits markets that were requested
	// without an answer since failed.
	ListHot(ctx context.Context, p protocol.Provider, now, before, failed time.Time, limit, fresh int) ([]protocol.MarketID, error)
	// ListMissed returns open markets without an answer since sweep, except those that were requested since failed.
	ListMissed(ctx context.Context, p protocol.Provider, sweep, failed time.Time, limit int) ([]protocol.MarketID, error)
	// ListAwaitingQuote returns open markets with calls filed after from and not after to, without a quote dated at
	// least confirmAfter after the newest of these calls.
	ListAwaitingQuote(ctx context.Context, p protocol.Provider, from, to time.Time, confirmAfter time.Duration, limit int) ([]protocol.MarketID, error)
	// MarkChecked stores now as the time at which markets were requested.
	MarkChecked(ctx context.Context, ids []protocol.MarketID, now time.Time) error
	// ListStreamed returns the open markets whose price is streamed: those with open calls, those in viewed, and those
	// in a programme soon.
	ListStreamed(ctx context.Context, p protocol.Provider, now time.Time, viewed []protocol.MarketID, limit int) ([]Streamed, error)
	// ApplyTicks stores streamed prices, one per market, if they are newer than the stored ones, and returns the number
	// of changed markets. Such prices do not count as answers of the venue.
	ApplyTicks(ctx context.Context, ticks []Tick) (int, error)
	// CloseNative closes native markets whose cutoff has passed.
	CloseNative(ctx context.Context, now time.Time) (int, error)
	// ClaimUnconfirmed returns markets with unconfirmed calls that were not requested since before, oldest requests
	// first, and marks them as requested now.
	ClaimUnconfirmed(ctx context.Context, now, before time.Time, limit int) ([]protocol.MarketID, error)
	// DenyUnconfirmed voids the unconfirmed calls on the given markets and those filed before a time. It deletes their
	// text and returns their number.
	DenyUnconfirmed(ctx context.Context, ids []protocol.MarketID, before, now time.Time) (int64, error)
	// ThinPrices thins snapshots before a time and deletes at most limit rows.
	ThinPrices(ctx context.Context, before time.Time, limit int) (int, error)
}

// Service reads and stores markets.
type Service struct {
	store    Store
	venues   Venues
	classify Classify
	pastEnd  bool
	now      func() time.Time
	flights  *flights

	fresh     map[protocol.Provider]*venueReads
	mu        sync.Mutex // guards the fields below
	absent    expiringSet
	refreshed expiringSet
	viewed    expiringSet // markets that readers requested; their prices are streamed
	hot       map[protocol.MarketID]hotMarket
}

// NewService returns a service. pastEnd is the setting PAST_END_IS_PROVISIONAL.
func NewService(store Store, venues Venues, classify Classify, pastEnd bool, now func() time.Time) *Service {
	s := &Service{
		store: store, venues: venues, classify: classify, pastEnd: pastEnd, now: now,
		flights: newFlights(), absent: make(expiringSet), refreshed: make(expiringSet), viewed: make(expiringSet),
		fresh: make(map[protocol.Provider]*venueReads, len(venues)), hot: make(map[protocol.MarketID]hotMarket),
	}
	for p, v := range venues {
		s.fresh[p] = newVenueReads(s, v)
	}
	return s
}

// Close rejects new reads of venues and cancels those in progress.
func (s *Service) Close() {
	s.flights.close()
	for _, v := range s.fresh {
		v.queue.Close()
	}
}

// Get returns a market. A market that is not stored is read from its venue and stored. Faults: market_not_found,
// db_unavailable, and venue_unavailable when the market is not stored and the venue does not answer or the request
// limit is reached (ErrBusy).
func (s *Service) Get(ctx context.Context, id protocol.MarketID) (Market, error) {
	m, found, err := s.store.FindMarket(ctx, id)
	if err != nil {
		return Market{}, err
	}
	now := s.now()
	switch {
	case found && (m.FetchedAt != nil || m.IsNative()):
		if s.stale(&m, now) {
			s.refreshLater(ctx, id, now)
		}
		return m.Read(now, s.pastEnd), nil
	case s.venues[id.Provider()] == nil:
		if found {
			return m.Read(now, s.pastEnd), nil
		}
		return Market{}, ErrNotFound
	}
	wait := ctx
	if found {
		var cancel context.CancelFunc
		wait, cancel = context.WithTimeout(ctx, lookupTimeout)
		defer cancel()
	}
	fresh, err := s.fetch(wait, id, ForReader)
	if err == nil {
		return fresh, nil
	}
	if found && errors.Is(err, ErrUnavailable) {
		return m.Read(now, s.pastEnd), nil // a stub on which calls were filed
	}
	return Market{}, err
}

// stale reports whether a read must also refresh the price of a venue's market.
func (s *Service) stale(m *Market, now time.Time) bool {
	return s.venues[m.Provider] != nil && m.Status != protocol.MarketResolved &&
		(m.PricedAt == nil || now.Sub(*m.PricedAt) > staleAfter)
}

// Refresh reads a market from its venue now and returns it as stored. It is for the loops that refresh the catalogue.
// Faults: market_not_found, venue_unavailable, db_unavailable.
func (s *Service) Refresh(ctx context.Context, id protocol.MarketID) (Market, error) {
	return s.fetch(ctx, id, ForCatalogue)
}

// fetch reads a market from its venue for a purpose. Concurrent callers with the same market and purpose share one
// read.
func (s *Service) fetch(ctx context.Context, id protocol.MarketID, p Purpose) (Market, error) {
	if s.venues[id.Provider()] == nil || s.isAbsent(id) {
		return Market{}, ErrNotFound
	}
	f := s.join(ctx, id, p)
	if f == nil {
		return Market{}, Busy()
	}
	return f.wait(ctx)
}

// join returns the read of a market in progress for a purpose, or starts one. It returns nil when the limit of reads is
// reached.
func (s *Service) join(ctx context.Context, id protocol.MarketID, p Purpose) *flight {
	venue := s.venues[id.Provider()]
	return s.flights.join(ctx, id, p, func(ctx context.Context) (Market, error) { return s.read(ctx, venue, id) })
}

func (s *Service) read(ctx context.Context, venue Venue, id protocol.MarketID) (Market, error) {
	if err := s.apply(ctx, venue, id); err != nil {
		return Market{}, err
	}
	m, found, err := s.store.FindMarket(ctx, id)
	if err != nil {
		return Market{}, err
	}
	if !found {
		return Market{}, fmt.Errorf("market %s is not stored after its answer", id)
	}
	return m.Read(s.now(), s.pastEnd), nil
}

// apply reads one market at its venue and stores the answer.
func (s *Service) apply(ctx context.Context, venue Venue, id protocol.MarketID) error {
	r, err := venue.Get(ctx, id)
	switch {
	case errors.Is(err, ErrNotFound), err == nil && r.ID != id:
		// An answer with another id means that the venue has no market with this exact id. Accepting it as an alias
		// would store one market twice.
		s.setAbsent(id)
		return ErrNotFound
	case errors.Is(err, ErrBusy):
		return Busy()
	case err != nil:
		return ErrUnavailable.Wrap(err)
	}
	_, err = s.Apply(ctx, []Record{r}, true)
	return err
}

// Apply stores answers of venues and returns how many were newer than the stored markets. With every, each price of an
// open market becomes a snapshot. Without it, every price becomes one only for markets with open calls; other markets
// get one snapshot in 15 minutes.
func (s *Service) Apply(ctx context.Context, records []Record, every bool) (int, error) {
	clean := cleanRecords(records, s.classify)
	if len(clean) == 0 {
		return 0, nil
	}
	return s.store.ApplyRecords(ctx, clean, every, s.now())
}

// refreshLater starts the read of a market of a connected venue without waiting for it. It does nothing if the market
// was requested within refreshPause or the limit of reads is reached; the next reader tries again.
func (s *Service) refreshLater(ctx context.Context, id protocol.MarketID, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.viewed.put(id, now, now.Add(viewedFor))
	if !s.refreshed.has(id, now) && !s.absent.has(id, now) && s.join(ctx, id, ForWatch) != nil {
		s.refreshed.put(id, now, now.Add(refreshPause))
	}
}

// CreateNative creates a native market. A signed message creates its market once: a repetition returns the same market,
// even if the dates have changed or passed. Faults: invalid_<member>, db_unavailable; for a signed message also
// forbidden and rate_limited.
func (s *Service) CreateNative(ctx context.Context, d Draft) (Market, error) {
	now := s.now().UTC().Truncate(time.Millisecond)
	if d.MessageID != "" {
		id, found, err := s.store.FindSigned(ctx, d.MessageID)
		if err != nil {
			return Market{}, err
		}
		if found {
			return s.Get(ctx, id)
		}
	}
	if d.InitialYes == 0 {
		d.InitialYes = DefaultYes
	}
	if err := d.validate(now); err != nil {
		return Market{}, err
	}
	id, err := newNativeID()
	if err != nil {
		return Market{}, err
	}
	category := s.classify.Category(d.Lane, d.Question, nil)
	end, zero := d.CutoffAt.UTC().Truncate(time.Millisecond), 0.0
	m := Market{
		ID: id, Provider: protocol.Manual, Title: d.Question, Description: d.Description, EndDate: &end,
		Status: protocol.MarketOpen, Lane: d.Lane, Category: category, VolumeUnit: "usd",
		Yes: &d.InitialYes, PricedAt: &now, Volume: &zero, VolumeUSD: &zero, Volume24h: &zero, Liquidity: &zero,
		ResolvesBy: d.ResolvesBy, ResolutionSource: d.ResolutionSource, InitialYes: &d.InitialYes, CreatedBy: &d.CreatedBy,
		CreatedAt: now, UpdatedAt: now,
	}
	if d.MessageID == "" {
		return m.Read(now, s.pastEnd), s.store.InsertNative(ctx, m)
	}
	stored, err := s.store.InsertSigned(ctx, m, d.MessageID)
	if err != nil {
		return Market{}, err
	}
	if stored != m.ID {
		return s.Get(ctx, stored)
	}
	return m.Read(now, s.pastEnd), nil
}

// SetRated sets whether calls on a market count. It applies to later calls and to the resolution; stored calls are not
// changed. Faults: market_not_found, already_resolved.
func (s *Service) SetRated(ctx context.Context, id protocol.MarketID, rated bool, reason string) (Market, error) {
	if err := s.store.SetRated(ctx, id, rated, reason, s.now().UTC().Truncate(time.Millisecond)); err != nil {
		return Market{}, err
	}
	return s.Get(ctx, id)
}

// Airable returns the markets that a programme may include, by end date. limit 0 returns all.
func (s *Service) Airable(ctx context.Context, limit int, lane protocol.Lane) ([]Market, error) {
	now := s.now()
	list, err := s.store.ListAirable(ctx, now, lane, max(limit, 0))
	if err != nil {
		return nil, err
	}
	return s.readAll(list, now), nil
}

// ListMarkets returns many markets at once. It omits unknown ids and ids beyond the first MaxBatch.
func (s *Service) ListMarkets(ctx context.Context, ids []string) ([]Market, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	list, err := s.store.ListMarkets(ctx, ids[:min(len(ids), MaxBatch)])
	if err != nil {
		return nil, err
	}
	return s.readAll(list, s.now()), nil
}

// ListPrices returns the snapshots of a market since from, oldest first, at most MaxPoints.
func (s *Service) ListPrices(ctx context.Context, id protocol.MarketID, from time.Time) ([]Point, error) {
	return s.store.ListPrices(ctx, id, from, MaxPoints)
}

func (s *Service) readAll(list []Market, now time.Time) []Market {
	for i := range list {
		list[i] = list[i].Read(now, s.pastEnd)
	}
	return list
}

func (s *Service) isAbsent(id protocol.MarketID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.absent.has(id, s.now())
}

func (s *Service) setAbsent(id protocol.MarketID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	s.absent.put(id, now, now.Add(absentFor))
}

// Snapshot returns the YES price of a market's newest snapshot that is at most SnapshotAge old, or nil if there is
// none. Faults: market_not_found, db_unavailable.
func (s *Service) Snapshot(ctx context.Context, id protocol.MarketID) (*protocol.Bps, error) {
	m, err := s.Get(ctx, id)
	switch {
	case errors.Is(err, ErrUnavailable):
		return nil, nil
	case err != nil:
		return nil, err
	case m.Yes != nil:
		return m.Yes, nil
	}
	// A price that is too old to be shown may still be recent enough for a call.
	stored, found, err := s.store.FindMarket(ctx, id)
	if err != nil || !found || stored.Yes == nil || stored.PricedAt == nil || s.now().Sub(*stored.PricedAt) > SnapshotAge {
		return nil, err
	}
	return stored.Yes, nil
}
