package signal

import "context"

// RehearseFile gives the call as it would be filed, and files nothing: every check of
// File is made, by the same statement. A market that is not known yet is brought in, as
// by every read of it. Faults: those of File.
func (s *Service) RehearseFile(ctx context.Context, caller Caller, draft Draft) (Record, error) {
	if err := draft.validate(); err != nil {
		return Record{}, err
	}
	s.reach(&draft)
	f, would, err := s.Store.RehearseFile(ctx, caller, draft)
	if err != nil {
		return Record{}, err
	}
	if f.asksVenue() {
		if err := s.ensure(ctx, f, &draft); err != nil {
			return Record{}, err
		}
		if f, would, err = s.Store.RehearseFile(ctx, caller, draft); err != nil {
			return Record{}, err
		}
	}
	if _, err := f.answer(draft); err != nil {
		return Record{}, err
	}
	return would, nil
}

// RehearseEvent gives the event as it would be appended, and appends nothing. Faults:
// those of AppendEvent.
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
