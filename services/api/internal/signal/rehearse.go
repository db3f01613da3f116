package signal

import "context"

// RehearseFile returns the call as File would store it, and stores nothing. The same statement
// makes every check of File. No venue is asked: a market without a fresh quote gives an
// unverified call, and an id that only its venue could deny is taken for a market. Faults:
// those of File, without the refusal of an unknown price.
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
