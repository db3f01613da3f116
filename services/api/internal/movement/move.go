package movement

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
)

const (
	// LiveFor is how old the newest price of a market may be.
	LiveFor = 10 * time.Minute
	// MinVolume is the least volume of a market that moves, USD.
	MinVolume = 1000
	// MinDelta is the least change that is a move, bps.
	MinDelta = 100
)

// Market is an open market with the prices that a move is measured between. Nil
// members are unknown.
type Market struct {
	ID         protocol.MarketID
	Provider   protocol.Provider
	Title      string
	Outcome    string // label of YES
	Lane       protocol.Lane
	EventKey   string // empty: it belongs to no event
	EventTitle string
	Yes        *protocol.Bps // the newest price
	PricedAt   time.Time
	Volume     *float64 // USD
	Volume24h  *float64 // USD
	Signals    int64    // canonical signals, all operators
	// From is the price at the start of each of protocol.Windows: the newest
	// snapshot at or before it, else the oldest one inside that covers half of
	// the window. Those of a market below MinVolume need not be known.
	From [len(protocol.Windows)]*protocol.Bps
}

// Price is the newest price where it may be shown at now.
func (m *Market) Price(now time.Time) *protocol.Bps {
	if now.Sub(m.PricedAt) > LiveFor {
		return nil
	}
	return m.Yes
}

// Delta is the change of the price within a window, if both of its ends are known
// at now.
func (m *Market) Delta(w protocol.Window, now time.Time) (int, bool) {
	to, from := m.Price(now), m.From[slices.Index(protocol.Windows[:], w)]
	if to == nil || from == nil {
		return 0, false
	}
	return int(*to - *from), true
}

// Move is a market whose price moved within a window.
type Move struct {
	Market     *Market
	From, To   protocol.Bps
	DetectedAt time.Time // since when it is seen moving; set by the caller
}

// Delta is the signed change.
func (m *Move) Delta() int { return int(m.To - m.From) }

// Moves are the markets that moved within a window: of MinVolume or more, by
// MinDelta or more, with a price that is live at now. The largest change comes
// first, of equal ones the larger volume.
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
