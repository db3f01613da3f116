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
	// readTimeout is the timeout of a read of one market at its venue.
	readTimeout = 5 * time.Second
	// lookupTimeout is the longest time that a caller waits for a venue if it can continue without the answer. It leaves
	// enough time to store a call if the venue does not answer.
	lookupTimeout = time.Second
	// staleAfter is the age of a price from which Get also starts a refresh of the market at its venue.
	staleAfter = 60 * time.Second
	// absentFor is the time for which the answer "no such market" of a venue is cached.
	absentFor = 10 * time.Second
	// refreshPause is the shortest time between two refreshes of one market that readers caused.
	refreshPause = 10 * time.Second
	// maxSetSize is the largest number of ids in an expiringSet.
	maxSetSize = 10_000
	// MaxBatch is the largest number of markets in one list request.
	MaxBatch = 500
	// MaxAirable is the largest number of markets in one list of markets that a programme may include.
	MaxAirable = 400
	// MaxPoints is the largest number of points in one price history.
	MaxPoints = 500
)

// Store reads and writes the stored markets.
type Store interface {
	// FindMarket returns the stored market with the given id. The second result is false if it is not stored.
	FindMarket(ctx context.Context, id protocol.MarketID) (Market, bool, error)
	// ListMarkets returns the stored markets among the given ids, in no particular order.
	ListMarkets(ctx context.Context, ids []string) ([]Market, error)
	// ListAirable returns the markets that a programme may include, earliest end date first. An empty lane selects every
	// lane. A limit of 0 means no limit.
	ListAirable(ctx context.Context, now time.Time, lane protocol.Lane, limit int) ([]Market, error)
	// ListPrices returns price snapshots since from, oldest first. If there are more than limit, it returns at most one for
	// each of limit equal parts of the time span.
	ListPrices(ctx context.Context, id protocol.MarketID, from time.Time, limit int) ([]Point, error)
	// ListTrends returns the prices of markets at the given number of times, a step apart and ending with now, oldest first. A time
	// before the first snapshot of a market has no price.
	ListTrends(ctx context.Context, ids []string, now time.Time, step time.Duration, points int) ([]Trend, error)
	// ListNative returns at most limit native markets with the given status, newest first. If due is true, it returns only
	// markets without an outcome whose cutoff has passed.
	ListNative(ctx context.Context, status NativeStatus, due bool, limit int, now time.Time) ([]Native, error)

	// ApplyRecords stores records of venues and returns the number of records that were newer than the stored market. Older
	// records and records of resolved markets change nothing. If every is true, each price of an open market is also stored
	// as a snapshot.
	ApplyRecords(ctx context.Context, records []Record, every bool, now time.Time) (int, error)
	// SetRated sets whether calls on a market count. Errors: ErrNotFound, already_resolved.
	SetRated(ctx context.Context, id protocol.MarketID, rated bool, reason string, now time.Time) error
	// InsertStub stores a market that its venue has not confirmed yet, so that an operator can file a call on it. A market
	// that is already stored does not change. stored is false if the operator already has MaxUnconfirmed calls on
	// unconfirmed markets.
	InsertStub(ctx context.Context, id protocol.MarketID, operator string, now time.Time) (stored bool, err error)
	// InsertNative stores a native market with its first price snapshot.
	InsertNative(ctx context.Context, m Market) error
	// FindSigned returns the id of the market that a signed message has created. The second result is false if there is
	// none.
	FindSigned(ctx context.Context, messageID string) (protocol.MarketID, bool, error)
	// InsertSigned stores a native market for a signed message and returns its id. If the message already created a market,
	// it stores nothing and returns the id of that market. Errors: ErrTier, rate_limited.
	InsertSigned(ctx context.Context, m Market, messageID string) (protocol.MarketID, error)

	// Only Catalogue uses the methods below.

	// ListHot returns markets with open calls or in a programme soon: at most limit markets whose last record is older than
	// before, and at most fresh markets with open calls that never had a record. It omits markets that were requested since
	// failed without a new record.
	ListHot(ctx context.Context, p protocol.Provider, now, before, failed time.Time, limit, fresh int) ([]protocol.MarketID, error)
	// ListMissed returns at most limit open markets without a record since sweep. It omits markets that were requested
	// since failed.
	ListMissed(ctx context.Context, p protocol.Provider, sweep, failed time.Time, limit int) ([]protocol.MarketID, error)
	// ListAwaitingQuote returns at most limit open markets that need a second quote for their calls. It considers the calls
	// filed later than from and not later than to. A market needs a quote if none is dated confirmAfter or more after the
	// newest of these calls.
	ListAwaitingQuote(ctx context.Context, p protocol.Provider, from, to time.Time, confirmAfter time.Duration, limit int) ([]protocol.MarketID, error)
	// MarkChecked stores now as the time of the last request to the venue for each of the given markets.
	MarkChecked(ctx context.Context, ids []protocol.MarketID, now time.Time) error
	// ListStreamed returns at most limit open markets whose prices are streamed: markets with open calls, markets in viewed,
	// and markets in a programme soon.
	ListStreamed(ctx context.Context, p protocol.Provider, now time.Time, viewed []protocol.MarketID, limit int) ([]Streamed, error)
	// ApplyTicks stores streamed prices that are newer than the stored prices, at most one for each market, and returns
	// their number. Streamed prices do not count as records of the venue.
	ApplyTicks(ctx context.Context, ticks []Tick) (int, error)
	// CloseNative closes native markets whose cutoff has passed, and returns their number.
	CloseNative(ctx context.Context, now time.Time) (int, error)
	// ClaimUnconfirmed returns markets with unconfirmed calls that were not requested since before, oldest requests
	// first, and marks them as requested now.
	ClaimUnconfirmed(ctx context.Context, now, before time.Time, limit int) ([]protocol.MarketID, error)
	// DenyUnconfirmed voids the unconfirmed calls on the given markets and those filed before a time. It deletes their
	// text and returns their number.
	DenyUnconfirmed(ctx context.Context, ids []protocol.MarketID, before, now time.Time) (int64, error)
	// ThinPrices deletes price snapshots dated earlier than before, except the last one of each market in 15 minutes. It
	// deletes at most limit rows and returns their number.
	ThinPrices(ctx context.Context, before time.Time, limit int) (int, error)
}

