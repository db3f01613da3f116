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
	// readTimeout bounds a read of a venue that a caller waits for.
	readTimeout = 5 * time.Second
	// patience is how long a caller waits for a venue where we can go on without
	// its answer: a venue that hangs must not use up the time to write the call.
	patience = time.Second
	// staleAfter is when a market that is being read is read again at its venue.
	staleAfter = 60 * time.Second
	// absentFor is how long a venue's "no such market" is remembered.
	absentFor = 10 * time.Second
	// askedFor is the pause after a read that a reader caused.
	askedFor = 10 * time.Second
	// maxMemory is the most ids of a memory.
	maxMemory = 10_000
	// MaxBatch is the most markets that one list asks for.
	MaxBatch = 500
	// MaxAirable is the most rows of an airable list.
	MaxAirable = 400
	// MaxPoints is the most snapshots that one history shows.
	MaxPoints = 500
)

// Store keeps markets. Each method is one transaction.
type Store interface {
	// FindMarket reads a market as it is stored.
	FindMarket(ctx context.Context, id protocol.MarketID) (Market, bool, error)
	// ListMarkets reads the markets that exist, in no order.
	ListMarkets(ctx context.Context, ids []string) ([]Market, error)
	// ListAirable reads open priced markets by end date; no lane is every lane,
	// limit 0 all of them.
	ListAirable(ctx context.Context, now time.Time, lane protocol.Lane, limit int) ([]Market, error)
	// ListPrices reads snapshots oldest first, thinned to at most limit.
	ListPrices(ctx context.Context, id protocol.MarketID, from time.Time, limit int) ([]Point, error)
	// ListNative reads native markets, newest first.
	ListNative(ctx context.Context, status NativeStatus, due bool, limit int, now time.Time) ([]Native, error)

	// ApplyRecords keeps venue answers; older answers and settled markets stay as
	// they are. It gives the number of answers that were newer. With every, each
	// price of an open market becomes a snapshot.
	ApplyRecords(ctx context.Context, records []Record, every bool, now time.Time) (int, error)
	// SetRated sets whether calls on a market count. Faults: ErrNotFound, already_resolved.
	SetRated(ctx context.Context, id protocol.MarketID, rated bool, reason string, now time.Time) error
	// InsertStub stores a market that no venue has confirmed, once, for a call of an operator.
	// stored is false where the operator has MaxUnconfirmed calls on such markets.
	InsertStub(ctx context.Context, id protocol.MarketID, operator string, now time.Time) (stored bool, err error)
	// InsertNative creates a native market with its first snapshot.
	InsertNative(ctx context.Context, m Market) error
	// FindSigned tells which market a signed message has made, if any.
	FindSigned(ctx context.Context, messageID string) (protocol.MarketID, bool, error)
	// InsertSigned creates a native market for a signed message and gives the one
	// that stands for it. Faults: ErrTier, rate_limited.
	InsertSigned(ctx context.Context, m Market, messageID string) (protocol.MarketID, error)

	// The following methods are for the Catalogue.

	// ListHot returns markets with open calls, or in a programme soon, whose price is older than before, at most limit, and then
	// at most fresh markets with open calls that never had an answer. It leaves out those that were requested in vain since failed.
	ListHot(ctx context.Context, p protocol.Provider, now, before, failed time.Time, limit, fresh int) ([]protocol.MarketID, error)
	// ListMissed returns open markets without an answer since sweep, except those that were requested since failed.
	ListMissed(ctx context.Context, p protocol.Provider, sweep, failed time.Time, limit int) ([]protocol.MarketID, error)
	// ListAwaitingQuote lists open markets with calls filed after from and not after to that have
	// no quote dated at least confirmAfter after the newest of these calls.
	ListAwaitingQuote(ctx context.Context, p protocol.Provider, from, to time.Time, confirmAfter time.Duration, limit int) ([]protocol.MarketID, error)
	// MarkChecked stores now as the time at which markets were requested.
	MarkChecked(ctx context.Context, ids []protocol.MarketID, now time.Time) error
	// ListStreamed returns the open markets whose price is streamed: those with open calls, those in looked, and those in a
	// programme soon.
	ListStreamed(ctx context.Context, p protocol.Provider, now time.Time, looked []protocol.MarketID, limit int) ([]Streamed, error)
	// ApplyTicks stores streamed prices, one per market, if they are newer than the stored ones, and returns their number. They
	// do not count as answers of the venue.
	ApplyTicks(ctx context.Context, ticks []Tick) (int, error)
	// CloseNative closes native markets whose cutoff has passed.
	CloseNative(ctx context.Context, now time.Time) (int, error)
	// TakeUnconfirmed returns markets with unconfirmed calls that were not requested since
	// before, the oldest requests first, and marks them as requested now.
	TakeUnconfirmed(ctx context.Context, now, before time.Time, limit int) ([]protocol.MarketID, error)
	// DenyUnconfirmed voids the unconfirmed calls on markets, and those filed before a time,
	// empties their text and returns their number.
	DenyUnconfirmed(ctx context.Context, ids []protocol.MarketID, before, now time.Time) (int64, error)
	// ThinPrices thins snapshots before a time, at most limit rows.
	ThinPrices(ctx context.Context, before time.Time, limit int) (int, error)
}

// Service reads and keeps markets.
type Service struct {
	store    Store
	venues   Venues
	classify Classify
	pastEnd  bool
	now      func() time.Time
	flights  *flights

	fresh  map[protocol.Provider]*venueReads
	mu     sync.Mutex // guards what follows
	absent memory
	asked  memory
	looked memory // those that are worth a live price
	hot    map[protocol.MarketID]hotMarket
}

