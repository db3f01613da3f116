package signal

import (
	"context"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// CallQuery picks calls, newest first. What is empty does not filter.
type CallQuery struct {
	Handle   string
	MarketID string
	Lane     string // of the market, today
	Status   protocol.SignalStatus
	Limit    int
	After    protocol.Cursor
	Own      bool // of Handle, for its own operator: with unconfirmed calls
}

// CallPage is a page of calls. A filter that fits few of them gives a page with fewer
// than were asked for, and with a Next that goes on: one read looks at MaxLook calls.
type CallPage struct {
	Signals []Record
	Next    string // cursor, empty at the end
}

// MaxLook is how many calls one page is picked from.
const MaxLook = 2000

// LaneStats is what one operator has called in one lane and what was decided.
type LaneStats struct {
	Lane                          protocol.Lane
	Total, Won, Lost, Void, Score int64
	Streak                        int64
	AvgCLV                        *int // bps; nil without a closing line
}

// Repair returns the price to store for a call. snap is the market's YES price. A NO call whose
// price is nearer to snap than to 10000 - snap is taken as a call that states the YES price, and
// its price becomes 10000 - price. Other calls keep their price.
func Repair(side protocol.Side, price protocol.Bps, snap *protocol.Bps) protocol.Bps {
	if side == protocol.No && snap != nil && distance(price, *snap) < distance(price, snap.Of(protocol.No)) {
		return protocol.MaxBps - price
	}
	return price
}

// Basis returns the scoring price of a call at its filing: the larger of the stated price and
// the price of the side minus the tolerance. It is the stated price if that of the side is not
// known.
func Basis(stated protocol.Bps, side *protocol.Bps, tolerance int) protocol.Bps {
	if side == nil {
		return stated
	}
	return max(stated, *side-protocol.Bps(tolerance))
}

// Move is the live mark of a call against the price paid, in bps (contract 4.2.6).
func Move(side protocol.Side, price, live protocol.Bps) int {
	return int(live.Of(side)) - int(price)
}

// RehearseFile returns the call as File would store it, and stores nothing (a dry run). It makes the
// checks of File in the database and sends no request to a venue:
//   - On a market without a fresh quote the call is unverified.
//   - A market id that is not stored is accepted if its form is valid. Record.Unconfirmed is then
//     true. Whether the market is rated is unknown, so the warning market_unrated is left out.
//
// Faults: those of File, except the refusal of a call without a fresh quote.
func (s *Service) RehearseFile(ctx context.Context, caller Caller, draft Draft) (Filed, Record, error) {
	if err := draft.validate(); err != nil {
		return Filed{}, Record{}, err
	}
	s.reach(&draft)
	draft.Venue = VenueSkipped
	f, would, err := s.Store.RehearseFile(ctx, caller, draft, s.markets.Connected(draft.MarketID))
	if err != nil {
		return Filed{}, Record{}, err
	}
	f.Prices.Unconfirmed = would.Unconfirmed
	filed, err := f.answer(draft)
	return filed, would, err
}

// RehearseEvent returns the event as it would be appended, and appends nothing. Faults: those
// of AppendEvent.
func (s *Service) RehearseEvent(ctx context.Context, caller Caller, signalID, eventID, kind, payload string) (Event, error) {
	e, err := s.ownerEvent(eventID, kind, payload)
	if err != nil {
		return Event{}, err
	}
	e, err = s.Store.RehearseEvent(ctx, caller, signalID, e)
	if err != nil {
		return Event{}, err
	}
	return e, nil
}
