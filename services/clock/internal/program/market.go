package program

import (
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// NoPrice marks a market whose price is not known.
const NoPrice protocol.Bps = -1

// Unknown marks a volume that is not known in dollars.
const Unknown float64 = -1

// airableAhead is how far ahead of now a market must end to be aired.
const airableAhead = 10 * time.Minute

// staleAfter is when a copy of the markets is too old to show its prices:
// the ledger itself calls a price unknown after ten minutes.
const staleAfter = 10 * time.Minute

// Market is what the programme needs of a market. It is kept small because
// every pick walks all of them.
type Market struct {
	ID          protocol.MarketID
	Provider    protocol.Provider
	Title       string
	EventKey    string // empty: none
	Lane        Lane   // empty: in no programme lane
	End         int64  // unix milliseconds, 0: none
	Yes         protocol.Bps
	Volume      float64 // dollars in all, or Unknown
	DayVolume   float64 // dollars in 24 hours, or Unknown
	Signals     int64
	Tapes       int64
	Takes       int64
	Streams     int32
	Viewers     int32 // of the streams that stand on it, now
	Status      protocol.MarketStatus
	Provisional bool

	lane int8 // place of Lane in the table, set by NewPool
}

// Airable reports a market that may be put on the air: open, priced, and
// ending more than ten minutes after now.
func (m *Market) Airable(now time.Time) bool {
	return m.Status == protocol.MarketOpen && !m.Provisional && m.Yes.Valid() &&
		m.End > now.Add(airableAhead).UnixMilli()
}

// Equal reports the same market in the same state.
func (m Market) Equal(o Market) bool {
	m.lane, o.lane = 0, 0 // follows from Lane
	return m == o
}

// EndTime is the market's end, zero when it has none.
func (m *Market) EndTime() time.Time {
	if m.End == 0 {
		return time.Time{}
	}
	return time.UnixMilli(m.End).UTC()
}

// Pool is one immutable copy of the markets.
type Pool struct {
	Markets   []Market
	FetchedAt time.Time // zero: never
	Version   uint64    // differs whenever the markets differ

	byID map[protocol.MarketID]int32
}

// NewPool indexes a copy of the markets; the caller gives the slice away.
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

// Confirmed is the same pool seen again at a later time.
func (p *Pool) Confirmed(at time.Time) *Pool {
	c := *p
	c.FetchedAt = at
	return &c
}

// Find gives a market of the pool, nil when the pool does not hold it.
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

// Stale reports a copy that is too old for its prices to be shown, or none.
func (p *Pool) Stale(now time.Time) bool {
	return p == nil || p.FetchedAt.IsZero() || now.Sub(p.FetchedAt) > staleAfter
}
