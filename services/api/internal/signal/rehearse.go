package signal

import "context"

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