// NewService wires the subject. pastEnd is the setting PAST_END_IS_PROVISIONAL.
func NewService(store Store, venues Venues, classify Classify, pastEnd bool, now func() time.Time) *Service {
	s := &Service{
		store: store, venues: venues, classify: classify, pastEnd: pastEnd, now: now,
		flights: newFlights(), absent: make(memory), asked: make(memory), looked: make(memory),
		fresh: make(map[protocol.Provider]*venueReads, len(venues)), hot: make(map[protocol.MarketID]hotMarket),
	}
	for p, v := range venues {
		s.fresh[p] = newVenueReads(s, v)
	}
	return s
}

// Close lets no more questions to venues begin and breaks off those under way.
func (s *Service) Close() {
	s.flights.close()
	for _, v := range s.fresh {
		v.queue.Close()
	}
}

// Get reads a market. One that is not kept is read from its venue and kept.
// Faults: market_not_found, venue_unavailable (nothing is kept and the venue
// does not answer, or too many ask: ErrBusy), db_unavailable.
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
		wait, cancel = context.WithTimeout(ctx, patience)
		defer cancel()
	}
	fresh, err := s.fetch(wait, id, ForReader)
	if err == nil {
		return fresh, nil
	}
	if found && errors.Is(err, ErrUnavailable) {
		return m.Read(now, s.pastEnd), nil // a stub that calls were filed on
	}
	return Market{}, err
}

// stale tells whether a reader deserves a fresher price of a venue's market.
func (s *Service) stale(m *Market, now time.Time) bool {
	return s.venues[m.Provider] != nil && m.Status != protocol.MarketResolved &&
		(m.PricedAt == nil || now.Sub(*m.PricedAt) > staleAfter)
}

// Refresh reads a market from its venue now and gives it as it is kept after,
// for those who keep the catalogue. Faults: market_not_found, venue_unavailable,
// db_unavailable.
func (s *Service) Refresh(ctx context.Context, id protocol.MarketID) (Market, error) {
	return s.fetch(ctx, id, ForCatalogue)
}

// fetch is Refresh for any purpose. Who asks for one market at a time for one
// purpose shares one question to its venue.
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

// join returns the read of a market under way for a purpose, or starts one; nil if as many as possible are under way.
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

// apply reads one market at its venue and applies the answer.
func (s *Service) apply(ctx context.Context, venue Venue, id protocol.MarketID) error {
	r, err := venue.Get(ctx, id)
	switch {
	case errors.Is(err, ErrNotFound), err == nil && r.ID != id:
		// A venue that gives another market for an id has none that is spelt so;
		// taking it for another word for that market would give it two rows.
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

// Apply keeps venue answers and gives how many were newer than what was kept.
// With every, each price of an open market becomes a snapshot; without it only
// those of markets with open calls, and one in fifteen minutes of the others.
func (s *Service) Apply(ctx context.Context, records []Record, every bool) (int, error) {
	clean := cleanRecords(records, s.classify)
	if len(clean) == 0 {
		return 0, nil
	}
	return s.store.ApplyRecords(ctx, clean, every, s.now())
}

// refreshLater starts the read of a market of a connected venue without waiting for it. It does nothing
// if the market was requested a moment ago or as many reads as possible are under way: the next reader
// tries again.
func (s *Service) refreshLater(ctx context.Context, id protocol.MarketID, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looked.put(id, now, now.Add(lookedFor))
	if !s.asked.has(id, now) && !s.absent.has(id, now) && s.join(ctx, id, ForWatch) != nil {
		s.asked.put(id, now, now.Add(askedFor))
	}
}

// CreateNative creates a native market. One that a signed message asks for is
// made once: asked again, whatever has become of its dates, the same one is
// given. Faults: invalid_<member>, db_unavailable; for a message also forbidden
// and rate_limited.
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
	stands, err := s.store.InsertSigned(ctx, m, d.MessageID)
	if err != nil {
		return Market{}, err
	}
	if stands != m.ID {
		return s.Get(ctx, stands)
	}
	return m.Read(now, s.pastEnd), nil
}

// SetRated sets whether calls on a market count. Later calls and the resolution take it; those
// that are stored keep theirs. Faults: market_not_found, already_resolved.
func (s *Service) SetRated(ctx context.Context, id protocol.MarketID, rated bool, reason string) (Market, error) {
	if err := s.store.SetRated(ctx, id, rated, reason, s.now().UTC().Truncate(time.Millisecond)); err != nil {
		return Market{}, err
	}
	return s.Get(ctx, id)
}

// Airable lists what may be put on the air, by end date; limit 0 is all of it.
func (s *Service) Airable(ctx context.Context, limit int, lane protocol.Lane) ([]Market, error) {
	now := s.now()
	list, err := s.store.ListAirable(ctx, now, lane, max(limit, 0))
	if err != nil {
		return nil, err
	}
	return s.readAll(list, now), nil
}

// ListMarkets reads many markets at once; unknown ids are left out, and what
// goes beyond MaxBatch too.
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

// ListPrices reads a market's snapshots since from, oldest first, at most
// MaxPoints of them.
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

// Snapshot returns the YES price of a market's newest snapshot that is at most SnapshotAge old; nil if there is none. Faults:
// market_not_found, db_unavailable.
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
	// A price that is too old to be shown may be young enough for a call.
	stored, found, err := s.store.FindMarket(ctx, id)
	if err != nil || !found || stored.Yes == nil || stored.PricedAt == nil || s.now().Sub(*stored.PricedAt) > SnapshotAge {
		return nil, err
	}
	return stored.Yes, nil
}