// Service reads markets from the store and from the venues, and stores the records of the venues.
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
	viewed    expiringSet // markets that readers requested in the last viewedFor; their prices are streamed
	hot       map[protocol.MarketID]hotMarket
}

// NewService returns a service for the given store and venues. pastEnd is the setting PAST_END_IS_PROVISIONAL. The caller
// must call Close when it no longer needs the service.
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

// Close rejects new reads of venues, cancels the reads in progress, and waits until they have ended.
func (s *Service) Close() {
	s.flights.close()
	for _, v := range s.fresh {
		v.queue.Close()
	}
}

// Get returns a market as it is served now. A market that is not stored is read from its venue and stored. Errors:
// market_not_found, db_unavailable, and venue_unavailable if the market is not stored and the venue does not respond or the
// request limit is reached (ErrBusy).
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
		return m.Read(now, s.pastEnd), nil // an unconfirmed market on which calls were filed
	}
	return Market{}, err
}

// stale reports whether a read of the stored market must also start a refresh, because its price is unknown or older than
// staleAfter. It is false for resolved markets and for markets without a connected venue.
func (s *Service) stale(m *Market, now time.Time) bool {
	return s.venues[m.Provider] != nil && m.Status != protocol.MarketResolved &&
		(m.PricedAt == nil || now.Sub(*m.PricedAt) > staleAfter)
}

// Refresh reads a market from its venue, stores the record, and returns the stored market. The background loops call it.
// Errors: market_not_found, venue_unavailable, db_unavailable.
func (s *Service) Refresh(ctx context.Context, id protocol.MarketID) (Market, error) {
	return s.fetch(ctx, id, ForCatalogue)
}

// fetch reads a market from its venue for a purpose and stores the record. Concurrent callers with the same market and
// purpose share one read. If the limit of reads is reached, the error is Busy().
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

