package movement

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
)

const (
	// LiveFor is the greatest age at which the newest price of a market counts as live.
	LiveFor = 10 * time.Minute
	// MinVolume is the smallest volume, in USD, at which the move of a market is listed.
	MinVolume = 1000
	// MinDelta is the smallest price change, in bps, that is listed as a move.
	MinDelta = 100
)

// Market is an open market and the prices from which its moves are computed. The value of a nil member is unknown.
type Market struct {
	ID         protocol.MarketID
	Provider   protocol.Provider
	Title      string
	Outcome    string // label of YES
	Lane       protocol.Lane
	EventKey   string // empty if the market belongs to no event
	EventTitle string
	Yes        *protocol.Bps // the newest price
	PricedAt   time.Time
	Volume     *float64 // USD
	Volume24h  *float64 // USD
	Signals    int64    // canonical calls of all operators
	// From contains the price at the start of each window of protocol.Windows, in their order. It is the newest snapshot at
	// or before the start, or else the oldest snapshot in the window that covers at least half of the window. It may be nil
	// for a market with a volume below MinVolume.
	From [len(protocol.Windows)]*protocol.Bps
}

// Price returns the newest price of the market, or nil if the price is unknown or older than LiveFor at the time now.
func (m *Market) Price(now time.Time) *protocol.Bps {
	if now.Sub(m.PricedAt) > LiveFor {
		return nil
	}
	return m.Yes
}

// Delta returns the signed change of the price within the window w, in bps. It returns false if the price at the start of
// the window or at the time now is unknown.
func (m *Market) Delta(w protocol.Window, now time.Time) (int, bool) {
	to, from := m.Price(now), m.From[slices.Index(protocol.Windows[:], w)]
	if to == nil || from == nil {
		return 0, false
	}
	return int(*to - *from), true
}

// Move is a market whose price moved within a window, with the prices at the start and at the end of the window.
type Move struct {
	Market     *Market
	From, To   protocol.Bps
	DetectedAt time.Time // time at which the move was first seen; set by the caller of Moves
}

// Delta returns the signed price change in bps.
func (m *Move) Delta() int { return int(m.To - m.From) }

// Moves returns the markets of list that moved within the window w. Such markets have a price that is at most LiveFor old, a
// volume of at least MinVolume and a price change of at least MinDelta. They are sorted by descending absolute change, then by
// descending volume.
func Moves(list []*Market, w protocol.Window, now time.Time) []Move {
	var out []Move
	for _, m := range list {
		if m.Volume == nil || !(*m.Volume >= MinVolume) {
			continue
		}
		delta, known := m.Delta(w, now)
		if !known || abs(delta) < MinDelta {
			continue
		}
		out = append(out, Move{Market: m, From: *m.Yes - protocol.Bps(delta), To: *m.Yes})
	}
	slices.SortFunc(out, func(a, b Move) int {
		return cmp.Or(cmp.Compare(abs(b.Delta()), abs(a.Delta())), cmp.Compare(*b.Market.Volume, *a.Market.Volume),
			strings.Compare(string(a.Market.ID), string(b.Market.ID)))
	})
	return out
}

func abs(n int) int { return max(n, -n) }
