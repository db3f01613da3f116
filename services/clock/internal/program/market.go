package program

import (
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// NoPrice is the value for an unknown price.
const NoPrice protocol.Bps = -1

// Unknown is the value for an unknown volume in dollars.
const Unknown float64 = -1

// airableAhead is the minimum time until the end of a market that may air.
const airableAhead = 10 * time.Minute

// staleAfter is the maximum age of the cached markets at which their prices are shown.
const staleAfter = 10 * time.Minute

// Market contains the fields of a market that the programme requires. It has few fields, because each choice of markets reads
// every market.
type Market struct {
	ID          protocol.MarketID
	Provider    protocol.Provider
	Title       string
	EventKey    string    // empty: the market belongs to no event
	Sides       [2]string // names of YES and NO; empty: Yes and No
	Lane        Lane      // empty: the market is in no programme lane
	End         int64     // Unix milliseconds; 0: the market has no end time
	Yes         protocol.Bps
	Volume      float64 // dollars since the market opened, or Unknown
	DayVolume   float64 // dollars in the last 24 hours, or Unknown
	Signals     int64
	Tapes       int64
	Takes       int64
	Streams     int32
	Viewers     int32 // current viewers of the streams that show the market
	Move        int32 // change of the price within an hour in bps; 0: none is listed
	Status      protocol.MarketStatus
	Provisional bool

	lane int8 // index of Lane in laneTable, set by NewPool
}

// Airable reports whether the market may air at the time now. Such a market is open and not provisional, has a price, and ends
// more than ten minutes after now.
func (m *Market) Airable(now time.Time) bool {
	return m.Status == protocol.MarketOpen && !m.Provisional && m.Yes.Valid() &&
		m.End > now.Add(airableAhead).UnixMilli()
}

// Equal reports whether m and o have the same fields. It ignores the index of the lane, which depends on Lane.
func (m Market) Equal(o Market) bool {
	m.lane, o.lane = 0, 0 // follows from Lane
	return m == o
}

// EndTime returns the end of the market, or the zero time if it has none.
func (m *Market) EndTime() time.Time {
	if m.End == 0 {
		return time.Time{}
	}
	return time.UnixMilli(m.End).UTC()
}

// Pool is an immutable copy of the markets that the ledger has returned.
type Pool struct {
	Markets   []Market
	FetchedAt time.Time // time when the request to the ledger was sent
	Version   uint64    // changes whenever the markets change

	byID map[protocol.MarketID]int32
}

// NewPool returns a Pool with an index of the markets by ID. The caller must not use the slice markets afterwards.
func NewPool(markets []Market, fetchedAt time.Time, version uint64) *Pool {
	p := &Pool{
		Markets: markets, FetchedAt: fetchedAt, Version: version,
		byID: make(map[protocol.MarketID]int32, len(markets)),
	}
	for i := range markets {
		m := &markets[i]
		m.lane = int8(m.Lane.index())
		p.byID[m.ID] = int32(i)
	}
	return p
}

// Confirmed returns a copy of the pool and sets FetchedAt of the copy. It is used when the ledger has returned the same markets
// again.
func (p *Pool) Confirmed(at time.Time) *Pool {
	c := *p
	c.FetchedAt = at
	return &c
}

// Find returns the market with this ID, or nil if the pool is nil or does not contain it.
func (p *Pool) Find(id protocol.MarketID) *Market {
	if p == nil {
		return nil
	}
	i, ok := p.byID[id]
	if !ok {
		return nil
	}
	return &p.Markets[i]
}

// Stale reports whether the pool is nil or older than staleAfter. The prices of a stale pool must not be shown.
func (p *Pool) Stale(now time.Time) bool {
	return p == nil || p.FetchedAt.IsZero() || now.Sub(p.FetchedAt) > staleAfter
}