// join returns the read in progress of a market for a purpose. If there is none, it starts one. It returns nil if the limit
// of reads is reached.
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
		return Market{}, fmt.Errorf("market %s is not stored although its venue returned it", id)
	}
	return m.Read(s.now(), s.pastEnd), nil
}

// apply reads one market at its venue and stores the record. If the venue has no such market, it caches this fact and returns
// ErrNotFound. It returns ErrUnavailable for other errors of the venue.
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

// Apply stores records of venues and returns the number of records that were newer than the stored markets. If every is true,
// it stores each price of an open market as a snapshot. Otherwise, a market without calls gets at most one snapshot in 15
// minutes.
func (s *Service) Apply(ctx context.Context, records []Record, every bool) (int, error) {
	clean := cleanRecords(records, s.classify)
	if len(clean) == 0 {
		return 0, nil
	}
	return s.store.ApplyRecords(ctx, clean, every, s.now())
}

// refreshLater starts a read of a market at its connected venue and does not wait for it. It does nothing if the market was
// refreshed within refreshPause, if the venue recently had no such market, or if the limit of reads is reached. The next
// reader of the market can then start the read. In each case, refreshLater records that a reader requested the market.
func (s *Service) refreshLater(ctx context.Context, id protocol.MarketID, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.viewed.put(id, now, now.Add(viewedFor))
	if !s.refreshed.has(id, now) && !s.absent.has(id, now) && s.join(ctx, id, ForWatch) != nil {
		s.refreshed.put(id, now, now.Add(refreshPause))
	}
}

// CreateNative creates a native market. A signed message creates one market only: if the message is repeated, CreateNative
// returns the first market and does not check the draft. Errors: invalid_<member>, db_unavailable; for a signed message also
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

// SetRated sets whether calls on a market count, and returns the market. The setting applies to later calls and to the
// resolution; stored calls do not change. Errors: market_not_found, already_resolved.
func (s *Service) SetRated(ctx context.Context, id protocol.MarketID, rated bool, reason string) (Market, error) {
	if err := s.store.SetRated(ctx, id, rated, reason, s.now().UTC().Truncate(time.Millisecond)); err != nil {
		return Market{}, err
	}
	return s.Get(ctx, id)
}

// Airable returns at most limit markets that a programme may include, earliest end date first. A limit of 0 or less means no
// limit. An empty lane selects every lane.
func (s *Service) Airable(ctx context.Context, limit int, lane protocol.Lane) ([]Market, error) {
	now := s.now()
	list, err := s.store.ListAirable(ctx, now, lane, max(limit, 0))
	if err != nil {
		return nil, err
	}
	return s.readAll(list, now), nil
}

// ListMarkets returns the stored markets among the first MaxBatch ids, as they are served now. It omits unknown ids.
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

// ListPrices returns the price history of a market since the time from, oldest first. It has at most MaxPoints points.
func (s *Service) ListPrices(ctx context.Context, id protocol.MarketID, from time.Time) ([]Point, error) {
	return s.store.ListPrices(ctx, id, from, MaxPoints)
}

// Trend contains the prices of YES of one market, oldest first.
type Trend struct {
	ID     string
	Prices []protocol.Bps
}

// Distance between the prices of a trend, and their number, which covers seven days.
const (
	trendStep   = 6 * time.Hour
	trendPoints = 29
)

// ListTrends returns the prices of the last seven days of the first MaxBatch markets among ids. Markets without a stored price
// are omitted. Error: db_unavailable.
func (s *Service) ListTrends(ctx context.Context, ids []string) ([]Trend, error) {
	return s.store.ListTrends(ctx, ids[:min(len(ids), MaxBatch)], s.now(), trendStep, trendPoints)
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

// Snapshot returns the newest YES price of a market, or nil if it is older than SnapshotAge or unknown. It also returns nil
// if the venue of a market that is not stored is unavailable. Errors: market_not_found, db_unavailable.
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
	// A price that is too old for readers may still be recent enough for a call.
	stored, found, err := s.store.FindMarket(ctx, id)
	if err != nil || !found || stored.Yes == nil || stored.PricedAt == nil || s.now().Sub(*stored.PricedAt) > SnapshotAge {
		return nil, err
	}
	return stored.Yes, nil
}
