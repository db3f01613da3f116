package signal

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// CallQuery selects a page of calls, newest first. An empty member does not filter.
type CallQuery struct {
	Handle   string
	MarketID string
	Lane     string                  // matches the current lane of the market
	Statuses []protocol.SignalStatus // empty does not filter
	Limit    int
	After    protocol.Cursor
	Own      bool // include calls that are not public; only for the operator of Handle

	CreatedAfter, ResolvedAfter *time.Time // in microseconds; nil does not filter
}

// CallPage is a page of calls. One read examines at most MaxLook calls. If few of them match a filter, a page can have fewer
// calls than its limit although Next is not empty.
type CallPage struct {
	Signals []Record
	Next    string // cursor of the next page; empty at the end
}

// MaxLook is the maximum number of calls that one read of a page examines.
const MaxLook = 2000

// LaneStats contains the numbers of one operator's calls in one lane, and figures computed from them.
type LaneStats struct {
	Lane                          protocol.Lane
	Total, Won, Lost, Void, Score int64
	Streak                        int64
	AvgCLV                        *int // mean closing line value in bps; nil without a closing line
}

// Move returns the difference in bps between the current price of a side and the price at which it was called. side is the side,
// price is the price of the call, and live is the current YES price.
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
