package message

import (
	"context"
	"encoding/json"
	"fmt"

	moderationv1 "github.com/signalcast/signalcast/proto/moderation/v1"
)

// hide removes the payload of each message that contains text of a hidden thing, and marks the
// message as hidden. All reads of messages use it. Messages without text need no answer of the
// ledger. Fault: signal_service_unavailable.
func (s *Service) hide(ctx context.Context, records []Record) error {
	var things []*moderationv1.Thing
	var owner []int // index of the record of each thing
	for i := range records {
		list, err := textOf(&records[i])
		if err != nil {
			return err
		}
		for _, t := range list {
			things, owner = append(things, t), append(owner, i)
		}
	}
	if len(things) == 0 {
		return nil
	}
	r, err := s.Moderation.Hidden(ctx, &moderationv1.HiddenRequest{Things: things})
	if err != nil {
		return err
	}
	hidden := r.GetHidden()
	if len(hidden) != len(things) {
		return fmt.Errorf("moderation of %d things: %d answers", len(things), len(hidden))
	}
	for n, i := range owner {
		if !hidden[n] || records[i].Hidden {
			continue
		}
		if records[i].Body, err = withoutPayload(records[i].Body); err != nil {
			return fmt.Errorf("remove payload of message %s: %w", records[i].ID, err)
		}
		records[i].Hidden = true
	}
	return nil
}

// shown returns r as a read shows it; see hide.
func (s *Service) shown(ctx context.Context, r Record) (Record, error) {
	one := []Record{r}
	err := s.hide(ctx, one)
	return one[0], err
}

// withoutPayload returns a canonical message with the payload null.
func withoutPayload(body []byte) ([]byte, error) {
	members, err := object(body)
	if err != nil {
		return nil, err
	}
	members["payload"] = json.RawMessage("null")
	return without(members, ""), nil
}

// textOf returns the things whose text a message contains: of a call the call for its take and
// the market for its title, of a market and of an outcome the market, of a station the station.
// The text of a profile and of a broadcast, which has no kind of its own, belongs to the profile
// of the author. No message contains text of an event or of an application.
func textOf(r *Record) ([]*moderationv1.Thing, error) {
	var has struct {
		Payload struct {
			MarketID, EventID, StationID        string
			Take, MarketTitle, Reason, ProofURL string
		}
	}
	var did struct{ SignalID, MarketID string }
	if err := json.Unmarshal(r.Body, &has); err != nil {
		return nil, fmt.Errorf("read message %s: %w", r.ID, err)
	}
	if r.Result != nil {
		if err := json.Unmarshal(r.Result, &did); err != nil {
			return nil, fmt.Errorf("read result of message %s: %w", r.ID, err)
		}
	}
	p := &has.Payload
	var out []*moderationv1.Thing
	add := func(kind, id string) {
		if id != "" {
			out = append(out, &moderationv1.Thing{Kind: kind, Id: id})
		}
	}
	switch r.Type {
	case SignalCreate, PredictionCreate:
		if p.Take != "" {
			add("signal", did.SignalID)
		}
		if p.MarketTitle != "" {
			add("market", p.MarketID+p.EventID) // one of both
		}
	case MarketCreate:
		add("market", did.MarketID)
	case ResolutionCreate:
		if p.Reason != "" || p.ProofURL != "" {
			add("market", p.MarketID)
		}
	case StationCreate, StationUpdate:
		add("station", p.StationID)
	case ProfileUpdate, BroadcastCreate, BroadcastGoLive:
		add("profile", r.DenpaID)
	}
	return out, nil
}
