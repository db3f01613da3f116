package signal

import (
	"context"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// CallQuery selects calls, newest first. Empty members do not filter.
type CallQuery struct {
	Handle   string
	MarketID string
	Lane     string // current lane of the market
	Status   protocol.SignalStatus
	Limit    int
	After    protocol.Cursor
	Own      bool // include unconfirmed calls; only for the operator of Handle
}

// CallPage is a page of calls. One read examines at most MaxLook calls. If few of them match a filter, a page can have fewer
// calls than its limit and still have a Next.
type CallPage struct {
	Signals []Record
	Next    string // cursor, empty at the end
}

// MaxLook is the number of calls that one read examines.
const MaxLook = 2000

// LaneStats contains the counters of one operator in one lane.
type LaneStats struct {
	Lane                          protocol.Lane
	Total, Won, Lost, Void, Score int64
	Streak                        int64
	AvgCLV                        *int // bps; nil without a closing line
}

// Repair returns the price to store for a call. snap is the market's YES price. A NO call whose price is nearer to snap than
// to 10000 - snap probably states the YES price, so its price becomes 10000 - price. Other calls keep their price.
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

// Move returns the change of the price of the side since the call, in bps.
func Move(side protocol.Side, price, live protocol.Bps) int {
	return int(live.Of(side)) - int(price)
}

// DryRunFile returns the call as File would store it, and stores nothing (a dry run). It applies the checks of File in the
// database, but sends no request to a venue:
//   - On a market without a fresh quote the call is unverified.
//   - A market id that is not stored is accepted if its form is valid. Record.Unconfirmed is then true. Whether the market is
//     rated is unknown, so the warning market_unrated is left out.
//
// Errors: those of File, except the rejection of a call without a fresh quote.
func (s *Service) DryRunFile(ctx context.Context, caller Caller, draft Draft) (Filed, Record, error) {
	if err := draft.validate(); err != nil {
		return Filed{}, Record{}, err
	}
	s.setReach(&draft)
	draft.Venue = VenueSkipped
	f, record, err := s.Store.DryRunFile(ctx, caller, draft, s.markets.Connected(draft.MarketID))
	if err != nil {
		return Filed{}, Record{}, err
	}
	f.Prices.Unconfirmed = record.Unconfirmed
	filed, err := f.answer(draft)
	return filed, record, err
}

// DryRunEvent returns the event as it would be appended, and appends nothing. Errors: those of AppendEvent.
func (s *Service) DryRunEvent(ctx context.Context, caller Caller, signalID, eventID, kind, payload string) (Event, error) {
	e, err := s.ownerEvent(eventID, kind, payload)
	if err != nil {
		return Event{}, err
	}
	e, err = s.Store.DryRunEvent(ctx, caller, signalID, e)
	if err != nil {
		return Event{}, err
	}
	return e, nil
}
